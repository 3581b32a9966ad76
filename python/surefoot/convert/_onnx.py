"""Models of ONNX."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any, List, Optional, Sequence, Tuple, Union

import numpy as np

from .. import _native
from .._arguments import PathLike, boolean
from .._errors import ComparisonError, InputError, PolicyError, UsageError
from .._model import MEMORY, Model
from .._policy import Policy, from_contents, interface_document
from ._compare import compare, compare_choices, compare_ranking, input_values, random_states
from ._interface import labels_of_classes, read_interface


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
        outputs: The labels of its outputs, in order. Classes of a classifier are names of labels, or positions in this list. Default:
            ``model.labels``.
        interface: An interface file (``.jani2nnet``) that says both, outputs by class.
        filter: Whether it chooses among applicable labels only.

    If ONNX Runtime is installed, scores are compared with its, and choices with the labels of its classifiers. Where it gives
    probabilities (of trees, and of networks if the library onnx is not installed), the order of scores is compared.
    """
    contents = _contents(network)
    classes = _native.onnx_classes(contents)
    if interface is not None:
        if inputs is not None or outputs is not None:
            raise UsageError("`interface` says what the inputs and outputs are: leave out `inputs` and `outputs`")
        document = read_interface(interface)
        document["file"] = "policy.onnx"
        if filter is not None:
            document["filter"] = boolean("filter", filter)
    else:
        outputs = outputs if classes is None else labels_of_classes(model, classes, outputs)
        document = interface_document(model, "policy.onnx", inputs, outputs, filter)
    policy = from_contents(model, document, {f"{MEMORY}/policy.onnx": contents}, "any-f32")
    if importlib.util.find_spec("onnxruntime") is not None:
        _compare(policy, Runtime(contents, classes, policy))
    return policy


def _compare(policy: Policy, runtime: Runtime) -> None:
    """Compares a policy with ONNX Runtime."""
    has_scores = runtime.scores(input_values(policy, random_states(policy.model, 2))) is not None
    if has_scores:
        scores = lambda rows: np.asarray(runtime.scores(rows))
        try:
            compare(policy, "ONNX Runtime", scores, "any-f32")
        except ComparisonError:
            if not runtime.may_be_probabilities:
                raise
            compare_ranking(policy, "ONNX Runtime", scores, "any-f32")
    # Of two classes with weights for both, its label need not be the class with the higher score.
    is_exempt = has_scores and runtime.is_classifier and runtime.is_trees and len(policy.outputs) == 2
    if runtime.choice is not None and not is_exempt:
        compare_choices(policy, "ONNX Runtime", runtime.labels, "any-f32")
    elif not has_scores:
        raise PolicyError("ONNX Runtime gives neither scores nor choices to compare with")


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


#: Types of outputs that are numbers of classes, or their names.
_CHOICES = ("tensor(int64)", "tensor(int32)", "tensor(string)")


class Runtime:
    """A model in ONNX Runtime."""

    def __init__(self, contents: bytes, classes: Union[None, List[str], List[int]], policy: Policy) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        try:
            session = onnxruntime.InferenceSession(_logits(contents), options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise PolicyError(f"ONNX Runtime cannot run the model: {error}") from error
        self._session = session
        self._outputs = policy.outputs
        self._classes = list(classes) if classes is not None else list(range(len(policy.outputs)))
        #: The output that says which class is chosen.
        self.choice = next((output.name for output in session.get_outputs() if output.type in _CHOICES), None)
        self.is_trees = "tree" in policy.description
        self.is_classifier = classes is not None
        #: Whether its scores may be functions of those that were read, which keep their order.
        self.may_be_probabilities = self.is_trees or self.is_classifier or not _has_onnx()

    def _run(self, rows: np.ndarray) -> List[Tuple[str, Any]]:
        """The outputs by name, of all rows."""
        given = self._session.get_inputs()[0]
        types = {"tensor(double)": np.float64, "tensor(int32)": np.int32, "tensor(int64)": np.int64}
        rows = rows.astype(types.get(given.type, np.float32))
        is_batched = not given.shape or not isinstance(given.shape[0], int)
        one_by_one = [row.reshape((1, -1) if is_batched else given.shape) for row in rows]
        names = [output.name for output in self._session.get_outputs()]
        # Some models take one state at a time, though they do not say so.
        for batches in [[rows], one_by_one] if is_batched else [one_by_one]:
            try:
                parts = [self._session.run(names, {given.name: batch}) for batch in batches]
                return [(name, [part[index] for part in parts]) for index, name in enumerate(names)]
            except Exception as error:  # onnxruntime has many classes of them
                failure = error
        raise PolicyError(f"ONNX Runtime cannot run the model: {failure}") from failure

    def scores(self, rows: np.ndarray) -> Optional[np.ndarray]:
        """Scores or probabilities; ``None`` if no output has as many numbers as the policy has labels."""
        size = len(rows) * len(self._outputs)
        for _, parts in self._run(rows):
            # Maps from classes to probabilities come in the order of their keys.
            parts = [
                [[row[key] for key in self._classes] for row in part]
                if isinstance(part, list) and isinstance(part[0], dict)
                else part
                for part in parts
            ]
            array = np.concatenate([np.asarray(part).reshape(-1) for part in parts])
            if array.size == size and array.dtype.kind == "f":
                return array.reshape(len(rows), -1)
        return None

    def labels(self, rows: np.ndarray) -> List[str]:
        """The labels that it chooses."""
        parts = dict(self._run(rows))[self.choice or ""]
        chosen = np.concatenate([np.asarray(part).reshape(-1) for part in parts]).tolist()
        label = dict(zip(self._classes, self._outputs))
        if len(chosen) != len(rows) or not set(chosen) <= set(label):
            raise PolicyError(f"the output `{self.choice}` of ONNX Runtime gives something else than classes")
        return [label[value] for value in chosen]


def _has_onnx() -> bool:
    return importlib.util.find_spec("onnx") is not None


def _logits(contents: bytes) -> bytes:
    """The model without a softmax at its end, if the library onnx is there to take it away."""
    if not _has_onnx():
        return contents
    import onnx

    proto = onnx.load_model_from_string(contents)
    graph = proto.graph
    outputs = {output.name: output for output in graph.output}
    for node in list(graph.node):
        before, after = (node.input or [""])[0], (node.output or [""])[0]
        is_read = any(after in other.input for other in graph.node)
        if node.op_type in ("Softmax", "LogSoftmax") and after in outputs and before not in outputs and not is_read:
            graph.node.remove(node)
            outputs[after].name = before
    return proto.SerializeToString()
