"""Chains of layers as ONNX models, written without the library onnx: ONNX files are Protocol Buffers, a simple format of tagged
fields. The numbers of the fields are those of ``onnx.proto``."""

from __future__ import annotations

from typing import Any, List, Mapping, Sequence, Tuple, Union

import numpy as np

#: An operator and its attributes, or the weights and biases of a layer.
Layer = Union["tuple[str, Mapping[str, float]]", "tuple[np.ndarray, np.ndarray]"]

FLOAT = 1


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def _field(number: int, value: Union[int, float, str, bytes]) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    if isinstance(value, float):
        return _varint(number << 3 | 5) + np.float32(value).tobytes()
    contents = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(contents)) + contents


def _message(*fields: Tuple[int, Any]) -> bytes:
    return b"".join(_field(number, value) for number, value in fields)


def _tensor(name: str, array: np.ndarray) -> bytes:
    contents = np.ascontiguousarray(array, dtype="<f4").tobytes()
    return _message(*((1, int(size)) for size in array.shape), (2, FLOAT), (8, name), (9, contents))


def _attribute(name: str, value: Union[int, float]) -> bytes:
    if isinstance(value, float):
        return _message((1, name), (2, value), (20, 1))
    return _message((1, name), (3, value), (20, 2))


def _node(operator: str, inputs: Sequence[str], output: str, attributes: Mapping[str, Union[int, float]]) -> bytes:
    fields: List[Tuple[int, Any]] = [*((1, name) for name in inputs), (2, output), (3, output), (4, operator)]
    fields += [(5, _attribute(name, value)) for name, value in attributes.items()]
    return _message(*fields)


def _value(name: str, size: int) -> bytes:
    shape = _message((1, _message((2, "batch"))), (1, _message((1, size))))
    return _message((1, name), (2, _message((1, _message((1, FLOAT), (2, shape))))))


def chain(layers: Sequence[Any], inputs: int, outputs: int) -> bytes:
    """An ONNX model that applies layers one after the other.

    A layer is a pair of weights (one row per neuron) and biases in single precision, or an operator with its attributes.
    """
    nodes, tensors, last = [], [], "observation"
    for index, layer in enumerate(layers):
        output = "scores" if index == len(layers) - 1 else f"layer_{index}"
        if isinstance(layer[0], str):
            operator, attributes = layer
            constants = []
            if operator == "Clip":
                for key in ("min", "max"):
                    constants.append(f"{output}_{key}")
                    tensors.append(_tensor(constants[-1], np.float32(attributes[key]).reshape(())))
                attributes = {}
            nodes.append(_node(operator, [last, *constants], output, attributes))
        else:
            weights, biases = layer
            names = [f"{output}_weights", f"{output}_biases"]
            tensors += [_tensor(names[0], weights), _tensor(names[1], biases)]
            nodes.append(_node("Gemm", [last, *names], output, {"transB": 1}))
        last = output
    graph = _message(
        *((1, node) for node in nodes),
        (2, "policy"),
        *((5, tensor) for tensor in tensors),
        (11, _value("observation", inputs)),
        (12, _value("scores", outputs)),
    )
    return _message((1, 8), (2, "surefoot"), (7, graph), (8, _message((1, ""), (2, 17))))
