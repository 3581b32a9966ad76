"""Models: what a policy acts in."""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _native
from ._arguments import PathLike, boolean, contents, listed, option, options, path, plain, whole
from ._arguments import constants as constant_arguments
from ._errors import InputError, UsageError, translated, writing

if TYPE_CHECKING:
    import numpy as np

#: The folder of files that exist in memory only.
MEMORY = "<memory>"

Value = Union[bool, int, str]
PropertyLike = Union[None, int, str, "os.PathLike[str]", Mapping[str, Any]]


@dataclass(frozen=True)
class Variable:
    """A variable of a model.

    Attributes:
        name: Its unique name. Elements of arrays are ``a[0]``, ``a[1]``, …
        lower, upper: The bounds of its values; Booleans are 0 and 1, locations their position.
        kind: ``"bool"``, ``"int"``, ``"real"`` or ``"location"``.
        values: Names of locations.
        initial: The initial value as text, if it is unique.
        input: How a policy interface names the variable.
    """

    name: str
    lower: float
    upper: float
    kind: str
    values: Tuple[str, ...]
    initial: Optional[str]
    input: Mapping[str, Any]

    def number(self, value: Any) -> int:
        """A value of the variable as the number that stands in states."""
        if self.kind == "location" and isinstance(value, str):
            if value not in self.values:
                raise UsageError(f"`{self.name}` has no location `{value}`")
            return self.values.index(value)
        return whole(f"`{self.name}`", value)

    def value(self, number: int) -> Value:
        """The number of a state as a value."""
        if self.kind == "bool":
            return bool(number)
        if self.kind == "location":
            return self.values[number]
        return int(number)


@dataclass(frozen=True)
class Property:
    """A property of a model. Conditions are texts; ``reason`` says why it cannot be used."""

    index: int
    name: str
    kind: str
    supported: bool
    unsafe: Optional[str] = None
    start: Optional[str] = None
    goal: Optional[str] = None
    reason: Optional[str] = None


