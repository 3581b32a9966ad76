"""Exceptions of the package, and how failures of the native part become them."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import Iterator, Optional

from . import _native


class SurefootError(Exception):
    """Why there is no result. All exceptions of this package are of this class."""


class UsageError(SurefootError, ValueError):
    """Arguments that make no sense, alone or together."""


class InputError(SurefootError, ValueError):
    """A model, property, policy or certificate is wrong.

    Attributes:
        message: What is wrong, and what was expected.
        path: The file; files that exist only in memory are called ``<memory>/…``.
        line, column: The place in it, from 1; ``None`` if the mistake has none.
        json_path: The path of the value in a JSON file, such as ``$.automata[0].edges[3].guard``.
        hint: What to do about it.
    """

    def __init__(
        self,
        text: str,
        message: Optional[str] = None,
        path: Optional[str] = None,
        line: Optional[int] = None,
        column: Optional[int] = None,
        json_path: Optional[str] = None,
        hint: Optional[str] = None,
    ) -> None:
        super().__init__(text, message, path, line, column, json_path, hint)
        self.message = text if message is None else message
        self.path = path
        self.line = line
        self.column = column
        self.json_path = json_path
        self.hint = hint

    def __str__(self) -> str:
        return str(self.args[0])


class PolicyError(InputError):
    """An object of a library cannot become a policy of the model: a layer that is not known, a wrong number of inputs, …"""


class ComparisonError(PolicyError):
    """A policy was read, but its scores are not those of its library.

    Attributes:
        state: The state at which they differ.
        label: The output that differs.
        expected: The score of the library.
        found: The score that was read, or both ends of its enclosure.
    """

    def __init__(self, text: str, state: dict, label: str, expected: float, found: object) -> None:
        super().__init__(text)
        self.state = state
        self.label = label
        self.expected = expected
        self.found = found

    def __reduce__(self) -> tuple:
        return ComparisonError, (str(self), self.state, self.label, self.expected, self.found)


class ModelError(SurefootError):
    """The model cannot answer: it is wrong at a state that is reached, has real variables, no goal, no policy, …"""


class MissingLibraryError(SurefootError, ImportError):
    """A function needs a Python library that is not installed."""


class OutputError(SurefootError, OSError):
    """A file cannot be written."""


class InternalError(SurefootError, RuntimeError):
    """A bug in surefoot. No verdict is given."""


def _in_python(text: str) -> str:
    """A message of the command line, in terms of arguments of functions."""
    text = text.replace("`--no-policy`", "`policy=None`")
    # `--engine explicit`, '--goal <GOAL>', and others.
    text = re.sub(r"`--([a-z][a-z-]*) ([^`]+)`", lambda match: f"`{_underscored(match[1])}={_quoted(match[2])}`", text)
    return re.sub(r"(?<![\w./\\-])--([a-z][a-z0-9-]*)( <[^>]*>)?", lambda match: _underscored(match[1]), text)


def _underscored(option: str) -> str:
    return option.replace("-", "_")


def _quoted(value: str) -> str:
    """The value of an option as one of Python; words in capitals stand for values."""
    return {"on": "True", "off": "False"}.get(value, f"'{value}'" if value.islower() and value.isalnum() else value)


@contextmanager
def translated() -> Iterator[None]:
    """Makes exceptions of this module out of those of the native part."""
    try:
        yield
    except _native.UsageFailure as failure:
        raise UsageError(_in_python(failure.args[0])) from None
    except _native.InputFailure as failure:
        text, message, path, line, column, json_path, hint = failure.args
        hint = None if hint is None else _in_python(hint)
        raise InputError(_in_python(text), _in_python(message), path, line, column, json_path, hint) from None
    except _native.TaskFailure as failure:
        raise ModelError(_in_python(failure.args[0])) from None
    except _native.OutputFailure as failure:
        raise OutputError(failure.args[0]) from None
    except _native.InternalFailure as failure:
        raise InternalError(failure.args[0]) from None


@contextmanager
def writing(path: object) -> Iterator[None]:
    """Makes exceptions of this module out of failures to write files."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path}: cannot write the file: {error.strerror or error}") from error


def require(library: str, purpose: str, package: Optional[str] = None):
    """Imports a library that is only needed for some functions."""
    import importlib

    try:
        return importlib.import_module(library)
    except ImportError as error:
        package = package or library.split(".")[0]
        raise MissingLibraryError(
            f"{purpose} needs the library {library}, which cannot be imported: {error}\n  hint: pip install {package}"
        ) from error
