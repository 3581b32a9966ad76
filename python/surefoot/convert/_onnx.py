"""Models of ONNX."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any, List, Optional, Sequence

import numpy as np

from .._arguments import PathLike
from .._errors import InputError, UsageError
from .._model import MEMORY, Model
from .._policy import Policy, from_contents, interface_document
from ._compare import compare, compare_ranking
from ._interface import _read, labels_of_classes


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
        outputs: The labels of its outputs, in order. Default: the classes of a classifier, which are names of labels or positions in
            ``model.labels`` (this needs the library onnx), else ``model.labels``.
        interface: An interface file (``.jani2nnet``) that says both.
        filter: Whether it chooses among applicable labels only.

    If ONNX Runtime is installed, scores are compared with its; of classifiers, and without the library onnx, choices are, since it
    gives probabilities.
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
        outputs = _labels(contents, model) if outputs is None else outputs
        document = interface_document(model, "policy.onnx", inputs, outputs, filter)
    policy = from_contents(model, document, {f"{MEMORY}/policy.onnx": contents}, "any-f32")
    if importlib.util.find_spec("onnxruntime") is not None:
        session = _session(contents)
        is_classifier = any(output.type not in _NUMBERS for output in session.get_outputs())
        compared = compare_ranking if is_classifier or not _has_onnx() else compare
        compared(policy, "ONNX Runtime", lambda rows: _scores(session, rows, len(policy.outputs)), "any-f32")
    return policy


def _has_onnx() -> bool:
    return importlib.util.find_spec("onnx") is not None


def _labels(contents: bytes, model: Model) -> Optional[List[str]]:
    """The labels that the classes of a classifier are; ``None`` if it has none, or cannot be looked at."""
    if not _has_onnx():
        return None
    import onnx

    try:
        graph = onnx.load_model_from_string(contents).graph
    except Exception:  # whatever is wrong with it, the reader says it better
        return None
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.name == "classlabels_strings" and attribute.strings:
                return labels_of_classes(model, [name.decode(errors="replace") for name in attribute.strings], None)
            if attribute.name == "classlabels_int64s" and attribute.ints:
                return labels_of_classes(model, list(attribute.ints), None)
    return None


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


#: Types of outputs that are scores; labels and maps from labels to probabilities have others.
_NUMBERS = ("tensor(float)", "tensor(double)", "tensor(float16)")


def _session(contents: bytes) -> Any:
    """The model in ONNX Runtime, without a softmax at its end."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(_logits(contents), options, providers=["CPUExecutionProvider"])


def _scores(session: Any, rows: np.ndarray, outputs: int) -> np.ndarray:
    """Scores of ONNX Runtime, or probabilities."""
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
        if isinstance(array, list) and array and isinstance(array[0], dict):
            # Probabilities by class, which are in order.
            array = [list(row.values()) for row in array]
        array = np.asarray(array)
        if array.size == count * outputs and array.dtype.kind == "f":
            return array.reshape(count, outputs)
    raise UsageError(f"no output of the ONNX model has {outputs} numbers")


def _logits(contents: bytes) -> bytes:
    """The model without a softmax at its end, if the library onnx is there to take it away."""
    if not _has_onnx():
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
