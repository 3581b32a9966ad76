"""What all environments share: settings, the native runs, and the arrays that they write to."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np

from .. import _native
from .._arguments import PathLike, listed, option
from .._errors import UsageError, translated
from .._model import Model, PropertyLike, load_model


@dataclass(frozen=True)
class Settings:
    """How a model is made an environment.

    Attributes:
        observed: Names of the variables that are seen, in order. Default: all that can have several values.
        actions: The labels to choose from, in order. Default: all that have commands. Others are not controlled: they happen by
            chance, like silent commands.
        dtype: Numbers of observations: ``np.int32`` or ``np.float32``.
        rewards: ``"objective"``: the numbers below, in whose place the property's objective may put expressions; ``"sparse"``: the
            numbers alone.
        goal_reward: Gained in a goal state, which ends the run.
        unsafe_reward: Gained in an unsafe state.
        step_reward: Gained by each step.
        stall_reward: Gained by a label that is not applicable, if nothing else happens.
        deadlock_reward: Gained in a state where nothing is possible, which ends the run.
        inapplicable: What a label does that is not applicable: ``"stall"`` ends the run, ``"stay"`` changes nothing.
        end_at_unsafe: Whether an unsafe state ends the run.
        end_at_goal: Whether a goal state ends the run.
        max_steps: Steps after which a run is cut off.
        out_of_domain: What an update is that leaves a domain: ``"error"`` or ``"block"``.
        goal: ``"strict"``: a goal state that is unsafe counts as safe.
    """

    observed: Optional[Sequence[str]] = None
    actions: Optional[Sequence[str]] = None
    dtype: Any = np.int32
    rewards: str = "objective"
    goal_reward: float = 1.0
    unsafe_reward: float = -1.0
    step_reward: float = 0.0
    stall_reward: float = -1.0
    deadlock_reward: float = 0.0
    inapplicable: str = "stall"
    end_at_unsafe: bool = True
    end_at_goal: bool = True
    max_steps: int = 200
    out_of_domain: Optional[str] = None
    goal: Optional[str] = None

    def __post_init__(self) -> None:
        for name, allowed in (("rewards", ("objective", "sparse")), ("inapplicable", ("stall", "stay"))):
            value = getattr(self, name)
            if value not in allowed:
                raise UsageError(f"`{name}` is {value!r}, but must be {' or '.join(map(repr, allowed))}")
        if np.dtype(self.dtype) not in (np.dtype(np.int32), np.dtype(np.float32)):
            raise UsageError(f"`dtype` is {self.dtype!r}, but must be int32 or float32")
        if self.max_steps < 1:
            raise UsageError(f"`max_steps` is {self.max_steps}, but must be at least 1")


def check_options(options: Optional[Mapping[str, Any]], known: str) -> None:
    """Refuses options of ``reset`` other than the one that is known."""
    unknown = [name for name in options or {} if name != known]
    if unknown:
        raise UsageError(f"`reset` has no option `{unknown[0]}`, only `{known}`")


class Batch:
    """Runs of one model side by side, and the arrays that their steps are written to."""

    def __init__(
        self,
        model: Union[Model, PathLike, Mapping[str, Any]],
        property: PropertyLike,
        count: int,
        autoreset: str,
        seed: Optional[int],
        settings: Settings,
    ) -> None:
        if count < 1:
            raise UsageError(f"`num_envs` is {count}, but must be at least 1")
        self.model = model if isinstance(model, Model) else load_model(model)
        self.settings = settings
        self.count = count
        self.observed: List[str] = list(self.model.observed if settings.observed is None else settings.observed)
        self.actions: List[str] = list(self.model.labels if settings.actions is None else settings.actions)
        self._native = self._make(property, autoreset, secrets.randbits(64) if seed is None else seed)
        self._labels = self._native.labels()
        self.endings = self._native.endings()
        self.dtype = np.dtype(settings.dtype)
        variables = [self.model.variable(name) for name in self.observed]
        self.low = np.array([variable.lower for variable in variables], dtype=self.dtype)
        self.high = np.array([variable.upper for variable in variables], dtype=self.dtype)
        self._make_arrays()

    def _make(self, property: PropertyLike, autoreset: str, seed: int) -> _native.Batch:
        model, settings = self.model, self.settings
        labels = model.all_labels
        unknown = [name for name in self.actions if name not in labels]
        if unknown:
            raise UsageError(f"the model `{model.name}` has no label `{unknown[0]}`\n  hint: it has {listed(labels)}")
        names = [variable.name for variable in model.variables]
        missing = [name for name in self.observed if name not in names]
        if missing:
            raise UsageError(f"the model `{model.name}` has no variable `{missing[0]}`")
        for what, list_ in (("actions", self.actions), ("observed", self.observed)):
            if not list_ or len(set(list_)) < len(list_):
                raise UsageError(f"`{what}` must hold at least one name, each once")
        arguments, files = model._arguments(property)
        reading = option("out_of_domain", settings.out_of_domain) + option("goal", settings.goal)
        arguments = [model.path, "--no-policy", *arguments, *reading]
        gains = (
            settings.goal_reward,
            settings.unsafe_reward,
            settings.step_reward,
            settings.stall_reward,
            settings.deadlock_reward,
            settings.rewards == "objective",
        )
        with translated():
            question = _native.Question(arguments, [*model.files.items(), *files.items()])
            return _native.Batch(
                question,
                [labels.index(name) for name in self.actions],
                [names.index(name) for name in self.observed],
                gains,
                settings.inapplicable == "stall",
                settings.end_at_unsafe,
                settings.end_at_goal,
                settings.max_steps,
                self.count,
                autoreset,
                seed,
            )

    def _make_arrays(self) -> None:
        count, width = self.count, len(self.observed)
        self.observations = np.zeros((count, width), self.dtype)
        self.last_observations = np.zeros((count, width), self.dtype)
        self.masks = np.ones((count, len(self.actions)), np.bool_)
        self.rewards = np.zeros(count, np.float64)
        self.ended = np.zeros(count, np.uint8)
        self.commands = np.full(count, -1, np.int32)
        self._arrays = (
            self.observations,
            self.last_observations,
            self.masks,
            self.rewards,
            self.ended,
            self.commands,
        )
        is_float = self.dtype == np.float32
        self._observe = self._native.observe_f32 if is_float else self._native.observe_i32
        self._step = self._native.step_f32 if is_float else self._native.step_i32

    @property
    def start_states(self) -> "tuple[int, bool]":
        """How many start states were collected, and whether these are all: then each is equally likely."""
        return self._native.start_states

    def seed(self, index: int, seed: int) -> None:
        """Begins the random numbers of a run anew."""
        self._native.seed(index, seed & 0xFFFF_FFFF_FFFF_FFFF)

    def start(self, index: int, state: Optional[Mapping[str, Any]] = None) -> None:
        """Starts a run in a random start state, or in a given one."""
        with translated():
            self._native.start(index, None if state is None else self.model.numbers(state))

    def observe(self) -> None:
        """Writes observations and masks."""
        self._observe(self._arrays)

    def step(self, actions: np.ndarray) -> None:
        """One step of each run; writes all arrays."""
        actions = np.ascontiguousarray(actions, dtype=np.int64)
        with translated():
            self._step(actions, self._arrays)

    def state(self, index: int) -> Dict[str, Any]:
        """The state of a run: values by name."""
        return self.model.state(self._native.state(index))

    def label(self, index: int) -> Optional[str]:
        """The label of the last step: ``None`` if it was silent, ``""`` if nothing happened."""
        command = int(self.commands[index])
        return "" if command < 0 else self._labels[command]
