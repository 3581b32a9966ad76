"""Which variables the inputs of an object are, and which labels its outputs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence

from .._arguments import PathLike, boolean, listed
from .._errors import InputError, PolicyError, UsageError
from .._model import Model
from .._policy import Policy, check_model, interface_document


def make_interface(
    model: Model,
    file: str,
    counts: "Optional[tuple[int, int]]",
    inputs: Optional[Sequence[str]],
    outputs: Optional[Sequence[str]],
    interface: Optional[PathLike],
    filter: Optional[bool],
    names: Optional[Sequence[str]] = None,
    labels: Optional[Sequence[str]] = None,
) -> Dict[str, Any]:
    """An interface for an object with these numbers of inputs and outputs, if they are known.

    Inputs are those of the interface file, else those that are listed, else the ``names`` that the object knows itself, else
    ``model.observed``; outputs likewise.
    """
    if interface is not None:
        if inputs is not None or outputs is not None:
            raise UsageError("`interface` says what the inputs and outputs are: leave out `inputs` and `outputs`")
        # A network says itself what stands between its layers; a state dict does not.
        document = read_interface(interface, *(("activation", "layers") if counts is None else ()))
        found = (len(document["input"]), len(document["output"]))
        described = (f"the interface {os.fspath(interface)} lists", f"the interface {os.fspath(interface)} lists")
        document["file"] = file
        if filter is not None:
            document["filter"] = boolean("filter", filter)
    else:
        given = inputs if inputs is not None else names
        chosen = outputs if outputs is not None else labels
        document = interface_document(model, file, given, chosen, filter)
        found = (len(document["input"]), len(document["output"]))
        described = (_described("inputs", inputs, names, "variables"), _described("outputs", outputs, labels, "labels"))
    expected_counts = found if counts is None else counts
    for what, count, expected, where, whole in (
        ("inputs", found[0], expected_counts[0], described[0], model.observed),
        ("outputs", found[1], expected_counts[1], described[1], model.labels),
    ):
        if count != expected:
            raise PolicyError(
                f"the policy has {expected} {what}, but {where} {count}\n"
                f"  hint: list them with `{what}=[…]`; the model has {listed(whole)}"
            )
    unknown = [label for label in document["output"] if label not in model.all_labels]
    if unknown:
        raise PolicyError(f"the model `{model.name}` has no label `{unknown[0]}`\n  hint: it has {listed(model.all_labels)}")
    return document


def _described(argument: str, given: Optional[Sequence[str]], own: Optional[Sequence[str]], what: str) -> str:
    if given is not None:
        return f"`{argument}` lists"
    if own is not None:
        return "its names say"
    kind = "variables that can have several values:" if what == "variables" else "labels that have commands:"
    return f"the model has {kind}"


def read_interface(path: PathLike, *more: str) -> Dict[str, Any]:
    """What an interface file says about inputs and outputs, and ``more`` of it."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{os.fspath(path)}: {error.strerror}", error.strerror, os.fspath(path)) from error
    except json.JSONDecodeError as error:
        message = f"no JSON: {error.msg}"
        place = f"{os.fspath(path)}:{error.lineno}:{error.colno}"
        raise InputError(f"{place}: {message}", message, os.fspath(path), error.lineno, error.colno) from error
    except UnicodeDecodeError as error:
        message = f"no text: {error}"
        raise InputError(f"{os.fspath(path)}: {message}", message, os.fspath(path)) from error
    if not isinstance(document, Mapping) or not all(isinstance(document.get(key), list) for key in ("input", "output")):
        message = "an interface is a JSON object with the lists `input` and `output`"
        raise InputError(f"{os.fspath(path)}: {message}", message, os.fspath(path))
    kept = ("filter", "input", "output", "comment", "metadata", *more)
    return {key: value for key, value in document.items() if key in kept}


def names_of_variables(
    model: Model, names: Optional[Sequence[Any]], inputs: Optional[Sequence[str]], interface: Optional[PathLike]
) -> Optional[List[str]]:
    """Names of features, if they are variables or constants of the model; ``None`` if none of them is, or if others are listed.

    Where some are and some are not, the order of the others cannot be known.
    """
    check_model(model)
    if names is None or inputs is not None or interface is not None:
        return None
    known = {variable.name for variable in model.variables} | {c["name"] for c in model.document["constants"]}
    names = [str(name) for name in names]
    unknown = [name for name in names if name not in known]
    if unknown and len(unknown) < len(names):
        raise PolicyError(
            f"the feature `{unknown[0]}` is no variable of the model `{model.name}`, though others are\n"
            f"  hint: list what the features are with `inputs=[…]`; the model has {listed(model.observed)}"
        )
    return names if names and not unknown else None


def check_names(policy: Policy, features: Optional[Sequence[Any]]) -> None:
    """Refuses a policy in which a feature that has the name of a variable is another input."""
    names = {variable.name for variable in policy.model.variables}
    features = [] if features is None else [str(feature) for feature in features]
    for index, (feature, chosen) in enumerate(zip(features, policy.inputs)):
        if feature in names and feature != chosen:
            raise PolicyError(
                f"input {index} is `{chosen}`, but the policy was trained on `{feature}` there\n"
                f"  hint: list the inputs in the order of the features: {listed(features)}"
            )


def check_classes(model: Model, classes: Sequence[Any], document: Mapping[str, Any]) -> None:
    """Refuses an interface in which a class that has the name of a label is another output."""
    for index, (value, label) in enumerate(zip(classes, document["output"])):
        if isinstance(value, str) and value in model.all_labels and value != label:
            raise PolicyError(
                f"output {index} is `{label}`, but it is the class `{value}`\n"
                f"  hint: list the outputs in the order of the classes: {listed(map(str, classes))}"
            )


def labels_of_classes(model: Model, classes: Sequence[Any], outputs: Optional[Sequence[str]]) -> List[str]:
    """The labels of a classifier: its classes are names of labels, or positions in ``outputs`` or ``model.labels``."""
    check_model(model)
    values = [value.item() if hasattr(value, "item") else value for value in classes]
    if len(values) < 2:
        raise PolicyError(f"there is one class only, {values[0]!r}: the policy was trained on a single label")
    if all(isinstance(value, str) for value in values):
        unknown = [value for value in values if value not in model.all_labels]
        if unknown:
            raise PolicyError(
                f"the class `{unknown[0]}` is no label of the model `{model.name}`\n"
                f"  hint: it has {listed(model.all_labels)}; an interface file can list labels by class"
            )
        if outputs is not None and list(outputs) != values:
            raise UsageError(f"`outputs` lists {listed(outputs)}, but the classes are labels themselves: {listed(values)}")
        return list(values)
    labels = model.labels if outputs is None else list(outputs)
    if not all(isinstance(value, (int, bool)) or float(value).is_integer() for value in values):
        raise PolicyError(f"the classes {values[:5]} are neither labels nor positions in a list of labels")
    positions = [int(value) for value in values]
    wrong = [position for position in positions if not 0 <= position < len(labels)]
    if wrong:
        raise PolicyError(f"there is a class {wrong[0]}, but {len(labels)} labels: {listed(labels)}")
    return [labels[position] for position in positions]
