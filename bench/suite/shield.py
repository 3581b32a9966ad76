"""Shields: what turns a random policy into a safe one that still acts.

A rule is a label and a box of states, given as bounds of some variables, in which the label is never to be chosen. Its score
gets a penalty there that no random score outweighs. Everywhere else the policy is the random one.
"""

import json

PENALTY = 1e6


def add(interface, rules):
    """Adds rules to the policy of an interface file."""
    content = json.loads(interface.read_text("utf-8"))
    names = [entry["name"] for entry in content["input"]]
    rules = [
        (content["output"].index(label), [(names.index(name), *bounds) for name, bounds in box.items()])
        for label, box in rules
    ]
    file = interface.parent / content["file"]
    if file.suffix == ".nnet":
        content["elements"] = add_to_network(file, rules)
        interface.write_text(json.dumps(content), "utf-8")
    else:
        add_to_ensemble(file, rules)


def add_to_ensemble(file, rules):
    """One more tree for each rule."""
    ensemble = json.loads(file.read_text("utf-8"))
    outputs = len(ensemble["base_scores"])
    for output, box in rules:
        node = {"leaf_value": [-PENALTY if index == output else 0.0 for index in range(outputs)]}
        outside = {"leaf_value": [0.0] * outputs}
        for variable, lower, upper in box:
            node = {"feat_id": variable, "split_value": lower - 0.5, "left": outside, "right": node}
            node = {"feat_id": variable, "split_value": upper + 0.5, "left": node, "right": outside}
        tree = {"num_leaf_values": outputs, "split_type": "LtSplit", "value_type": "FloatT", "structure": node}
        ensemble["trees"].append(tree)
    file.write_text(json.dumps(ensemble), "utf-8")


def add_to_network(file, rules):
    """More neurons in both hidden layers; the sizes of these.

    Those of the first say how far a variable is outside of its bounds. Their sum is 0 inside of the box and at least 1
    outside, so that a neuron of the second layer is 1 inside and 0 outside.
    """
    layers = read(file)
    if len(layers) != 3:
        raise ValueError(f"{file}: a shield needs two hidden layers")
    (first, first_bias), (second, second_bias), (last, last_bias) = layers
    inputs = len(first[0])
    for output, box in rules:
        added = []
        for variable, lower, upper in box:
            for sign, bias in ((-1.0, lower), (1.0, -upper)):
                added.append(len(first))
                first.append([sign if index == variable else 0.0 for index in range(inputs)])
                first_bias.append(float(bias))
        second.append([-1.0 if index in added else 0.0 for index in range(len(first))])
        second_bias.append(1.0)
        for index, row in enumerate(last):
            row.append(-PENALTY if index == output else 0.0)
    for row in second:
        row.extend([0.0] * (len(first) - len(row)))
    write(file, layers)
    return [len(first), len(second)]


def read(file):
    """Weights and biases of the layers of an NNet file."""
    lines = [line for line in file.read_text("utf-8").splitlines() if line.strip() and not line.startswith("//")]
    numbers = iter([[float(text) for text in line.split(",") if text.strip()] for line in lines])
    next(numbers)
    sizes = [int(size) for size in next(numbers)]
    for _ in range(5):
        next(numbers)
    return [
        ([next(numbers) for _ in range(size)], [next(numbers)[0] for _ in range(size)]) for size in sizes[1:]
    ]


def write(file, layers):
    """Writes an NNet file."""
    inputs = len(layers[0][0][0])
    sizes = [inputs] + [len(bias) for _, bias in layers]
    zeros, ones = [0.0] * inputs, [1.0] * (inputs + 1)
    header = [[len(layers), inputs, sizes[-1], max(sizes)], sizes, [0], zeros, zeros, zeros + [0.0], ones]
    lines = header + [line for weights, biases in layers for line in weights + [[bias] for bias in biases]]
    file.write_text("".join(",".join(map(repr, line)) + ",\n" for line in lines), "utf-8")
