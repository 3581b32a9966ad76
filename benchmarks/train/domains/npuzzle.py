"""The 8-puzzle. A search backwards from the goal tells the distance of every board, which is potential and teacher."""

from __future__ import annotations

import numpy as np

from . import Domain, generate, without_costs

#: What a label adds to the place of the hole.
MOVES = {"move_left": -1, "move_right": 1, "move_up": -3, "move_down": 3}
PLACES = 9

#: Where tile 3 must not be.
FORBIDDEN = 7

#: Of the potential. A move must matter more than what a small network gets wrong.
SCALE = 4


def make() -> Domain:
    """The puzzle of the papers: left and right also cross the ends of rows."""
    model, arguments = generate("npuzzle")
    observed = model.observed
    columns = [observed.index("empty")] + [observed.index(f"tile_{tile}") for tile in range(1, PLACES)]
    distances = Distances()
    steps = [MOVES[label] for label in model.labels]
    lowest, highest = ([getattr(model.variable(name), end) for name in observed] for end in ("lower", "upper"))

    def potential(observations: np.ndarray) -> np.ndarray:
        return SCALE * (1 - distances.of(observations[:, columns].astype(np.int64)) / distances.most)

    def after(observations: np.ndarray) -> np.ndarray:
        """Boards after each move, for each board."""
        boards = observations[:, columns].astype(np.int64)
        return np.stack([moved(boards, step) for step in steps], axis=1)

    def right(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        found = np.where(masks, distances.of(after(observations)), distances.most + 2)
        return found == found.min(axis=1, keepdims=True)

    def harmless(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        return masks & (after(observations)[:, :, 3] != FORBIDDEN)

    def dangers(count: int, generator: np.random.Generator) -> np.ndarray:
        """The hole at the forbidden place, and tile 3 beside it; all else is anything, also several tiles at one place."""
        states = generator.integers(lowest, highest, (count, len(observed)), endpoint=True).astype(np.float32)
        states[:, columns[0]] = FORBIDDEN
        states[:, columns[3]] = generator.choice([FORBIDDEN + step for step in steps if FORBIDDEN + step < PLACES], count)
        return states

    def teacher(observation: np.ndarray, mask: np.ndarray) -> int:
        return int(right(observation[None], mask[None]).argmax())

    return Domain(
        model,
        arguments,
        max_steps=200,
        is_filtered=False,
        potential=potential,
        teacher=teacher,
        inputs={"cost": list(observed), "no-cost": without_costs(observed)},
        right=right,
        harmless=harmless,
        dangers=dangers,
    )


def moved(boards: np.ndarray, step: int) -> np.ndarray:
    """Boards (places of the hole and of the tiles) after the hole has moved."""
    hole = boards[:, :1]
    after = np.where(boards == hole + step, hole, boards)
    after[:, 0] = hole[:, 0] + step
    return after


class Distances:
    """Moves to the goal without unsafe boards, by the number that the places spell."""

    def __init__(self) -> None:
        goal = [8, 7, 6, 5, 4, 3, 2]
        layer = np.array([[*goal, 0, 1], [*goal, 1, 0]])
        self.powers = PLACES ** np.arange(PLACES)
        codes, depths = [layer @ self.powers], [np.zeros(2, np.int64)]
        before = np.array([], np.int64)
        while len(layer):
            successors = [moved(layer[(layer[:, 0] + step >= 0) & (layer[:, 0] + step < PLACES)], step) for step in MOVES.values()]
            layer = np.concatenate(successors)
            layer = layer[layer[:, 3] != FORBIDDEN]
            numbers, first = np.unique(layer @ self.powers, return_index=True)
            # Moves can be undone: what is not new was in one of the last two layers.
            is_new = ~np.isin(numbers, codes[-1]) & ~np.isin(numbers, before)
            before, layer, numbers = codes[-1], layer[first[is_new]], numbers[is_new]
            codes.append(numbers)
            depths.append(np.full(len(numbers), len(codes) - 1))
        every, distance = np.concatenate(codes), np.concatenate(depths)
        order = every.argsort()
        self.codes, self.distance = every[order], distance[order]
        self.most = int(distance.max())

    def of(self, boards: np.ndarray) -> np.ndarray:
        """Distances; unsafe boards are farther than all others."""
        numbers = boards @ self.powers
        at = np.minimum(self.codes.searchsorted(numbers), len(self.codes) - 1)
        return np.where(self.codes[at] == numbers, self.distance[at], self.most + 1)
