"""Policies: what chooses labels, read from files or made from objects of other libraries."""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple

from . import _native
from ._arguments import PathLike, boolean, constants, listed, names, option, options, switch, text, valued
from ._errors import PolicyError, UsageError, translated, writing
from ._model import MEMORY, Model

if TYPE_CHECKING:
    import numpy as np


class Policy:
    """A policy of a model: scores over labels, of which the highest is chosen.

    Make one with :func:`load_policy` or one of the functions ``from_…``.

    Attributes:
        model: The model that it acts in.
        path: The interface file; one that exists in memory only is called ``<memory>/…``.
        scorer: The file of the network or the tree ensemble, if it is not the one that the interface names.
        files: Contents of the files that exist in memory only, by name.
        arithmetic: The arithmetic in which its library computes, which :func:`verify` takes unless told otherwise; ``None`` for
            policies from files, which are then read in ``"f64"``.
    """

    def __init__(
        self,
        model: Model,
        path: str,
        files: Optional[Mapping[str, bytes]] = None,
        scorer: Optional[str] = None,
        arithmetic: Optional[str] = None,
    ) -> None:
        self.model = model
        self.path = path
        self.files: Dict[str, bytes] = dict(files or {})
        self.scorer = scorer
        self.arithmetic = arithmetic
        self._questions: Dict[Any, _native.Question] = {}
        self._document = self._read()

    def _read(self) -> Dict[str, Any]:
        model = self.model
        arguments = [model.path, *constants(model.constants), *self._arguments()]
        with translated():
            document, _ = _native.info(arguments, [*model.files.items(), *self.files.items()])
        return json.loads(document)

    def _arguments(self) -> List[str]:
        return option("policy", self.path) + option("scorer", self.scorer)

    @property
    def inputs(self) -> List[str]:
        """What it reads, in order: names of variables, and values of constants."""
        return self._document["policy"]["inputs"]

    @property
    def outputs(self) -> List[str]:
        """The labels that it chooses from, in order."""
        return self._document["policy"]["outputs"]

    @property
    def filter(self) -> bool:
        """Whether it chooses among applicable labels only."""
        return self._document["policy"]["filter"]

    @property
    def description(self) -> str:
        """What it is, in one line."""
        return self._document["policy"]["description"]

    @property
    def warnings(self) -> List[str]:
        """What looks wrong in its files."""
        return [warning["message"] for warning in self._document["warnings"]]

    def scores(self, states: Any, arithmetic: Optional[str] = None) -> "np.ndarray":
        """Scores at states, in an array of shape ``(states, outputs, 2)``: the lower and the upper end of each.

        Args:
            states: States as dictionaries, or an array with one row of numbers per state, in the order of ``model.variables``.
            arithmetic: ``"f64"``, ``"f32"``, ``"real"`` or ``"any-f32"``. In the first two both ends are the score itself.
        """
        numbers = self.model.vectors(states)
        with translated():
            return self._question(arithmetic or self.arithmetic).scores(numbers)

    def _question(self, arithmetic: Optional[str]) -> _native.Question:
        """The policy as it is evaluated in an arithmetic; it is read once, unless its files change."""
        paths = [file["path"] for file in self._document["files"]]
        key = (arithmetic, *(os.stat(path).st_mtime_ns for path in paths if os.path.exists(path)))
        if key not in self._questions:
            self._questions.clear()
            # Any property will do: scores do not depend on it.
            unused = {"name": "scores", "expression": {"op": "PA", "reach": False}}
            arguments, files = self.model._arguments(unused)
            arguments = [self.model.path, *arguments, *self._arguments(), *option("arithmetic", arithmetic)]
            everything = [*self.model.files.items(), *self.files.items(), *files.items()]
            question = _native.Question(arguments, everything)
            self.model.check_unchanged()
            self._questions[key] = question
        return self._questions[key]

    def __getstate__(self) -> Dict[str, Any]:
        # Questions belong to this process.
        return {**self.__dict__, "_questions": {}}

    def choose(self, state: Mapping[str, Any]) -> str:
        """The label with the highest score in a state; the first of several. Whether it is applicable does not matter here.

        Where scores are enclosed (``"any-f32"``), that is the highest middle, which is one of those that are possible.
        """
        scores = self.scores([state])[0].sum(axis=1)
        return self.outputs[int(scores.argmax())]

    def save(self, path: PathLike) -> "Policy":
        """Writes the policy as an interface file (``.jani2nnet``) with the file of its scorer beside it.

        The command line reads both: ``surefoot verify MODEL --policy PATH``. The result is the same policy, on disk.
        """
        if not self.files:
            raise UsageError(f"the policy is a file already: {self.path}")
        path = Path(path)
        if path.suffix != ".jani2nnet":
            path = path.with_name(path.name + ".jani2nnet")
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._write(path)
        return Policy(self.model, str(path), arithmetic=self.arithmetic)

    def _write(self, path: Path) -> None:
        """Writes the interface, and the scorer beside it."""
        interface = json.loads(self.files[self.path])
        # The names of files in memory may be in use on disk: the scorer is called like the interface.
        scorer = f"{MEMORY}/{interface['file']}"
        if scorer in self.files:
            ending = "".join(Path(interface["file"]).suffixes)
            interface["file"] = path.name[: -len(".jani2nnet")] + ending
            (path.parent / interface["file"]).write_bytes(self.files[scorer])
        elif self.scorer is not None:
            interface["file"] = os.path.abspath(self.scorer)
        path.write_text(json.dumps(interface, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")

    def __repr__(self) -> str:
        among = "applicable labels" if self.filter else "all its labels"
        return f"<Policy for {self.model.name}: {self.description}, choosing among {among}>"


def load_policy(
    path: PathLike,
    model: Model,
    *,
    scorer: Optional[PathLike] = None,
    inputs: Optional[Sequence[str]] = None,
    outputs: Optional[Sequence[str]] = None,
    filter: Optional[bool] = None,
    activation: Optional[str] = None,
    layers: Optional[Sequence[str]] = None,
) -> Policy:
    """Reads a policy from files.

    Args:
        path: The interface file. With ``inputs`` or ``outputs``: the network or tree ensemble itself, in one of the formats of
            docs/formats.md.
        model: The model that the policy acts in.
        scorer: The file of the network or tree ensemble, instead of the one that the interface names.
        inputs: What the policy reads, in order: names of variables or constants. Default: ``model.observed``.
        outputs: The labels that it chooses from, in order. Default: ``model.labels``.
        filter: Without interface file: whether it chooses among applicable labels only. Default: true for an archive of
            MaskablePPO.
        activation: Of a state dict: what stands between its layers.
        layers: Of a state dict: names of its layers, in order, where names and shapes leave that open.
    """
    check_model(model)
    if inputs is None and outputs is None:
        given = {"filter": filter, "activation": activation, "layers": layers}
        extra = [name for name, value in given.items() if value is not None]
        if extra:
            raise UsageError(f"{listed(extra)}: needs `inputs` or `outputs`; an interface file says it itself")
        return _told(Policy(model, os.fspath(path), scorer=None if scorer is None else os.fspath(scorer)))
    if scorer is not None:
        raise UsageError("`scorer` is for interface files; with `inputs` or `outputs` the path names the scorer")
    interface = interface_document(model, os.path.abspath(path), inputs, outputs, filter)
    interface.update({key: value for key, value in (("activation", activation), ("layers", layers)) if value})
    return from_contents(model, interface, {})


def interface_document(
    model: Model,
    file: str,
    inputs: Optional[Sequence[str]],
    outputs: Optional[Sequence[str]],
    filter: Optional[bool],
) -> Dict[str, Any]:
    """A policy interface."""
    check_model(model)
    inputs = model.observed if inputs is None else names("inputs", inputs)
    outputs = model.labels if outputs is None else names("outputs", outputs)
    document = {"file": file, "input": [input_document(model, name) for name in inputs], "output": outputs}
    chosen = boolean("filter", filter)
    return document if chosen is None else {**document, "filter": chosen}


def check_model(model: Any) -> None:
    """Refuses what is no model."""
    if not isinstance(model, Model):
        raise UsageError(
            f"`model` is a {type(model).__name__}, but must be a Model\n  hint: make one with `load_model` or `generate`"
        )


def input_document(model: Model, name: str) -> Mapping[str, Any]:
    """How an interface names an input."""
    for variable in model.variables:
        if variable.name == name:
            return variable.input
    constants = {constant["name"]: constant for constant in model.document["constants"]}
    element = re.fullmatch(r"(.+)\[(\d+)\]", name)
    if element and element[1] in constants:
        return {"name": element[1], "index": int(element[2]), "automaton": None}
    if name in constants:
        return {"name": name, "automaton": None}
    raise PolicyError(
        f"the model `{model.name}` has no variable or constant `{name}`\n"
        f"  hint: it has the variables {listed(variable.name for variable in model.variables)}"
    )


def from_contents(
    model: Model,
    interface: Mapping[str, Any],
    files: Mapping[str, bytes],
    arithmetic: Optional[str] = None,
) -> Policy:
    """A policy whose interface, and perhaps other files, are in memory."""
    path = f"{MEMORY}/policy.jani2nnet"
    contents = json.dumps(interface, ensure_ascii=False).encode()
    return _told(Policy(model, path, {path: contents, **files}, arithmetic=arithmetic))


def _told(policy: Policy) -> Policy:
    """A policy whose warnings, but those of its model, were given."""
    known = {warning["message"] for warning in policy.model.document["warnings"]}
    for message in policy.warnings:
        if message not in known:
            warnings.warn(message, stacklevel=_outside())
    return policy


def _outside() -> int:
    """The level of the caller of this package, for a warning of the function that asks."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __name__.partition(".")[0]:
        level, frame = level + 1, frame.f_back
    return level


#: Options of the command line that have another form here.
_ELSEWHERE = {
    "out": "the policy exists in memory: `policy.save(path)` writes it",
    "force": "the policy exists in memory: `policy.save(path)` writes it",
    "const": "pass `constants` to `load_model`",
    "property": "policies do not depend on properties",
}


def generate_policy(model: Model, kind: str = "network", *, name: str = "policy", **parameters: Any) -> Policy:
    """A random policy for a model, to try things out.

    Args:
        model: The model.
        kind: ``"network"``, ``"forest"`` or ``"boosted"``.
        name: What its files are called.
        parameters: Those of ``surefoot gen policy``: ``hidden=[32, 32]``, ``trees``, ``depth``, ``filter``, ``inputs``, ``seed``.
    """
    check_model(model)
    for elsewhere, hint in _ELSEWHERE.items():
        if elsewhere in parameters:
            raise UsageError(f"`{elsewhere}`: {hint}")
    about = [*constants(model.constants), *valued({"kind": kind, "name": name}), *options(parameters, ["gen", "policy"])]
    model.check_unchanged()
    arguments = ["policy", model.path, *about]
    with translated():
        made = _native.generate(arguments, list(model.files.items()))
    files = {f"{MEMORY}/{file}": contents.encode() for file, contents in made}
    return Policy(model, next(iter(files)), files)


def policy_arguments(
    model: Model, policy: Any, filter: Optional[bool], arithmetic: Optional[str]
) -> Tuple[List[str], Dict[str, bytes]]:
    """The options that say which policy is meant and how it is read, and its files in memory."""
    if policy is None:
        if filter is not None or arithmetic is not None:
            raise UsageError("without a policy, neither `filter` nor `arithmetic` has a meaning")
        return ["--no-policy"], {}
    reading = switch("filter", filter)
    if isinstance(policy, Policy):
        if policy.model.digest != model.digest:
            raise UsageError("the policy was made for another model")
        _compare_constants(policy.model, model)
        arithmetic = policy.arithmetic if arithmetic is None else arithmetic
        return policy._arguments() + reading + valued({"arithmetic": arithmetic}), policy.files
    if policy is BY_PROPERTY:
        return reading + valued({"arithmetic": arithmetic}), {}
    if isinstance(policy, (str, os.PathLike)):
        return option("policy", policy) + reading + valued({"arithmetic": arithmetic}), {}
    raise UsageError(
        f"`policy` is a {type(policy).__name__}, but must be a Policy, an interface file, or None for the environment alone\n"
        "  hint: objects of other libraries become policies with `from_torch`, `from_sb3`, `from_sklearn`, …"
    )


def _compare_constants(own: Model, model: Model) -> None:
    """Refuses a model with other constants than the one that a policy was made for: they may be its inputs."""
    for before, now in zip(own.document["constants"], model.document["constants"]):
        if (before["values"], before["dimensions"]) != (now["values"], now["dimensions"]):
            name, values = now["name"], [", ".join(map(text, each["values"])) for each in (before, now)]
            raise UsageError(
                f"the policy was made for the constant `{name}` = {values[0]}, but in the model it is {values[1]}\n"
                "  hint: make or load the policy again, for this model"
            )


class _ByProperty:
    def __repr__(self) -> str:
        return "the policy that the property names"


#: The default of ``policy``: the policy that the property names.
BY_PROPERTY: Any = _ByProperty()
