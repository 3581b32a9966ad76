"""What the training knows about each domain: its model, inputs of policies, a potential for rewards, and a teacher.

A :class:`Domain` is all that the learner sees of one. Potentials and teachers look at observations, which hold all variables in the
order of ``model.observed``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional, Sequence

import numpy as np

import surefoot

#: From observations, one per row, to one number for each.
Potential = Callable[[np.ndarray], np.ndarray]

#: From an observation and the mask of applicable actions to an action.
Teacher = Callable[[np.ndarray, np.ndarray], int]

#: From observations and masks of applicable actions to some of these actions, as masks.
Choices = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass
class Domain:
    """A domain as policies are trained in it.

    Attributes:
        model: The model, as `surefoot gen` makes it.
        arguments: Arguments of `surefoot gen`.
        max_steps: Steps after which an episode has failed.
        is_filtered: Whether policies choose among applicable labels only.
        potential: Of states; what a step changes in it is added to the reward.
        teacher: A scripted policy for demonstrations.
        inputs: Names of the variables that policies read, by kind of policy.
        right: All actions that are as good as the teacher's; without it, the teacher's choice is the only right one.
        harmless: Applicable actions that cannot lead to an unsafe state at once; without it, all count as harmless.
        dangers: Makes so many random states, reachable or not, in which some action is not harmless.
        hard: The property with those start states only from which it is easy to come to harm; they are rare among all.
    """

    model: surefoot.Model
    arguments: List[str]
    max_steps: int
    is_filtered: bool
    potential: Potential
    teacher: Teacher
    inputs: Dict[str, List[str]] = field(default_factory=dict)
    right: Optional[Choices] = None
    harmless: Optional[Choices] = None
    dangers: Optional[Callable[[int, np.random.Generator], np.ndarray]] = None
    hard: Optional[Dict[str, Any]] = None

    def columns(self, kind: str) -> np.ndarray:
        """Where the inputs of a kind of policy stand in observations."""
        order = {name: column for column, name in enumerate(self.model.observed)}
        return np.array([order[name] for name in self.inputs[kind]])

    def taught(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """The right actions, as masks."""
        if self.right:
            return self.right(observations, masks)
        return np.eye(masks.shape[1], dtype=bool)[[self.teacher(*pair) for pair in zip(observations, masks)]]

    def permitted(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """The actions that a training tries, as masks."""
        return self.harmless(observations, masks) if self.harmless else masks


def generate(name: str, **parameters) -> "tuple[surefoot.Model, List[str]]":
    """A generated model, and the arguments of `surefoot gen` that make it."""
    arguments = [name]
    for key, value in parameters.items():
        text = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
        arguments += ["--" + key.replace("_", "-"), text]
    return surefoot.generate(name, **parameters), arguments


def without_costs(names: Sequence[str]) -> List[str]:
    """The variables that do not count costs."""
    return [name for name in names if not name.startswith("cost_") and name != "step_cost"]
