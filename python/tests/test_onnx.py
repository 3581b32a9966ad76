"""Models of ONNX."""

import importlib.util
import json
from pathlib import Path

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


@pytest.mark.parametrize("operator", ["ArgMax", "ArgMin"])
def test_a_choice_beside_scores_is_the_highest(blocks, operator):
    """The choice of a network of costs was ignored, with a warning."""
    contents = surefoot.from_torch(network(15, 8, 5), blocks).files["<memory>/policy.onnx"]
    proto = onnx.load_model_from_string(contents)
    proto.graph.node.append(onnx.helper.make_node(operator, ["scores"], ["action"], axis=1, keepdims=0))
    proto.graph.output.append(onnx.helper.make_tensor_value_info("action", onnx.TensorProto.INT64, [None]))
    if operator == "ArgMax":
        assert surefoot.from_onnx(proto, blocks).warnings == []
    else:
        with pytest.raises(surefoot.InputError, match="the output `action` may be the choice, and cannot be read"):
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
def test_classifiers_of_onnx_say_which_labels_their_classes_are(blocks, post_transform, tmp_path):
    """Classes that are names of labels were taken for the labels of the model, in its order."""
    two = ["block_0", "block_1"]
    names = blocks.labels[::-1]
    proto = classifier_of_trees("classlabels_strings", names, post_transform=post_transform)
    policy = surefoot.from_onnx(proto, blocks, inputs=two)
    assert policy.outputs == names
    expected = {(0, 0): names[0], (1, 3): names[-1], (2, 0): names[1]}
    for (first, second), label in expected.items():
        assert policy.choose(dict(zip(two, (first, second)), **rest(blocks, two))) == label
    with pytest.raises(surefoot.UsageError, match="the classes are labels themselves"):
        surefoot.from_onnx(proto, blocks, inputs=two, outputs=blocks.labels)
    (tmp_path / "trees.onnx").write_bytes(proto.SerializeToString())
    with pytest.raises(surefoot.InputError, match="output 0 is another one than the class"):
        surefoot.load_policy(tmp_path / "trees.onnx", blocks, inputs=two, outputs=blocks.labels)
    assert surefoot.load_policy(tmp_path / "trees.onnx", blocks, inputs=two, outputs=names).outputs == names
    positions = classifier_of_trees("classlabels_int64s", [4, 0, 3], post_transform=post_transform)
    assert surefoot.from_onnx(positions, blocks, inputs=two).outputs == [blocks.labels[i] for i in (4, 0, 3)]
    assert surefoot.from_onnx(positions, blocks, inputs=two, outputs=names).outputs == [names[i] for i in (4, 0, 3)]
    with pytest.raises(surefoot.PolicyError, match="there is a class 9"):
        surefoot.from_onnx(classifier_of_trees("classlabels_int64s", [0, 3, 9]), blocks, inputs=two)


@pytest.mark.parametrize("classes", ["names", "numbers"])
def test_networks_of_onnx_look_up_their_classes(blocks, classes):
    """As skl2onnx writes the classifiers of scikit-learn: a table of classes, by the position of the highest probability."""
    table = sorted(blocks.labels) if classes == "names" else [2, 0, 1, 4, 3]
    expected = table if classes == "names" else [blocks.labels[i] for i in table]
    assert expected != blocks.labels
    contents = surefoot.from_torch(network(15, 8, 5, seed=2), blocks).files["<memory>/policy.onnx"]
    proto = onnx.load_model_from_string(contents)
    helper, types = onnx.helper, onnx.TensorProto
    kind = types.STRING if classes == "names" else types.INT64
    proto.graph.initializer.append(helper.make_tensor("classes", kind, [5], table))
    proto.graph.node.append(helper.make_node("Softmax", ["scores"], ["probabilities"]))
    proto.graph.node.append(helper.make_node("ArgMax", ["probabilities"], ["highest"], axis=1, keepdims=0))
    proto.graph.node.append(helper.make_node("ArrayFeatureExtractor", ["classes", "highest"], ["label"], domain="ai.onnx.ml"))
    del proto.graph.output[:]
    proto.graph.output.append(helper.make_tensor_value_info("label", kind, None))
    proto.graph.output.append(helper.make_tensor_value_info("probabilities", types.FLOAT, [None, 5]))
    proto.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
    policy = surefoot.from_onnx(proto, blocks)
    assert policy.outputs == expected
    if classes == "names":
        with pytest.raises(surefoot.UsageError, match="the classes are labels themselves"):
            surefoot.from_onnx(proto, blocks, outputs=blocks.labels)


FIXTURES = Path(__file__).resolve().parents[2] / "crates" / "surefoot-policy" / "tests" / "libraries"


@pytest.mark.parametrize("name", sorted(path.parent.name for path in FIXTURES.glob("*/policy.onnx")))
def test_models_of_other_libraries_are_compared(name):
    """As PyTorch, Stable-Baselines3 and skl2onnx write them: with critics, labels, maps of probabilities, and one state at a time."""
    sizes = json.loads((FIXTURES / name / "cases.json").read_text())
    policy = surefoot.from_onnx(FIXTURES / name / "policy.onnx", a_model(sizes["inputs"], sizes["outputs"]))
    assert len(policy.outputs) == sizes["outputs"]


def a_model(variables, labels):
    """A model with so many variables and labels."""
    bounded = {"kind": "bounded", "base": "int", "lower-bound": -6, "upper-bound": 6}
    names = [f"a{index}" for index in range(labels)]
    same = [{"ref": "x0", "value": {"op": "-", "left": 0, "right": "x0"}}]
    edges = [{"location": "l", "action": name, "destinations": [{"location": "l", "assignments": same}]} for name in names]
    return surefoot.load_model(
        {
            "jani-version": 1,
            "name": "any",
            "type": "lts",
            "actions": [{"name": name} for name in names],
            "variables": [{"name": f"x{index}", "type": bounded, "initial-value": 0} for index in range(variables)],
            "automata": [{"name": "a", "locations": [{"name": "l"}], "initial-locations": ["l"], "edges": edges}],
            "system": {
                "elements": [{"automaton": "a"}],
                "syncs": [{"synchronise": [name], "result": name} for name in names],
            },
            "properties": [],
        }
    )


def test_actions_of_onnx_are_compared_where_there_are_no_scores(blocks, monkeypatch):
    contents = surefoot.from_torch(network(15, 8, 5), blocks).files["<memory>/policy.onnx"]
    proto = onnx.load_model_from_string(contents)
    proto.graph.node.append(onnx.helper.make_node("ArgMax", ["scores"], ["action"], axis=1, keepdims=0))
    del proto.graph.output[:]
    proto.graph.output.append(onnx.helper.make_tensor_value_info("action", onnx.TensorProto.INT64, [None]))
    assert surefoot.from_onnx(proto, blocks).outputs == blocks.labels
    labels = _onnx.Runtime.labels
    monkeypatch.setattr(_onnx.Runtime, "labels", lambda *given: labels(*given)[::-1])
    with pytest.raises(surefoot.ComparisonError, match="ONNX Runtime chooses"):
        surefoot.from_onnx(proto, blocks)


def test_trees_of_onnx_that_are_read_wrongly_are_found_out(blocks, monkeypatch):
    proto = classifier_of_trees("classlabels_int64s", [0, 1, 2, 3, 4], post_transform="SOFTMAX")
    found = _onnx.Runtime.scores
    monkeypatch.setattr(_onnx.Runtime, "scores", lambda *given: found(*given)[:, ::-1])
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
