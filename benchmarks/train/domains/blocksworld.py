"""Blocksworld: block 0 belongs on the table, block i on block i - 1, and not all blocks may lie on the table at once."""

from __future__ import annotations

import json

import numpy as np

from . import Domain, generate, without_costs


def make(blocks: int) -> Domain:
    """Blocksworld with one place less on the table than there are blocks."""
    model, arguments = generate("blocksworld", blocks=blocks, table_limit=blocks - 1)
    observed = model.observed
    teacher = Teacher(blocks, [observed.index(f"block_{block}") for block in range(blocks)], observed, model.labels)
    return Domain(
        model,
        arguments,
        max_steps=20 + 10 * blocks,
        is_filtered=False,
        potential=teacher.potential,
        teacher=teacher,
        inputs={"cost": list(observed), "no-cost": without_costs(observed)},
        hard=hard_starts(model, blocks),
    )


def hard_starts(model, blocks):
    """The property with the starts in which all but block 0 lie on the table: putting it down is the next step, but unsafe."""
    document = json.loads(model.files[model.property_file])
    condition = document["properties"][0]["expression"]["start"]["exp"]
    is_full = {"op": "=", "left": "table-counter", "right": blocks - 1}
    is_up = {"op": "≥", "left": "block_0", "right": 2}
    rare = {"op": "∧", "left": is_full, "right": is_up}
    condition["expression"] = {"op": "∧", "left": condition["expression"], "right": rare}
    return document


class Teacher:
    """Puts block after block in its place; what is in the way goes to the table, or on another block if the table is full."""

    def __init__(self, blocks, columns, observed, labels):
        self.blocks = blocks
        self.columns = columns
        self.hand = observed.index("hand-empty")
        self.counter = observed.index("table-counter")
        self.table = labels.index("choose_table")
        self.choose = [labels.index(f"choose_block_{block}") for block in range(blocks)]
        self.goal = np.arange(1, blocks + 1)

    def potential(self, observations: np.ndarray) -> np.ndarray:
        """The share of blocks that are in place, from the lowest on."""
        is_placed = observations[:, self.columns] == self.goal
        placed = np.cumprod(is_placed, axis=1).sum(axis=1)
        is_next = np.take_along_axis(observations[:, self.columns], np.minimum(placed, self.blocks - 1)[:, None], axis=1)[:, 0] == 0
        return (placed + 0.5 * is_next) / self.blocks

    def __call__(self, observation: np.ndarray, mask: np.ndarray) -> int:
        places = [int(place) for place in observation[self.columns]]
        under = [place - 2 if place - 2 < block else place - 1 for block, place in enumerate(places)]
        above = {under[block]: block for block in range(self.blocks) if places[block] >= 2}
        placed = 0
        while placed < self.blocks and places[placed] == placed + 1:
            placed += 1
        counter = int(observation[self.counter])
        if observation[self.hand] > 0:
            return self.choose[self.take(placed, places, above, counter)]
        return self.put(places.index(0), placed, places, above, counter)

    def take(self, placed, places, above, counter):
        """The block to take."""
        if placed == self.blocks:
            return self.blocks - 1
        # Where all but one lie on the table, two towers must be joined before block 0 can come down.
        if placed == 0 and counter == self.blocks - 1:
            return next(block for block in range(1, self.blocks) if places[block] == 1 and block not in above)
        for block in (placed, placed - 1):
            top = block
            while top in above:
                top = above[top]
            if block >= 0 and (top != block or block == placed):
                return top
        return placed

    def put(self, held, placed, places, above, counter):
        """Where the block in the hand goes."""
        is_room = counter + 2 <= self.blocks
        free = [block for block in range(self.blocks) if block != held and block not in above and places[block] != 0]
        if held == placed and placed > 0 and placed - 1 in free:
            return self.choose[placed - 1]
        if held == 0 and placed == 0 and is_room:
            return self.table
        others = [block for block in free if block != placed - 1 and block != 0] or free
        higher = [block for block in others if block > held]
        if placed == 0 and higher and held != 0:
            return self.choose[max(higher)]
        if is_room:
            return self.table
        return self.choose[max(higher or others)]
