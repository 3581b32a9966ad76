"""HiGHS: an exact mixed-integer program with integer inputs, one thread.

Each ReLU whose sign is open gets a binary variable and bounds from interval arithmetic (big M). Outputs before the label
must stay below its score by MARGIN, since linear programs know no strict inequality; those behind it may be equal. HiGHS
accepts points that break a constraint by 10^-6, so answers about smaller margins are not to be trusted. On the clock:
interval bounds, building the program, solving.
"""

from importlib.metadata import version

import highspy
import numpy

import adapter

# Ten times what HiGHS lets pass as rounding: else ties would.
MARGIN = 1e-5


class Program:
    """The rows and columns of one mixed-integer program, without an objective."""

    def __init__(self):
        self.lower, self.upper, self.integral = [], [], []
        self.row_lower, self.starts, self.indices, self.values = [], [0], [], []

    def columns(self, lower, upper, integral):
        """New columns; their indices."""
        first = len(self.lower)
        self.lower.extend(lower)
        self.upper.extend(upper)
        self.integral.extend([integral] * len(lower))
        return numpy.arange(first, len(self.lower))

    def at_least(self, lower, indices, values):
        """A row: the sum of `values` times columns is `lower` or more."""
        self.row_lower.append(lower)
        self.indices.append(indices)
        self.values.append(values)
        self.starts.append(self.starts[-1] + len(indices))

    def solve(self, time_limit):
        """The status and the values of the columns."""
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = len(self.lower), len(self.row_lower)
        lp.col_cost_ = numpy.zeros(lp.num_col_)
        lp.col_lower_, lp.col_upper_ = numpy.array(self.lower, float), numpy.array(self.upper, float)
        lp.row_lower_ = numpy.array(self.row_lower, float)
        lp.row_upper_ = numpy.full(lp.num_row_, highspy.kHighsInf)
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        lp.integrality_ = [kinds[integral] for integral in self.integral]
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = numpy.array(self.starts)
        lp.a_matrix_.index_ = numpy.concatenate(self.indices)
        lp.a_matrix_.value_ = numpy.concatenate(self.values)
        highs = highspy.Highs()
        for option, value in [("output_flag", False), ("threads", 1), ("time_limit", time_limit)]:
            highs.setOptionValue(option, value)
        highs.passModel(lp)
        highs.run()
        return highs.getModelStatus(), highs.getSolution().col_value


def hidden_layer(program, columns, lower, upper, weights, biases):
    """Adds the neurons of a layer to the program; their columns and bounds."""
    positive, negative = numpy.maximum(weights, 0.0), numpy.minimum(weights, 0.0)
    low = positive @ lower + negative @ upper + biases
    high = positive @ upper + negative @ lower + biases
    neurons = program.columns(numpy.maximum(low, 0.0), numpy.maximum(high, 0.0), 0)
    for neuron in numpy.flatnonzero(high > 0.0):
        # The neuron is at least its sum …
        indices = numpy.append(columns, neurons[neuron])
        row = numpy.append(-weights[neuron], 1.0)
        program.at_least(biases[neuron], indices, row)
        if low[neuron] >= 0.0:
            program.at_least(-biases[neuron], indices, -row)
            continue
        # … and at most its sum where it is active, at most 0 where it is not.
        active = program.columns([0.0], [1.0], 1)
        program.at_least(low[neuron] - biases[neuron], numpy.append(indices, active), numpy.append(-row, low[neuron]))
        program.at_least(0.0, numpy.append(neurons[neuron], active), numpy.array([-1.0, high[neuron]]))
    return neurons, numpy.maximum(low, 0.0), numpy.maximum(high, 0.0)


def prepare(query_set, time_limit):
    layers = [(numpy.array(weights), numpy.array(biases)) for weights, biases in query_set.policy.layers]
    status = highspy.HighsModelStatus

    def answer(query):
        program = Program()
        lower, upper = numpy.array(query["lower"], float), numpy.array(query["upper"], float)
        inputs = columns = program.columns(lower, upper, 1)
        for weights, biases in layers[:-1]:
            columns, lower, upper = hidden_layer(program, columns, lower, upper, weights, biases)
        weights, biases = layers[-1]
        label = query["label"]
        for other in range(len(biases)):
            if other != label:
                margin = MARGIN if other < label else 0.0
                program.at_least(
                    biases[other] - biases[label] + margin, columns, weights[label] - weights[other])
        found, values = program.solve(time_limit)
        if found == status.kInfeasible:
            return "never", None
        if found in (status.kOptimal, status.kSolutionLimit):
            return "possible", [round(values[column]) for column in inputs]
        return "unknown", None

    return answer


if __name__ == "__main__":
    adapter.run("HiGHS", version("highspy"), "network", prepare)
