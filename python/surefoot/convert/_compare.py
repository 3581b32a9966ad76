"""Whether a policy has the scores of the library that it comes from."""

from __future__ import annotations

from typing import Callable

import numpy as np

from .._errors import ComparisonError
from .._model import Model
from .._policy import Policy

#: Random states at which scores are compared.
STATES = 500


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


def compare(
    policy: Policy, library: str, scores: Callable[[np.ndarray], np.ndarray], arithmetic: str, count: int = STATES
) -> None:
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
    shown = repr(ends[0]) if ends[0] == ends[1] else f"in {ends[0]!r} … {ends[1]!r}"
    value = float(expected[row, column])
    raise ComparisonError(
        f"the score of `{label}` is {value!r} in {library}, but {shown} as read (arithmetic {arithmetic}), in the state\n  "
        + ", ".join(f"{name} = {part}" for name, part in state.items())
        + "\n  The object computes something that was not understood. Please report this, with the object.",
        state,
        label,
        value,
        ends[0] if ends[0] == ends[1] else ends,
    )
