"""Whether a policy has the scores of the library that it comes from."""

from __future__ import annotations

import warnings
from typing import Any, Callable, List, Mapping, Sequence

import numpy as np

from .._errors import ComparisonError, PolicyError
from .._model import Model
from .._policy import Policy

#: Random states at which scores are compared.
STATES = 500


UNKNOWN = "\n  The object computes something that was not understood. Please report this, with the object."


def random_states(model: Model, count: int = STATES, seed: int = 0) -> np.ndarray:
    """Random vectors of the variables' domains, the corners with all lower and all upper bounds first."""
    random = np.random.default_rng(seed)
    bounds = [(int(variable.lower), int(variable.upper)) for variable in model.variables]
    columns = [random.integers(lower, upper, count, endpoint=True) for lower, upper in bounds]
    states = np.stack(columns, axis=1)
    states[0] = [lower for lower, _ in bounds]
    states[1] = [upper for _, upper in bounds]
    return states.astype(np.int32)


def input_values(policy: Policy, states: np.ndarray) -> np.ndarray:
    """What the policy reads at states: a row of numbers each."""
    positions = {variable.name: index for index, variable in enumerate(policy.model.variables)}
    columns = []
    for name in policy.inputs:
        if name in positions:
            columns.append(states[:, positions[name]])
        else:
            # A constant is described by its value.
            columns.append(np.full(len(states), int(name), np.int32))
    return np.stack(columns, axis=1)


def with_first_class(scores: np.ndarray) -> np.ndarray:
    """Scores of two classes of which a library computes that of the second: the first one has 0."""
    return np.concatenate([np.zeros_like(scores), scores], axis=1)


#: By how much a score may be below the highest one, relative to it, and still be chosen: libraries choose by probabilities
#: and means, which round. What this is about, labels in another order and trees that do not count, is far beyond.
TOLERANCE = 1e-5


def compare_choices(
    policy: Policy, library: str, choose: Callable[[np.ndarray], Sequence[str]], arithmetic: str, count: int = STATES
) -> None:
    """Compares choices at random states, as the users of an object see them: scores do not tell which label is which.

    Args:
        library: Who computes them, for the message.
        choose: The labels that are chosen for rows of inputs.
    """
    states = random_states(policy.model, count)
    found = policy.scores(states, arithmetic)
    highest = found[..., 0].max(axis=1)
    for row, label in enumerate(choose(input_values(policy, states))):
        column = policy.outputs.index(label) if label in policy.outputs else None
        if column is not None and found[row, column, 1] >= highest[row] - _slack(highest[row], found[row, column, 1]):
            continue
        state = policy.model.state(states[row])
        best = policy.outputs[int(found[row, :, 0].argmax())]
        raise ComparisonError(
            f"{library} chooses `{label}`, but `{best}` has the highest score as read (arithmetic {arithmetic}), in the state\n  "
            + shown(state)
            + "\n  The object chooses in another way than by its scores, or its outputs are other labels.",
            state,
            label,
            float(highest[row]),
            None if column is None else float(found[row, column, 1]),
        )


def compare_ranking(
    policy: Policy, library: str, scores: Callable[[np.ndarray], np.ndarray], arithmetic: str, count: int = STATES
) -> None:
    """Whether the output with the highest score as read has the highest one of a library, too, at random states.

    For probabilities and other functions of scores, which keep their order up to rounding.
    """
    states = random_states(policy.model, count)
    expected = np.asarray(scores(input_values(policy, states)), dtype=np.float64)
    found = policy.scores(states, arithmetic)
    for row, (library_scores, ends) in enumerate(zip(expected, found)):
        # Those that may be the highest as read, and one of them has the highest score of the library, or nearly.
        highest = ends[:, 0].max()
        possible = ends[:, 1] >= highest - _slack(highest, ends[:, 1])
        best = library_scores.max()
        if library_scores[possible].max() >= best - _slack(best, best):
            continue
        state = policy.model.state(states[row])
        label, other = policy.outputs[int(ends[:, 0].argmax())], policy.outputs[int(library_scores.argmax())]
        raise ComparisonError(
            f"`{label}` has the highest score as read (arithmetic {arithmetic}), but `{other}` in {library}, in the state\n  "
            + shown(state)
            + UNKNOWN,
            state,
            other,
            float(best),
            float(library_scores[policy.outputs.index(label)]),
        )


