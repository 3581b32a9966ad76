"""Trees of scikit-learn."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from .._arguments import PathLike, listed
from .._errors import PolicyError, require
from .._model import MEMORY, Model
from .._policy import Policy, from_contents
from ._compare import compare, compare_classes, compare_values, with_first_class
from ._interface import check_classes, check_names, labels_of_classes, make_interface, names_of_variables
from ._trees import Ensemble, document, first_above, first_above_double, structure, with_unchosen


def from_sklearn(
    estimator: Any,
    model: Model,
    *,
    inputs: Optional[Sequence[str]] = None,
    outputs: Optional[Sequence[str]] = None,
    interface: Optional[PathLike] = None,
    filter: Optional[bool] = None,
) -> Policy:
    """A policy from trees of scikit-learn.

    Args:
        estimator: A fitted ``DecisionTree``, ``RandomForest``, ``ExtraTrees`` or ``ExtraTree``, as classifier or as regressor with
            one output per label; or a ``GradientBoostingClassifier`` or ``HistGradientBoostingClassifier``.
        model: The model that the policy acts in.
        inputs: What it reads, in order. Default: its feature names if they are variables of the model, else ``model.observed``.
        outputs: The labels of its outputs. Classes of a classifier are names of labels, or positions in this list. Labels that are
            listed but were never seen in training are chosen only where nothing else is applicable. Default: ``model.labels``,
            of which those that were never seen are no outputs.
        interface: An interface file (``.jani2nnet``) that says both, outputs by class.
        filter: Whether it chooses among applicable labels only.

    The policy chooses what ``predict`` does, up to two things: scores of forests are sums and not means, so two of them may be
    different that are equal after a division, and `n_jobs` may change the order of a sum in scikit-learn.
    """
    sklearn = require("sklearn", "from_sklearn", "scikit-learn")
    name = type(estimator).__name__
    make = _KNOWN.get(name)
    if make is None or type(estimator).__module__.split(".")[0] != "sklearn":
        hint = f"these are: {', '.join(_KNOWN)}"
        if hasattr(estimator, "best_estimator_"):
            hint = f"pass its `best_estimator_`; {hint}"
        elif hasattr(estimator, "steps"):
            hint = f"train the estimator on plain values: scaling changes nothing for trees; {hint}"
        elif make is not None:
            name, hint = f"{name} of {type(estimator).__module__}", "pass one of scikit-learn itself"
        raise PolicyError(f"a {name} is not known\n  hint: {hint}")
    own = [method for method in ("predict", "predict_proba", "decision_function") if method in vars(estimator)]
    if own:
        raise PolicyError(f"the {name} has {listed(own)} of its own\n  hint: pass an estimator with the methods of its class")
    if not hasattr(estimator, "n_features_in_"):
        raise PolicyError(f"the {name} is not fitted yet")
    classes = getattr(estimator, "classes_", None)
    labels: Optional[Sequence[str]] = None
    unseen: List[str] = []
    if isinstance(classes, list):
        raise PolicyError(f"the {name} predicts several classes at once, but a policy chooses one label")
    if classes is not None and interface is None:
        labels = labels_of_classes(model, classes, _seen(classes, outputs))
        unseen = [label for label in outputs or [] if label not in labels]
    elif outputs is not None:
        labels = list(outputs)
    if name == "GradientBoostingClassifier" and _version(sklearn) < (1, 4):
        # Until then `predict` compared probabilities, which are equal for scores that differ.
        raise PolicyError(f"a {name} needs scikit-learn 1.4 or later, but {sklearn.__version__} is installed")
    ensemble = make(estimator)
    counts = (int(estimator.n_features_in_), len(ensemble[0]))
    names = names_of_variables(model, getattr(estimator, "feature_names_in_", None), inputs, interface)
    described = make_interface(model, "policy.ensemble.json", counts, inputs, labels, interface, filter, names=names)
    if classes is not None:
        check_classes(model, classes, described)
    by_class = list(described["output"])
    if name == "GradientBoostingClassifier" and len(by_class) == 2:
        # `predict` takes the second class on ties, so that one comes first.
        described["output"] = by_class[::-1]
    if unseen:
        described["output"] = [*described["output"], *unseen]
        ensemble = with_unchosen(ensemble, len(unseen))
    base, trees, scores = ensemble
    files = {f"{MEMORY}/policy.ensemble.json": document(base, trees)}
    policy = from_contents(model, described, files, "f64")
    check_names(policy, getattr(estimator, "feature_names_in_", None))
    compare(policy, "scikit-learn", scores, "f64")
    if classes is not None:
        compare_classes(policy, "scikit-learn", estimator, by_class, np.float64, "f64")
    else:
        compare_values(policy, "scikit-learn", estimator, np.float64, "f64")
    return policy


def _seen(classes: Any, outputs: Optional[Sequence[str]]) -> Optional[Sequence[str]]:
    """The outputs without those that no class is called like, if classes have names."""
    if outputs is None or isinstance(outputs, str) or not all(isinstance(value, str) for value in classes):
        return outputs
    return [label for label in outputs if label in classes]


def _version(library: Any) -> Tuple[int, ...]:
    return tuple(int(part) for part in library.__version__.split(".")[:2])


def _leaves(tree: Any) -> Callable[[int], List[float]]:
    """The leaf vectors of a tree: of each class, or of each output of a regression."""
    values = tree.value
    if values.shape[1] > 1 and values.shape[2] > 1:
        raise PolicyError("a tree with several outputs of several classes is no policy")
    flat = values.reshape(len(values), -1)
    if flat.shape[1] < 2:
        raise PolicyError("the tree has one score per state, but a policy needs one per label")
    return lambda node: [float(value) for value in flat[node]]


def _tree(tree: Any, leaf: Callable[[int], List[float]]) -> Dict[str, Any]:
    left = tree.children_left
    return structure(left, tree.children_right, tree.feature, tree.threshold, leaf, first_above)


def _single(estimator: Any) -> Ensemble:
    tree = estimator.tree_
    leaf = _leaves(tree)
    # Scores are those of the tree itself: fractions, or counts in old versions.
    return [0.0] * len(leaf(0)), [_tree(tree, leaf)], lambda rows: _raw(tree, rows)


def _raw(tree: Any, rows: np.ndarray) -> np.ndarray:
    return tree.predict(rows.astype(np.float32)).reshape(len(rows), -1)


def _fractions(tree: Any) -> Callable[[int], List[float]]:
    """Leaves as probabilities of classes, which is what forests add up; old versions store counts."""
    leaf = _leaves(tree)

    def fractions(node: int) -> List[float]:
        values = np.array(leaf(node))
        total = values.sum()
        # As in `predict_proba` of old versions; a sum that is 1 up to rounding is one of fractions.
        return list(values if abs(total - 1.0) < 1e-9 or total == 0.0 else values / total)

    return fractions


def _forest(estimator: Any) -> Ensemble:
    trees = [part.tree_ for part in estimator.estimators_]
    is_classifier = hasattr(estimator, "classes_")
    leaves = [_fractions(tree) if is_classifier else _leaves(tree) for tree in trees]

    def scores(rows: np.ndarray) -> np.ndarray:
        parts = estimator.estimators_
        predict = [part.predict_proba if is_classifier else part.predict for part in parts]
        total = np.zeros((len(rows), len(leaves[0](0))))
        for part in predict:
            total += np.asarray(part(rows.astype(np.float32))).reshape(total.shape)
        return total

    built = [_tree(tree, leaf) for tree, leaf in zip(trees, leaves)]
    return [0.0] * len(leaves[0](0)), built, scores


def _vector(length: int, position: int, value: float) -> List[float]:
    vector = [0.0] * length
    vector[position] = value
    return vector


def _boosting(estimator: Any) -> Ensemble:
    classes = len(estimator.classes_)
    columns = estimator.estimators_.shape[1]
    row = np.zeros((1, estimator.n_features_in_))
    base = np.asarray(estimator._raw_predict_init(row), dtype=np.float64).reshape(-1)
    if not (estimator.init_ == "zero" or type(estimator.init_).__name__ == "DummyClassifier"):
        raise PolicyError("a GradientBoostingClassifier with an initial estimator of its own is not known")
    rate = float(estimator.learning_rate)
    outputs = 2 if columns == 1 else classes
    trees = []
    for stage in estimator.estimators_:
        for column, part in enumerate(stage):
            tree = part.tree_
            values = tree.value[:, 0, 0]
            # The product is rounded as scikit-learn rounds it. Of two classes the second has the score, the first has 0.
            leaf = lambda node, values=values, column=column: _vector(outputs, column, rate * float(values[node]))
            trees.append(_tree(tree, leaf))
    # Of two classes the second comes first, and the other one has score 0.
    scores = [float(base[0]), 0.0] if columns == 1 else [float(score) for score in base]

    def decisions(rows: np.ndarray) -> np.ndarray:
        decision = estimator.decision_function(rows.astype(np.float32))
        return np.stack([decision, np.zeros_like(decision)], axis=1) if columns == 1 else decision

    return scores, trees, decisions


def _histogram(estimator: Any) -> Ensemble:
    if estimator.is_categorical_ is not None and np.any(estimator.is_categorical_):
        raise PolicyError("categorical features are not known")
    base = np.asarray(estimator._baseline_prediction, dtype=np.float64).reshape(-1)
    # Of two classes the second has the score, the first has 0, and `predict` takes the first on ties.
    is_binary = len(base) == 1
    outputs = 2 if is_binary else len(base)
    trees = []
    for stage in estimator._predictors:
        for column, part in enumerate(stage, int(is_binary)):
            nodes = part.nodes
            left = np.where(nodes["is_leaf"].astype(bool), -1, nodes["left"].astype(np.int64))
            leaf = lambda node, nodes=nodes, column=column: _vector(outputs, column, float(nodes["value"][node]))
            trees.append(structure(left, nodes["right"], nodes["feature_idx"], nodes["num_threshold"], leaf, first_above_double))
    scores = [0.0, float(base[0])] if is_binary else [float(score) for score in base]

    def decisions(rows: np.ndarray) -> np.ndarray:
        decision = estimator.decision_function(rows.astype(np.float64))
        return with_first_class(decision.reshape(-1, 1)) if is_binary else decision

    return scores, trees, decisions


_KNOWN: Dict[str, Callable[[Any], Ensemble]] = {
    "DecisionTreeClassifier": _single,
    "DecisionTreeRegressor": _single,
    "ExtraTreeClassifier": _single,
    "ExtraTreeRegressor": _single,
    "RandomForestClassifier": _forest,
    "RandomForestRegressor": _forest,
    "ExtraTreesClassifier": _forest,
    "ExtraTreesRegressor": _forest,
    "GradientBoostingClassifier": _boosting,
    "HistGradientBoostingClassifier": _histogram,
}
