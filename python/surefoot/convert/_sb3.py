"""Policies of Stable-Baselines3 and sb3-contrib."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from .._arguments import PathLike
from .._errors import PolicyError, require
from .._model import Model
from .._policy import Policy
from ._torch import module_layers, policy_of_layers


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

    What is verified is ``predict(…, deterministic=True)``: the action with the highest logit or value.

    Args:
        algorithm: The algorithm.
        model: The model that the policy acts in.
        inputs: What it reads, in order. Default: what its environment says if it is one of :mod:`surefoot.gym`, else
            ``model.observed``.
        outputs: The labels of its actions, in order. Default likewise.
        interface: An interface file (``.jani2nnet``) that says both.
        filter: Whether it chooses among applicable labels only. Default: true for MaskablePPO, whose masks are that.

    Raises:
        PolicyError: The policy has parts that are not known, normalises observations, or was trained for other bounds.
    """
    torch = require("torch", "from_sb3")
    require("stable_baselines3", "from_sb3", "stable-baselines3")
    name = type(algorithm).__name__
    policy = getattr(algorithm, "policy", None)
    if policy is None:
        raise PolicyError(f"a {name} has no policy\n  hint: pass the algorithm, such as PPO(…)")
    _refuse_normalisation(algorithm)
    _check_spaces(algorithm, name)
    layers, module = _layers(torch, policy, name)
    if interface is None:
        own = _of_environment(algorithm, model)
        inputs = inputs if inputs is not None else own[0]
        outputs = outputs if outputs is not None else own[1]
    if filter is None:
        filter = name == "MaskablePPO" or "Maskable" in type(policy).__name__
    result = policy_of_layers(torch, module, layers, model, inputs, outputs, interface, filter)
    _compare_bounds(algorithm.observation_space, result)
    return result


def _refuse_normalisation(algorithm: Any) -> None:
    normalise = algorithm.get_vec_normalize_env() if hasattr(algorithm, "get_vec_normalize_env") else None
    if normalise is not None and normalise.norm_obs:
        raise PolicyError(
            "the policy was trained on normalised observations (VecNormalize), which the network alone does not compute\n"
            "  hint: train with `VecNormalize(…, norm_obs=False)`"
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
    extractor = getattr(policy, "pi_features_extractor", None) or getattr(policy, "features_extractor", None)
    network = getattr(policy, "q_net", None)
    if network is not None:
        extractor = network.features_extractor
    kind = type(extractor).__name__
    if kind != "FlattenExtractor":
        raise PolicyError(f"the policy has a features extractor of type {kind}, which is not known: it must be an MlpPolicy")
    if network is not None:
        module = network.q_net
        return module_layers(torch, module, "q_net"), module
    mlp: Any = getattr(policy, "mlp_extractor", None)
    action: Any = getattr(policy, "action_net", None)
    if type(mlp).__name__ != "MlpExtractor" or action is None:
        kind = type(policy).__name__
        raise PolicyError(f"{name} has a policy of type {kind}, which is not known: PPO, A2C, DQN and MaskablePPO are")
    layers = module_layers(torch, mlp.policy_net, "mlp_extractor.policy_net")
    layers += module_layers(torch, action, "action_net")
    return layers, torch.nn.Sequential(mlp.policy_net, action)


def _of_environment(algorithm: Any, model: Model) -> "tuple[Optional[List[str]], Optional[List[str]]]":
    """What the environment of the algorithm says about its observations and actions, if it is one of this package."""
    environment: Any = algorithm.get_env() if hasattr(algorithm, "get_env") else None
    found: List[Optional[List[str]]] = []
    for name in ("inputs", "outputs"):
        try:
            found.append(list(environment.get_attr(name, indices=[0])[0]))
        except (AttributeError, TypeError, IndexError):
            found.append(None)
    names = {variable.name for variable in model.variables}
    known = found[0] is not None and set(found[0]) <= names
    return (found[0], found[1]) if known else (None, None)


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
