"""Results: verdicts, traces, certificates, and how they look."""

from __future__ import annotations

import enum
import html
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Union, overload

from ._arguments import PathLike
from ._errors import UsageError, writing
from ._model import Value


class Verdict(str, enum.Enum):
    """What is known: ``SAFE`` is proved, ``UNSAFE`` has a trace that was replayed, ``UNKNOWN`` has a reason."""

    SAFE = "SAFE"
    UNSAFE = "UNSAFE"
    UNKNOWN = "UNKNOWN"

    def __str__(self) -> str:
        return self.value


class State(Mapping[str, Value]):
    """A state of a run: values by name.

    Attributes:
        label: The label of the step that led here; ``None`` for the first state and for silent steps.
        origin: Where the command of that step stands in the model; ``None`` for the first state.
        probability: The probability of the step's outcome.
        changes: What the step changed.
    """

    def __init__(self, values: Mapping[str, Value], step: Optional[Mapping[str, Any]] = None) -> None:
        self._values = dict(values)
        self.is_start = step is None
        step = step or {}
        self.label: Optional[str] = step.get("label")
        self.origin: Optional[str] = step.get("origin")
        self.probability: Optional[float] = step.get("probability")
        self.changes: Dict[str, Value] = dict(step.get("changes", {}))

    def __getitem__(self, name: str) -> Value:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    @property
    def step(self) -> str:
        """How the state was reached, in words."""
        return "start" if self.is_start else self.label or "silent step"

    def __repr__(self) -> str:
        return f"<State by {self.step}: {_values(self._values)}>"


