"""Policies of Stable-Baselines3 and sb3-contrib."""

from __future__ import annotations

import os
import sys
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from .._arguments import PathLike, listed
from .._errors import PolicyError, require
from .._model import Model
from .._policy import Policy
from ._compare import compare_choices
from ._torch import module_layers, policy_of_layers

#: Classes of policies, by module. What is made of these by inheritance may compute anything.
_POLICIES = {
    ("stable_baselines3.common.policies", "ActorCriticPolicy"),
    ("sb3_contrib.common.maskable.policies", "MaskableActorCriticPolicy"),
    ("stable_baselines3.dqn.policies", "DQNPolicy"),
}


def from_sb3(
    algorithm: Any,
    model: Model,
    *,
    inputs: Optional[Sequence[str]] = None,
    outputs: Optional[Sequence[str]] = None,
    interface: Optional[PathLike] = None,
    filter: Optional[bool] = None,
) -> Policy:
    """A policy from a trained algorithm of Stable-Baselines3: PPO, A2C, DQN, or MaskablePPO of sb3-contrib, with ``MlpPolicy``.

    What is verified is ``predict(…, deterministic=True)``: the action with the highest logit or value. It is called at random
    states to see that it chooses that.

    Args:
        algorithm: The algorithm.
        model: The model that the policy acts in.
        inputs: What it reads, in order. Default: what its environment says if it is one of :mod:`surefoot.gym`, else
            ``model.observed``.
        outputs: The labels of its actions, in order. Default likewise.
        interface: An interface file (``.jani2nnet``) that says both.
        filter: Whether it chooses among applicable labels only. Default: true for MaskablePPO, whose masks are that.

    Logits are what is read. `predict` of PPO, A2C and MaskablePPO compares probabilities, in single precision: where two of the
    highest logits differ by less than 10⁻⁶ or so, it may take the other one.

    Raises:
        PolicyError: The policy has parts that are not known, sees other observations than the states, or was trained for other
            bounds.
    """
    torch = require("torch", "from_sb3")
    require("stable_baselines3", "from_sb3", "stable-baselines3")
    name = type(algorithm).__name__
    policy = getattr(algorithm, "policy", None)
    if isinstance(algorithm, (str, os.PathLike)):
        raise PolicyError("this is a file\n  hint: `load_policy(file, model, inputs=[…])` reads what `save` has written")
    if policy is None:
        raise PolicyError(f"a {name} has no policy\n  hint: pass the algorithm, such as PPO(…)")
    _refuse_normalisation(algorithm)
    _refuse_wrappers(algorithm, filter)
    _check_spaces(algorithm, name)
    layers, module = _layers(torch, policy, name)
    own = _of_environment(algorithm, model)
    if interface is None:
        inputs = inputs if inputs is not None else own[0]
        outputs = outputs if outputs is not None else own[1]
    if filter is None:
        filter = type(policy).__name__ == "MaskableActorCriticPolicy"
    result = policy_of_layers(torch, module, layers, model, inputs, outputs, interface, filter)
    for what, known, chosen in (("inputs", own[0], result.inputs), ("outputs", own[1], result.outputs)):
        if known is not None and known != chosen:
            raise PolicyError(f"the {what} are {listed(chosen)}, but {name} was trained on {listed(known)}, in this order")
    _compare_bounds(algorithm.observation_space, result)

    def predicted(rows: np.ndarray) -> List[str]:
        actions, _ = algorithm.predict(rows.astype(algorithm.observation_space.dtype), deterministic=True)
        return [result.outputs[action] for action in actions]

    compare_choices(result, f"{name}.predict", predicted, "any-f32")
    return result


def _refuse_normalisation(algorithm: Any) -> None:
    normalise = algorithm.get_vec_normalize_env() if hasattr(algorithm, "get_vec_normalize_env") else None
    if normalise is not None and normalise.norm_obs:
        raise PolicyError(
            "the policy was trained on normalised observations (VecNormalize), which the network alone does not compute\n"
            "  hint: train with `VecNormalize(…, norm_obs=False)`"
        )
    # Algorithms that learn from their own runs keep observations as they were before a VecNormalize, and nothing if there is none.
    is_on_policy = hasattr(algorithm, "rollout_buffer")
    if normalise is None and is_on_policy and getattr(algorithm, "_last_original_obs", None) is not None:
        raise PolicyError(
            "the algorithm was trained in a VecNormalize, which was not saved with it\n"
            "  hint: load it with its environment: `PPO.load(file, env=VecNormalize.load(statistics, environment))`"
        )


class _Anything(type):
    def __instancecheck__(cls, wrapper: Any) -> bool:
        gymnasium = require("gymnasium", "from_sb3")
        kind = type(wrapper)
        if isinstance(wrapper, gymnasium.RewardWrapper):
            return not (kind.step is gymnasium.RewardWrapper.step and kind.reset is gymnasium.Wrapper.reset)
        return (kind.__module__.split(".")[0], kind.__name__) not in _HARMLESS


class Unknown(metaclass=_Anything):
    """What every wrapper of an environment is an instance of that is not known to leave observations, actions and masks as they are.

    Environments in other processes can be asked whether they have a wrapper of a class, and nothing else.
    """


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


def _has(environment: Any, kind: type) -> bool:
    """Whether environments have a wrapper of a class; not if they cannot be asked, or not any more."""
    try:
        return environment is not None and any(environment.env_is_wrapped(kind))
    except (NotImplementedError, AttributeError, OSError, EOFError):
        return False


