"""Makes the policies that are missing: `benchmarks/train/make [NAME …]`. A name may be a pattern such as `blocksworld-*`.

What is there with its record is kept, so a run that was stopped goes on. `--list` shows the names.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import asdict
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Dict

import export
import numpy as np
import rows
import torch
from evaluate import Actor, greedy, random_actor, rates
from qlearning import Learner
from trees import Ensemble, imitate

import surefoot

EPISODES = 1000
EVALUATION_SEED = 1_000_000


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="make", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["*"], metavar="NAME", help="names of policies or patterns; default: all")
    parser.add_argument("--list", action="store_true", help="show names, and whether the policies are there")
    parser.add_argument("--out", type=Path, default=export.FOLDER, help="folder of the policies")
    options = parser.parse_args()
    torch.set_num_threads(1)
    every = rows.every()
    unknown = [name for name in options.names if not any(fnmatchcase(row.name, name) for row in every)]
    if unknown:
        print(f"make: there is no policy {unknown[0]!r}; see --list", file=sys.stderr)
        return 2
    options.out.mkdir(parents=True, exist_ok=True)
    for row in (row for row in every if any(fnmatchcase(row.name, name) for name in options.names)):
        there = export.is_made(row.name, options.out)
        if options.list:
            print(f"{row.name:45} {'there' if there else 'missing'}")
        elif not there:
            make(row, options.out)
    return 0


def make(row: rows.Row, folder: Path) -> None:
    """Trains a policy and writes it."""
    began = time.process_time()

    def report(line: str) -> None:
        print(f"{row.name}: {time.process_time() - began:6.1f} s  {line}", flush=True)

    if isinstance(row, rows.Network):
        facts = make_network(row, folder, report)
    else:
        facts = make_trees(row, folder, report)
    report(f"success {facts['rates']['success']:.3f}, random {facts['random']['success']:.3f}: {facts['rates']}")


def make_network(row: rows.Network, folder: Path, report) -> Dict[str, Any]:
    """A network by Q-learning."""
    domain = rows.domain(row.domain)
    began = time.process_time()
    learner = Learner(domain, row.kind, row.hidden, row.seed, row.settings)
    trained, updates = learner.train(report)
    policy = surefoot.from_torch(trained, domain.model, inputs=domain.inputs[row.kind], filter=domain.is_filtered)
    columns = domain.columns(row.kind)

    def scores(observations: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return trained(torch.from_numpy(observations[:, columns])).numpy()

    facts = {
        "method": "double DQN with demonstrations",
        "hidden": list(row.hidden),
        "inputs": row.kind,
        "seed": row.seed,
        "settings": asdict(row.settings),
        "updates-of-this-network": updates,
        "environment-steps": learner.steps,
        "seconds": round(time.process_time() - began, 1),
        **measured(row.domain, greedy(scores, domain.is_filtered)),
    }
    export.write(row.name, policy, facts, folder)
    return facts


def make_trees(row: rows.Trees, folder: Path, report) -> Dict[str, Any]:
    """An ensemble by imitation."""
    imitated = next(network for network in rows.networks() if network.name == row.imitated)
    domain = rows.domain(imitated.domain)
    if not export.is_made(imitated.name, folder):
        make(imitated, folder)
    began = time.process_time()
    columns = domain.columns(imitated.kind)
    policy = surefoot.load_policy(folder / f"{imitated.name}.jani2nnet", domain.model)

    def network(observations: np.ndarray) -> np.ndarray:
        return policy.scores(full_states(domain.model, observations), "f32")[:, :, 0]

    ensemble = Ensemble(row.library, row.depth, row.trees, row.seed, len(domain.model.labels))
    states = imitate(domain, columns, network, ensemble, row.seed, imitated.settings.is_hard, report)
    actor = greedy(lambda observations: ensemble.scores(observations[:, columns]), domain.is_filtered)
    facts = {
        "method": f"imitation of {row.imitated}",
        "library": row.library,
        "depth": row.depth,
        "trees": row.trees,
        "seed": row.seed,
        "states": states,
        "seconds": round(time.process_time() - began, 1),
        **measured(imitated.domain, actor),
    }
    export.write(row.name, ensemble.policy(domain, domain.inputs[imitated.kind]), facts, folder)
    return facts


def full_states(model: surefoot.Model, observations: np.ndarray) -> np.ndarray:
    """Observations with the variables that have one value only."""
    place = {name: column for column, name in enumerate(model.observed)}
    states = np.empty((len(observations), len(model.variables)), np.int32)
    for column, variable in enumerate(model.variables):
        states[:, column] = observations[:, place[variable.name]] if variable.name in place else variable.lower
    return states


def measured(domain: str, actor: Actor) -> Dict[str, Any]:
    """What episodes end with: those of a policy, and those of random applicable choices."""
    made = rows.domain(domain)
    return {
        "model": made.arguments,
        "filter": made.is_filtered,
        "max-steps": made.max_steps,
        "episodes": EPISODES,
        "rates": rates(made, actor, EPISODES, EVALUATION_SEED),
        "random": rates(made, random_actor(0), EPISODES, EVALUATION_SEED),
    }


if __name__ == "__main__":
    sys.exit(main())