def _slack(one: Any, other: Any) -> Any:
    """By how much two scores may differ that count as equal."""
    return TOLERANCE * (1.0 + np.maximum(np.abs(one), np.abs(other)))


def compare_classes(policy: Policy, library: str, classifier: Any, labels: Sequence[str], dtype: Any, arithmetic: str) -> None:
    """Compares choices with what a classifier predicts. ``labels`` are those of its classes, in their order."""
    label = dict(zip(np.asarray(classifier.classes_).tolist(), labels))

    def predict(rows: np.ndarray) -> List[str]:
        predicted = np.asarray(classifier.predict(rows.astype(dtype)))
        if predicted.ndim != 1 or not set(predicted.tolist()) <= set(label):
            raise PolicyError(
                f"`predict` of the {type(classifier).__name__} gives something else than classes: an array of shape {predicted.shape}"
            )
        return [label[value] for value in predicted.tolist()]

    _compare_predicted(policy, library, predict, arithmetic)


def compare_values(policy: Policy, library: str, regressor: Any, dtype: Any, arithmetic: str) -> None:
    """Compares choices with the highest of the values that a regressor predicts; of two labels, one value can be the probability of
    the second."""

    def predict(rows: np.ndarray) -> List[str]:
        predicted = np.asarray(regressor.predict(rows.astype(dtype)))
        if predicted.shape == (len(rows),) and len(policy.outputs) == 2:
            predicted = np.stack([1 - predicted, predicted], axis=1)
        if predicted.shape != (len(rows), len(policy.outputs)):
            raise PolicyError(
                f"`predict` of the {type(regressor).__name__} gives an array of shape {predicted.shape} for {len(rows)} states, but must "
                f"give {len(policy.outputs)} values each"
            )
        return [policy.outputs[column] for column in predicted.argmax(axis=1)]

    _compare_predicted(policy, library, predict, arithmetic)


def _compare_predicted(policy: Policy, library: str, predict: Callable[[np.ndarray], Sequence[str]], arithmetic: str) -> None:
    with warnings.catch_warnings():
        # Rows of numbers have no names of features.
        warnings.simplefilter("ignore", UserWarning)
        compare_choices(policy, library, predict, arithmetic)


def shown(state: Mapping[str, Any]) -> str:
    """A state in one line."""
    return ", ".join(f"{name} = {value}" for name, value in state.items())


def compare(policy: Policy, library: str, scores: Callable[[np.ndarray], np.ndarray], arithmetic: str, count: int = STATES) -> None:
    """Compares scores at random states: equal in ``f64`` and ``f32``, enclosed in ``any-f32``.

    Args:
        library: Who computes ``scores``, for the message.
        scores: Scores of the library for rows of inputs, one column per output.
    """
    states = random_states(policy.model, count)
    expected = np.asarray(scores(input_values(policy, states)), dtype=np.float64)
    found = policy.scores(states, arithmetic)
    lower, upper = found[..., 0], found[..., 1]
    if expected.shape != lower.shape:
        raise ComparisonError(
            f"{library} gives {expected.shape[-1]} scores, the policy {lower.shape[-1]}", {}, "", float("nan"), None
        )
    wrong = np.argwhere(~((lower <= expected) & (expected <= upper)))
    if len(wrong) == 0:
        return
    row, column = wrong[0]
    state = policy.model.state(states[row])
    label = policy.outputs[column]
    ends = (float(lower[row, column]), float(upper[row, column]))
    read = repr(ends[0]) if ends[0] == ends[1] else f"in {ends[0]!r} … {ends[1]!r}"
    value = float(expected[row, column])
    raise ComparisonError(
        f"the score of `{label}` is {value!r} in {library}, but {read} as read (arithmetic {arithmetic}), in the state\n  "
        + shown(state)
        + UNKNOWN,
        state,
        label,
        value,
        ends[0] if ends[0] == ends[1] else ends,
    )
