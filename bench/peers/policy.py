"""Policies of query sets: reading and evaluation, in the arithmetic and order that docs/semantics.md defines for `f64`.

Plain Python floats are doubles, products and sums are rounded one by one, so an evaluation here gives the very scores
that surefoot gives. Only the standard library is used.
"""

import json


class Network:
    """Dense layers, ReLU on all but the last: `layers` is a list of (rows of weights, biases)."""

    kind = "network"

    def __init__(self, layers):
        self.layers = layers
        self.inputs = len(layers[0][0][0])
        self.outputs = len(layers[-1][1])

    def scores(self, point):
        values = [float(x) for x in point]
        for index, (weights, biases) in enumerate(self.layers):
            values = [weighted_sum(row, values) + bias for row, bias in zip(weights, biases)]
            if index + 1 < len(self.layers):
                values = [0.0 if value < 0.0 else value for value in values]
        return values


class Ensemble:
    """Trees with one value per output in each leaf; a node is (input, threshold, left, right) or a list of values."""

    kind = "ensemble"

    def __init__(self, base, trees):
        self.base = base
        self.trees = trees
        self.outputs = len(base)

    def scores(self, point):
        sums = list(self.base)
        for node in self.trees:
            while isinstance(node, tuple):
                feature, threshold, left, right = node
                node = left if point[feature] < threshold else right
            sums = [total + value for total, value in zip(sums, node)]
        return sums


def weighted_sum(weights, values):
    """Products summed from left to right. The built-in `sum` compensates rounding errors in newer Pythons."""
    total = weights[0] * values[0]
    for weight, value in zip(weights[1:], values[1:]):
        total += weight * value
    return total


def chosen(scores):
    """The output with the highest score, the lowest index on ties; NaN counts as minus infinity."""
    comparable = [score if score == score else float("-inf") for score in scores]
    return comparable.index(max(comparable))


def read_policy(folder):
    """The policy of a query set; None if it is in a format that the peers are not given."""
    if (folder / "policy.nnet").exists():
        return read_network(folder / "policy.nnet")
    if (folder / "policy.json").exists():
        return read_ensemble(folder / "policy.json")
    return None


def read_network(path):
    lines = (line.strip().rstrip(",") for line in path.read_text("utf-8-sig").splitlines())
    rows = [line.split(",") for line in lines if line and not line.startswith("//")]
    sizes = [int(size) for size in rows[1]]
    # The header, the sizes, a flag, minima, maxima, means and ranges.
    position = 7
    layers = []
    for neurons in sizes[1:]:
        weights = [[float(field) for field in row] for row in rows[position : position + neurons]]
        biases = [float(row[0]) for row in rows[position + neurons : position + 2 * neurons]]
        layers.append((weights, biases))
        position += 2 * neurons
    if position != len(rows):
        raise ValueError(f"{path}: expected {position} lines of numbers, found {len(rows)}")
    return Network(layers)


def read_ensemble(path):
    content = json.loads(path.read_text("utf-8"))

    def node(structure):
        if "leaf_value" in structure:
            return [float(value) for value in structure["leaf_value"]]
        left, right = node(structure["left"]), node(structure["right"])
        return (structure["feat_id"], float(structure["split_value"]), left, right)

    base = [float(score) for score in content["base_scores"]]
    return Ensemble(base, [node(tree["structure"]) for tree in content["trees"]])
