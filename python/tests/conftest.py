"""Models and policies that several tests use."""

import os

import pytest

# Libraries that spin on several threads are slow where others work, too.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import surefoot  # noqa: E402


@pytest.fixture(scope="session")
def blocks():
    """Four blocks, of which at most three may lie on the table."""
    return surefoot.generate("blocksworld", blocks=4, table_limit=3)


@pytest.fixture(scope="session")
def walk():
    """A walk on 0..9: `up` by two or one, `down` by one; 9 is unsafe, 0 is a goal, and above 5 a silent command goes down."""
    return surefoot.load_model(walk_document())


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
