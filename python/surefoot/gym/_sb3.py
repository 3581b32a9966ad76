"""Many runs as a vectorised environment of Stable-Baselines3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np

from .._arguments import PathLike
from .._errors import UsageError, require
from .._model import Model, PropertyLike
from ._batch import Batch, SettingNames, Unique, checked_seed, require_gymnasium, settings_of
from ._env import STEP_LIMIT, is_exactly

require_gymnasium()
require("stable_baselines3", "surefoot.gym.make_sb3_vec", "stable-baselines3")

import gymnasium  # noqa: E402
from stable_baselines3.common.vec_env import base_vec_env as base  # noqa: E402

if TYPE_CHECKING:
    from typing_extensions import Unpack


class SB3VectorEnvironment(Unique, base.VecEnv):
    """A model as a ``VecEnv``. Make one with :func:`surefoot.gym.make_sb3_vec`."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self.model = batch.model
        self.inputs = batch.observed
        self.outputs = batch.actions
        self.render_mode = None
        self._actions = np.zeros(batch.count, np.int64)
        self._returns = np.zeros(batch.count)
        self._lengths = np.zeros(batch.count, np.int64)
        space = gymnasium.spaces.Box(batch.low, batch.high, dtype=batch.dtype.type)
        super().__init__(batch.count, space, gymnasium.spaces.Discrete(len(batch.actions)))

    @property
    def is_exact(self) -> bool:
        """As of :class:`surefoot.gym.Environment`."""
        return is_exactly(self, SB3VectorEnvironment)

    def seed(self, seed: Optional[int] = None) -> "Sequence[Optional[int]]":
        """Sets the seed of the first run; that of each other one is by one higher."""
        if seed is not None:
            seed = checked_seed(seed)
            checked_seed(seed + self.num_envs - 1)
        return super().seed(seed)

    def set_options(self, options: Union[None, Dict[str, Any], List[Dict[str, Any]]] = None) -> None:
        """There are no options of ``reset``."""
        if any(options if isinstance(options, list) else [options]):
            raise UsageError("these environments have no options of `reset`\n  hint: `surefoot.gym.make` has `state`")
        super().set_options(options)

    def reset(self) -> np.ndarray:
        """Starts all runs."""
        for index, seed in enumerate(self._seeds):
            if seed is not None:
                self._batch.seed(index, seed)
            self._batch.start(index)
        self._reset_seeds()
        self._batch.observe()
        self._returns[:] = 0
        self._lengths[:] = 0
        return self._batch.observations.copy()

    def step_async(self, actions: np.ndarray) -> None:
        """Remembers the actions of the next step."""
        self._actions = actions

    def step_wait(self) -> "tuple[np.ndarray, np.ndarray, np.ndarray, List[dict]]":
        """Makes the step. Runs that end start again at once; ``infos`` has their last observations."""
        batch = self._batch
        batch.step(self._actions)
        ended = batch.ended.copy()
        self._returns += batch.rewards
        self._lengths += 1
        infos: List[dict] = [{} for _ in range(batch.count)]
        for index in np.flatnonzero(ended):
            infos[index] = {
                "terminal_observation": batch.last_observations[index].copy(),
                "TimeLimit.truncated": bool(ended[index] == STEP_LIMIT),
                "ending": batch.endings[ended[index]],
                "episode": {"r": float(self._returns[index]), "l": int(self._lengths[index]), "t": 0.0},
            }
            self._returns[index] = 0
            self._lengths[index] = 0
        return batch.observations.copy(), batch.rewards.astype(np.float32), ended != 0, infos

    def close(self) -> None:
        """Nothing is open."""

    def get_attr(self, attr_name: str, indices: Any = None) -> List[Any]:
        """An attribute, once for each run."""
        return [getattr(self, attr_name)] * len(self._chosen(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Sets an attribute, which is the same for all runs."""
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> List[Any]:
        """``action_masks`` for each run, which is what sb3-contrib asks for."""
        if method_name != "action_masks":
            raise AttributeError(f"the environments have no method {method_name!r} for single runs, only 'action_masks'")
        return [self._batch.masks[index].copy() for index in self._chosen(indices)]

    def action_masks(self) -> np.ndarray:
        """Which actions are applicable, one row per run."""
        return self._batch.masks.copy()

    def has_attr(self, attr_name: str) -> bool:
        """Whether there is such an attribute."""
        return hasattr(self, attr_name)

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> List[bool]:
        """Nothing is wrapped; but returns are told as ``Monitor`` does."""
        from stable_baselines3.common.monitor import Monitor

        return [issubclass(wrapper_class, Monitor)] * len(self._chosen(indices))

    def get_images(self) -> Sequence[Optional[np.ndarray]]:
        """There are none."""
        return [None] * self.num_envs

    def _chosen(self, indices: Any) -> List[int]:
        if indices is None:
            return list(range(self.num_envs))
        return [indices] if isinstance(indices, int) else list(indices)


def make_sb3_vec(
    model: Union[Model, PathLike, Mapping[str, Any]],
    property: PropertyLike,
    num_envs: int,
    *,
    seed: Optional[int],
    **settings: Unpack[SettingNames],
) -> SB3VectorEnvironment:
    """See :func:`surefoot.gym.make_sb3_vec`."""
    return SB3VectorEnvironment(Batch(model, property, num_envs, "same-step", seed, settings_of(settings)))
