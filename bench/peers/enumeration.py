"""Every integer point of small boxes, evaluated as docs/semantics.md says: the truth against which all are compared.

No peer: its times mean nothing. Boxes with more than 2,000 points are left `unknown`.
"""

import itertools

import numpy

import adapter

POINTS = 2000


def prepare(query_set, time_limit):
    policy = query_set.policy
    evaluate = network(policy) if policy.kind == "network" else ensemble(policy)

    def answer(query):
        sides = [range(lower, upper + 1) for lower, upper in zip(query["lower"], query["upper"])]
        count = 1
        for side in sides:
            count *= len(side)
            if count > POINTS:
                return "unknown", None
        points = numpy.array(list(itertools.product(*sides)))
        scores = evaluate(points.astype(numpy.float64))
        scores[numpy.isnan(scores)] = -numpy.inf
        # `argmax` takes the first of equal scores.
        found = numpy.flatnonzero(scores.argmax(axis=1) == query["label"])
        return ("possible", points[found[0]].tolist()) if len(found) else ("never", None)

    return answer


def network(policy):
    """Scores of many points at once: each neuron's products summed in index order, the bias last."""
    layers = [(numpy.array(weights).T, numpy.array(biases)) for weights, biases in policy.layers]

    def evaluate(values):
        for index, (weights, biases) in enumerate(layers):
            total = values[:, :1] * weights[0]
            for column in range(1, len(weights)):
                total += values[:, column : column + 1] * weights[column]
            values = total + biases
            if index + 1 < len(layers):
                values[values < 0.0] = 0.0
        return values

    return evaluate


def ensemble(policy):
    return lambda points: numpy.array([policy.scores(point) for point in points.tolist()])


if __name__ == "__main__":
    adapter.run("enumeration", numpy.__version__, None, prepare)