def _refuse_wrappers(algorithm: Any, filter: Optional[bool]) -> None:
    """Refuses environments whose observations are not the values of variables, or whose actions are not labels."""
    gymnasium = require("gymnasium", "from_sb3")
    vectors = require("stable_baselines3.common.vec_env", "from_sb3", "stable-baselines3")
    environment = algorithm.get_env() if hasattr(algorithm, "get_env") else None
    # Normalisation of observations is refused elsewhere.
    harmless = (vectors.VecMonitor, vectors.VecCheckNan, vectors.VecNormalize, vectors.VecVideoRecorder)
    while isinstance(environment, harmless):
        environment = environment.venv
    if isinstance(environment, vectors.VecEnvWrapper) or _has(environment, gymnasium.ObservationWrapper):
        raise PolicyError(
            "the environment has a wrapper that changes observations, which the network alone does not compute\n"
            "  hint: train without it"
        )
    if _has(environment, gymnasium.ActionWrapper):
        raise PolicyError(
            "the environment has a wrapper that changes actions, so outputs are other labels than it seems\n"
            "  hint: train without it"
        )
    masker = sys.modules.get("sb3_contrib.common.wrappers")
    is_masked = type(algorithm.policy).__name__ == "MaskableActorCriticPolicy"
    if masker is not None and is_masked and filter is None and _has(environment, masker.ActionMasker):
        raise PolicyError(
            "the environment has masks of its own (ActionMasker)\n"
            "  hint: `filter=True` if they are the applicable labels; train on masks of `surefoot.gym` otherwise"
        )


def _check_spaces(algorithm: Any, name: str) -> None:
    gymnasium = require("gymnasium", "from_sb3")
    space = algorithm.action_space
    if not isinstance(space, gymnasium.spaces.Discrete):
        raise PolicyError(f"{name} has the action space {space}, but policies choose one of several labels (Discrete)")
    if int(space.start) != 0:
        raise PolicyError(f"the actions of {name} begin at {space.start}, but must begin at 0")
    observations = algorithm.observation_space
    if not isinstance(observations, gymnasium.spaces.Box) or len(observations.shape) != 1:
        raise PolicyError(f"{name} has the observation space {observations}, but must have a Box of one row of numbers")


def _layers(torch: Any, policy: Any, name: str) -> Tuple[List[Tuple[Any, Any]], Any]:
    """The chain of layers from observations to logits or values, and a module that computes it."""
    kind = type(policy)
    if (kind.__module__, kind.__name__) not in _POLICIES:
        raise PolicyError(
            f"{name} has a policy of type {kind.__name__}, which is not known: `MlpPolicy` of PPO, A2C, DQN and MaskablePPO is\n"
            "  hint: of one that computes the same, pass its network: `from_torch(torch.nn.Sequential(policy.mlp_extractor.policy_net, "
            "policy.action_net), model, …)`"
        )
    extractor = getattr(policy, "pi_features_extractor", None) or getattr(policy, "features_extractor", None)
    network = getattr(policy, "q_net", None)
    if network is not None:
        extractor = network.features_extractor
    features = type(extractor).__name__
    if (type(extractor).__module__, features) != ("stable_baselines3.common.torch_layers", "FlattenExtractor"):
        raise PolicyError(f"the policy has a features extractor of type {features}, which is not known: it must be an MlpPolicy")
    if network is not None:
        module = network.q_net
        return module_layers(torch, module, "q_net"), module
    body, head = policy.mlp_extractor.policy_net, policy.action_net
    layers = module_layers(torch, body, "mlp_extractor.policy_net") + module_layers(torch, head, "action_net")
    return layers, torch.nn.Sequential(body, head)


def _of_environment(algorithm: Any, model: Model) -> "tuple[Optional[List[str]], Optional[List[str]]]":
    """What the environment of the algorithm says about its observations and actions, if it is one of this package."""
    environment: Any = algorithm.get_env() if hasattr(algorithm, "get_env") else None
    found: List[Optional[List[str]]] = []
    for name in ("inputs", "outputs"):
        try:
            found.append(list(environment.get_attr(name, indices=[0])[0]))
        except (AttributeError, TypeError, IndexError, NotImplementedError, OSError, EOFError):
            found.append(None)
    names = {variable.name for variable in model.variables}
    if found[0] is None or not set(found[0]) <= names:
        return None, None
    if _has(environment, Unknown):
        raise PolicyError(
            "the environment has a wrapper that may change observations or actions\n"
            "  hint: train without it; if it does not change them, pass the network: `from_torch(torch.nn.Sequential("
            "policy.mlp_extractor.policy_net, policy.action_net), model, …)`"
        )
    return found[0], found[1]


def _compare_bounds(space: Any, policy: Policy) -> None:
    """Refuses a policy that has not seen all values of its inputs in training: the order of inputs may be wrong."""
    variables = {variable.name: variable for variable in policy.model.variables}
    for index, name in enumerate(policy.inputs):
        lower = upper = None
        if name in variables:
            lower, upper = variables[name].lower, variables[name].upper
        else:
            lower = upper = int(name)
        low, high = np.float64(space.low[index]), np.float64(space.high[index])
        if lower < low or upper > high:
            raise PolicyError(
                f"input {index} is `{name}` with values from {lower} to {upper}, but the policy was trained on observations from "
                f"{low:g} to {high:g}\n  hint: list the variables in the order of the observations: `inputs=[…]`"
            )
