"""States as text."""

from __future__ import annotations

from typing import Any, Mapping, Optional

from .._model import Model


def text(model: Model, state: Mapping[str, Any], label: Optional[str]) -> str:
    """The values of all variables that can have several, a line each, under the label of the last step."""
    names = model.observed
    width = max(map(len, names), default=0)
    heading = "(silent step)" if label is None else f"({label})" if label else "(start)"
    lines = [f"{name:<{width}}  {state[name]}" for name in names]
    return "\n".join([heading, *lines]) + "\n"
