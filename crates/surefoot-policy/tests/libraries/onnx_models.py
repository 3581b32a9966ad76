"""The ONNX fixtures: models as exporters write them, and what ONNX Runtime and scikit-learn compute for them.

`make.py` makes the fixtures. This file, run as a program, writes the seeds of the fuzz target `onnx`.
"""

import warnings
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from skl2onnx import to_onnx
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fixture

LEARNED = "ai.onnx.ml"


def session(model):
    """Without optimisation: the operators as they stand, one thread."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def run(model, output, inputs, dtype=np.float32):
    """The named output, one input at a time."""
    runner = session(model)
    name = runner.get_inputs()[0].name
    rows = [runner.run([output], {name: np.array([row], dtype=dtype)})[0] for row in inputs]
    return np.stack([np.asarray(row, dtype=np.float32).reshape(-1) for row in rows])


def write(folder, name, model, inputs, scores, **facts):
    # skl2onnx names graphs, and orders versions and attributes, at random.
    model.graph.name = "policy"
    model.opset_import.sort(key=lambda opset: opset.domain)
    for node in model.graph.node:
        node.attribute.sort(key=lambda attribute: attribute.name)
    onnx.checker.check_model(model)
    place = Path(folder) / name
    place.mkdir(parents=True)
    (place / "policy.onnx").write_bytes(model.SerializeToString())
    fixture.write(place, ort, inputs, scores, **facts)


def graph(nodes, weights, inputs, outputs, opset, input_type=TensorProto.FLOAT, learned=None):
    initializers = [numpy_helper.from_array(value, key) for key, value in weights.items()]
    x = helper.make_tensor_value_info("obs", input_type, ["batch", inputs])
    flat = ["action", "log_prob"]
    shape = lambda key: ["batch"] if key in flat else ["batch", f"{key}_values"]
    y = [helper.make_tensor_value_info(key, kind, shape(key)) for key, kind in outputs.items()]
    made = helper.make_graph(nodes, "policy", [x], y, initializers)
    sets = [helper.make_opsetid("", opset)]
    if learned:
        sets.append(helper.make_opsetid(LEARNED, learned))
    model = helper.make_model(made, opset_imports=sets)
    model.ir_version = min(model.ir_version, 10)
    return model


def with_output(model, name):
    """The same model with one more output."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    copy.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    return copy


def states(random, count, inputs, low=-5, high=10):
    return random.integers(low, high, size=(count, inputs)).tolist()


def linear(random, weights, name, inputs, outputs):
    """A layer as PyTorch initialises and exports it."""
    bound = 1 / np.sqrt(inputs)
    weights[f"{name}.weight"] = random.uniform(-bound, bound, (outputs, inputs)).astype(np.float32)
    weights[f"{name}.bias"] = random.uniform(-bound, bound, outputs).astype(np.float32)
    return [f"{name}.weight", f"{name}.bias"]


def onnx_mlp_relu(folder, name, random):
    """As torch.onnx exports a Sequential of Linear and ReLU."""
    weights, nodes = {}, []
    sizes, value = [6, 32, 32, 4], "obs"
    for index, (a, b) in enumerate(zip(sizes, sizes[1:])):
        names = linear(random, weights, str(2 * index), a, b)
        out = "q_values" if index == 2 else f"/{2 * index}/Gemm_output_0"
        nodes.append(helper.make_node("Gemm", [value, *names], [out], f"/{2 * index}/Gemm", alpha=1.0, beta=1.0, transB=1))
        value = out
        if index < 2:
            nodes.append(helper.make_node("Relu", [value], [f"/{2 * index + 1}/Relu_output_0"], f"/{2 * index + 1}/Relu"))
            value = f"/{2 * index + 1}/Relu_output_0"
    model = graph(nodes, weights, 6, {"q_values": TensorProto.FLOAT}, 17)
    inputs = states(random, 40, 6)
    write(folder, f"onnx-{name}", model, inputs, run(model, "q_values", inputs), exact=False)


