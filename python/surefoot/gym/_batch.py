"""What all environments share: settings, the native runs, and the arrays that they write to."""

from __future__ import annotations

import math
import re
import secrets
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any, Dict, List, Literal, Mapping, Optional, Sequence, TypedDict, Union

import numpy as np

from .. import _native
from .._arguments import Goal, OutOfDomain, PathLike, boolean, likely, listed, names, one_of, option, whole
from .._errors import MissingLibraryError, UsageError, require, translated
from .._model import Model, PropertyLike, load_model

#: More runs side by side than this are a mistake, which would take all memory.
MOST_RUNS = 1_000_000


def require_gymnasium() -> None:
    """Refuses to go on without Gymnasium, or with one that is too old."""
    version = str(getattr(require("gymnasium", "surefoot.gym"), "__version__", "0.0"))
    if [int(part) for part in re.findall(r"\d+", version)[:2]] < [1, 1]:
        raise MissingLibraryError(
            f"surefoot.gym needs gymnasium 1.1 or later, but {version} is installed\n  hint: pip install --upgrade gymnasium"
        )


class SettingNames(TypedDict, total=False):
    """The fields of :class:`Settings`, for type checkers: what the functions ``make…`` take."""

    observed: Optional[Sequence[str]]
    actions: Optional[Sequence[str]]
    dtype: Any
    rewards: Literal["objective", "sparse"]
    goal_reward: float
    unsafe_reward: float
    step_reward: float
    stall_reward: float
    deadlock_reward: float
    inapplicable: Literal["stall", "stay"]
    end_at_unsafe: bool
    end_at_goal: Optional[bool]
    max_steps: int
    out_of_domain: Optional[OutOfDomain]
    goal: Optional[Goal]


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
        end_at_goal: Whether a goal state ends the run. Default: unless ``goal="ignore"``. Goal states that do not end runs are
            states like others, without a reward.
        max_steps: Steps after which a run is cut off.
        out_of_domain: What an update is that leaves a domain: ``"error"`` or ``"block"``.
        goal: As of :func:`surefoot.verify`. ``"ignore"``: the same as ``end_at_goal=False``; ``"terminal"`` and ``"strict"`` need
            a property with a goal, and ``"strict"`` says that a goal state that is unsafe counts as safe.
    """

    observed: Optional[Sequence[str]] = None
    actions: Optional[Sequence[str]] = None
    dtype: Any = np.int32
    rewards: Literal["objective", "sparse"] = "objective"
    goal_reward: float = 1.0
    unsafe_reward: float = -1.0
    step_reward: float = 0.0
    stall_reward: float = -1.0
    deadlock_reward: float = 0.0
    inapplicable: Literal["stall", "stay"] = "stall"
    end_at_unsafe: bool = True
    end_at_goal: Optional[bool] = None
    max_steps: int = 200
    out_of_domain: Optional[OutOfDomain] = None
    goal: Optional[Goal] = None

    def __post_init__(self) -> None:
        one_of("rewards", self.rewards, ("objective", "sparse"))
        one_of("inapplicable", self.inapplicable, ("stall", "stay"))
        one_of("out_of_domain", self.out_of_domain, (None, "error", "block"))
        one_of("goal", self.goal, (None, "ignore", "terminal", "strict"))
        for name in ("goal_reward", "unsafe_reward", "step_reward", "stall_reward", "deadlock_reward"):
            gain = getattr(self, name)
            if not isinstance(gain, Real) or not math.isfinite(gain):
                raise UsageError(f"`{name}` is {gain!r}, but must be a finite number")
        if boolean("end_at_unsafe", self.end_at_unsafe) is None:
            raise UsageError("`end_at_unsafe` is None, but must be True or False")
        if self.end_at_goal is not None and self.goal is not None and self.ends_at_goal != (self.goal != "ignore"):
            raise UsageError(f"`end_at_goal` is {self.end_at_goal}, but `goal` is {self.goal!r}, which says the opposite")
        if np.dtype(self.dtype) not in (np.dtype(np.int32), np.dtype(np.float32)):
            raise UsageError(f"`dtype` is {self.dtype!r}, but must be int32 or float32")
        if whole("`max_steps`", self.max_steps) < 1:
            raise UsageError(f"`max_steps` is {self.max_steps}, but must be at least 1")

    @property
    def ends_at_goal(self) -> bool:
        """Whether a goal state ends the run."""
        given = boolean("end_at_goal", self.end_at_goal)
        return self.goal != "ignore" if given is None else given


def settings_of(given: Mapping[str, Any]) -> Settings:
    """Settings from arguments by name."""
    known = [field.name for field in fields(Settings)]
    for name in given:
        if name not in known:
            raise UsageError(f"there is no setting `{name}`" + likely(name, known))
    return Settings(**given)


class Unique:
    """What has runs of its own: a copy would make steps of the same runs."""

    def __reduce__(self) -> Any:
        raise TypeError("environments cannot be copied or pickled: make a new one with `make`")


def check_options(options: Optional[Mapping[str, Any]], known: str) -> None:
    """Refuses options of ``reset`` other than the one that is known."""
    unknown = [name for name in options or {} if name != known]
    if unknown:
        raise UsageError(f"`reset` has no option `{unknown[0]}`, only `{known}`")


def checked_seed(value: Any) -> int:
    """A seed of random numbers."""
    seed = whole("`seed`", value)
    if not 0 <= seed < 2**64:
        raise UsageError(f"`seed` is {seed}, but must be at least 0 and less than 2^64")
    return seed


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
        count = whole("`num_envs`", count)
        if not 1 <= count <= MOST_RUNS:
            raise UsageError(f"`num_envs` is {count}, but must be at least 1 and at most {MOST_RUNS}")
        self.model = model if isinstance(model, Model) else load_model(model)
        self.settings = settings
        self.count = count
        self.observed: List[str] = self.model.observed if settings.observed is None else names("observed", settings.observed)
        self.actions: List[str] = self.model.labels if settings.actions is None else names("actions", settings.actions)
        self._started = np.zeros(count, np.bool_)
        self._waiting = count
        self._native = self._make(property, autoreset, secrets.randbits(64) if seed is None else checked_seed(seed))
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
        variables = [variable.name for variable in model.variables]
        missing = [name for name in self.observed if name not in variables]
        if missing:
            raise UsageError(f"the model `{model.name}` has no variable `{missing[0]}`")
        for what, list_ in (("actions", self.actions), ("observed", self.observed)):
            if not list_ or len(set(list_)) < len(list_):
                raise UsageError(f"`{what}` must hold at least one name, each once")
        arguments, files = model._arguments(property)
        reading = option("out_of_domain", settings.out_of_domain) + option("goal", settings.goal)
        arguments = [model.path, "--no-policy", *arguments, *reading]
        gains = (
            float(settings.goal_reward),
            float(settings.unsafe_reward),
            float(settings.step_reward),
            float(settings.stall_reward),
            float(settings.deadlock_reward),
            settings.rewards == "objective",
        )
        with translated():
            question = _native.Question(arguments, [*model.files.items(), *files.items()])
            # Positions of names in what was read before are meant.
            model.check_unchanged()
            return _native.Batch(
                question,
                [labels.index(name) for name in self.actions],
                [variables.index(name) for name in self.observed],
                gains,
                settings.inapplicable == "stall",
                bool(settings.end_at_unsafe),
                settings.ends_at_goal,
                whole("`max_steps`", settings.max_steps),
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
        self._native.seed(index, checked_seed(seed))

    def start(self, index: int, state: Optional[Mapping[str, Any]] = None) -> None:
        """Starts a run in a random start state, or in a given one."""
        with translated():
            self._native.start(index, None if state is None else self.model.numbers(state))
        if not self._started[index]:
            self._started[index] = True
            self._waiting -= 1

    def _need_reset(self, what: str) -> None:
        from gymnasium.error import ResetNeeded

        raise ResetNeeded(f"there is no {what} before `reset`\n  hint: call `reset` first")

    def observe(self) -> None:
        """Writes observations and masks."""
        self._observe(self._arrays)

    def step(self, actions: np.ndarray) -> None:
        """One step of each run; writes all arrays."""
        if self._waiting:
            self._need_reset("step")
        actions = np.asarray(actions)
        if actions.dtype.kind not in "iub":
            raise UsageError(f"actions are of type {actions.dtype}, but must be whole numbers")
        if actions.shape != (self.count,):
            raise UsageError(f"there are {self.count} runs, but the actions have the shape {actions.shape}")
        with translated():
            self._step(np.ascontiguousarray(actions, dtype=np.int64), self._arrays)

    def state(self, index: int) -> Dict[str, Any]:
        """The state of a run: values by name."""
        if not self._started[index]:
            self._need_reset("state")
        return self.model.state(self._native.state(index))

    def label(self, index: int) -> Optional[str]:
        """The label of the last step: ``None`` if it was silent, ``""`` if nothing happened."""
        command = int(self.commands[index])
        return "" if command < 0 else self._labels[command]
