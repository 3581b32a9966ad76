"""What all adapters share: arguments, the choice of queries, the clock, and the lines that they print.

An adapter prints one JSON object per line: first the solver (`solver`, `version`), then one line per query (`query`,
`answer`, `seconds`, perhaps `witness`), at last perhaps a `remark`. Answers are `never`, `possible`, `unknown`
(gave up or ran out of time) and `error`. A line is printed as soon as it is known, so that a crash loses one query.
"""

import argparse
import json
import random
import sys
import time
from pathlib import Path

from policy import read_policy

# The code with which an adapter says that it cannot answer sets of this kind.
UNSUPPORTED = 3


def sample(count, limit):
    """Which of `count` queries are asked if at most `limit` are: the same for every solver, in ascending order."""
    if limit is None or limit >= count:
        return list(range(count))
    return sorted(random.Random(1).sample(range(count), limit))


class QuerySet:
    """A folder with a policy and queries: boxes of integers (`lower`, `upper`) and a `label` each."""

    def __init__(self, folder):
        content = json.loads((folder / "queries.json").read_text("utf-8"))
        self.folder = folder
        self.description = content.get("description", "")
        self.queries = content["queries"]
        self.policy = read_policy(folder)


def emit(**fields):
    print(json.dumps(fields), flush=True)


def run(name, version, kind, prepare, finish=None):
    """Answers a query set.

    `prepare(query_set, time_limit)` gives a function from a query to (answer, witness or None); only that function
    runs on the clock. `finish(queries)` may give a remark.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, metavar="SETDIR")
    parser.add_argument("--time-limit", type=float, default=1.0, metavar="SECONDS", help="for each query")
    parser.add_argument("--limit", type=int, metavar="N", help="ask N of the queries only")
    parser.add_argument("--skip", type=int, default=0, metavar="K", help="leave out the first K of these")
    arguments = parser.parse_args()
    query_set = QuerySet(arguments.folder)
    if query_set.policy is None or kind not in (None, query_set.policy.kind):
        print(f"{name} is not asked about this kind of policy", file=sys.stderr)
        sys.exit(UNSUPPORTED)
    emit(solver=name, version=version)
    indices = sample(len(query_set.queries), arguments.limit)[arguments.skip :]
    asked = [query_set.queries[index] for index in indices]
    answer = prepare(query_set, arguments.time_limit)
    # The first call loads code and fills caches. It does not count.
    attempt(answer, asked[0])
    for index, query in zip(indices, asked):
        began = time.perf_counter()
        result, witness = attempt(answer, query)
        seconds = time.perf_counter() - began
        emit(query=index, answer=result, seconds=seconds, witness=witness)
    remark = finish and finish(asked)
    if remark:
        emit(remark=remark)


def attempt(answer, query):
    """The answer to a query, where an exception is an answer too."""
    try:
        return answer(query)
    except Exception as error:  # A peer may fail in its own ways; the other queries are still worth asking.
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return "error", None