def onnx_actor_critic(folder, name, random):
    """As Stable-Baselines3 policies are exported: tanh, action by argmax, value, logarithm of the probability."""
    weights, nodes = {}, []
    nodes.append(helper.make_node("Flatten", ["obs"], ["flat"], axis=1))

    def body(prefix, outputs, last):
        value = "flat"
        for index, (a, b) in enumerate([(5, 24), (24, 24)]):
            names = linear(random, weights, f"{prefix}.{index}", a, b)
            nodes.append(helper.make_node("Gemm", [value, *names], [f"{prefix}{index}"], transB=1))
            nodes.append(helper.make_node("Tanh", [f"{prefix}{index}"], [f"{prefix}t{index}"]))
            value = f"{prefix}t{index}"
        names = linear(random, weights, f"{prefix}.out", 24, outputs)
        nodes.append(helper.make_node("Gemm", [value, *names], [last], transB=1))

    body("pi", 3, "logits")
    body("vf", 1, "value")
    nodes.append(helper.make_node("ReduceLogSumExp", ["logits"], ["norm"], axes=[-1], keepdims=1))
    nodes.append(helper.make_node("Sub", ["logits", "norm"], ["normalised"]))
    nodes.append(helper.make_node("Softmax", ["normalised"], ["probabilities"], axis=-1))
    nodes.append(helper.make_node("ArgMax", ["probabilities"], ["action"], axis=-1, keepdims=0))
    weights["axis"] = np.array([-1], dtype=np.int64)
    nodes.append(helper.make_node("Unsqueeze", ["action", "axis"], ["index"]))
    nodes.append(helper.make_node("GatherElements", ["normalised", "index"], ["chosen"], axis=-1))
    nodes.append(helper.make_node("Squeeze", ["chosen", "axis"], ["log_prob"]))
    outputs = {"action": TensorProto.INT64, "value": TensorProto.FLOAT, "log_prob": TensorProto.FLOAT}
    model = graph(nodes, weights, 5, outputs, 17)
    inputs = states(random, 40, 5)
    write(folder, f"onnx-{name}", model, inputs, run(with_output(model, "logits"), "logits", inputs), exact=False, warnings=1)


def onnx_activations(folder, name, random):
    """Sigmoid, ELU and tanh behind each other."""
    weights, nodes = {}, []
    value = "obs"
    for index, (operator, a, b) in enumerate([("Sigmoid", 4, 12), ("Elu", 12, 12), ("Tanh", 12, 12)]):
        names = linear(random, weights, str(index), a, b)
        nodes.append(helper.make_node("Gemm", [value, *names], [f"g{index}"], transB=1))
        attributes = {"alpha": 0.7} if operator == "Elu" else {}
        nodes.append(helper.make_node(operator, [f"g{index}"], [f"a{index}"], **attributes))
        value = f"a{index}"
    names = linear(random, weights, "3", 12, 3)
    nodes.append(helper.make_node("Gemm", [value, *names], ["scores"], transB=1))
    model = graph(nodes, weights, 4, {"scores": TensorProto.FLOAT}, 15)
    inputs = states(random, 40, 4)
    write(folder, f"onnx-{name}", model, inputs, run(model, "scores", inputs), exact=False)


def dyadic(random, *shape):
    """Few bits, so that sums are exact in every order."""
    return (random.integers(-16, 17, shape) / 8).astype(np.float32)


