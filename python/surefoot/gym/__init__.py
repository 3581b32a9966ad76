"""Gymnasium environments of models: a policy is trained on the model that is verified.

    >>> model = surefoot.generate("blocksworld", blocks=4, table_limit=3)
    >>> env = surefoot.gym.make(model, max_steps=50)
    >>> vectorised = surefoot.gym.make_vec(model, num_envs=256)

:func:`make` gives a Gymnasium environment, :func:`make_vec` a vectorised one whose steps are made by native code, and
:func:`make_sb3_vec` the same for Stable-Baselines3. docs/python.md says what a step is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Optional, Union

from .._arguments import PathLike
from .._model import Model, PropertyLike
from ._batch import SettingNames, Settings
from ._env import Environment, make
from ._vector import VectorEnvironment, make_vec

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._sb3 import SB3VectorEnvironment

__all__ = ["Environment", "Settings", "VectorEnvironment", "make", "make_sb3_vec", "make_vec"]


def make_sb3_vec(
    model: Union[Model, PathLike, Mapping[str, Any]],
    property: PropertyLike = None,
    num_envs: int = 16,
    *,
    seed: Optional[int] = None,
    **settings: Unpack[SettingNames],
) -> SB3VectorEnvironment:
    """A vectorised environment (``VecEnv``) for Stable-Baselines3 and sb3-contrib, with native steps and action masks.

    Args:
        model: A model, or its file.
        property: Name or index of the property, or its file.
        num_envs: Number of runs side by side.
        seed: Seed of the first runs; ``learn`` of Stable-Baselines3 sets its own if the algorithm has one. Default: another one each
            time.
        settings: See :class:`Settings`.
    """
    from ._sb3 import make_sb3_vec as make

    return make(model, property, num_envs, seed=seed, **settings)
