"""Arguments of functions as arguments of the command line, which the native part reads and checks."""

from __future__ import annotations

import math
import os
from decimal import Decimal
from typing import Any, Iterable, List, Mapping, Optional, Union

from ._errors import UsageError

PathLike = Union[str, "os.PathLike[str]"]


def option(name: str, value: Any) -> List[str]:
    """``name=value`` as an option: ``None`` and ``False`` are left out, ``True`` is a flag, lists are joined by commas."""
    flag = "--" + name.replace("_", "-")
    if value is None or value is False:
        return []
    if value is True:
        return [flag]
    if isinstance(value, (list, tuple)):
        return [flag + "=" + ",".join(text(item) for item in value)] if value else []
    return [flag + "=" + text(value)]


def text(value: Any) -> str:
    """A value as it is written on the command line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, float) and math.isfinite(value):
        return format(Decimal(repr(value)), "f")  # without an exponent
    if isinstance(value, (int, float)):
        return repr(value)
    if hasattr(value, "item"):  # a number of NumPy
        return text(value.item())
    raise UsageError(f"{value!r} cannot be the value of an option")


def options(values: Mapping[str, Any]) -> List[str]:
    """Several options."""
    return [argument for name, value in values.items() for argument in option(name, value)]


def switch(name: str, value: Optional[bool]) -> List[str]:
    """An option that is on, off or left to the files."""
    return [] if value is None else option(name, "on" if value else "off")


def constants(values: Optional[Mapping[str, Any]]) -> List[str]:
    """Values of constants."""
    return [argument for name, value in (values or {}).items() for argument in option("const", f"{name}={text(value)}")]


def listed(names: Iterable[str]) -> str:
    """Names for a message."""
    return ", ".join(f"`{name}`" for name in names)
