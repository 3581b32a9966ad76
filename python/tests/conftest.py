"""Models and policies that several tests use."""

import os

import numpy as np
import pytest

# Libraries that spin on several threads are slow where others work, too.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import surefoot  # noqa: E402
from surefoot.convert._compare import random_states  # noqa: E402


@pytest.fixture(scope="session")
def blocks():
    """Four blocks, of which at most three may lie on the table."""
    return surefoot.generate("blocksworld", blocks=4, table_limit=3)


@pytest.fixture(scope="session")
def walk():
    """A walk on 0..9: `up` by two or one, `down` by one; 9 is unsafe, 0 is a goal, and above 5 a silent command goes down."""
    return surefoot.load_model(walk_document())


@pytest.fixture(scope="session")
def data(blocks):
    """States of the model and, as classes, what some rule chooses there."""
    states = random_states(blocks, 3000, seed=5)
    columns = [index for index, variable in enumerate(blocks.variables) if variable.name in blocks.observed]
    rows = states[:, columns]
    return rows, (rows[:, 2] * 3 + rows[:, 5] * rows[:, 1] + (rows[:, 10] > 6)) % 5


def chosen(policy, rows, model, arithmetic):
    """The labels with the highest scores at rows of observations, as positions in `model.labels`."""
    states = np.zeros((len(rows), len(model.variables)), np.int32)
    for index, variable in enumerate(model.variables):
        states[:, index] = rows[:, policy.inputs.index(variable.name)] if variable.name in policy.inputs else 0
    scores = policy.scores(states, arithmetic)[..., 0]
    positions = np.array([model.labels.index(label) for label in policy.outputs])
    return positions[scores.argmax(axis=1)]


def walk_document(**objective):
    def x(op, right):
        return {"op": op, "left": "x", "right": right}

    def to(value, **other):
        return {"location": "l", "assignments": [{"ref": "x", "value": value}], **other}

    edges = [
        {
            "location": "l",
            "action": "up",
            "guard": {"exp": x("≤", 7)},
            "destinations": [
                to(x("+", 2), probability={"exp": 0.75}),
                to(x("+", 1), probability={"exp": 0.25}),
            ],
        },
        {"location": "l", "action": "down", "guard": {"exp": x("≥", 2)}, "destinations": [to(x("-", 1))]},
        {"location": "l", "guard": {"exp": x(">", 5)}, "destinations": [to(x("-", 1))]},
    ]
    goal = {"op": "objective", "goal": x("=", 1), **objective}
    bounded = {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 9}
    return {
        "jani-version": 1,
        "name": "walk",
        "type": "mdp",
        "actions": [{"name": "up"}, {"name": "down"}],
        "constants": [{"name": "limit", "type": "int", "value": 7}],
        "variables": [{"name": "x", "type": bounded, "initial-value": 4}],
        "automata": [{"name": "a", "locations": [{"name": "l"}], "initial-locations": ["l"], "edges": edges}],
        "system": {
            "elements": [{"automaton": "a"}],
            "syncs": [{"synchronise": [name], "result": name} for name in ("up", "down")],
        },
        "properties": [{"name": "safe", "expression": {"op": "PA", "reach": x("=", 9), "objective": goal}}],
    }
