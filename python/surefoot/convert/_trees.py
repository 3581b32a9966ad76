"""Tree ensembles in the format of Veritas."""

from __future__ import annotations

import json
from typing import Any, Callable, Dict, Iterator, List, Sequence, Tuple

import numpy as np

#: Base scores, trees, and the scores of a library for rows of inputs.
Ensemble = Tuple[List[float], List[Dict[str, Any]], Callable[[np.ndarray], np.ndarray]]


def first_above(threshold: float) -> int:
    """The least integer whose nearest single is above a threshold.

    scikit-learn rounds features to single precision and compares ``x ≤ t`` in double precision. Rounding is monotone, so the
    integers with ``float32(x) ≤ t`` are those below one integer, which takes the place of the threshold: exact, also above 2²⁴.
    """
    return _first(lambda number: float(np.float32(number)) > threshold)


def first_above_double(threshold: float) -> int:
    """The least integer above a threshold."""
    return _first(lambda number: number > threshold)


def _first(is_above: Callable[[int], bool]) -> int:
    low, high = -(2**31), 2**31  # no variable has values beyond
    while low < high:
        middle = (low + high) // 2
        if is_above(middle):
            high = middle
        else:
            low = middle + 1
    return low


def structure(
    left: Any,
    right: Any,
    feature: Any,
    threshold: Any,
    leaf: Callable[[int], List[float]],
    first: Callable[[float], int],
) -> Dict[str, Any]:
    """A tree given by arrays, whose leaves have no children (-1, or 0 where node 0 is the root)."""
    nodes: List[Dict[str, Any]] = [{} for _ in left]
    for index, node in enumerate(nodes):
        if left[index] <= 0:
            node["leaf_value"] = leaf(index)
        else:
            node["feat_id"] = int(feature[index])
            node["split_value"] = first(float(threshold[index]))
            node["left"], node["right"] = nodes[left[index]], nodes[right[index]]
    return nodes[0]


def with_unchosen(ensemble: Ensemble, count: int) -> Ensemble:
    """An ensemble with further outputs, whose scores are below all others everywhere."""
    base, trees, scores = ensemble
    least = min(base) + sum(min(min(leaf["leaf_value"]) for leaf in _leaves(tree)) for tree in trees)
    least -= max(1.0, abs(least))
    for tree in trees:
        for leaf in _leaves(tree):
            leaf["leaf_value"] = [*leaf["leaf_value"], *[0.0] * count]
    return [*base, *[least] * count], trees, lambda rows: np.hstack([scores(rows), np.full((len(rows), count), least)])


def _leaves(tree: Dict[str, Any]) -> Iterator[Dict[str, Any]]:
    nodes = [tree]
    while nodes:
        node = nodes.pop()
        if "leaf_value" in node:
            yield node
        else:
            nodes += (node["left"], node["right"])


def document(base_scores: Sequence[float], trees: Sequence[Dict[str, Any]]) -> bytes:
    """An ensemble: ``x < split_value`` goes left, scores are sums of base scores and leaves."""
    described = [
        {"num_leaf_values": len(base_scores), "split_type": "LtSplit", "value_type": "FloatT", "structure": tree} for tree in trees
    ]
    whole = {"at_type": "REGR", "base_scores": [float(score) for score in base_scores], "trees": described}
    return json.dumps(whole).encode()
