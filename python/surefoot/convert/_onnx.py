"""Models of ONNX."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any, Optional, Sequence

import numpy as np

from .._arguments import PathLike
from .._errors import InputError, UsageError
from .._model import MEMORY, Model
from .._policy import Policy, from_contents, interface_document
from ._compare import compare
from ._interface import _read


def from_onnx(
    network: Any,
    model: Model,
    *,
    inputs: Optional[Sequence[str]] = None,
    outputs: Optional[Sequence[str]] = None,
    interface: Optional[PathLike] = None,
    filter: Optional[bool] = None,
) -> Policy:
    """A policy from an ONNX model: a network, or a tree ensemble.

    Args:
        network: A ``.onnx`` file, its contents, or an ``onnx.ModelProto``.
        model: The model that the policy acts in.
        inputs: What it reads, in order. Default: ``model.observed``.
        outputs: The labels of its outputs, in order. Default: ``model.labels``.
        interface: An interface file (``.jani2nnet``) that says both.
        filter: Whether it chooses among applicable labels only.

    Scores are compared with those of ONNX Runtime, if that is installed.
    """
    contents = _contents(network)
    if interface is not None:
        if inputs is not None or outputs is not None:
            raise UsageError("`interface` says what the inputs and outputs are: leave out `inputs` and `outputs`")
        document = _read(interface)
        document["file"] = "policy.onnx"
        if filter is not None:
            document["filter"] = bool(filter)
    else:
        document = interface_document(model, "policy.onnx", inputs, outputs, bool(filter))
    policy = from_contents(model, document, {f"{MEMORY}/policy.onnx": contents}, "any-f32")
    if importlib.util.find_spec("onnxruntime") is not None:
        compare(policy, "ONNX Runtime", lambda rows: _scores(contents, rows, len(policy.outputs)), "any-f32")
    return policy


def _contents(network: Any) -> bytes:
    if isinstance(network, bytes):
        return network
    if hasattr(network, "SerializeToString"):
        return network.SerializeToString()
    if isinstance(network, (str, os.PathLike)):
        try:
            return Path(network).read_bytes()
        except OSError as error:
            message = f"cannot read the file: {error.strerror}"
            raise InputError(f"{os.fspath(network)}: {message}", message, os.fspath(network)) from error
    raise UsageError(f"`network` is a {type(network).__name__}, but must be a file, its contents or an onnx.ModelProto")


def _scores(contents: bytes, rows: np.ndarray, outputs: int) -> np.ndarray:
    """Scores of ONNX Runtime: those before a softmax at the end, which the policy's scores are too."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(_logits(contents), options, providers=["CPUExecutionProvider"])
    given = session.get_inputs()[0]
    types = {"tensor(double)": np.float64, "tensor(int32)": np.int32, "tensor(int64)": np.int64}
    rows = rows.astype(types.get(given.type, np.float32))
    is_batched = not given.shape or not isinstance(given.shape[0], int)
    batches = [rows] if is_batched else [row.reshape(given.shape) for row in rows]
    names = [output.name for output in session.get_outputs()]
    found = [_fitting(session.run(names, {given.name: batch}), len(batch) if is_batched else 1, outputs) for batch in batches]
    return np.concatenate(found)


def _fitting(arrays: Sequence[Any], count: int, outputs: int) -> np.ndarray:
    for array in arrays:
        array = np.asarray(array)
        if array.size == count * outputs and array.dtype.kind == "f":
            return array.reshape(count, outputs)
    raise UsageError(f"no output of the ONNX model has {outputs} numbers")


def _logits(contents: bytes) -> bytes:
    """The model without a softmax at its end, if the library onnx is there to take it away."""
    if importlib.util.find_spec("onnx") is None:
        return contents
    import onnx

    proto = onnx.load_model_from_string(contents)
    graph = proto.graph
    names = {output.name for output in graph.output}
    for node in list(graph.node):
        if node.op_type in ("Softmax", "LogSoftmax") and node.output[0] in names:
            before = node.input[0]
            graph.node.remove(node)
            for output in graph.output:
                if output.name == node.output[0]:
                    output.name = before
    return proto.SerializeToString()
