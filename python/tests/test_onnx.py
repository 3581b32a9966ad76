"""Models of ONNX."""

import importlib.util

import numpy as np
import onnx
import pytest
import torch
from test_torch import network

import surefoot
from surefoot.convert import _onnx
from surefoot.convert._compare import random_states


def test_onnx_from_a_file_from_contents_and_from_objects(blocks, tmp_path):
    policy = surefoot.from_torch(network(15, 8, 5, activation=torch.nn.Tanh), blocks)
    contents = policy.files["<memory>/policy.onnx"]
    proto = onnx.load_model_from_string(contents)
    onnx.checker.check_model(proto, full_check=True)
    (tmp_path / "policy.onnx").write_bytes(contents)
    states = random_states(blocks)
    for source in [contents, proto, tmp_path / "policy.onnx"]:
        read = surefoot.from_onnx(source, blocks)
        assert np.array_equal(read.scores(states, "f32"), policy.scores(states, "f32"))
    with pytest.raises(surefoot.InputError, match="cannot read the file"):
        surefoot.from_onnx(tmp_path / "nowhere.onnx", blocks)
    with pytest.raises(surefoot.InputError):
        surefoot.from_onnx(b"no model", blocks)
    with pytest.raises(surefoot.InputError):
        surefoot.from_onnx(contents, blocks, outputs=blocks.labels[:4])


def test_a_softmax_at_the_end_is_left_out(blocks):
    contents = surefoot.from_torch(network(15, 8, 5), blocks).files["<memory>/policy.onnx"]
    proto = onnx.load_model_from_string(contents)
    proto.graph.node.append(onnx.helper.make_node("Softmax", ["scores"], ["probabilities"]))
    proto.graph.output[0].name = "probabilities"
    surefoot.from_onnx(proto, blocks)


def classifier_of_trees(name, outputs, **attributes):
    """A classifier with one tree: is the first input at most 1, or is the second at most 2?"""
    def entries(values, feature=0):
        return [feature] * len(values)

    classes = len(outputs)
    leaves = [(2, 0, 2.0), (3, classes - 1, 1.5), (4, 1, 3.0)]
    node = onnx.helper.make_node(
        "TreeEnsembleClassifier",
        ["x"],
        ["label", "scores"],
        domain="ai.onnx.ml",
        nodes_treeids=[0] * 5,
        nodes_nodeids=[0, 1, 2, 3, 4],
        nodes_featureids=[0, 1, 0, 0, 0],
        nodes_modes=["BRANCH_LEQ", "BRANCH_LEQ", "LEAF", "LEAF", "LEAF"],
        nodes_values=[1.0, 2.0, 0.0, 0.0, 0.0],
        nodes_truenodeids=[1, 2, 0, 0, 0],
        nodes_falsenodeids=[4, 3, 0, 0, 0],
        class_treeids=[0] * len(leaves),
        class_nodeids=[leaf for leaf, _, _ in leaves],
        class_ids=[output for _, output, _ in leaves],
        class_weights=[weight for _, _, weight in leaves],
        **{name: outputs},
        **attributes,
    )
    nodes, results = [node], [onnx.helper.make_tensor_value_info("scores", onnx.TensorProto.FLOAT, [None, classes])]
    if attributes.get("post_transform") == "SOFTMAX":
        zip_map = onnx.helper.make_node("ZipMap", ["scores"], ["map"], domain="ai.onnx.ml", **{name: outputs})
        nodes.append(zip_map)
        key = onnx.TensorProto.STRING if name == "classlabels_strings" else onnx.TensorProto.INT64
        value = onnx.helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, [])
        maps = onnx.helper.make_sequence_type_proto(onnx.helper.make_map_type_proto(key, value))
        results = [onnx.helper.make_value_info("map", maps)]
    kind = onnx.TensorProto.STRING if name == "classlabels_strings" else onnx.TensorProto.INT64
    label = onnx.helper.make_tensor_value_info("label", kind, [None])
    given = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [None, 2])
    graph = onnx.helper.make_graph(nodes, "trees", [given], [label, *results])
    opsets = [onnx.helper.make_opsetid("", 15), onnx.helper.make_opsetid("ai.onnx.ml", 3)]
    return onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8)


@pytest.mark.parametrize("post_transform", ["NONE", "SOFTMAX"])
def test_classifiers_of_onnx_say_which_labels_their_classes_are(blocks, post_transform):
    """Classes that are names of labels were taken for the labels of the model, in its order."""
    two = ["block_0", "block_1"]
    names = sorted(blocks.labels)
    assert names != blocks.labels
    proto = classifier_of_trees("classlabels_strings", names, post_transform=post_transform)
    policy = surefoot.from_onnx(proto, blocks, inputs=two)
    assert policy.outputs == names
    expected = {(0, 0): names[0], (1, 3): names[-1], (2, 0): names[1]}
    for (first, second), label in expected.items():
        assert policy.choose(dict(zip(two, (first, second)), **rest(blocks, two))) == label
    with pytest.raises(surefoot.InputError, match="output 0 is another one than the class"):
        surefoot.from_onnx(proto, blocks, inputs=two, outputs=blocks.labels)
    positions = classifier_of_trees("classlabels_int64s", [0, 3, 4], post_transform=post_transform)
    assert surefoot.from_onnx(positions, blocks, inputs=two).outputs == [blocks.labels[i] for i in (0, 3, 4)]
    with pytest.raises(surefoot.PolicyError, match="there is a class 9"):
        surefoot.from_onnx(classifier_of_trees("classlabels_int64s", [0, 3, 9]), blocks, inputs=two)


def test_trees_of_onnx_that_are_read_wrongly_are_found_out(blocks, monkeypatch):
    proto = classifier_of_trees("classlabels_int64s", [0, 1, 2, 3, 4], post_transform="SOFTMAX")
    found = _onnx._scores
    monkeypatch.setattr(_onnx, "_scores", lambda *given: found(*given)[:, ::-1])
    with pytest.raises(surefoot.ComparisonError, match="has the highest score as read .* in ONNX Runtime"):
        surefoot.from_onnx(proto, blocks, inputs=["block_0", "block_1"])


@pytest.mark.parametrize("missing", [[], ["onnx"], ["onnx", "onnxruntime"]])
def test_libraries_of_onnx_are_not_needed(blocks, monkeypatch, missing):
    contents = surefoot.from_torch(network(15, 8, 5), blocks).files["<memory>/policy.onnx"]
    proto = onnx.load_model_from_string(contents)
    proto.graph.node.append(onnx.helper.make_node("Softmax", ["scores"], ["probabilities"]))
    proto.graph.output[0].name = "probabilities"
    contents = proto.SerializeToString()
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in missing else find(name))
    assert surefoot.from_onnx(contents, blocks).description == "neural network 15-8-5"


def rest(model, names):
    """Lower bounds of all other variables."""
    return {variable.name: variable.lower for variable in model.variables if variable.name not in names}
