"""Tree ensembles that imitate a network, with states that they visit themselves (dataset aggregation)."""

from __future__ import annotations

from typing import Any, Callable, List, Tuple

import numpy as np
from domains import Domain
from evaluate import Actor, environments

import surefoot

#: Rounds of collecting states and fitting, states of each, share of random actions.
ROUNDS, STATES, NOISE = 3, 15_000, 0.2


class Ensemble:
    """An ensemble of one of the libraries, whose classes are positions in ``model.labels``."""

    def __init__(self, library: str, depth: int, trees: int, seed: int, actions: int) -> None:
        self.library, self.actions = library, actions
        if library == "forest":
            from sklearn.ensemble import RandomForestClassifier

            self.model: Any = RandomForestClassifier(trees, max_depth=depth, random_state=seed, n_jobs=1)
        elif library == "xgboost":
            self.parameters = {
                "objective": "multi:softprob",
                "num_class": actions,
                "max_depth": depth,
                "eta": 0.5,
                "nthread": 1,
                "seed": seed,
            }
            self.trees = trees
        else:
            self.parameters = {
                "objective": "multiclass",
                "num_class": actions,
                "max_depth": depth,
                "num_leaves": min(2**depth, 127),
                "learning_rate": 0.3,
                "min_data_in_leaf": 5,
                "num_threads": 1,
                "deterministic": True,
                "force_row_wise": True,
                "verbosity": -1,
                "seed": seed,
            }
            self.trees = trees

    def fit(self, inputs: np.ndarray, choices: np.ndarray) -> None:
        """Learns choices from scratch."""
        if self.library == "forest":
            self.model.fit(inputs, choices)
        elif self.library == "xgboost":
            import xgboost

            self.model = xgboost.train(self.parameters, xgboost.DMatrix(inputs, choices), self.trees)
        else:
            import lightgbm

            data = lightgbm.Dataset(inputs, choices, params={"verbosity": -1})
            self.model = lightgbm.train(self.parameters, data, self.trees)

    def scores(self, inputs: np.ndarray) -> np.ndarray:
        """A score for each label; what was never chosen has none."""
        if self.library == "forest":
            scores = np.full((len(inputs), self.actions), -np.inf)
            scores[:, self.model.classes_] = self.model.predict_proba(inputs)
            return scores
        if self.library == "xgboost":
            import xgboost

            return self.model.predict(xgboost.DMatrix(inputs), output_margin=True)
        return self.model.predict(inputs, raw_score=True)

    def policy(self, domain: Domain, inputs: List[str]) -> surefoot.Policy:
        """The ensemble as a policy."""
        arguments = {"inputs": inputs, "outputs": domain.model.labels, "filter": domain.is_filtered}
        if self.library == "forest":
            return surefoot.from_sklearn(self.model, domain.model, **arguments)
        if self.library == "xgboost":
            return surefoot.from_xgboost(self.model, domain.model, **arguments)
        return surefoot.from_lightgbm(self.model, domain.model, **arguments)


def visited(domain: Domain, actor: Actor, count: int, seed: int, is_hard: bool) -> Tuple[np.ndarray, np.ndarray]:
    """States that a policy comes to, now and then by a random action, and their masks. A stall starts a new run."""
    generator = np.random.default_rng(seed)
    runs = 64
    envs, states, masks = environments(domain, runs, seed, is_hard)
    seen, applicable = [], []
    for _ in range(-(-count // runs)):
        seen.append(states)
        applicable.append(masks)
        random = np.where(masks, generator.random(masks.shape), -1.0).argmax(axis=1)
        actions = np.where(generator.random(runs) < NOISE, random, actor(states, masks))
        states, _, _, _, info = envs.step(actions)
        masks = info["action_mask"]
    return np.concatenate(seen), np.concatenate(applicable)


def imitate(
    domain: Domain,
    columns: np.ndarray,
    network: Callable[[np.ndarray], np.ndarray],
    ensemble: Ensemble,
    seed: int,
    is_hard: bool,
    report: Callable[[str], None] = lambda line: None,
) -> int:
    """Fits an ensemble to the choices of a network among applicable labels; the result is the number of states.

    If hard, as many states again come from runs from hard start states.
    """

    def expert(states: np.ndarray, masks: np.ndarray) -> np.ndarray:
        return np.where(masks, network(states), -np.inf).argmax(axis=1)

    def imitator(states: np.ndarray, masks: np.ndarray) -> np.ndarray:
        return np.where(masks, ensemble.scores(states[:, columns]), -np.inf).argmax(axis=1)

    inputs, choices = [], []
    for turn in range(ROUNDS):
        for kind in (False, True) if is_hard else (False,):
            states, masks = visited(domain, expert if turn == 0 else imitator, STATES, seed + turn, kind)
            inputs.append(states[:, columns])
            choices.append(expert(states, masks))
        ensemble.fit(np.concatenate(inputs), np.concatenate(choices))
        report(f"round {turn + 1}: {sum(map(len, inputs))} states")
    return sum(map(len, inputs))
