"""One run as a Gymnasium environment."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Tuple, Union

import numpy as np

from .._arguments import PathLike
from .._errors import UsageError, require
from .._model import Model, PropertyLike
from ._batch import Batch, Settings, check_options

require("gymnasium", "surefoot.gym")

import gymnasium  # noqa: E402

#: Number of the ending by which a run is cut off.
STEP_LIMIT = 6


class Environment(gymnasium.Env):
    """A model as a Gymnasium environment. Make one with :func:`make`.

    Attributes:
        model: The model.
        inputs: The variables that are seen, in order.
        outputs: The labels to choose from, in order: action ``i`` is ``outputs[i]``.
    """

    metadata: Dict[str, Any] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4}

    def __init__(
        self,
        model: Union[Model, PathLike, Mapping[str, Any]],
        property: PropertyLike = None,
        *,
        render_mode: Optional[str] = None,
        **settings: Any,
    ) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise UsageError(f"`render_mode` is {render_mode!r}, but must be None, 'ansi' or 'rgb_array'")
        self._batch = Batch(model, property, 1, "disabled", None, Settings(**settings))
        self.model = self._batch.model
        self.inputs = self._batch.observed
        self.outputs = self._batch.actions
        self.render_mode = render_mode
        if render_mode == "rgb_array":
            from ._picture import painter

            self._painter = painter(self.model)
        self.observation_space = gymnasium.spaces.Box(self._batch.low, self._batch.high, dtype=self._batch.dtype.type)
        self.action_space = gymnasium.spaces.Discrete(len(self.outputs))
        self._last_label: Optional[str] = ""

    @property
    def state(self) -> Dict[str, Any]:
        """The current state: values of all variables by name."""
        return self._batch.state(0)

    @property
    def start_states(self) -> Tuple[int, bool]:
        """How many start states were collected, and whether these are all: then each is equally likely."""
        return self._batch.start_states

    def reset(self, *, seed: Optional[int] = None, options: Optional[Dict[str, Any]] = None) -> Tuple[np.ndarray, Dict[str, Any]]:
        """Starts a run in a random start state; ``options={"state": {…}}`` starts it in that state."""
        super().reset(seed=seed)
        check_options(options, "state")
        if seed is not None:
            self._batch.seed(0, seed)
        self._batch.start(0, (options or {}).get("state"))
        self._batch.observe()
        self._last_label = ""
        return self._batch.observations[0].copy(), {"action_mask": self.action_masks()}

    def step(self, action: Any) -> Tuple[np.ndarray, float, bool, bool, Dict[str, Any]]:
        """Chooses a label.

        ``info`` has ``action_mask``; ``label``, what happened (``None`` for a silent step, ``""`` for nothing); and ``ending``,
        why the run ended: ``"unsafe"``, ``"goal"``, ``"left"``, ``"stall"``, ``"deadlock"``, ``"step-limit"`` or ``""``.
        """
        batch = self._batch
        batch.step(np.array([action], dtype=np.int64))
        ending = int(batch.ended[0])
        self._last_label = batch.label(0)
        info = {
            "action_mask": self.action_masks(),
            "label": self._last_label,
            "ending": batch.endings[ending],
        }
        terminated = ending not in (0, STEP_LIMIT)
        return batch.observations[0].copy(), float(batch.rewards[0]), terminated, ending == STEP_LIMIT, info

    def action_masks(self) -> np.ndarray:
        """Which actions are applicable, as sb3-contrib asks for it; all, where none is: then it does not matter which is chosen."""
        return self._batch.masks[0].copy()

    def render(self) -> Any:
        """The current state, as text or as an image, by ``render_mode``."""
        if self.render_mode is None:
            return None
        if self.render_mode == "ansi":
            from ._text import text

            return text(self.model, self.state, self._last_label)
        return self._painter(self.state)


def make(
    model: Union[Model, PathLike, Mapping[str, Any]],
    property: PropertyLike = None,
    *,
    render_mode: Optional[str] = None,
    **settings: Any,
) -> Environment:
    """A Gymnasium environment of a model.

    Args:
        model: A model, its file, or its contents as a dictionary. Its variables must be Booleans and bounded integers.
        property: Name or index of the property, or its file or contents. It says where runs start, what is unsafe and what is a goal.
        render_mode: ``"ansi"`` for text, ``"rgb_array"`` for images of the domains of :func:`surefoot.generate`.
        settings: See :class:`Settings`: ``observed``, ``actions``, ``dtype``, rewards, ``max_steps``, …

    Example:
        >>> env = surefoot.gym.make(model, max_steps=50, step_reward=-0.01)
        >>> observation, info = env.reset(seed=1)
        >>> env.step(int(env.action_space.sample(info["action_mask"].astype("int8"))))
    """
    return Environment(model, property, render_mode=render_mode, **settings)
