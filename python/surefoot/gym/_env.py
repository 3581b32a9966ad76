"""One run as a Gymnasium environment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional, Tuple, Union

import numpy as np

from .._arguments import PathLike, one_of, whole
from .._model import Model, PropertyLike
from ._batch import Batch, SettingNames, Unique, check_options, checked_seed, require_gymnasium, settings_of

require_gymnasium()

import gymnasium  # noqa: E402

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: Number of the ending by which a run is cut off.
STEP_LIMIT = 6


def is_exactly(thing: Any, kind: type) -> bool:
    """Whether something is of this class, not of one made from it, and has no methods of its own."""
    return type(thing) is kind and not any(callable(getattr(kind, name, None)) for name in vars(thing))


class Environment(Unique, gymnasium.Env):
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
        **settings: Unpack[SettingNames],
    ) -> None:
        one_of("render_mode", render_mode, (None, *self.metadata["render_modes"]))
        self._batch = Batch(model, property, 1, "disabled", None, settings_of(settings))
        self.model = self._batch.model
        self.inputs = self._batch.observed
        self.outputs = self._batch.actions
        self.render_mode = render_mode
        if render_mode == "rgb_array":
            from ._picture import painter

            self._painter = painter(self.model)
        self.observation_space = gymnasium.spaces.Box(self._batch.low, self._batch.high, dtype=self._batch.dtype.type)
        self.action_space = gymnasium.spaces.Discrete(len(self.outputs))
        self._last_step = "start"

    @property
    def state(self) -> Dict[str, Any]:
        """The current state: values of all variables by name."""
        return self._batch.state(0)

    @property
    def start_states(self) -> Tuple[int, bool]:
        """How many start states were collected, and whether these are all: then each is equally likely."""
        return self._batch.start_states

    @property
    def is_exact(self) -> bool:
        """Whether it shows and does what the model says: it is not of a class made from this one, which may do anything."""
        return is_exactly(self, Environment)

    def reset(self, *, seed: Optional[int] = None, options: Optional[Dict[str, Any]] = None) -> Tuple[np.ndarray, Dict[str, Any]]:
        """Starts a run in a random start state; ``options={"state": {…}}`` starts it in that state."""
        seed = None if seed is None else checked_seed(seed)
        super().reset(seed=seed)
        check_options(options, "state")
        if seed is not None:
            self._batch.seed(0, seed)
        self._batch.start(0, (options or {}).get("state"))
        self._batch.observe()
        self._last_step = "start"
        return self._batch.observations[0].copy(), {"action_mask": self._mask()}

    def step(self, action: Any) -> Tuple[np.ndarray, float, bool, bool, Dict[str, Any]]:
        """Chooses a label.

        ``info`` has ``action_mask`` (of numbers, as ``action_space.sample`` takes it); ``label``, what happened (``None`` for a silent step, ``""`` for nothing); and ``ending``,
        why the run ended: ``"unsafe"``, ``"goal"``, ``"left"``, ``"stall"``, ``"deadlock"``, ``"step-limit"`` or ``""``.
        """
        batch = self._batch
        batch.step(np.array([whole("the action", action)]))
        ending = int(batch.ended[0])
        label = batch.label(0)
        self._last_step = "silent step" if label is None else label or "nothing happened"
        info = {"action_mask": self._mask(), "label": label, "ending": batch.endings[ending]}
        terminated = ending not in (0, STEP_LIMIT)
        return batch.observations[0].copy(), float(batch.rewards[0]), terminated, ending == STEP_LIMIT, info

    def action_masks(self) -> np.ndarray:
        """Which actions are applicable, as sb3-contrib asks for it; all, where none is: then it does not matter which is chosen."""
        return self._batch.masks[0].copy()

    def _mask(self) -> np.ndarray:
        return self._batch.masks[0].astype(np.int8)

    def render(self) -> Any:
        """The current state, as text or as an image, by ``render_mode``."""
        if self.render_mode is None:
            return None
        if self.render_mode == "ansi":
            from ._text import text

            return text(self.model, self.state, self._last_step)
        return self._painter(self.state)


def make(
    model: Union[Model, PathLike, Mapping[str, Any]],
    property: PropertyLike = None,
    *,
    render_mode: Optional[str] = None,
    **settings: Unpack[SettingNames],
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
        >>> env.step(env.action_space.sample(info["action_mask"]))
    """
    return Environment(model, property, render_mode=render_mode, **settings)
