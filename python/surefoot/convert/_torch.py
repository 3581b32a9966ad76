"""Networks of PyTorch."""

from __future__ import annotations

import io
from contextlib import contextmanager
from typing import Any, Iterator, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from .._arguments import PathLike
from .._errors import PolicyError, UsageError, require
from .._model import MEMORY, Model
from .._policy import Policy, from_contents
from ._compare import compare
from ._interface import make_interface
from ._protobuf import chain as onnx_chain


def from_torch(
    network: Any,
    model: Model,
    *,
    inputs: Optional[Sequence[str]] = None,
    outputs: Optional[Sequence[str]] = None,
    interface: Optional[PathLike] = None,
    filter: Optional[bool] = None,
    activation: Optional[str] = None,
    layers: Optional[Sequence[str]] = None,
) -> Policy:
    """A policy from a network of PyTorch.

    Args:
        network: A ``Sequential`` of ``Linear`` layers and activations (``ReLU``, ``Tanh``, ``Sigmoid``, ``ELU``, ``LeakyReLU``,
            ``ReLU6``, ``Hardtanh``), which may hold others, ``Identity``, ``Flatten`` and ``Dropout``; or a state dict of such a
            network.
        model: The model that the policy acts in.
        inputs: What it reads, in order: names of variables and constants. Default: ``model.observed``.
        outputs: The labels of its outputs, in order. Default: ``model.labels``.
        interface: An interface file (``.jani2nnet``) that says both.
        filter: Whether it chooses among applicable labels only.
        activation: Of a state dict with several layers: what stands between them (``"relu"``, ``"tanh"``, ``"sigmoid"``, ``"elu"`` or
            ``"leaky_relu"``).
        layers: Of a state dict: the names of its layers, in order, where names and shapes leave that open.

    A state dict is read like a file of one: it says neither what stands between its layers nor always in which order they are, and
    there is nothing to compare its scores with.

    Raises:
        InputError: A layer is not known, or the numbers of inputs or outputs do not fit.
        ComparisonError: Scores differ from those of PyTorch.
    """
    torch = require("torch", "from_torch")
    if isinstance(network, Mapping):
        return _policy_of_state_dict(torch, network, model, inputs, outputs, interface, filter, activation, layers)
    if not isinstance(network, torch.nn.Module):
        raise UsageError(f"`network` is a {type(network).__name__}, but must be a torch.nn.Module or a state dict")
    if activation is not None or layers is not None:
        raise UsageError("`activation` and `layers` are for state dicts; a module says both itself")
    chain = module_layers(torch, network, type(network).__name__)
    return policy_of_layers(torch, network, chain, model, inputs, outputs, interface, filter)


def _policy_of_state_dict(
    torch: Any,
    tensors: Mapping[str, Any],
    model: Model,
    inputs: Optional[Sequence[str]],
    outputs: Optional[Sequence[str]],
    interface: Optional[PathLike],
    filter: Optional[bool],
    activation: Optional[str],
    layers: Optional[Sequence[str]],
) -> Policy:
    """A policy of named tensors, which the reader of files understands or refuses."""
    other = [name for name, value in tensors.items() if not (isinstance(name, str) and isinstance(value, torch.Tensor))]
    if other or not tensors:
        found = f"`{other[0]}`" if other else "nothing"
        raise PolicyError(
            f"a state dict holds tensors by name, but there is {found}\n"
            "  hint: of a checkpoint, pass the state dict that it holds, such as `checkpoint['state_dict']`"
        )
    for name, value in tensors.items():
        if value.dtype != torch.float32:
            raise PolicyError(f"`{name}` is of type {value.dtype}, but must be float32\n  hint: call `network.float()`")
    document = make_interface(model, "policy.pth", None, inputs, outputs, interface, filter)
    document.update({key: value for key, value in (("activation", activation), ("layers", layers)) if value})
    contents = io.BytesIO()
    torch.save({name: value.detach().cpu() for name, value in tensors.items()}, contents)
    return from_contents(model, document, {f"{MEMORY}/policy.pth": contents.getvalue()}, "any-f32")


