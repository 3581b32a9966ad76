"""Q-learning: double DQN with a replay buffer, a slow target network, shaped rewards and some demonstrations.

Three terms make the loss:

- the temporal difference of double Q-learning, on transitions of the network itself and of the teacher;
- where policies are not filtered, a label that is not applicable ends the run as a stall with reward -1. This is known without trying
  it, so its score is pushed down to that in every state that is sampled;
- in states of the teacher, its choice should be better than all others by a margin (deep Q-learning from demonstrations).
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Callable, Sequence, Tuple

import numpy as np
import torch
from torch import nn

from domains import Domain
from evaluate import environments, greedy, rates
from replay import Replay, demonstrate, shaped


#: Episodes by which the networks of a training are compared.
TRIAL_EPISODES = 200


@dataclass(frozen=True)
class Settings:
    """How a network is trained.

    Attributes:
        updates: Steps of gradient descent.
        batch: Transitions of each.
        runs: Environments side by side; all make a step every second update.
        discount: Of rewards.
        rate: Of learning at the beginning; it falls to nothing along a cosine.
        slowness: How far the target network follows in an update.
        demonstrations: Transitions of the teacher.
        noise: Share of random actions in them.
        share: Of demonstrations in a batch.
        margin: By which the teacher's choice should be ahead.
        capacity: Transitions that are remembered.
        is_hard: Whether every other step, and half of the demonstrations, is made in runs from hard start states.
        trials: How often the network is tried; the best one is kept.
    """

    updates: int = 2000
    batch: int = 256
    runs: int = 64
    discount: float = 0.97
    rate: float = 3e-3
    slowness: float = 0.01
    demonstrations: int = 10_000
    noise: float = 0.25
    share: float = 0.5
    margin: float = 0.1
    capacity: int = 100_000
    trials: int = 4
    is_hard: bool = False


def network(inputs: int, hidden: Sequence[int], outputs: int) -> nn.Sequential:
    """Layers with ReLU between them."""
    sizes = [inputs, *hidden, outputs]
    layers = [layer for pair in zip(sizes, sizes[1:]) for layer in (nn.Linear(*pair), nn.ReLU())]
    return nn.Sequential(*layers[:-1])


class Scaled:
    """Brings inputs into -1..1 for training. The trained network gets the plain values: :meth:`folded`."""

    def __init__(self, domain: Domain, columns: np.ndarray) -> None:
        variables = [domain.model.variable(domain.model.observed[column]) for column in columns]
        low = torch.tensor([float(variable.lower) for variable in variables])
        high = torch.tensor([float(variable.upper) for variable in variables])
        self.middle, self.half = (low + high) / 2, (high - low) / 2

    def __call__(self, values: torch.Tensor) -> torch.Tensor:
        return (values - self.middle) / self.half

    def folded(self, trained: nn.Sequential) -> nn.Sequential:
        """The network with the scaling in its first layer."""
        plain = copy.deepcopy(trained)
        with torch.no_grad():
            weight = trained[0].weight.double() / self.half.double()
            plain[0].weight.copy_(weight)
            plain[0].bias.copy_(trained[0].bias.double() - weight @ self.middle.double())
        return plain


class Learner:
    """A training run."""

    def __init__(self, domain: Domain, kind: str, hidden: Sequence[int], seed: int, settings: Settings) -> None:
        torch.manual_seed(seed)
        self.domain, self.settings, self.seed = domain, settings, seed
        self.columns = domain.columns(kind)
        inputs, outputs = len(self.columns), len(domain.model.labels)
        self.scaled = Scaled(domain, self.columns)
        self.online = network(inputs, hidden, outputs)
        self.target = copy.deepcopy(self.online).requires_grad_(False)
        self.optimiser = torch.optim.Adam(self.online.parameters(), settings.rate, fused=True)
        self.generator = torch.Generator().manual_seed(seed)
        self.random = np.random.default_rng(seed)
        self.replay = Replay(settings.capacity, inputs, outputs)
        self.shown = Replay(settings.demonstrations + 64, inputs, outputs)
        kinds = (False, True) if settings.is_hard else (False,)
        for turn, is_hard in enumerate(kinds, 1):
            count = settings.demonstrations * turn // len(kinds)
            demonstrate(
                domain, self.shown, self.columns, settings.discount, count, settings.noise, seed + turn, is_hard
            )
        self.all_runs = [environments(domain, settings.runs, seed, is_hard) for is_hard in kinds]
        self.steps = self.shown.written

    def scores(self, observations: np.ndarray) -> np.ndarray:
        """Scores of the network as it is."""
        with torch.no_grad():
            return self.online(self.scaled(torch.from_numpy(observations[:, self.columns]))).numpy()

    def train(self, report: Callable[[str], None] = lambda line: None) -> Tuple[nn.Sequential, int]:
        """The best of the networks that were tried, and after how many updates it was."""
        settings = self.settings
        success, best = -1.0, (self.online, 0)
        for update in range(settings.updates):
            progress = update / settings.updates
            self.optimiser.param_groups[0]["lr"] = settings.rate * (0.02 + 0.98 * (1 + math.cos(math.pi * progress)) / 2)
            if update % 2 == 0:
                self.step(exploration=max(0.05, 0.4 * (1 - 2 * progress)))
            self.learn()
            if (update + 1) % max(1, settings.updates // settings.trials) == 0:
                found = rates(self.domain, greedy(self.scores, self.domain.is_filtered), TRIAL_EPISODES, self.seed + 7)
                report(f"{update + 1} updates: {found}")
                if found["success"] >= success:
                    success, best = found["success"], (self.scaled.folded(self.online), update + 1)
        return best

    def step(self, exploration: float) -> None:
        """One step of each run, remembered."""
        runs = self.settings.runs
        envs, states, masks = self.all_runs.pop(0)
        chosen = np.where(masks, self.scores(states), -np.inf).argmax(axis=1)
        tried = np.where(masks, self.random.random(masks.shape), -1.0).argmax(axis=1)
        actions = np.where(self.random.random(runs) < exploration, tried, chosen)
        observations, rewards, terminated, truncated, info = envs.step(actions)
        is_over = terminated | truncated
        after = np.where(is_over[:, None], info.get("final_obs", observations), observations)
        rewards = shaped(self.domain, self.settings.discount, states, after, rewards, terminated)
        seen, seen_after = states[:, self.columns], after[:, self.columns]
        # A run that was cut off goes on in truth, but the mask of its last state is not known: it is left out.
        kept = ~truncated
        parts = (seen, seen_after, masks, info["action_mask"], actions, rewards, ~is_over * 1.0, np.full(runs, -1))
        self.replay.add(*(part[kept] for part in parts))
        self.all_runs.append((envs, observations, info["action_mask"]))
        self.steps += runs

    def learn(self) -> None:
        """One step of gradient descent."""
        settings = self.settings
        shown = int(settings.share * settings.batch)
        rows = torch.cat(
            [self.shown.sample(shown, self.generator), self.replay.sample(settings.batch - shown, self.generator)]
        )
        states, after, masks, masks_after, actions, rewards, goes_on, taught = self.replay.split(rows)
        with torch.no_grad():
            after = self.scaled(after)
            chosen = self.online(after).masked_fill(~masks_after, -math.inf).argmax(1, keepdim=True)
            goals = rewards + settings.discount * goes_on * self.target(after).gather(1, chosen)[:, 0]
        values = self.online(self.scaled(states))
        loss = nn.functional.smooth_l1_loss(values.gather(1, actions[:, None])[:, 0], goals, beta=0.5)
        if not self.domain.is_filtered:
            loss = loss + ((values + 1).clamp(min=0) ** 2 * ~masks).mean()
        first = values[:shown]
        own = taught[:shown, None]
        ahead = torch.full_like(first, settings.margin).scatter_(1, own, 0.0)
        if self.domain.is_filtered:
            ahead = ahead.masked_fill(~masks[:shown], -1e3)
        loss = loss + ((first + ahead).amax(1) - first.gather(1, own)[:, 0]).mean()
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        with torch.no_grad():
            torch._foreach_lerp_(list(self.target.parameters()), list(self.online.parameters()), settings.slowness)
