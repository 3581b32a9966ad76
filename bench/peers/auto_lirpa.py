"""auto_LiRPA: one CROWN pass over reals per query, one thread, single precision as the library is commonly used.

Bounds are computed for the differences between every other output and the label. If one of them stays above 0, the label
is never chosen; otherwise the pass decides nothing. On the clock: making the box and computing bounds. The bounded module
is made once per query set. A remark says how long all queries take in one batch.
"""

import time
from importlib.metadata import version

import torch
from auto_LiRPA import BoundedModule, BoundedTensor, PerturbationLpNorm

import adapter


def module(policy):
    """The network as a module of PyTorch."""
    modules = []
    for weights, biases in policy.layers:
        linear = torch.nn.Linear(len(weights[0]), len(biases))
        linear.weight.data = torch.tensor(weights)
        linear.bias.data = torch.tensor(biases)
        modules += [linear, torch.nn.ReLU()]
    return torch.nn.Sequential(*modules[:-1])


class Bounds:
    """Bounds of score differences."""

    def __init__(self, policy):
        self.bounded = BoundedModule(module(policy), torch.zeros(1, policy.inputs))
        identity = torch.eye(policy.outputs)
        others = lambda label: [output for output in range(policy.outputs) if output != label]
        self.differences = [identity[others(label)] - identity[label] for label in range(policy.outputs)]

    def never(self, queries):
        """For each query, whether the label is shown to lose everywhere."""
        lower = torch.tensor([query["lower"] for query in queries], dtype=torch.float32)
        upper = torch.tensor([query["upper"] for query in queries], dtype=torch.float32)
        box = BoundedTensor(lower, PerturbationLpNorm(norm=float("inf"), x_L=lower, x_U=upper))
        differences = torch.stack([self.differences[query["label"]] for query in queries])
        with torch.no_grad():
            bound, _ = self.bounded.compute_bounds(x=(box,), C=differences, method="CROWN", bound_upper=False)
        return (bound > 0.0).any(dim=1).tolist()


def main():
    torch.set_num_threads(1)
    bounds = []

    def prepare(query_set, time_limit):
        bounds.append(Bounds(query_set.policy))
        return lambda query: ("never" if bounds[0].never([query])[0] else "unknown", None)

    def batched(queries):
        began = time.perf_counter()
        bounds[0].never(queries)
        each = (time.perf_counter() - began) / len(queries)
        return f"all {len(queries)} queries in one batch: {each * 1e6:.0f} µs per query"

    adapter.run("auto_LiRPA CROWN", version("auto_LiRPA"), "network", prepare, batched)


if __name__ == "__main__":
    main()