def policy_of_layers(
    torch: Any,
    module: Any,
    layers: List[Tuple[Any, Any]],
    model: Model,
    inputs: Optional[Sequence[str]],
    outputs: Optional[Sequence[str]],
    interface: Optional[PathLike],
    filter: Optional[bool],
) -> Policy:
    """A policy of a chain of layers, which computes what the module does."""
    weights = [layer[0] for layer in layers if not isinstance(layer[0], str)]
    if not weights:
        raise PolicyError("the network has no Linear layer")
    counts = (weights[0].shape[1], weights[-1].shape[0])
    document = make_interface(model, "policy.onnx", counts, inputs, outputs, interface, filter)
    contents = onnx_chain(layers, *counts)
    policy = from_contents(model, document, {f"{MEMORY}/policy.onnx": contents}, "any-f32")

    def scores(rows: np.ndarray) -> np.ndarray:
        device = next(module.parameters()).device
        with evaluating(module), torch.no_grad():
            return module(torch.as_tensor(rows, dtype=torch.float32, device=device)).cpu().numpy()

    compare(policy, "PyTorch", scores, "any-f32")
    return policy


@contextmanager
def evaluating(module: Any) -> Iterator[None]:
    """Has a module in evaluation mode for a while; then each of its parts is in its own mode again."""
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, is_training in modes:
            part.training = is_training


def module_layers(torch: Any, module: Any, place: str) -> List[Tuple[Any, Any]]:
    """The chain of layers that a module applies."""
    nn = torch.nn
    if type(module) is nn.Sequential:
        # Unlike `named_children`, this has a module as often as it is applied.
        children = module._modules.items()
        return [layer for name, child in children for layer in module_layers(torch, child, f"{place}.{name}")]
    if type(module) is nn.Linear:
        return [_linear(module.weight, module.bias, place)]
    if type(module) in (nn.Identity, nn.Dropout):
        return []
    if type(module) is nn.Flatten:
        if module.start_dim not in (1, -1) or module.end_dim != -1:
            raise PolicyError(
                f"{place} is a Flatten of the dimensions {module.start_dim} to {module.end_dim}, but must leave rows of numbers as they "
                "are\n  hint: `Flatten()` does"
            )
        return []
    known = {
        nn.ReLU: lambda: ("Relu", {}),
        nn.Tanh: lambda: ("Tanh", {}),
        nn.Sigmoid: lambda: ("Sigmoid", {}),
        nn.ELU: lambda: ("Elu", {"alpha": float(module.alpha)}),
        nn.LeakyReLU: lambda: ("LeakyRelu", {"alpha": float(module.negative_slope)}),
        nn.ReLU6: lambda: ("Clip", {"min": 0.0, "max": 6.0}),
        nn.Hardtanh: lambda: ("Clip", {"min": float(module.min_val), "max": float(module.max_val)}),
    }
    make = known.get(type(module))
    if type(module) in (nn.Softmax, nn.LogSoftmax):
        raise PolicyError(
            f"{place} is a {type(module).__name__}, which turns scores into probabilities\n"
            "  hint: leave it out at the end, with `network[:-1]`: the highest score stays the highest, up to rounding"
        )
    if make is None:
        raise PolicyError(
            f"{place} is a layer of type {type(module).__name__}, which is not known\n"
            "  hint: networks are Sequentials of Linear, ReLU, Tanh, Sigmoid, ELU, LeakyReLU, ReLU6 and Hardtanh; of a module of "
            "your own, pass the Sequential that it holds, or export it to ONNX and call `from_onnx`"
        )
    return [make()]


def _linear(weight: Any, bias: Any, place: str) -> Tuple[np.ndarray, np.ndarray]:
    if str(weight.dtype) != "torch.float32":
        raise PolicyError(
            f"the parameters of {place} are of type {weight.dtype}, but must be float32\n  hint: call `network.float()`"
        )
    weights = weight.detach().cpu().numpy()
    biases = np.zeros(len(weights), np.float32) if bias is None else bias.detach().cpu().numpy()
    if not (np.isfinite(weights).all() and np.isfinite(biases).all()):
        raise PolicyError(f"{place} has parameters that are infinite or not a number")
    return weights, biases