def onnx_graph(folder, name, random):
    """Everything but a chain: skip connections, slices, maxima, means; all sums are exact."""
    weights = {
        "w0": dyadic(random, 6, 8), "b0": dyadic(random, 8), "w1": dyadic(random, 8, 8), "b1": dyadic(random, 8),
        "w2": dyadic(random, 22, 4), "b2": dyadic(random, 4), "low": np.array(-6, np.float32), "high": np.array(6, np.float32),
        "starts": np.array([1], np.int64), "ends": np.array([7], np.int64), "axes": np.array([1], np.int64),
        "steps": np.array([2], np.int64), "picks": np.array([5, 0, -1], np.int64), "parts": np.array([3, 5], np.int64),
        "four": np.array(4, np.float32), "grid": np.array([0, 2, 4], np.int64), "floor": dyadic(random, 1, 8),
        "last": np.array([-1], np.int64), "open": np.array([1, -1], np.int64),
    }  # fmt: skip
    nodes = [
        helper.make_node("MatMul", ["obs", "w0"], ["m0"]),
        helper.make_node("Add", ["m0", "b0"], ["s0"]),
        helper.make_node("LeakyRelu", ["s0"], ["r0"], alpha=0.25),
        helper.make_node("MatMul", ["r0", "w1"], ["m1"]),
        helper.make_node("Add", ["b1", "m1"], ["s1"]),
        helper.make_node("Clip", ["s1", "low", "high"], ["c1"]),
        helper.make_node("Add", ["c1", "r0"], ["skip"]),
        helper.make_node("Max", ["skip", "floor"], ["floored"]),
        helper.make_node("Slice", ["floored", "starts", "ends", "axes", "steps"], ["sliced"]),
        helper.make_node("Gather", ["obs", "picks"], ["gathered"], axis=1),
        helper.make_node("Split", ["skip", "parts"], ["first", "second"], axis=1),
        helper.make_node("Reshape", ["skip", "grid"], ["matrix"]),
        helper.make_node("Transpose", ["matrix"], ["turned"], perm=[0, 2, 1]),
        helper.make_node("ReduceMax", ["turned"], ["largest"], axes=[2], keepdims=0),
        helper.make_node("ReduceSum", ["matrix", "last"], ["sums"], keepdims=0),
        helper.make_node("ReduceMean", ["matrix"], ["means"], axes=[2], keepdims=0),
        helper.make_node("Div", ["second", "four"], ["quarter"]),
        helper.make_node("Neg", ["first"], ["negated"]),
        helper.make_node("Concat", ["sliced", "gathered", "negated", "quarter", "largest", "sums", "means"], ["all"], axis=1),
        helper.make_node("Reshape", ["all", "open"], ["row"]),
        helper.make_node("Gemm", ["row", "w2", "b2"], ["scores"], alpha=0.5, beta=2.0),
    ]
    model = graph(nodes, weights, 6, {"scores": TensorProto.FLOAT}, 17)
    inputs = states(random, 40, 6)
    write(folder, f"onnx-{name}", model, inputs, run(model, "scores", inputs))


def onnx_normalised(folder, name, random):
    """Products and their normalisation, which ONNX Runtime folds into one another; its constants almost cancel."""
    inputs, outputs = int(random.integers(1, 9)), 4
    number = lambda low, high: random.uniform(low, high, outputs).astype(np.float32)
    weights = {"w": random.normal(size=(inputs, outputs)).astype(np.float32)}
    weights |= {"scale": number(-2, 2), "mean": number(-50, 50), "variance": number(0.1, 3)}
    weights["shift"] = (weights["mean"] * weights["scale"] / np.sqrt(weights["variance"] + 1e-5) + number(-1e-3, 1e-3)).astype(np.float32)
    nodes = [
        helper.make_node("MatMul", ["obs", "w"], ["p"]),
        helper.make_node("BatchNormalization", ["p", "scale", "shift", "mean", "variance"], ["scores"]),
    ]
    model = graph(nodes, weights, inputs, {"scores": TensorProto.FLOAT}, 17)
    rows = states(random, 60, inputs)
    runner = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    scores = np.stack([runner.run(["scores"], {"obs": np.array([row], np.float32)})[0][0] for row in rows])
    write(folder, f"onnx-{name}", model, rows, scores, exact=False)


def onnx_pointwise(folder, name, random):
    """Arithmetic with constants, where every operation rounds: nothing may be merged."""
    number = lambda: random.uniform(0.1, 2, 4).astype(np.float32)
    weights = {key: number() for key in ["offset", "factor", "divisor", "shift", "scale", "bias", "mean", "variance"]}
    nodes = [
        helper.make_node("Cast", ["obs"], ["x"], to=TensorProto.FLOAT),
        helper.make_node("Sub", ["x", "offset"], ["a"]),
        helper.make_node("Mul", ["a", "factor"], ["b"]),
        helper.make_node("Div", ["b", "divisor"], ["c"]),
        helper.make_node("Sub", ["shift", "c"], ["d"]),
        helper.make_node("BatchNormalization", ["d", "scale", "bias", "mean", "variance"], ["e"], epsilon=1e-3),
        helper.make_node("Mul", ["e", "factor"], ["f"]),
        helper.make_node("Add", ["f", "shift"], ["g"]),
        helper.make_node("Min", ["g", "x"], ["scores"]),
    ]
    model = graph(nodes, weights, 4, {"scores": TensorProto.FLOAT}, 15, TensorProto.INT64)
    inputs = states(random, 60, 4, -30, 30)
    write(folder, f"onnx-{name}", model, inputs, run(model, "scores", inputs, np.int64))


