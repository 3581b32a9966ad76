"""How good a policy is: what its episodes end with, counted."""

from __future__ import annotations

from typing import Callable, Dict

import numpy as np
from domains import Domain
from gymnasium.vector import AutoresetMode

import surefoot.gym

#: From observations and masks of applicable actions to actions.
Actor = Callable[[np.ndarray, np.ndarray], np.ndarray]


def environments(domain: Domain, count: int, seed: int, is_hard: bool = False):
    """Runs of a domain side by side, which start again as soon as they end; if hard, in hard start states."""
    envs = surefoot.gym.make_vec(
        domain.model,
        domain.hard if is_hard else None,
        num_envs=count,
        autoreset=AutoresetMode.SAME_STEP,
        seed=seed,
        dtype=np.float32,
        rewards="sparse",
        deadlock_reward=-1.0,
        max_steps=domain.max_steps,
    )
    observations, info = envs.reset(seed=seed)
    return envs, observations, info["action_mask"]


def rates(domain: Domain, actor: Actor, episodes: int, seed: int) -> Dict[str, float]:
    """The shares of endings among the first episodes of as many runs."""
    envs, observations, masks = environments(domain, episodes, seed)
    endings = np.zeros(episodes, np.uint8)
    for _ in range(domain.max_steps):
        observations, _, _, _, info = envs.step(actor(observations, masks))
        masks = info["action_mask"]
        endings = np.where(endings == 0, info["ending"], endings)
        if endings.all():
            break
    counted = {name: float(np.mean(endings == number)) for number, name in enumerate(envs.endings) if name}
    return {
        "success": counted["goal"],
        "unsafe": counted["unsafe"],
        "stall": counted["stall"],
        "deadlock": counted["deadlock"],
        "step-limit": counted["step-limit"],
    }


def random_actor(seed: int) -> Actor:
    """Any applicable action, each as likely as the others."""
    generator = np.random.default_rng(seed)
    return lambda observations, masks: np.where(masks, generator.random(masks.shape), -1.0).argmax(axis=1)


def greedy(scores: Callable[[np.ndarray], np.ndarray], is_filtered: bool) -> Actor:
    """The action with the highest score; if filtered, among those that are applicable."""

    def act(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        values = scores(observations)
        return (np.where(masks, values, -np.inf) if is_filtered else values).argmax(axis=1)

    return act


def taught(domain: Domain) -> Actor:
    """What the scripted teacher does."""
    return lambda observations, masks: np.array([domain.teacher(*pair) for pair in zip(observations, masks)])