class Model:
    """An environment: guarded commands over bounded variables, with properties.

    Make one with :func:`load_model` or :func:`generate`.

    Attributes:
        path: The model file; one that exists in memory only is called ``<memory>/…``.
        property_file: A file with additional properties.
        constants: Values that were given to constants.
        files: Contents of the files that exist in memory only, by name.
    """

    def __init__(
        self,
        path: str,
        property_file: Optional[str] = None,
        constants: Optional[Mapping[str, Any]] = None,
        files: Optional[Mapping[str, bytes]] = None,
    ) -> None:
        self.path = path
        self.property_file = property_file
        self.constants: Dict[str, Any] = dict(constants or {})
        self.files: Dict[str, bytes] = dict(files or {})

    @cached_property
    def _info(self) -> Tuple[Dict[str, Any], str]:
        arguments = [self.path, "--no-policy", *self._arguments(None)[0]]
        with translated():
            document, text = _native.info(arguments, list(self.files.items()))
        return json.loads(document), text

    @property
    def document(self) -> Dict[str, Any]:
        """What the model consists of, as the document ``surefoot-info/1`` (see docs/json.md)."""
        return self._info[0]

    @property
    def name(self) -> str:
        """The name in the model file."""
        return self.document["model"]["name"]

    @cached_property
    def variables(self) -> List[Variable]:
        """The variables of states, in order."""
        return [_variable(document) for document in self.document["variables"]]

    @cached_property
    def labels(self) -> List[str]:
        """The labels that have commands, in order: what a policy can choose."""
        labels = self.document["labels"]
        return [label["name"] for label in labels if label["name"] is not None and label["commands"] > 0]

    @property
    def all_labels(self) -> List[str]:
        """All labels, also those without a command."""
        return [label["name"] for label in self.document["labels"] if label["name"] is not None]

    @property
    def observed(self) -> List[str]:
        """The variables that can have several values, in order: what policies and environments see unless told otherwise."""
        return [variable.name for variable in self.variables if variable.lower < variable.upper]

    @property
    def properties(self) -> List[Property]:
        """All properties."""
        return [_property(document) for document in self.document["properties"]]

    def variable(self, name: str) -> Variable:
        """The variable of this name."""
        for variable in self.variables:
            if variable.name == name:
                return variable
        raise UsageError(f"the model `{self.name}` has no variable `{name}`")

    def state(self, numbers: Sequence[int]) -> Dict[str, Value]:
        """A vector of numbers as a state: values by name."""
        return {variable.name: variable.value(number) for variable, number in zip(self.variables, numbers)}

    def numbers(self, state: Mapping[str, Any]) -> List[int]:
        """A state as a vector of numbers. Variables that have one value only may be left out."""
        unknown = [name for name in state if all(name != variable.name for variable in self.variables)]
        if unknown:
            raise UsageError(f"the model `{self.name}` has no variable `{unknown[0]}`")
        numbers = []
        for variable in self.variables:
            if variable.name in state:
                number = variable.number(state[variable.name])
                if not variable.lower <= number <= variable.upper:
                    bounds = f"{variable.lower}..{variable.upper}"
                    raise UsageError(f"{number} is no value of `{variable.name}`, which is in {bounds}")
                numbers.append(number)
            elif variable.lower == variable.upper:
                numbers.append(int(variable.lower))
            else:
                raise UsageError(f"the value of `{variable.name}` is missing")
        return numbers

    def vectors(self, states: Any) -> "np.ndarray":
        """States as an array with one row of numbers each: dictionaries, or rows of numbers already."""
        import numpy as np

        if not isinstance(states, np.ndarray):
            rows = [self.numbers(state) if isinstance(state, Mapping) else state for state in states]
            states = np.asarray(rows) if len({np.shape(row) for row in rows}) == 1 else np.empty(0)
        if states.ndim != 2:
            raise UsageError("`states` must be a list of states, or an array with one row per state")
        if states.shape[1] != len(self.variables):
            raise UsageError(f"states have {states.shape[1]} numbers, but the model has {len(self.variables)} variables")
        if states.dtype.kind not in "iub":
            raise UsageError(f"`states` are of type {states.dtype}, but must be whole numbers")
        for variable, column in zip(self.variables, states.T):
            wrong = [] if variable.kind == "real" else column[(column < variable.lower) | (column > variable.upper)]
            if len(wrong):
                raise UsageError(f"{wrong[0]} is no value of `{variable.name}`, which is in {variable.lower}..{variable.upper}")
        return np.ascontiguousarray(states, dtype=np.int32)

    @property
    def digest(self) -> str:
        """The hash (SHA-256) of the model file as it was read."""
        return self.document["files"][0]["sha256"]

    def check_unchanged(self) -> None:
        """Refuses a model whose files are no longer those that were read: names, numbers and properties may be others."""
        for file in self.document["files"]:
            if file["path"] not in self.files and file["sha256"] != _hash_of_file(file["path"]):
                raise UsageError(
                    f"{file['path']}: the file has changed since `load_model`, or is gone\n  hint: load the model again"
                )

    def save(self, folder: PathLike) -> "Model":
        """Writes the files of the model and its properties to a folder; the result is the same model, there."""
        self.check_unchanged()
        folder = Path(folder)
        names = list(dict.fromkeys([*self.files, *(file["path"] for file in self.document["files"])]))
        moved = {name: str(folder / Path(name).name) for name in names}
        if len(set(moved.values())) < len(moved):
            raise UsageError(f"{listed(names)}: files of the same name cannot be saved to one folder")
        read = {name: self.files[name] if name in self.files else Path(name).read_bytes() for name in names}
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            for name in names:
                Path(moved[name]).write_bytes(read[name])
        property_file = None if self.property_file is None else moved[self.property_file]
        return Model(moved[self.path], property_file, self.constants)

    def _arguments(self, chosen: PropertyLike) -> Tuple[List[str], Dict[str, bytes]]:
        """The options that say which property of which constants is meant, and further files in memory."""
        arguments = constant_arguments(self.constants)
        files: Dict[str, bytes] = {}
        if isinstance(chosen, Mapping):
            # In a folder, where no model can be that was given as a dictionary.
            name = f"{MEMORY}/given/property.jani"
            files[name] = _property_contents(chosen)
            return arguments + option("property", name), files
        if isinstance(chosen, str) and _names_file(chosen):
            # Properties come before files of the same name.
            chosen = self._index_of(chosen)
        if isinstance(chosen, (str, os.PathLike)) and _names_file(chosen):
            return arguments + option("property", chosen), files
        if self.property_file is not None:
            arguments += option("property", self.property_file)
        if chosen is not None:
            arguments += option("property", chosen if isinstance(chosen, str) else _index(chosen))
        return arguments, files

    def _index_of(self, name: str) -> Union[int, str]:
        """The index of the property with a name that could be that of a file; the name if there is none."""
        indices = [property.index for property in self.properties if property.name == name]
        if len(indices) > 1:
            raise UsageError(f"several properties are called `{name}`\n  hint: pass the index: {', '.join(map(str, indices))}")
        return indices[0] if indices else name

    def __repr__(self) -> str:
        counts = f"{len(self.variables)} variables, {len(self.labels)} labels, {len(self.properties)} properties"
        return f"<Model {self.name}: {counts}>"

    def __str__(self) -> str:
        return self._info[1]