def tree_attributes(random, trees, depth, features, outputs, kind, modes):
    """Random full trees with all comparisons."""
    lists = {key: [] for key in ["treeids", "nodeids", "featureids", "truenodeids", "falsenodeids", "modes", "values"]}
    weights = {key: [] for key in ["treeids", "nodeids", "ids", "weights"]}
    for tree in range(trees):
        for node in range(2 ** (depth + 1) - 1):
            leaf = node >= 2**depth - 1
            lists["treeids"].append(tree)
            lists["nodeids"].append(node)
            lists["featureids"].append(0 if leaf else int(random.integers(features)))
            lists["truenodeids"].append(0 if leaf else 2 * node + 1)
            lists["falsenodeids"].append(0 if leaf else 2 * node + 2)
            lists["modes"].append("LEAF" if leaf else modes[int(random.integers(len(modes)))])
            lists["values"].append(0.0 if leaf else float(random.integers(-4, 9)) / 2)
            for output in range(outputs) if leaf else []:
                weights["treeids"].append(tree)
                weights["nodeids"].append(node)
                weights["ids"].append(output)
                weights["weights"].append(float(np.float32(random.uniform(-1, 1))))
    attributes = {f"nodes_{key}": value for key, value in lists.items()}
    return attributes | {f"{kind}_{key}": value for key, value in weights.items()}


def onnx_tree_modes(folder, name, random):
    """A regressor whose trees use one comparison, and in which ONNX Runtime looks at each node's own."""
    modes = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
    attributes = tree_attributes(random, 8, 4, 5, 3, "target", modes)
    attributes["base_values"] = [float(np.float32(value)) for value in (0.1, -0.2, 0.3)]
    node = helper.make_node("TreeEnsembleRegressor", ["obs"], ["scores"], domain=LEARNED, n_targets=3, **attributes)
    model = graph([node], {}, 5, {"scores": TensorProto.FLOAT}, 17, learned=3)
    inputs = states(random, 120, 5, -4, 8)
    write(folder, f"onnx-{name}", model, inputs, run(model, "scores", inputs))


def write_learned(folder, name, random, classes, classifier, plain_scores, exact=True, zipmap=False):
    """A classifier of scikit-learn through skl2onnx. `plain_scores` gives a model and its output with raw scores."""
    seed = int(random.integers(2**31))
    data, labels = make_classification(600, 6, n_informative=5, n_redundant=0, n_classes=classes, random_state=seed)
    data = np.rint(3 * data).astype(np.float32)
    classifier.set_params(**{key: seed for key in classifier.get_params() if key.endswith("random_state")})
    with warnings.catch_warnings():
        # The network need not be a good one.
        warnings.simplefilter("ignore")
        classifier.fit(data, labels)
    export = lambda zipmap: to_onnx(classifier, data[:1], target_opset={"": 17, LEARNED: 3}, options={"zipmap": zipmap})
    inputs = states(random, 60, 6, -9, 10)
    scores = run(*plain_scores(export(False)), inputs)
    probabilities = classifier.predict_proba(np.array(inputs, dtype=np.float32))
    two_best = np.sort(probabilities, axis=1)[:, -2:]
    clear = two_best[:, 1] - two_best[:, 0] > 1e-4
    choices = [int(row.argmax()) if sure else None for row, sure in zip(probabilities, clear)]
    facts = {} if exact else {"exact": False}
    if classes == 2:
        # The model has scores for the second class only, and the runtime derives the other.
        runtime = scores.argmax(axis=1).tolist()
        assert all(choice in (None, other) for choice, other in zip(choices, runtime))
        facts, choices = facts | {"derived": [0]}, runtime
    write(folder, f"sklearn-{name}", export(zipmap), inputs, scores, choices=choices, **facts)


def probabilities(model):
    return model, model.graph.output[1].name


def before_softmax(model):
    output = next(node.input[0] for node in model.graph.node if node.op_type == "Softmax")
    return with_output(model, output), output


def without_transformation(model):
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.name == "post_transform":
                attribute.s = b"NONE"
    return probabilities(model)


def sklearn_forest(folder, name, random):
    write_learned(folder, name, random, 3, RandomForestClassifier(12, max_depth=5), probabilities, zipmap=True)


def sklearn_forest_two(folder, name, random):
    write_learned(folder, name, random, 2, RandomForestClassifier(9, max_depth=5), probabilities)


def sklearn_extra_trees(folder, name, random):
    write_learned(folder, name, random, 4, ExtraTreesClassifier(8, max_depth=5), probabilities)


