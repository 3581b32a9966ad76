"""The environment of an algorithm of Stable-Baselines3: what it shows, and whether anything stands between it and the network."""

from __future__ import annotations

import sys
from typing import Any, List, Optional, Tuple

from .._errors import PolicyError, require

#: Wrappers that change neither observations nor actions, by library.
_HARMLESS = {
    ("stable_baselines3", "Monitor"),
    ("sb3_contrib", "ActionMasker"),
    *(
        ("gymnasium", name)
        for name in (
            "Autoreset",
            "HumanRendering",
            "NormalizeReward",
            "OrderEnforcing",
            "PassiveEnvChecker",
            "RecordEpisodeStatistics",
            "RecordVideo",
            "RenderCollection",
            "TimeLimit",
        )
    ),
}

#: What a wrapper of rewards may have of its own, though every wrapper has it.
_OF_REWARDS = {"reward", "render", "close", "metadata"}

#: What is asked through wrappers, and how a wrapper can answer instead.
_ASKED = {"action_masks", "inputs", "outputs", "is_exact", "__getattr__", "__getattribute__"}

_HINT = (
    "\n  hint: train without it; if it does not change them, pass the network: `from_torch(torch.nn.Sequential("
    "policy.mlp_extractor.policy_net, policy.action_net), model, …)`"
)


class _Anything(type):
    def __instancecheck__(cls, wrapper: Any) -> bool:
        gymnasium = require("gymnasium", "from_sb3")
        from ..gym._env import Environment, is_exactly

        inner = wrapper.env
        return not (_is_harmless(gymnasium, wrapper) and (isinstance(inner, gymnasium.Wrapper) or is_exactly(inner, Environment)))


class Unknown(metaclass=_Anything):
    """What every wrapper of an environment is an instance of that is not known to leave observations, actions and masks as they are,
    and every one directly around something else than an environment of this package.

    Environments in other processes can be asked whether they have a wrapper of a class, and for attributes, and nothing else.
    """


def _is_harmless(gymnasium: Any, wrapper: Any) -> bool:
    """Whether a wrapper is one of those that are known, or has nothing of its own but rewards and what nobody asks for."""
    from ..gym._env import is_exactly

    kind, known = type(wrapper), gymnasium.RewardWrapper
    own = set(vars(wrapper))
    if (kind.__module__.split(".")[0], kind.__name__) in _HARMLESS:
        return is_exactly(wrapper, kind) and not own & _ASKED
    if not isinstance(wrapper, known):
        return False
    own = own.union(*(vars(each) for each in kind.__mro__ if each not in known.__mro__))
    inherited = {name for name in dir(known) if not name.startswith("__")} - _OF_REWARDS
    return not own & (inherited | _ASKED)


def _has(environment: Any, kind: type) -> bool:
    """Whether environments have a wrapper of a class; not if they cannot be asked, or not any more."""
    try:
        return environment is not None and any(environment.env_is_wrapped(kind))
    except (NotImplementedError, AttributeError, OSError, EOFError):
        return False


def environment_of(algorithm: Any) -> Any:
    """The environment of an algorithm without wrappers that are known to change nothing, or ``None``."""
    vectors = require("stable_baselines3.common.vec_env", "from_sb3", "stable-baselines3")
    from ..gym._env import is_exactly

    environment: Any = algorithm.get_env() if hasattr(algorithm, "get_env") else None
    harmless = (vectors.VecMonitor, vectors.VecCheckNan, vectors.VecNormalize, vectors.VecVideoRecorder)
    while any(is_exactly(environment, kind) for kind in harmless):
        if getattr(environment, "norm_obs", False):
            _refuse_normalised()
        environment = environment.venv
    return environment


def _refuse_normalised() -> None:
    raise PolicyError(
        "the policy was trained on normalised observations (VecNormalize), which the network alone does not compute\n"
        "  hint: train with `VecNormalize(…, norm_obs=False)`"
    )


def refuse_normalisation(algorithm: Any) -> None:
    """Refuses algorithms that see normalised observations, or may have."""
    normalise = algorithm.get_vec_normalize_env() if hasattr(algorithm, "get_vec_normalize_env") else None
    if normalise is not None and normalise.norm_obs:
        _refuse_normalised()
    # Algorithms that learn from their own runs keep observations as they were before a VecNormalize, and nothing if there is none.
    is_on_policy = hasattr(algorithm, "rollout_buffer")
    if normalise is None and is_on_policy and getattr(algorithm, "_last_original_obs", None) is not None:
        raise PolicyError(
            "the algorithm was trained in a VecNormalize, which was not saved with it\n"
            "  hint: load it with its environment: `PPO.load(file, env=VecNormalize.load(statistics, environment))`"
        )