def _hash_of_file(name: str) -> Optional[str]:
    try:
        return hashlib.sha256(Path(name).read_bytes()).hexdigest()
    except OSError:
        return None


def _names_file(chosen: Union[str, "os.PathLike[str]"]) -> bool:
    """Whether a property is meant by its file, as on the command line."""
    if isinstance(chosen, os.PathLike):
        return True
    return chosen.lower().endswith((".jani", ".json")) or os.path.exists(chosen)


def _index(chosen: Any) -> int:
    """The index of a property."""
    if isinstance(plain(chosen), bool):
        raise UsageError("`property` is a bool, but must be a name, an index, a file or its contents")
    index = whole("`property`", chosen)
    if _names_file(str(index)):
        raise UsageError(f"`property` is {index}, but there is a file of that name, too\n  hint: pass the name of the property")
    return index


def _property_contents(document: Mapping[str, Any]) -> bytes:
    """The file for a property that is given as a document: all of the file, or one property of it."""
    return contents(document if "properties" in document else {"properties": [document]})


def _variable(document: Mapping[str, Any]) -> Variable:
    domain = document["domain"]
    kind = domain["type"]
    if kind == "bool":
        lower, upper, values = 0, 1, ()
    elif kind == "location":
        lower, upper, values = 0, len(domain["values"]) - 1, tuple(domain["values"])
    else:
        lower, upper, values = domain["lower"], domain["upper"], ()
    return Variable(document["name"], lower, upper, kind, values, document["initial"], document["input"])


def _property(document: Mapping[str, Any]) -> Property:
    reason = document.get("reason")
    return Property(
        document["index"],
        document["name"],
        document["kind"],
        document["supported"],
        document.get("unsafe"),
        document.get("start"),
        document.get("goal"),
        None if reason is None else reason["message"],
    )


def load_model(
    source: Union[PathLike, Mapping[str, Any]],
    property: Union[None, PathLike, Mapping[str, Any]] = None,
    constants: Optional[Mapping[str, Any]] = None,
) -> Model:
    """Reads a model.

    Args:
        source: A JANI file, or its contents as a dictionary.
        property: A file with additional properties, or its contents as a dictionary.
        constants: Values of constants, by name.

    Raises:
        InputError: The model is wrong; the exception says where.
    """
    files: Dict[str, bytes] = {}
    if isinstance(source, Mapping):
        name = re.sub(r"[^\w.+-]", "_", str(source.get("name") or "model"))
        model_file = f"{MEMORY}/{name}.jani"
        files[model_file] = contents(source)
    else:
        model_file = path("source", source)
    property_file: Optional[str] = None
    if isinstance(property, Mapping):
        property_file = f"{MEMORY}/{Path(model_file).stem}.property.jani"
        files[property_file] = _property_contents(property)
    elif property is not None:
        property_file = path("property", property)
        if not _names_file(property_file):
            raise InputError(f"{property_file}: no such file", "no such file", property_file)
    if constants is not None and not isinstance(constants, Mapping):
        raise UsageError(f"`constants` is a {type(constants).__name__}, but must be a dictionary: values by name")
    model = Model(model_file, property_file, constants, files)
    model.document  # read now: mistakes are told where the file is named
    return model


#: Options of generators whose Booleans are values, not flags.
_VALUED = {"cost_terminal"}


def generate(domain: str, **parameters: Any) -> Model:
    """Generates an instance of a benchmark domain, with its property.

    Args:
        domain: ``"blocksworld"``, ``"npuzzle"``, ``"transport"``, ``"one_way_line"``, ``"two_way_line"``, ``"beluga"`` or
            ``"racetrack"``.
        parameters: Those of ``surefoot gen DOMAIN``, such as ``blocks=4``; what is left out has its default.

    Example:
        >>> surefoot.generate("blocksworld", blocks=4, table_limit=3)
    """
    if domain == "policy":
        raise UsageError("a policy is no domain\n  hint: call `generate_policy`")
    if not isinstance(domain, str) or domain.startswith("-"):
        raise UsageError(f"`domain` is {domain!r}, but must be the name of a domain such as 'blocksworld'")
    for name in ("out", "force"):
        if name in parameters:
            raise UsageError(f"`{name}`: the model exists in memory\n  hint: write its files with `model.save(folder)`")
    domain = domain.replace("_", "-")
    for name in _VALUED & set(parameters):
        value = boolean(name, parameters[name])
        parameters[name] = None if value is None else str(value).lower()
    arguments = options(parameters, ["gen", domain])
    with translated():
        made = _native.generate([domain, *arguments], [])
    files = {f"{MEMORY}/{name}": text.encode() for name, text in made}
    model_file, property_file = list(files)[:2]
    return Model(model_file, property_file, files=files)
