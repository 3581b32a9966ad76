#!/usr/bin/env python3
"""Trains small policies with real libraries and writes them with the scores that the libraries give them. See README.md."""

import argparse
import shutil
from pathlib import Path

import lightgbm
import numpy
import xgboost

import fixture
import onnx_models

STATES = 16
# Those whose fixtures are made here; `make_torch.py` makes the others.
LIBRARIES = ["xgboost", "lightgbm", "onnx", "sklearn"]
EXTENSIONS = {"xgboost": "json", "lightgbm": "txt"}
# Beyond 2^24, integers are rounded in single precision.
LARGE = [0, 1, -1, 2**24 + 1, 2**24 + 3, -(2**24) - 1, 2**31 - 1, -(2**31)]


class Task:
    """Random data of the kind that policies are trained on: integers, and an action that depends on them."""

    # States to train on; few of them make small trees.
    size = 26

    def __init__(self, random, outputs=None):
        self.random = random
        self.inputs = int(random.integers(1, 7))
        self.outputs = outputs or int(random.integers(2, 7))
        self.depth = int(random.integers(2, 9))
        self.rounds = int(random.integers(2, 4))
        # Some variables are Boolean, some are often zero, some have few values.
        self.low = random.choice([-9, 0], self.inputs)
        self.high = random.choice([1, 5, 30], self.inputs)
        self.states = self.sample(self.size)
        self.values = self.states @ random.normal(size=(self.inputs, self.outputs)) / 9
        self.values += random.normal(size=self.values.shape)
        self.actions = self.values.argmax(axis=1)
        # Every class must occur.
        self.actions[: self.outputs] = range(self.outputs)

    def sample(self, count):
        states = self.random.integers(self.low, self.high + 1, size=(count, self.inputs))
        states[self.random.random(states.shape) < 0.1] = 0
        return numpy.clip(states, self.low, self.high)

    def questions(self):
        """States to ask for: those of training, and some with large numbers."""
        states = self.sample(STATES)
        large = self.random.random(states.shape) < 0.5
        large[: 3 * STATES // 4] = False
        states[large] = self.random.choice(LARGE, int(large.sum()))
        return states


def write(folder, name, library, states, save, predict):
    """Writes a fixture. `save` writes the policy into a file, `predict` reads it and gives its scores, one row per state.

    The scores are those of the file: the model in memory may differ, since XGBoost writes some base scores through a
    function that rounds.
    """
    place = folder / name
    place.mkdir(parents=True)
    file = str(place / f"policy.{EXTENSIONS[library.__name__]}")
    save(file)
    scores = predict(file).reshape(len(states), -1)
    if scores.shape[1] == 1:
        # Two classes share the score of the second.
        scores = numpy.concatenate([numpy.zeros_like(scores), scores], axis=1)
    fixture.write(place, library, states, scores)


def write_xgboost(folder, name, task, labels, parameters, rounds=None):
    common = {"max_depth": task.depth, "nthread": 1, "seed": int(task.random.integers(2**31)), "min_child_weight": 0.2}
    data = xgboost.DMatrix(task.states.astype(numpy.float32), label=labels)
    rounds = task.rounds if rounds is None else rounds
    booster = xgboost.train({**common, **parameters}, data, rounds)
    states = task.questions()
    asked = xgboost.DMatrix(states.astype(numpy.float32))

    def predict(file):
        return xgboost.Booster(model_file=file).predict(asked, output_margin=True)

    write(folder, f"xgboost-{name}", xgboost, states, booster.save_model, predict)


def xgboost_classes(folder, name, random):
    task = Task(random)
    objective = str(random.choice(["multi:softprob", "multi:softmax"]))
    parameters = {"objective": objective, "num_class": task.outputs, "learning_rate": float(random.uniform(0.05, 1))}
    if random.random() < 0.5:
        parameters["base_score"] = float(random.normal())
    write_xgboost(folder, name, task, task.actions, parameters)


def xgboost_two(folder, name, random):
    """Two actions as two classes with a score each."""
    task = Task(random, outputs=2)
    write_xgboost(folder, name, task, task.actions, {"objective": "multi:softprob", "num_class": 2})


def xgboost_pruned(folder, name, random):
    """Pruning leaves deleted nodes behind, and trees of a single leaf."""
    task = Task(random)
    parameters = {"objective": "multi:softprob", "num_class": task.outputs, "tree_method": "exact", "gamma": 8.0}
    write_xgboost(folder, name, task, task.actions, parameters)


def xgboost_dart(folder, name, random):
    task = Task(random)
    parameters = {
        "objective": "multi:softprob",
        "num_class": task.outputs,
        "booster": "dart",
        "rate_drop": 0.5,
        "one_drop": 1,
        "normalize_type": str(random.choice(["tree", "forest"])),
    }
    write_xgboost(folder, name, task, task.actions, parameters, rounds=4)


def xgboost_forest(folder, name, random):
    task = Task(random)
    parameters = {
        "objective": "multi:softmax",
        "num_class": task.outputs,
        "num_parallel_tree": 4,
        "subsample": 0.6,
        "colsample_bynode": 0.7,
        "learning_rate": 1.0,
    }
    write_xgboost(folder, name, task, task.actions, parameters, rounds=1)


def xgboost_regression(folder, name, random):
    """One regression per action, as for Q-values."""
    task = Task(random)
    objective = str(random.choice(["reg:squarederror", "reg:absoluteerror", "reg:pseudohubererror"]))
    write_xgboost(folder, name, task, task.values, {"objective": objective})


def xgboost_logistic(folder, name, random):
    """The base score of these objectives is a probability."""
    task = Task(random)
    labels = (task.values > 0).astype(float)
    # A probability of 0 or 1 has no log-odds.
    constant = labels.min(axis=0) == labels.max(axis=0)
    labels[0, constant] = 1 - labels[0, constant]
    objective = str(random.choice(["binary:logistic", "reg:logistic"]))
    parameters = {"objective": objective}
    if random.random() < 0.5:
        parameters["base_score"] = float(random.uniform(0.05, 0.95))
    write_xgboost(folder, name, task, labels, parameters)


def xgboost_logarithm(folder, name, random):
    """The base score of these objectives is a mean, whose logarithm counts."""
    task = Task(random)
    objective = str(random.choice(["reg:gamma", "reg:tweedie", "count:poisson"]))
    write_xgboost(folder, name, task, numpy.exp(task.values / 4), {"objective": objective})


def xgboost_empty(folder, name, random):
    task = Task(random)
    parameters = {"objective": "multi:softprob", "num_class": task.outputs, "base_score": 0.25}
    write_xgboost(folder, name, task, task.actions, parameters, rounds=0)


def write_lightgbm(folder, name, task, labels, parameters):
    common = {
        "num_class": task.outputs,
        "max_depth": task.depth,
        "num_leaves": int(task.random.integers(2, 25)),
        "min_data_in_leaf": 3,
        "num_threads": 1,
        "deterministic": True,
        "seed": int(task.random.integers(2**31)),
        "verbosity": -1,
    }
    data = lightgbm.Dataset(task.states.astype(float), label=labels)
    booster = lightgbm.train({**common, **parameters}, data, task.rounds)
    states = task.questions()

    def predict(file):
        return lightgbm.Booster(model_file=file).predict(states.astype(float), raw_score=True)

    write(folder, f"lightgbm-{name}", lightgbm, states, booster.save_model, predict)


def lightgbm_classes(folder, name, random):
    task = Task(random)
    parameters = {"objective": "multiclass", "learning_rate": float(random.uniform(0.05, 1))}
    write_lightgbm(folder, name, task, task.actions, parameters)


def lightgbm_two(folder, name, random):
    """Two actions as two classes with a score each."""
    task = Task(random, outputs=2)
    write_lightgbm(folder, name, task, task.actions, {"objective": "multiclass"})


def lightgbm_one_against_all(folder, name, random):
    task = Task(random)
    write_lightgbm(folder, name, task, task.actions, {"objective": "multiclassova"})


def lightgbm_dart(folder, name, random):
    task = Task(random)
    write_lightgbm(folder, name, task, task.actions, {"objective": "multiclass", "boosting": "dart", "drop_rate": 0.5})


def lightgbm_forest(folder, name, random):
    task = Task(random)
    parameters = {"objective": "multiclass", "boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6}
    write_lightgbm(folder, name, task, task.actions, parameters)


def lightgbm_absent(folder, name, random):
    """A class that never occurs has trees of a single leaf."""
    task = Task(random, outputs=3)
    write_lightgbm(folder, name, task, numpy.minimum(task.actions, 1), {"objective": "multiclass"})


def xgboost_binary(folder, name, random):
    """Two actions with a single score, as `XGBClassifier` trains them."""
    task = Task(random, outputs=2)
    parameters = {"objective": "binary:logistic"}
    if random.random() < 0.5:
        parameters.update({"booster": "dart", "rate_drop": 0.5})
    if random.random() < 0.5:
        parameters["base_score"] = float(random.uniform(0.05, 0.95))
    write_xgboost(folder, name, task, task.actions, parameters)


def lightgbm_binary(folder, name, random):
    """Two actions with a single score, as `LGBMClassifier` trains them."""
    task = Task(random, outputs=2)
    parameters = {"objective": "binary", "num_class": 1, "boosting": str(random.choice(["gbdt", "dart"]))}
    write_lightgbm(folder, name, task, task.actions, {**parameters, "sigmoid": float(random.uniform(0.5, 2))})


KINDS = [
    xgboost_classes,
    xgboost_two,
    xgboost_pruned,
    xgboost_dart,
    xgboost_forest,
    xgboost_regression,
    xgboost_logistic,
    xgboost_logarithm,
    xgboost_empty,
    lightgbm_classes,
    lightgbm_two,
    lightgbm_one_against_all,
    lightgbm_dart,
    lightgbm_forest,
    lightgbm_absent,
    *onnx_models.KINDS,
    xgboost_binary,
    lightgbm_binary,
    onnx_models.onnx_normalised,
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to write; fixtures that are there already are replaced")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--copies", type=int, default=2, help="fixtures of each kind")
    parser.add_argument("--size", type=int, default=Task.size, help="states to train XGBoost and LightGBM on; more make larger trees")
    arguments = parser.parse_args()
    Task.size = arguments.size
    for old in sorted(arguments.folder.glob("*/cases.json")):
        if old.parent.name.split("-")[0] in LIBRARIES:
            shutil.rmtree(old.parent)
    for kind_number, kind in enumerate(KINDS):
        for copy in range(arguments.copies):
            random = numpy.random.default_rng([arguments.seed, kind_number, copy])
            name = kind.__name__.split("_", 1)[1].replace("_", "-")
            kind(arguments.folder, f"{name}-{copy}", random)


if __name__ == "__main__":
    main()
