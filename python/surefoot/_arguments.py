"""Arguments of functions as arguments of the command line, which the native part reads and checks."""

from __future__ import annotations

import difflib
import json
import math
import operator
import os
from decimal import Decimal
from typing import Any, Iterable, List, Literal, Mapping, Optional, Sequence, Union

from . import _native
from ._errors import UsageError, translated

PathLike = Union[str, "os.PathLike[str]"]

Engine = Literal["auto", "explicit", "ic3", "pa", "ppa"]
Goal = Literal["ignore", "terminal", "strict"]
Arithmetic = Literal["f64", "f32", "real", "any-f32"]
OutOfDomain = Literal["error", "block"]


def option(name: str, value: Any) -> List[str]:
    """``name=value`` as an option: ``None`` and ``False`` are left out, ``True`` is a flag, lists are joined by commas."""
    flag = "--" + name.replace("_", "-")
    value = plain(value)
    if value is None or value is False:
        return []
    if value is True:
        return [flag]
    if isinstance(value, (list, tuple, range)):
        if not value:
            raise UsageError(f"`{name}` is an empty list\n  hint: leave it out for the default")
        return [flag + "=" + ",".join(_item(name, item) for item in value)]
    return [flag + "=" + text(value, name)]


def text(value: Any, name: str = "value") -> str:
    """A value as it is written on the command line."""
    value = plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, float) and math.isfinite(value):
        return format(Decimal(repr(value)), "f")  # without an exponent
    if isinstance(value, (int, float)):
        return repr(value)
    raise UsageError(f"`{name}` is {value!r}, which cannot be the value of an option")


def _item(name: str, value: Any) -> str:
    """A value among others that are separated by commas."""
    written = text(value, name)
    if "," in written:
        raise UsageError(f"`{name}` has the value {written!r}, but commas are not possible here")
    return written


def assignment(name: Any, value: Any) -> str:
    """``name=value`` among others that are separated by commas."""
    if not isinstance(name, str) or "," in name or "=" in name:
        raise UsageError(f"{name!r} is no name of a variable or constant that could get a value here")
    return f"{name}={_item(name, value)}"


def options(values: Mapping[str, Any], command: Sequence[str]) -> List[str]:
    """Options of a command that a caller names. The native part does not see the names of values that say nothing."""
    for name, value in values.items():
        value = plain(value)
        if value is None or value is False:
            _check_option(name, value, command)
    return [argument for name, value in values.items() for argument in option(name, value)]


def _check_option(name: str, value: Optional[bool], command: Sequence[str]) -> None:
    with translated():
        known = {option.replace("-", "_"): is_flag for option, is_flag in _native.options(list(command))}
    if name not in known:
        raise UsageError(f"there is no option `{name}`" + likely(name, known))
    if value is False and not known[name]:
        raise UsageError(f"`{name}` is False, but takes a value\n  hint: leave it out for the default")


def valued(values: Mapping[str, Any]) -> List[str]:
    """Options that take values; ``None`` stands for the default."""
    for name, value in values.items():
        if isinstance(plain(value), bool):
            raise UsageError(f"`{name}` is {value!r}, but takes a value\n  hint: leave it out for the default")
    return [argument for name, value in values.items() for argument in option(name, value)]


def boolean(name: str, value: Any) -> Optional[bool]:
    """A Boolean of Python or NumPy, or ``None``."""
    given = plain(value)
    if given is None or isinstance(given, bool):
        return given
    raise UsageError(f"`{name}` is {value!r}, but must be True, False or None")


def switch(name: str, value: Any) -> List[str]:
    """An option that is on, off or left to the files."""
    given = boolean(name, value)
    return [] if given is None else option(name, "on" if given else "off")


def constants(values: Optional[Mapping[str, Any]]) -> List[str]:
    """Values of constants."""
    return [argument for name, value in (values or {}).items() for argument in option("const", assignment(name, value))]


def path(name: str, value: Any) -> str:
    """A file as an argument of its own: one that begins with a dash is no option."""
    if not isinstance(value, (str, os.PathLike)):
        raise UsageError(f"`{name}` is a {type(value).__name__}, but must be a file")
    written = os.fsdecode(value)
    return os.path.join(".", written) if written.startswith("-") else written


def whole(what: str, value: Any) -> int:
    """A whole number of Python or NumPy."""
    try:
        return operator.index(plain(value))
    except TypeError:
        raise UsageError(f"{what} is {value!r}, but must be a whole number") from None


def names(argument: str, given: Any) -> List[str]:
    """A list of names."""
    given = plain(given)
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise UsageError(f"`{argument}` is {given!r}, but must be a list of names")
    listed = list(given)
    wrong = [name for name in listed if not isinstance(name, str)]
    if wrong:
        raise UsageError(f"`{argument}` holds {wrong[0]!r}, but must be a list of names")
    return [str(name) for name in listed]


def one_of(argument: str, given: Any, allowed: Sequence[Any]) -> None:
    """Refuses what is not among the values that are allowed."""
    if given not in allowed:
        raise UsageError(f"`{argument}` is {given!r}, but must be {', '.join(map(repr, allowed[:-1]))} or {allowed[-1]!r}")


def contents(document: Any) -> bytes:
    """A document as the contents of a JSON file."""
    return json.dumps(document, ensure_ascii=False, default=_in_json).encode()


def _in_json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise UsageError(f"{value!r} is a {type(value).__name__}, which JSON cannot hold")


def plain(value: Any) -> Any:
    """Numbers and arrays of NumPy as those of Python."""
    return value.tolist() if hasattr(value, "tolist") else value


def likely(name: str, known: Iterable[str]) -> str:
    """What may have been meant, as a hint."""
    close = difflib.get_close_matches(name, list(known), 1)
    return f"\n  hint: did you mean `{close[0]}`?" if close else ""


def listed(names: Iterable[str]) -> str:
    """Names for a message."""
    return ", ".join(f"`{name}`" for name in names)
