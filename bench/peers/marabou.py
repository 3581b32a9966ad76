"""Marabou 2: reals instead of integers, one query per box and label, one thread.

The query is a conjunction: the label's score is at least that of every other output. So ties count for the label, and
"possible" may have a witness that is no integer point. There is one prepared query for each label; on the clock are
setting the bounds of the inputs and solving, which preprocesses the network for these bounds.
"""

import math
import warnings
from importlib.metadata import version

# The package warns of readers for formats that are not used here.
warnings.filterwarnings("ignore")
from maraboupy import Marabou, MarabouCore

import adapter


def prepare(query_set, time_limit):
    path = str(query_set.folder / "policy.nnet")
    options = Marabou.createOptions(verbosity=0, numWorkers=1, numBlasThreads=1, timeoutInSeconds=math.ceil(time_limit))
    prepared = {}

    def query_of(label):
        network = Marabou.read_nnet(path, normalize=False)
        inputs = [int(variable) for variable in network.inputVars[0].flatten()]
        outputs = [int(variable) for variable in network.outputVars[0].flatten()]
        for variable in inputs:
            network.setLowerBound(variable, 0.0)
            network.setUpperBound(variable, 0.0)
        for other in range(len(outputs)):
            if other != label:
                network.addInequality([outputs[other], outputs[label]], [1.0, -1.0], 0.0)
        return network.getInputQuery(), inputs

    for label in {query["label"] for query in query_set.queries}:
        prepared[label] = query_of(label)

    def answer(query):
        marabou_query, inputs = prepared[query["label"]]
        for variable, lower, upper in zip(inputs, query["lower"], query["upper"]):
            marabou_query.setLowerBound(variable, float(lower))
            marabou_query.setUpperBound(variable, float(upper))
        outcome, values, _ = MarabouCore.solve(marabou_query, options, "")
        if outcome == "sat":
            return "possible", [values[variable] for variable in inputs]
        return {"unsat": "never", "ERROR": "error"}.get(outcome, "unknown"), None

    return answer


if __name__ == "__main__":
    adapter.run("Marabou", version("maraboupy"), "network", prepare)
