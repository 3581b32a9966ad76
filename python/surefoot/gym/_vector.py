"""Many runs as a vectorised Gymnasium environment; the loop over runs is native code."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from .._arguments import PathLike
from .._errors import UsageError, require
from .._model import Model, PropertyLike
from ._batch import Batch, Settings, check_options
from ._env import STEP_LIMIT

require("gymnasium", "surefoot.gym")

import gymnasium  # noqa: E402
from gymnasium import vector  # noqa: E402

_MODES = {
    vector.AutoresetMode.NEXT_STEP: "next-step",
    vector.AutoresetMode.SAME_STEP: "same-step",
    vector.AutoresetMode.DISABLED: "disabled",
}


class VectorEnvironment(vector.VectorEnv):
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
        **settings: Any,
    ) -> None:
        mode = vector.AutoresetMode(autoreset)
        self._batch = Batch(model, property, num_envs, _MODES[mode], seed, Settings(**settings))
        self.metadata = {**self.metadata, "autoreset_mode": mode}
        self._copy = copy
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
        chosen = np.ones(self.num_envs, np.bool_) if mask is None else np.asarray(mask, np.bool_)
        if chosen.shape != (self.num_envs,):
            raise UsageError(f"`reset_mask` must have {self.num_envs} entries")
        seeds: Sequence[Optional[int]]
        if seed is None:
            seeds = [None] * self.num_envs
        elif isinstance(seed, (int, np.integer)):
            seeds = range(int(seed), int(seed) + self.num_envs)
        else:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise UsageError(f"`seed` must be a number, or {self.num_envs} of them")
        for index in map(int, np.flatnonzero(chosen)):
            own = seeds[index]
            if own is not None:
                self._batch.seed(index, int(own))
            self._batch.start(index)
        self._batch.observe()
        return self._given(self._batch.observations), {"action_mask": self._given(self._batch.masks)}

    def step(self, actions: np.ndarray) -> Tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Dict[str, Any]]:
        """One step of each run.

        ``info`` has ``action_mask`` (after the step) and ``ending``, numbers of ``endings``. With ``SAME_STEP``, ``final_obs`` holds
        the last observations of runs that ended, and ``_final_obs`` says which did.
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
    **settings: Any,
) -> VectorEnvironment:
    """A vectorised Gymnasium environment of a model, whose steps are made by native code.

    Args:
        model: A model, its file, or its contents as a dictionary.
        property: Name or index of the property, or its file or contents.
        num_envs: Number of runs side by side.
        autoreset: A ``gymnasium.vector.AutoresetMode``: when a run that has ended starts again.
        seed: Seed of the runs, until ``reset`` sets others. Default: another one each time.
        copy: Whether arrays are copied; without, they hold only until the next step.
        settings: See :class:`Settings`.
    """
    return VectorEnvironment(model, property, num_envs, autoreset=autoreset, seed=seed, copy=copy, **settings)
