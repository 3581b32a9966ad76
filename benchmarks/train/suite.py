#!/usr/bin/env python3
"""Writes benchmarks/suite.toml, an instance for each policy that is there and some with other readings, and the table in README.md.

    benchmarks/train/suite.py [RESULTS …]

RESULTS are files `results.jsonl` of `surefoot bench`, perhaps compressed (`.gz`): verdicts in them become expected ones. What is known already stays known; who
knows it is said anew where RESULTS have a run. Needs nothing but the standard library (Python 3.11 or later).
"""

from __future__ import annotations

import gzip
import json
import sys
import tomllib
from pathlib import Path
from typing import Any, Dict, Iterator, List, Set, Tuple

FOLDER = Path(__file__).resolve().parent.parent
SUITE = FOLDER / "suite.toml"
README = FOLDER / "README.md"

#: Who knows a verdict that no run of the results has found.
EARLIER = "an earlier bench"

#: What stands before the table.
MARK = "<!-- The table is written by train/suite.py. -->\n"

HEAD = """\
# The benchmark suite: generated models and trained policies. benchmarks/README.md says how they were made.
# Written by benchmarks/train/suite.py.
name = "surefoot"

[[configuration]]
name = "explicit"
engine = "explicit"

[[configuration]]
name = "project"
engine = "explicit"
options = ["--project"]

[[configuration]]
name = "ic3"
engine = "ic3"

[[configuration]]
name = "ic3-paper"
engine = "ic3"
# The program of the paper makes no certificate that is checked.
options = ["--paper", "--no-check"]

[[configuration]]
name = "ppa"
engine = "ppa"
"""

#: Other readings: the end of a name, options, and the policies that are also read like this.
FILTER = ("filter", ["--filter", "on"])
GOAL = ("filter-goal", ["--filter", "on", "--goal", "terminal"])
READINGS = {
    "blocksworld-4-no-cost-32": (FILTER, GOAL),
    "blocksworld-6-no-cost-32": (FILTER, GOAL),
    "blocksworld-8-no-cost-64": (FILTER, GOAL),
    "blocksworld-6-forest-10x10": (FILTER, GOAL),
    "npuzzle-no-cost-32": (FILTER, GOAL),
    "transport-32": (("goal", ["--goal", "terminal"]),),
    "beluga-4-64": (("goal", ["--goal", "terminal"]),),
}

#: Options of all instances of a domain. No variable of transport counts all packages, so that no location can overflow is hard to see.
OPTIONS = {"transport": ["--out-of-domain", "block"]}

#: XGBoost computes in single precision.
ARITHMETIC = {"xgboost": ["--arithmetic", "f32"]}


def records() -> List[Dict[str, Any]]:
    """Records of all policies, in the order of names with numbers in them."""
    paths = (FOLDER / "policies").glob("*.provenance.json")
    return sorted((json.loads(path.read_text(encoding="utf-8")) for path in paths), key=lambda one: by_number(one["policy"]))


def instances() -> Iterator[Dict[str, Any]]:
    """All instances."""
    for record in records():
        name, domain = record["policy"], record["model"][0]
        kind = "trees" if "library" in record else "networks"
        instance = {
            "name": name,
            "family": f"{domain}-{kind}",
            "generate": record["model"],
            "policy": f"policies/{name}.jani2nnet",
        }
        options = OPTIONS.get(domain, []) + ARITHMETIC.get(record.get("library"), [])
        yield {**instance, "options": options} if options else instance
        for suffix, reading in READINGS.get(name, ()):
            yield {**instance, "name": f"{name}-{suffix}", "options": options + reading}


def by_number(name: str) -> List[Tuple[int, str]]:
    """An order in which 8 comes before 10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in name.split("-")]


def known(results: List[str]) -> Dict[str, Tuple[str, str]]:
    """Verdicts and who found them, by instance: those of the suite as it is, and those of results."""
    verdicts: Dict[str, str] = {}
    sources: Dict[str, Set[str]] = {}
    if SUITE.exists():
        for instance in tomllib.loads(SUITE.read_text(encoding="utf-8")).get("instance", []):
            if "expected" in instance:
                verdicts[instance["name"]] = instance["expected"]
                # It is said again below, unless a run of the results knows.
                sources[instance["name"]] = set(instance["known-by"].split(", ")) - {EARLIER}
    runs = [run for path in results for run in read(path)]
    for run in runs:
        sources.get(run["instance"], set()).discard(run["configuration"])
    for run in runs:
        if run["verdict"] in ("SAFE", "UNSAFE"):
            name, verdict, by = run["instance"], run["verdict"].lower(), run["configuration"]
            if verdicts.setdefault(name, verdict) != verdict:
                sys.exit(f"{name}: {by} says {verdict}, but it was {verdicts[name]}")
            sources.setdefault(name, set()).add(by)
    return {name: (verdict, ", ".join(sorted(sources[name])) or EARLIER) for name, verdict in verdicts.items()}


def read(path: str) -> List[Dict[str, Any]]:
    """The runs in a file of results."""
    content = Path(path).read_bytes()
    return [json.loads(line) for line in (gzip.decompress(content) if path.endswith(".gz") else content).decode().splitlines()]


def table(verdicts: Dict[str, Tuple[str, str]]) -> str:
    """The policies, with what their episodes ended with and what is known about them."""
    lines = ["| policy | success | random | unsafe | stall | verdict | by |", "|---|---|---|---|---|---|---|"]
    for record in records():
        name, found = record["policy"], record["rates"]
        shares = [found["success"], record["random"]["success"], found["unsafe"], found["stall"]]
        verdict, by = verdicts.get(name, ("–", ""))
        cells = [f"`{name}`", *(f"{100 * share:.1f} %" for share in shares), verdict, by]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """The command."""
    verdicts = known(sys.argv[1:])
    parts = [HEAD]
    for instance in instances():
        lines = [f"{key} = {json.dumps(value)}" for key, value in instance.items()]
        if instance["name"] in verdicts:
            expected, by = verdicts[instance["name"]]
            lines += [f"expected = {json.dumps(expected)}", f"known-by = {json.dumps(by)}"]
        parts.append("\n[[instance]]\n" + "\n".join(lines) + "\n")
    SUITE.write_text("".join(parts), encoding="utf-8")
    before, _, _ = README.read_text(encoding="utf-8").partition(MARK)
    README.write_text(before + MARK + "\n" + table(verdicts), encoding="utf-8")


if __name__ == "__main__":
    main()
