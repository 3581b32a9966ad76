"""Q-learning: double DQN with a replay buffer, a slow target network, shaped rewards and some demonstrations.

Up to four terms make the loss:

- the temporal difference of double Q-learning, on transitions of the network itself and of the teacher;
- where policies are not filtered, a label that is not applicable ends the run as a stall with reward -1. This is known without trying
  it, so its score is pushed down to that in every state that is sampled;
- in states of the teacher, or in all if it helps the network, its choice should be better than all others by a margin (deep Q-learning
  from demonstrations);
- in dangerous states, if a training has some, labels that do harm should be behind by that margin.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Callable, Sequence, Tuple

import numpy as np
import torch
from domains import Domain
from evaluate import environments, greedy, rates
from replay import Replay, demonstrate, shaped
from torch import nn

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
        softness: Of that margin: how far below the best choice others still count, as the temperature of a softmax; 0 for not at all.
        help: Share of the teacher's actions in the runs of the network. If there are some, the teacher is asked in all states of these
            runs, and its choice should be ahead there too.
        dangers: States in a batch, besides transitions, in which a label does harm at once; another one should be ahead by the margin.
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
    softness: float = 0.0
    help: float = 0.0
    dangers: int = 0
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
            demonstrate(domain, self.shown, self.columns, settings.discount, count, settings.noise, seed + turn, is_hard)
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
        masks = self.domain.permitted(states, masks)
        chosen = np.where(masks, self.scores(states), -np.inf).argmax(axis=1)
        tried = np.where(masks, self.random.random(masks.shape), -1.0).argmax(axis=1)
        actions = np.where(self.random.random(runs) < exploration, tried, chosen)
        right = np.zeros(masks.shape, bool)
        if self.settings.help:
            right = self.domain.taught(states, masks)
            actions = np.where(self.random.random(runs) < self.settings.help, right.argmax(axis=1), actions)
        observations, rewards, terminated, truncated, info = envs.step(actions)
        is_over = terminated | truncated
        after = np.where(is_over[:, None], info.get("final_obs", observations), observations)
        rewards = shaped(self.domain, self.settings.discount, states, after, rewards, terminated)
        seen, seen_after = states[:, self.columns], after[:, self.columns]
        # A run that was cut off goes on in truth, but the mask of its last state is not known: it is left out.
        kept = ~truncated
        masks_after = self.domain.permitted(observations, info["action_mask"])
        parts = (seen, seen_after, masks, masks_after, right, actions, rewards, ~is_over * 1.0)
        self.replay.add(*(part[kept] for part in parts))
        self.all_runs.append((envs, observations, info["action_mask"]))
        self.steps += runs

    def most(self, values: torch.Tensor) -> torch.Tensor:
        """The greatest value of each row, softened."""
        softness = self.settings.softness
        return softness * torch.logsumexp(values / softness, 1) if softness else values.amax(1)

    def danger(self) -> torch.Tensor:
        """How far labels that do harm are ahead, or not far enough behind, in some dangerous states."""
        states = self.domain.dangers(self.settings.dangers, self.random)
        is_harmless = torch.from_numpy(self.domain.harmless(states, np.ones((len(states), 1), bool)))
        values = self.online(self.scaled(torch.from_numpy(states[:, self.columns])))
        best = values.masked_fill(~is_harmless, -math.inf).amax(1)
        return (values.masked_fill(is_harmless, -math.inf).amax(1) + self.settings.margin - best).clamp(min=0).mean()

    def learn(self) -> None:
        """One step of gradient descent."""
        settings, batch = self.settings, self.settings.batch
        shown = int(settings.share * batch)
        rows = torch.cat([self.shown.sample(shown, self.generator), self.replay.sample(batch - shown, self.generator)])
        states, after, masks, masks_after, right, actions, rewards, goes_on = self.replay.split(rows)
        with torch.no_grad():
            after = self.scaled(after)
            chosen = self.online(after).masked_fill(~masks_after, -math.inf).argmax(1, keepdim=True)
            goals = rewards + settings.discount * goes_on * self.target(after).gather(1, chosen)[:, 0]
        values = self.online(self.scaled(states))
        loss = nn.functional.smooth_l1_loss(values.gather(1, actions[:, None])[:, 0], goals, beta=0.5)
        if not self.domain.is_filtered:
            loss = loss + ((values + 1).clamp(min=0) ** 2 * ~masks).mean()
        asked = batch if settings.help else shown
        values, masks, right = values[:asked], masks[:asked], right[:asked]
        others = values + settings.margin * ~right
        if self.domain.is_filtered:
            others = others.masked_fill(~masks, -math.inf)
        loss = loss + (self.most(others) - self.most(values.masked_fill(~right, -math.inf))).mean()
        if settings.dangers:
            loss = loss + self.danger()
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        with torch.no_grad():
            torch._foreach_lerp_(list(self.target.parameters()), list(self.online.parameters()), settings.slowness)
