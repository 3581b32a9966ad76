"""Veritas: best-first search for the largest difference between the label's score and the highest of the others.

The search is over reals: it may find a box without an integer point. It stops at the first box where the label wins.
Outputs before the label get a head start of MARGIN, since ties are theirs. For each label there is one prepared
ensemble; on the clock are making the search, which indexes the ensemble for the box, and searching.
"""

import math
from importlib.metadata import version

from veritas import AddTree, Config, HeuristicType, Interval, StopReason

import adapter

MARGIN = 1e-9
# Intervals of Veritas do not hold their upper end. Thresholds this close above an integer are not to be expected.
BEYOND = 2.0**-20


def for_label(ensemble, label):
    """The ensemble with the label as the class that is compared with the others."""
    for other in range(label):
        ensemble.set_base_score(other, ensemble.get_base_score(other) + MARGIN)
    ensemble.swap_class(label)
    return ensemble


def point_in(box, lower):
    """An integer point of the box, or a point that is none if there is none; inputs without a test as in `lower`."""
    point = list(lower)
    for feature, interval in box.items():
        integer = math.ceil(interval.lo)
        point[feature] = integer if integer < interval.hi else (interval.lo + interval.hi) / 2
    return point


def prepare(query_set, time_limit):
    ensemble = AddTree.read(str(query_set.folder / "policy.json"))
    prepared = {label: for_label(ensemble.copy(), label) for label in {query["label"] for query in query_set.queries}}
    config = Config(HeuristicType.MULTI_MAX_MAX_OUTPUT_DIFF)
    config.ignore_state_when_worse_than = -MARGIN / 2
    config.stop_when_num_solutions_exceeds = 1

    def answer(query):
        box = [Interval(lower, upper + BEYOND) for lower, upper in zip(query["lower"], query["upper"])]
        search = config.get_search(prepared[query["label"]], box)
        reason = search.step_for(time_limit, 100)
        if search.num_solutions() > 0:
            return "possible", point_in(search.get_solution(0).box(), query["lower"])
        return "never" if reason == StopReason.NO_MORE_OPEN else "unknown", None

    return answer


if __name__ == "__main__":
    adapter.run("Veritas", version("dtai-veritas"), "ensemble", prepare)
