"""Results of simulations, explanations and checks."""

from __future__ import annotations

import html
from typing import Any, Dict, List, Mapping, Optional

from ._result import State, Trace


class Episode:
    """A run of a simulation.

    Attributes:
        ending: Why it ended: ``"unsafe"``, ``"goal"``, ``"left"``, ``"stall"``, ``"deadlock"`` or ``"step-limit"``.
        trace: Its states.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.ending: str = document["ending"]
        self.trace = Trace(document["trace"])

    def __repr__(self) -> str:
        return f"<Episode of {len(self.trace) - 1} steps: {self.ending}>"


class Simulation:
    """What :func:`simulate` did.

    Attributes:
        episodes: The runs.
        summary: How many ended how.
        document: Everything, as the document ``surefoot-simulation/1``.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document
        self.episodes: List[Episode] = [Episode(episode) for episode in document["episodes"]]
        self.summary: Dict[str, int] = document["summary"]

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {ending}" for ending, count in self.summary.items() if count)
        return f"<Simulation of {len(self.episodes)} episodes: {counts}>"


class Explanation:
    """Why a policy chooses what it does in a state; docs/explain.md says what the parts mean.

    Attributes:
        state: The state.
        choice: The labels that can be chosen there: one as a rule.
        relevant, irrelevant: Names of variables. The choice is proved to be the same whatever the irrelevant ones are.
        undecided: Names of variables of which a limit left open whether they are relevant.
        rule: Bounds by name: the choice is proved to be the same in all states within them.
        nearest: The nearest state with another choice that was found, or ``None``.
        distance: How far it is away.
        complete: Whether everything was decided.
        document: Everything, as the document ``surefoot-explanation/1``.
    """

    def __init__(self, document: Mapping[str, Any], text: str) -> None:
        self.document = document
        self._text = text
        self.state = State(document["state"])
        self.choice: List[str] = document["choice"]
        self.relevant: List[str] = document["relevant"]
        self.irrelevant: List[str] = document["irrelevant"]
        self.undecided: List[str] = document["undecided"]
        self.rule: Dict[str, Dict[str, int]] = document["rule"]["bounds"]
        nearest = document["nearest"]["state"]
        self.nearest = None if nearest is None else State(nearest)
        self.distance: Optional[int] = document["nearest"]["distance"]
        self.complete: bool = document["complete"]

    def __str__(self) -> str:
        return self._text.rstrip("\n")

    def __repr__(self) -> str:
        choice = " or ".join(self.choice) or "nothing"
        relevant = ", ".join(self.relevant) or ("no variable so far" if self.undecided else "nothing")
        undecided = f"; not decided: {', '.join(self.undecided)}" if self.undecided else ""
        return f"<Explanation: chooses {choice}, which depends on {relevant}{undecided}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


class Check:
    """What a certificate is worth.

    Attributes:
        accepted: Whether it proves that the policy is safe; ``None`` if a limit was reached before that was known.
        reason: Why it was rejected, or the limit.
        failed: The obligation that fails, if that is why.
        document: Everything, as the document ``surefoot-check/1``.
    """

    def __init__(self, document: Mapping[str, Any], text: str) -> None:
        self.document = document
        self._text = text
        self.accepted: Optional[bool] = document["accepted"]
        self.reason: Optional[str] = document["reason"]
        self.failed: Optional[Mapping[str, Any]] = document["failed"]

    def __bool__(self) -> bool:
        return self.accepted is True

    def __str__(self) -> str:
        return self._text.rstrip("\n")

    def __repr__(self) -> str:
        words = {True: "accepted", False: f"rejected: {self.reason}", None: f"not decided: {self.reason}"}
        return f"<Check: {words[self.accepted]}>"