def refuse_wrappers(environment: Any) -> None:
    """Refuses environments whose observations are not the values of variables, or whose actions are not labels."""
    gymnasium = require("gymnasium", "from_sb3")
    vectors = require("stable_baselines3.common.vec_env", "from_sb3", "stable-baselines3")
    if isinstance(environment, vectors.VecEnvWrapper):
        raise PolicyError(
            f"the environment has the wrapper {type(environment).__name__}, which is not known: it may change observations or actions\n"
            "  hint: train without it"
        )
    if _has(environment, gymnasium.ObservationWrapper):
        raise PolicyError(
            "the environment has a wrapper that changes observations, which the network alone does not compute\n"
            "  hint: train without it"
        )
    if _has(environment, gymnasium.ActionWrapper):
        raise PolicyError(
            "the environment has a wrapper that changes actions, so outputs are other labels than it seems\n"
            "  hint: train without it"
        )


def refuse_masks(environment: Any, is_known: bool) -> None:
    """Refuses masks that need not be the applicable labels: all but those of environments of this package."""
    masker = sys.modules.get("sb3_contrib.common.wrappers")
    if masker is not None and _has(environment, masker.ActionMasker):
        raise PolicyError(
            "the environment has masks of its own (ActionMasker)\n"
            "  hint: `filter=True` if they are the applicable labels; train on masks of `surefoot.gym` otherwise"
        )
    if environment is not None and not is_known:
        raise PolicyError(
            "the environment is not known to be one of `surefoot.gym`, so its masks need not be the applicable labels\n"
            "  hint: `filter=True` if they are; `filter=False` if it has none"
        )


def names_of_environment(environment: Any, are_told: bool) -> Optional[Tuple[List[str], List[str]]]:
    """What an environment of this package says about its observations and actions; ``None`` of others.

    Args:
        are_told: Whether the caller is told both by somebody else.
    """
    try:
        exact, inputs, outputs = (_attributes(environment, name) for name in ("is_exact", "inputs", "outputs"))
    except (OSError, EOFError):
        if are_told:
            return None
        raise PolicyError(
            "the environment cannot be asked what it shows: it is closed\n"
            "  hint: call `from_sb3` before `close`, or list both `inputs=[…]` and `outputs=[…]`"
        ) from None
    says_both = _are_names(inputs) and _are_names(outputs)
    if not exact and not says_both:
        return None
    if not (says_both and exact and all(value is True for value in exact) and _is_exact(environment)):
        raise PolicyError(
            "the environment says what it shows, but is of another class than those of `surefoot.gym`, so that it may change "
            f"observations, actions or masks{_HINT}"
        )
    if _has(environment, Unknown):
        raise PolicyError(f"the environment has a wrapper that may change observations or actions{_HINT}")
    if any(each != lists[0] for lists in (inputs, outputs) for each in lists):
        raise PolicyError("the environments side by side show different variables or labels\n  hint: train on equal ones")
    return list(inputs[0]), list(outputs[0])


def _attributes(environment: Any, name: str) -> List[Any]:
    """An attribute of each of several environments; empty if they do not have it."""
    try:
        # A process ends if it is asked for what is not there.
        return environment.get_attr(name) if environment.has_attr(name) else []
    except (AttributeError, NotImplementedError):
        return []


def _are_names(lists: List[Any]) -> bool:
    return bool(lists) and all(isinstance(each, list) and all(isinstance(name, str) for name in each) for each in lists)


def _is_exact(environment: Any) -> bool:
    """Whether an environment without wrappers is of one of the classes that are known, and not one that is made of them."""
    vectors = require("stable_baselines3.common.vec_env", "from_sb3", "stable-baselines3")
    from ..gym._env import Environment, is_exactly
    from ..gym._sb3 import SB3VectorEnvironment

    kinds = (vectors.DummyVecEnv, vectors.SubprocVecEnv, SB3VectorEnvironment)
    # Those in other processes can only be asked.
    parts = environment.envs if isinstance(environment, vectors.DummyVecEnv) else []
    return any(is_exactly(environment, kind) for kind in kinds) and all(is_exactly(part.unwrapped, Environment) for part in parts)
