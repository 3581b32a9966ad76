"""Policies of Stable-Baselines3 and sb3-contrib."""

from __future__ import annotations

import os
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from .._arguments import PathLike, listed
from .._errors import PolicyError, require
from .._model import Model
from .._policy import Policy, check_model
from ._compare import compare_choices
from ._environment import environment_of, names_of_environment, refuse_masks, refuse_normalisation, refuse_wrappers
from ._interface import read_interface
from ._torch import evaluating, module_layers, policy_of_layers

#: Classes of policies, by module. What is made of these by inheritance may compute anything.
_POLICIES = {
    ("stable_baselines3.common.policies", "ActorCriticPolicy"),
    ("sb3_contrib.common.maskable.policies", "MaskableActorCriticPolicy"),
    ("stable_baselines3.dqn.policies", "DQNPolicy"),
}

#: Up to here, float16 has all integers.
HALF = 2**11


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
        filter: Whether it chooses among applicable labels only. Default: what the interface says, else true for MaskablePPO in an
            environment of :mod:`surefoot.gym`, whose masks are that, or without one.

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
    check_model(model)
    refuse_normalisation(algorithm)
    environment = environment_of(algorithm)
    refuse_wrappers(environment)
    _check_spaces(algorithm, name)
    layers, module = _layers(torch, policy, name)
    are_told = interface is not None or (inputs is not None and outputs is not None)
    own = names_of_environment(environment, are_told)
    is_masked = type(policy).__name__ == "MaskableActorCriticPolicy"
    if is_masked and filter is None and (interface is None or read_interface(interface).get("filter") is None):
        refuse_masks(environment, own is not None)
        filter = True
    if own is not None and not are_told:
        _refuse_unknown_names(own, model)
        inputs, outputs = (given if given is not None else known for given, known in zip((inputs, outputs), own))
    result = policy_of_layers(torch, module, layers, model, inputs, outputs, interface, filter)
    if own is not None:
        _compare_names(own, result, name)
    _compare_bounds(algorithm.observation_space, result)

    def predicted(rows: np.ndarray) -> List[str]:
        actions, _ = algorithm.predict(rows.astype(algorithm.observation_space.dtype), deterministic=True)
        return [result.outputs[action] for action in actions]

    with evaluating(policy):
        compare_choices(result, f"{name}.predict", predicted, "any-f32")
    return result


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


def _names(model: Model) -> Tuple[List[str], List[str]]:
    return [variable.name for variable in model.variables], model.all_labels


def _refuse_unknown_names(own: Tuple[List[str], List[str]], model: Model) -> None:
    """Refuses an environment of another model: the order of what it shows says nothing about this one."""
    for what, known, names in zip(("variable", "label"), own, _names(model)):
        unknown = [name for name in known if name not in names]
        if unknown:
            raise PolicyError(
                f"the policy was trained in an environment with the {what} `{unknown[0]}`, which the model `{model.name}` does not have\n"
                f"  hint: list both `inputs=[…]` and `outputs=[…]`; the model has {listed(names)}"
            )


def _compare_names(own: Tuple[List[str], List[str]], policy: Policy, name: str) -> None:
    """Refuses a policy in which a name of its environment stands for another one of the model."""
    for what, known, chosen, names in zip(("inputs", "outputs"), own, (policy.inputs, policy.outputs), _names(policy.model)):
        if any(one in names and one != other for one, other in zip(known, chosen)):
            raise PolicyError(f"the {what} are {listed(chosen)}, but {name} was trained on {listed(known)}, in this order")


def _compare_bounds(space: Any, policy: Policy) -> None:
    """Refuses a policy that has not seen all values of its inputs in training: the order of inputs may be wrong."""
    variables = {variable.name: variable for variable in policy.model.variables}
    for index, name in enumerate(policy.inputs):
        lower = upper = None
        if name in variables:
            lower, upper = variables[name].lower, variables[name].upper
        else:
            lower = upper = int(name)
        if space.dtype == np.float16 and (lower < -HALF or upper > HALF):
            raise PolicyError(
                f"input {index} is `{name}` with values from {lower} to {upper}, but observations are float16, which rounds beyond "
                f"±{HALF}\n  hint: train on observations of type float32"
            )
        low, high = np.float64(space.low[index]), np.float64(space.high[index])
        if lower < low or upper > high:
            raise PolicyError(
                f"input {index} is `{name}` with values from {lower} to {upper}, but the policy was trained on observations from "
                f"{low:g} to {high:g}\n  hint: list the variables in the order of the observations: `inputs=[…]`"
            )
