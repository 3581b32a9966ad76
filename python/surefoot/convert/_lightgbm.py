"""Ensembles of LightGBM."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence

import numpy as np

from .._arguments import PathLike
from .._errors import PolicyError, UsageError, require
from .._model import MEMORY, Model
from .._policy import Policy, from_contents
from ._compare import compare, compare_classes, compare_values, with_first_class
from ._interface import check_classes, labels_of_classes, make_interface, names_of_variables


def from_lightgbm(
    booster: Any,
    model: Model,
    *,
    inputs: Optional[Sequence[str]] = None,
    outputs: Optional[Sequence[str]] = None,
    interface: Optional[PathLike] = None,
    filter: Optional[bool] = None,
) -> Policy:
    """A policy from an ensemble of LightGBM with one score per label, or with one for two labels (``binary``).

    Args:
        booster: A ``Booster`` or ``LGBMClassifier``. The trees up to ``best_iteration`` count.
        model: The model that the policy acts in.
        inputs: What it reads, in order. Default: its feature names if they are variables of the model, else ``model.observed``.
        outputs: The labels of its scores, in order. Default: ``model.labels``.
        interface: An interface file (``.jani2nnet``) that says both.
        filter: Whether it chooses among applicable labels only.
    """
    lightgbm = require("lightgbm", "from_lightgbm")
    labels = None
    wrapper = booster
    if isinstance(booster, lightgbm.LGBMModel):
        booster = wrapper.booster_
        if isinstance(wrapper, lightgbm.LGBMClassifier) and interface is None:
            labels = labels_of_classes(model, wrapper.classes_, outputs)
    if type(booster) is not lightgbm.Booster or "predict" in vars(booster):
        raise UsageError(
            f"`booster` is a {type(wrapper).__name__}, but must be a Booster or an LGBMClassifier, without `predict` of its own"
        )
    _refuse_early_stop({**booster.params, **({} if wrapper is booster else wrapper.get_params())})
    text = booster.model_to_string()
    read = lightgbm.Booster(model_str=text)
    header = text.split("\nTree=", 1)[0]
    count = int(read.num_model_per_iteration())
    is_binary = count == 1 and "\nobjective=binary " in header
    if count < 2 and not is_binary:
        raise PolicyError(
            "the ensemble has one score per state, but a policy needs one per label\n"
            "  hint: train it as a classifier (objective `multiclass`, or `binary` for two labels)"
        )
    chosen = labels if labels is not None else outputs
    names = names_of_variables(model, booster.feature_name(), inputs, interface)
    counts = (int(booster.num_feature()), 2 if is_binary else count)
    document = make_interface(model, "policy.lightgbm.txt", counts, inputs, chosen, interface, filter, names=names)
    if isinstance(wrapper, lightgbm.LGBMClassifier):
        check_classes(model, wrapper.classes_, document)
    policy = from_contents(model, document, {f"{MEMORY}/policy.lightgbm.txt": text.encode()}, "f64")

    def scores(rows: np.ndarray) -> np.ndarray:
        is_mean = "\naverage_output" in header
        found = _sums(read, rows, count) if is_mean else _raw(read, rows, count)
        return with_first_class(found) if is_binary else found

    compare(policy, "LightGBM", scores, "f64")
    if isinstance(wrapper, lightgbm.LGBMClassifier):
        compare_classes(policy, "LightGBM", wrapper, policy.outputs, np.float64, "f64")
    elif isinstance(wrapper, lightgbm.LGBMModel):
        compare_values(policy, "LightGBM", wrapper, np.float64, "f64")
    return policy


def _refuse_early_stop(parameters: Mapping[str, Any]) -> None:
    """Refuses parameters by which `predict` leaves out trees where one class is far ahead. The name has no aliases."""
    value = parameters.get("pred_early_stop")
    if value is not None and str(value).lower() not in ("false", "-", "0"):
        raise PolicyError(
            f"`pred_early_stop` is {value!r}: `predict` does not count all trees in all states\n"
            "  hint: train without it, or `set_params(pred_early_stop=False)`"
        )


def _raw(booster: Any, rows: np.ndarray, count: int) -> np.ndarray:
    return booster.predict(rows.astype(np.float64), raw_score=True).reshape(len(rows), count)


def _sums(booster: Any, rows: np.ndarray, count: int) -> np.ndarray:
    """Sums of leaves, tree by tree: the scores of a random forest before they are divided by the number of its trees."""
    leaves = np.asarray(booster.predict(rows.astype(np.float64), pred_leaf=True), dtype=np.int64)
    total = np.zeros((len(rows), count))
    for tree, column in enumerate(leaves.T):
        values = {leaf: booster.get_leaf_output(tree, int(leaf)) for leaf in np.unique(column)}
        total[:, tree % count] += [values[leaf] for leaf in column]
    return total
