"""States as text."""

from __future__ import annotations

from typing import Any, Mapping

from .._model import Model


def text(model: Model, state: Mapping[str, Any], step: str) -> str:
    """The values of all variables that can have several, a line each, under what happened last."""
    names = model.observed
    width = max(map(len, names), default=0)
    lines = [f"{name:<{width}}  {state[name]}" for name in names]
    return "\n".join([f"({step})", *lines]) + "\n"