class Trace(Sequence[State]):
    """A run: its states, in order."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        steps = [State(step["state"], step) for step in document["steps"]]
        self._states: List[State] = [State(document["start"]), *steps]

    @overload
    def __getitem__(self, index: int) -> State: ...

    @overload
    def __getitem__(self, index: slice) -> List[State]: ...

    def __getitem__(self, index: Union[int, slice]) -> Union[State, List[State]]:
        return self._states[index]

    def __len__(self) -> int:
        return len(self._states)

    @property
    def labels(self) -> List[Optional[str]]:
        """The labels of the steps; ``None`` for silent ones."""
        return [state.label for state in self._states[1:]]

    def __repr__(self) -> str:
        lines = [f"<Trace of {len(self) - 1} steps>", f"  start  {_values(self[0])}"]
        for number, state in enumerate(self._states[1:], 1):
            lines.append(f"  {number:>5}  {state.step}: {_values(state.changes) or 'nothing changes'}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        names = [name for name in self[0] if any(state[name] != self[0][name] for state in self)]
        fixed = {name: value for name, value in self[0].items() if name not in names}
        head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        rows = []
        for number, state in enumerate(self):
            cells = "".join(_cell(state[name], name in state.changes) for name in names)
            rows.append(f"<tr><td>{number}</td><td>{html.escape(state.step)}</td>{cells}</tr>")
        note = f"<p>In all states: {html.escape(_values(fixed))}</p>" if fixed else ""
        return f"<table><thead><tr><th></th><th>step</th>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>{note}"


def _cell(value: Value, changed: bool) -> str:
    text = html.escape(str(value))
    return f"<td><b>{text}</b></td>" if changed else f"<td>{text}</td>"


def _values(values: Mapping[str, Value]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())


class Certificate:
    """A proof of SAFE, which :func:`check_certificate` and ``surefoot check`` accept without the engine that found it.

    Attributes:
        contents: What stands in its file.
        regions: The number of its regions.
        checked: Whether the checker has accepted it in the run that made it.
    """

    def __init__(self, contents: bytes, document: Mapping[str, Any]) -> None:
        self.contents = contents
        self.regions: int = document["regions"]
        self.checked: bool = document["checked"]

    def save(self, path: PathLike) -> None:
        """Writes the certificate to a file."""
        with writing(path):
            Path(path).write_bytes(self.contents)

    def __bytes__(self) -> bytes:
        return self.contents

    def __repr__(self) -> str:
        checked = "checked" if self.checked else "not checked"
        return f"<Certificate: {self.regions} regions, {len(self.contents)} bytes, {checked}>"


class Result:
    """What :func:`verify` found.

    Attributes:
        verdict: SAFE, UNSAFE or UNKNOWN.
        reason: Why it is UNKNOWN: ``"time"``, ``"memory"``, ``"cancelled"`` or ``"abstraction"``.
        engine: The engine that found it.
        trace: A run to an unsafe state, if the verdict is UNSAFE.
        certificate: The proof, if the verdict is SAFE and the engine gives one.
        statistics: What the engine counted (docs/json.md describes it).
        time: Seconds that it took.
        vacuity: Why the answer says less than it seems to.
        warnings: What looks wrong in the files.
        document: Everything, as the document ``surefoot-result/1``.
    """

    def __init__(self, document: Mapping[str, Any], text: str, certificate: Optional[bytes], trace: Optional[str]) -> None:
        self.document: Mapping[str, Any] = document
        self._text = text
        self._trace_file = trace
        self.verdict = Verdict(document["verdict"])
        self.reason: Optional[str] = document["reason"]
        self.engine: str = document["engine"]
        self.trace = None if document["trace"] is None else Trace(document["trace"])
        self.certificate = None if certificate is None else Certificate(certificate, document["certificate"])
        self.statistics: Dict[str, Any] = document["counts"] or document["ic3"] or document["pa"]
        self.time: float = document["time_seconds"]
        self.vacuity: List[str] = [reason["message"] for reason in document["vacuity"]]
        self.warnings: List[str] = [warning["message"] for warning in document["warnings"]]

    @property
    def safe(self) -> bool:
        """Whether the policy is proved to be safe."""
        return self.verdict is Verdict.SAFE

    @property
    def unsafe(self) -> bool:
        """Whether an unsafe state is reached."""
        return self.verdict is Verdict.UNSAFE

    @property
    def unsafe_starts(self) -> Optional[List[State]]:
        """With ``per_start=True``: the start states from which an unsafe state is reached."""
        per_start = self.document["per_start"]
        return None if per_start is None else [State(state) for state in per_start["unsafe_starts"]]

    def save_trace(self, path: PathLike) -> None:
        """Writes the trace to a file, for ``surefoot replay``."""
        if self._trace_file is None:
            raise UsageError(f"there is no trace: the verdict is {self.verdict}")
        with writing(path):
            Path(path).write_text(self._trace_file, encoding="utf-8")

    def __bool__(self) -> bool:
        raise TypeError("a result is neither true nor false: ask for `result.safe` or `result.unsafe`")

    def __str__(self) -> str:
        return self._text.rstrip("\n")

    def __repr__(self) -> str:
        return f"<Result: {self._verdict_line()}, engine {self.engine}, arithmetic {self.document['arithmetic']}>"

    def _verdict_line(self) -> str:
        return " ".join(self._text.rstrip().rsplit("\n", 1)[-1].split())

    def _repr_html_(self) -> str:
        colour = {"SAFE": "#1a7f37", "UNSAFE": "#cf222e", "UNKNOWN": "#9a6700"}[self.verdict.value]
        rows = [
            ("model", self.document["model"]["name"]),
            ("property", self.document["property"]),
            ("policy", "none" if self.document["policy"] is None else self.document["policy"]["description"]),
            ("engine", self.engine),
            ("arithmetic", self.document["arithmetic"]),
            ("time", f"{self.time:.3f} s"),
        ]
        if self.certificate is not None:
            rows.append(("certificate", repr(self.certificate)[1:-1]))
        rows += [("note", note) for note in self.vacuity]
        table = "".join(f"<tr><th>{name}</th><td>{html.escape(str(value))}</td></tr>" for name, value in rows)
        line = html.escape(self._verdict_line())
        trace = "" if self.trace is None else self.trace._repr_html_()
        return f'<p style="color: {colour}; font-weight: bold">{line}</p><table>{table}</table>{trace}'
