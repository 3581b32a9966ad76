"""What was seen: transitions in one table, so that a sample is taken by one copy; and demonstrations of a teacher."""

from __future__ import annotations

from typing import Tuple

import numpy as np
import torch
from domains import Domain
from evaluate import environments


class Replay:
    """The last transitions.

    A row is: state, next state, both masks, mask of right actions (of none if the teacher was not asked), action, reward, whether it
    goes on.
    """

    def __init__(self, capacity: int, inputs: int, actions: int) -> None:
        self.inputs, self.actions = inputs, actions
        self.rows = torch.zeros(capacity, 2 * inputs + 3 * actions + 3)
        self.written = 0

    def add(self, states, after, masks, masks_after, right, actions, rewards, goes_on) -> None:
        """Writes transitions over the oldest ones."""
        columns = [column[:, None] for column in (actions, rewards, goes_on)]
        table = np.concatenate([states, after, masks, masks_after, right, *columns], axis=1)
        places = (self.written + np.arange(len(table))) % len(self.rows)
        self.rows[torch.from_numpy(places)] = torch.from_numpy(table.astype(np.float32))
        self.written += len(table)

    def sample(self, count: int, generator: torch.Generator) -> torch.Tensor:
        """Some rows."""
        filled = min(self.written, len(self.rows))
        return self.rows[torch.randint(filled, (count,), generator=generator)]

    def split(self, rows: torch.Tensor) -> Tuple[torch.Tensor, ...]:
        """The parts of rows."""
        n, k = self.inputs, self.actions
        states, after, masks, masks_after, right, rest = rows.split([n, n, k, k, k, 3], dim=1)
        actions, rewards, goes_on = rest.unbind(1)
        return states, after, masks > 0, masks_after > 0, right > 0, actions.long(), rewards, goes_on


def shaped(domain: Domain, discount: float, states, after, rewards, is_over) -> np.ndarray:
    """Rewards with what a step changes in the potential, which is 0 where a run has ended."""
    following = np.where(is_over, 0.0, domain.potential(after))
    return rewards + discount * following - domain.potential(states)


def demonstrate(
    domain: Domain, replay: Replay, columns, discount: float, count: int, noise: float, seed: int, is_hard: bool
) -> None:
    """Adds transitions of the teacher until there are so many.

    Now and then a random action is taken instead, so that it shows how to mend mistakes.
    """
    generator = np.random.default_rng(seed)
    runs = 64
    envs, states, masks = environments(domain, runs, seed, is_hard)
    masks = domain.permitted(states, masks)
    while replay.written < count:
        right = domain.taught(states, masks)
        random = np.where(masks, generator.random(masks.shape), -1.0).argmax(axis=1)
        actions = np.where(generator.random(runs) < noise, random, right.argmax(axis=1))
        observations, rewards, terminated, truncated, info = envs.step(actions)
        is_over = terminated | truncated
        after = np.where(is_over[:, None], info.get("final_obs", observations), observations)
        rewards = shaped(domain, discount, states, after, rewards, terminated)
        masks_after = domain.permitted(observations, info["action_mask"])
        replay.add(states[:, columns], after[:, columns], masks, masks_after, right, actions, rewards, ~is_over * 1.0)
        states, masks = observations, masks_after
