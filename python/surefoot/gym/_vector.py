"""Many runs as a vectorised Gymnasium environment; the loop over runs is native code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from .._arguments import PathLike, boolean, plain, whole
from .._errors import UsageError
from .._model import Model, PropertyLike
from ._batch import Batch, SettingNames, Unique, check_options, checked_seed, require_gymnasium, settings_of
from ._env import STEP_LIMIT

require_gymnasium()

import gymnasium  # noqa: E402
from gymnasium import vector  # noqa: E402

if TYPE_CHECKING:
    from typing_extensions import Unpack

_MODES = {
    vector.AutoresetMode.NEXT_STEP: "next-step",
    vector.AutoresetMode.SAME_STEP: "same-step",
    vector.AutoresetMode.DISABLED: "disabled",
}


def _mode(autoreset: Any) -> vector.AutoresetMode:
    """A mode, its value such as ``"SameStep"``, or its name such as ``"SAME_STEP"``."""
    for mode in _MODES:
        if autoreset in (mode, mode.value, mode.name):
            return mode
    values = ", ".join(repr(mode.value) for mode in _MODES)
    raise UsageError(f"`autoreset` is {autoreset!r}, but must be an `AutoresetMode` or one of {values}")


class VectorEnvironment(Unique, vector.VectorEnv):
    """A model as a vectorised Gymnasium environment. Make one with :func:`make_vec`.

    Attributes:
        model: The model.
        inputs: The variables that are seen, in order.
        outputs: The labels to choose from, in order.
    """

    metadata: Dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        model: Union[Model, PathLike, Mapping[str, Any]],
        property: PropertyLike = None,
        num_envs: int = 16,
        *,
        autoreset: Any = vector.AutoresetMode.NEXT_STEP,
        seed: Optional[int] = None,
        copy: bool = True,
        **settings: Unpack[SettingNames],
    ) -> None:
        mode = _mode(autoreset)
        self._batch = Batch(model, property, num_envs, _MODES[mode], seed, settings_of(settings))
        self.metadata = {**self.metadata, "autoreset_mode": mode}
        self._copy = boolean("copy", copy) is not False
        num_envs = self._batch.count
        self.num_envs = num_envs
        self.model = self._batch.model
        self.inputs = self._batch.observed
        self.outputs = self._batch.actions
        space = gymnasium.spaces.Box(self._batch.low, self._batch.high, dtype=self._batch.dtype.type)
        self.single_observation_space = space
        self.single_action_space = gymnasium.spaces.Discrete(len(self.outputs))
        batch_space = vector.utils.batch_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: Union[None, int, Sequence[Optional[int]]] = None, options: Optional[Dict[str, Any]] = None
    ) -> Tuple[np.ndarray, Dict[str, Any]]:
        """Starts all runs; ``options={"reset_mask": …}`` only some of them. ``seed`` is that of the first run, or one for each."""
        check_options(options, "reset_mask")
        mask = (options or {}).get("reset_mask")
        chosen = np.ones(self.num_envs, np.bool_) if mask is None else np.asarray(mask)
        if chosen.shape != (self.num_envs,) or chosen.dtype != np.bool_:
            raise UsageError(f"`reset_mask` must have {self.num_envs} entries, each true or false")
        seeds = self._seeds(seed)
        for index in map(int, np.flatnonzero(chosen)):
            own = seeds[index]
            if own is not None:
                self._batch.seed(index, own)
            self._batch.start(index)
        self._batch.observe()
        return self._given(self._batch.observations), {"action_mask": self._given(self._batch.masks)}

    def _seeds(self, seed: Any) -> Sequence[Optional[int]]:
        """The seed of each run."""
        given = plain(seed)
        if given is None:
            return [None] * self.num_envs
        if not isinstance(given, (list, tuple, range)):
            first = whole("`seed`", given)
            given = range(first, first + self.num_envs)
        if len(given) != self.num_envs:
            raise UsageError(f"`seed` must be a number, or {self.num_envs} of them")
        return [None if own is None else checked_seed(own) for own in given]

    def step(self, actions: np.ndarray) -> Tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Dict[str, Any]]:
        """One step of each run.

        ``info`` has ``action_mask`` (after the step) and ``ending``, numbers of ``endings``. With ``SAME_STEP``, ``final_obs`` holds
        the last observations of runs that ended, ``final_info`` their ``ending``, and ``_final_obs`` says which did.
        """
        batch = self._batch
        batch.step(actions)
        ended = self._given(batch.ended)
        info: Dict[str, Any] = {"action_mask": self._given(batch.masks), "ending": ended}
        is_over = ended != 0
        truncated = ended == STEP_LIMIT
        if self.metadata["autoreset_mode"] == vector.AutoresetMode.SAME_STEP and is_over.any():
            info["final_obs"] = self._given(batch.last_observations)
            info["_final_obs"] = is_over
            info["final_info"] = {"ending": ended, "_ending": is_over}
            info["_final_info"] = is_over
        return self._given(batch.observations), self._given(batch.rewards), is_over & ~truncated, truncated, info

    @property
    def endings(self) -> "list[str]":
        """Names of endings, by number."""
        return self._batch.endings

    def action_masks(self) -> np.ndarray:
        """Which actions are applicable, one row per run; all, where none is."""
        return self._given(self._batch.masks)

    def states(self) -> "list[Dict[str, Any]]":
        """The states of all runs: values by name."""
        return [self._batch.state(index) for index in range(self.num_envs)]

    def _given(self, array: np.ndarray) -> np.ndarray:
        return array.copy() if self._copy else array


def make_vec(
    model: Union[Model, PathLike, Mapping[str, Any]],
    property: PropertyLike = None,
    num_envs: int = 16,
    *,
    autoreset: Any = vector.AutoresetMode.NEXT_STEP,
    seed: Optional[int] = None,
    copy: bool = True,
    **settings: Unpack[SettingNames],
) -> VectorEnvironment:
    """A vectorised Gymnasium environment of a model, whose steps are made by native code.

    Args:
        model: A model, its file, or its contents as a dictionary.
        property: Name or index of the property, or its file or contents.
        num_envs: Number of runs side by side, at most a million.
        autoreset: A ``gymnasium.vector.AutoresetMode``, or its name: when a run that has ended starts again.
        seed: Seed of the runs, until ``reset`` sets others. Default: another one each time.
        copy: Whether arrays are copied; without, they hold only until the next step.
        settings: See :class:`Settings`.
    """
    return VectorEnvironment(model, property, num_envs, autoreset=autoreset, seed=seed, copy=copy, **settings)