def sklearn_boosted(folder, name, random):
    classifier = GradientBoostingClassifier(n_estimators=10, max_depth=3)
    write_learned(folder, name, random, 3, classifier, without_transformation)


def sklearn_boosted_two(folder, name, random):
    classifier = GradientBoostingClassifier(n_estimators=10, max_depth=3)
    write_learned(folder, name, random, 2, classifier, without_transformation)


def sklearn_mlp(folder, name, random):
    classifier = make_pipeline(StandardScaler(), MLPClassifier((16, 16), max_iter=100))
    write_learned(folder, name, random, 3, classifier, before_softmax, exact=False)


def corpus(folder):
    """Writes small models with two inputs and two outputs: seeds for the fuzzer."""
    folder = Path(folder)
    random = np.random.default_rng(7)
    text = TensorProto.FLOAT

    def seed(name, nodes, weights, outputs={"y": text}, opset=17, inputs=2, learned=None):
        model = graph(nodes, weights, inputs, outputs, opset, learned=learned)
        (folder / f"{name}.onnx").write_bytes(model.SerializeToString())
        return model

    node, ints = helper.make_node, lambda *numbers: np.array(numbers, np.int64)
    two = {"w": dyadic(random, 2, 3), "b": dyadic(random, 3), "v": dyadic(random, 3, 2), "c": dyadic(random, 2)}
    gemm = [node("Gemm", ["obs", "w", "b"], ["h"]), node("Relu", ["h"], ["r"]), node("MatMul", ["r", "v"], ["m"])]
    chain = seed("chain", [*gemm, node("Add", ["m", "c"], ["y"])], two)
    tail = [node("Softmax", ["m"], ["p"], axis=-1), node("ArgMax", ["p"], ["y"], axis=-1)]
    seed("choice", [*gemm, *tail], two)
    old = [*gemm, node("Clip", ["m"], ["k"], min=-1.0, max=1.0), node("Squeeze", ["k"], ["s"], axes=[0])]
    seed("old", [*old, node("Unsqueeze", ["s"], ["y"], axes=[0])], two, opset=9)
    small = {"one": np.array(1, np.float32), "i": ints(1, 0), "a": ints(0), "b": ints(2), "x": ints(1), "t": ints(1, -1)}
    moves = [
        node("Transpose", ["obs"], ["q"]), node("Reshape", ["q", "t"], ["r"]), node("Gather", ["r", "i"], ["g"], axis=1),
        node("Slice", ["g", "a", "b", "x"], ["s"]), node("Split", ["s"], ["l", "u"], axis=1), node("Concat", ["u", "l"], ["k"], axis=1),
        node("Expand", ["k", "t2"], ["e"]), node("Shape", ["e"], ["h"]), node("ConstantOfShape", ["h"], ["z"]), node("Add", ["e", "z"], ["y"]),
    ]  # fmt: skip
    seed("moves", moves, small | {"t2": ints(1, 2)})
    maths = [
        node("Div", ["obs", "one"], ["d"]), node("Sub", ["one", "d"], ["s"]), node("Neg", ["s"], ["n"]), node("Max", ["n", "d", "one"], ["m"]),
        node("Min", ["m", "obs"], ["k"]), node("ReduceSum", ["k", "x"], ["t"]), node("ReduceMean", ["k"], ["u"], axes=[1]),
        node("ReduceMax", ["k"], ["v"], axes=[1]), node("Concat", ["t", "u", "v"], ["j"], axis=1), node("Slice", ["j", "a", "b", "x"], ["e"]),
        node("Elu", ["e"], ["f"]), node("LeakyRelu", ["f"], ["g"]), node("Sigmoid", ["g"], ["h"]), node("Tanh", ["h"], ["y"]),
    ]  # fmt: skip
    seed("maths", maths, {key: small[key] for key in ["one", "a", "b", "x"]})
    four = {key: random.uniform(1, 2, 2).astype(np.float32) for key in ["s", "b", "m", "v"]}
    seed("normal", [node("BatchNormalization", ["obs", "s", "b", "m", "v"], ["d"]), node("Dropout", ["d"], ["y"])], four)
    modes = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
    trees = tree_attributes(random, 2, 2, 2, 2, "target", modes)
    seed("trees", [node("TreeEnsembleRegressor", ["obs"], ["y"], domain=LEARNED, n_targets=2, **trees)], {}, learned=3)
    trees = tree_attributes(random, 1, 1, 2, 1, "class", modes[:1]) | {"classlabels_int64s": [0, 1], "base_values": [0.5]}
    parts = [node("TreeEnsembleClassifier", ["obs"], ["l", "p"], domain=LEARNED, **trees), node("ZipMap", ["p"], ["y"], domain=LEARNED)]
    seed("label", parts, {}, {"l": TensorProto.INT64, "y": text}, learned=3)
    number = lambda *values: helper.make_tensor("", TensorProto.FLOAT, [len(values)], values)
    newer = dict(
        n_targets=2, tree_roots=[0], nodes_featureids=[1], nodes_splits=number(0.5), nodes_truenodeids=[0], nodes_trueleafs=[1],
        nodes_modes=helper.make_tensor("", TensorProto.UINT8, [1], [0]), nodes_falsenodeids=[1], nodes_falseleafs=[1],
        leaf_targetids=[0, 1], leaf_weights=number(1.0, 2.0),
    )  # fmt: skip
    seed("newer", [node("TreeEnsemble", ["obs"], ["y"], domain=LEARNED, **newer)], {}, learned=5)
    seed("normalised", [node("MatMul", ["obs", "w"], ["p"]), node("BatchNormalization", ["p", "s", "b", "m", "v"], ["y"])], four | {"w": np.eye(2, dtype=np.float32)})
    whole, name = TensorProto.INT64, TensorProto.STRING
    choose = node("ArgMax", ["obs"], ["a"], axis=1, keepdims=0)
    table = lambda *labels: node("Constant", [], ["n"], value=helper.make_tensor("", name, [len(labels)], labels))
    look_up = lambda index, to: node("ArrayFeatureExtractor", ["n", index], [to], domain=LEARNED)
    seed("names", [table("left", "right"), choose, look_up("a", "y")], {}, {"y": name}, learned=3)
    seed("bad-exchanged", [table("right", "left"), choose, look_up("a", "y")], {}, {"y": name}, learned=3)
    seed("bad-names-twice", [choose, look_up("a", "l"), look_up("l", "y")], {"n": ints(1, 0)}, {"y": whole}, learned=3)
    seed("bad-table", [choose, node("Gather", ["n", "a"], ["y"])], {"n": ints(1, 0)}, {"y": whole})
    seed("bad-rows", [choose, node("Gather", ["n", "a"], ["y"])], {"n": 1 - np.eye(2, dtype=np.float32)})
    seed("bad-flag", [choose, node("Cast", ["a"], ["y"], to=TensorProto.BOOL)], {}, {"y": TensorProto.BOOL})
    seed("bad-wrapped", [node("Cast", ["n"], ["i"], to=TensorProto.INT32), node("Gather", ["obs", "i"], ["y"], axis=1)], {"n": ints(2**32 + 1, 0)})
    noop = node("ReduceLogSumExp", ["obs"], ["n"], noop_with_empty_axes=1)
    seed("bad-normaliser", [noop, node("Sub", ["obs", "n"], ["y"])], {}, opset=18)
    leaves = tree_attributes(np.random.default_rng(7), 1, 1, 2, 2, "class", modes[:1]) | {"classlabels_int64s": [0, 1]}
    leaves |= {"class_treeids": [0, 0], "class_nodeids": [1, 2], "class_ids": [0, 1], "class_weights": [-1.0, 1.0]}
    seed("bad-leaf", [node("TreeEnsembleClassifier", ["obs"], ["l", "y"], domain=LEARNED, **leaves)], {}, {"l": whole, "y": text}, learned=3)
    seed("bad-operator", [node("Sin", ["obs"], ["y"])], {})
    seed("bad-inputs", [node("Relu", ["obs"], ["y"])], {}, inputs=3)
    chain.graph.initializer[0].data_location = TensorProto.EXTERNAL
    (folder / "bad-external.onnx").write_bytes(chain.SerializeToString())
    (folder / "bad-truncated.onnx").write_bytes((folder / "chain.onnx").read_bytes()[:150])


KINDS = [
    onnx_mlp_relu,
    onnx_actor_critic,
    onnx_activations,
    onnx_graph,
    onnx_pointwise,
    onnx_tree_modes,
    sklearn_forest,
    sklearn_forest_two,
    sklearn_extra_trees,
    sklearn_boosted,
    sklearn_boosted_two,
    sklearn_mlp,
]


if __name__ == "__main__":
    corpus(Path(__file__).parents[4] / "fuzz/corpus/onnx")
