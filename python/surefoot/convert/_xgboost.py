"""Ensembles of XGBoost."""

from __future__ import annotations

import json
from typing import Any, Optional, Sequence

import numpy as np

from .._arguments import PathLike
from .._errors import PolicyError, UsageError, require
from .._model import MEMORY, Model
from .._policy import Policy, from_contents
from ._compare import compare, compare_classes, compare_values, with_first_class
from ._interface import labels_of_classes, make_interface, names_of_variables


def from_xgboost(
    booster: Any,
    model: Model,
    *,
    inputs: Optional[Sequence[str]] = None,
    outputs: Optional[Sequence[str]] = None,
    interface: Optional[PathLike] = None,
    filter: Optional[bool] = None,
) -> Policy:
    """A policy from an ensemble of XGBoost with one score per label, or with one for two labels (``binary:logistic``).

    Args:
        booster: A ``Booster``, ``XGBClassifier`` or ``XGBRegressor``. Of the latter two, the trees up to ``best_iteration`` count.
        model: The model that the policy acts in.
        inputs: What it reads, in order. Default: its feature names if they are variables of the model, else ``model.observed``.
        outputs: The labels of its scores, in order. Default: ``model.labels``.
        interface: An interface file (``.jani2nnet``) that says both.
        filter: Whether it chooses among applicable labels only.
    """
    xgboost = require("xgboost", "from_xgboost")
    labels = None
    wrapper = booster
    if isinstance(booster, xgboost.XGBModel):
        missing = booster.missing
        if missing is not None and not np.isnan(missing):
            raise PolicyError(f"the value {missing} counts as missing in this model; train it without `missing`")
        booster = booster.get_booster()
        # Only there if training has stopped early, or a file says so; `predict` goes by it.
        best = getattr(wrapper, "best_iteration", None)
        if best is not None:
            booster = booster[: best + 1]
        if isinstance(wrapper, xgboost.XGBClassifier) and interface is None:
            labels = labels_of_classes(model, wrapper.classes_, outputs)
    if type(booster) is not xgboost.Booster or "predict" in vars(booster):
        raise UsageError(
            f"`booster` is a {type(wrapper).__name__}, but must be a Booster or a model of xgboost, without `predict` of its own"
        )
    # What a file says is what counts: some base scores are rounded when they are written.
    contents = bytes(booster.save_raw(raw_format="json"))
    read = xgboost.Booster(model_file=bytearray(contents))
    features = int(booster.num_features())
    names = names_of_variables(model, booster.feature_names, inputs, interface)

    is_binary = json.loads(contents)["learner"]["objective"]["name"] == "binary:logistic"

    def scores(rows: np.ndarray) -> np.ndarray:
        data = xgboost.DMatrix(rows.astype(np.float32), feature_names=booster.feature_names)
        found = read.predict(data, output_margin=True, strict_shape=True).reshape(len(rows), -1)
        return with_first_class(found) if is_binary and found.shape[1] == 1 else found

    count = scores(np.zeros((1, features))).shape[1]
    if count < 2:
        raise PolicyError(
            "the ensemble has one score per state, but a policy needs one per label\n"
            "  hint: train it as a classifier (objective `multi:softprob`, or `binary:logistic` for two labels)"
        )
    chosen = labels if labels is not None else outputs
    document = make_interface(model, "policy.xgboost.json", (features, count), inputs, chosen, interface, filter, names=names)
    policy = from_contents(model, document, {f"{MEMORY}/policy.xgboost.json": contents}, "f32")
    compare(policy, "XGBoost", scores, "f32")
    if isinstance(wrapper, xgboost.XGBClassifier):
        compare_classes(policy, "XGBoost", wrapper, policy.outputs, np.float32, "f32")
    elif isinstance(wrapper, xgboost.XGBModel):
        compare_values(policy, "XGBoost", wrapper, np.float32, "f32")
    return policy
