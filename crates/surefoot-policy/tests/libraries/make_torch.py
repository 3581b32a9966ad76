#!/usr/bin/env python3
"""Saves small networks with PyTorch, safetensors and Stable-Baselines3, and the scores that these give them. See README.md."""

import argparse
import json
import pickle
import shutil
import struct
import zipfile
from collections import OrderedDict
from pathlib import Path

import gymnasium
import numpy
import safetensors
import safetensors.torch
import sb3_contrib
import stable_baselines3
import stable_baselines3.common.save_util
import torch

import fixture

# Which machine made a fixture is not part of it.
stable_baselines3.common.save_util.get_system_info = lambda **_: ({}, "")
STATES = 16
LIBRARIES = ["torch", "safetensors", "sb3"]


def questions(random, inputs):
    return random.integers(-6, 7, size=(STATES, inputs))


def choices(scores):
    """The best output of each state, unless rounding could make it another one."""
    best = numpy.sort(scores, axis=1)
    return [int(row.argmax()) if top[-1] - top[-2] > 1e-3 else None for row, top in zip(scores, best)]


def place(folder, name):
    place = folder / name
    place.mkdir(parents=True)
    return place


def evaluate(network, states):
    """Scores, one state at a time."""
    with torch.no_grad():
        rows = [network(torch.tensor(state, dtype=torch.float32).reshape(1, -1)) for state in states]
    return torch.cat(rows).numpy()


def write(folder, name, library, network, save, load, **facts):
    """Writes a fixture: the state dict of a network, and the scores of a network that reads it back."""
    inputs = next(network.parameters()).shape[1]
    states = questions(numpy.random.default_rng(inputs), inputs)
    where = place(folder, name)
    save(where)
    network.load_state_dict(load(where))
    scores = evaluate(network, states)
    fixture.write(where, library, states, scores, choices=choices(scores), exact=False, **facts)


def sequential(activation, sizes, bias=True):
    layers = []
    for before, after in zip(sizes, sizes[1:]):
        layers += [torch.nn.Linear(before, after, bias=bias), activation()]
    return torch.nn.Sequential(*layers[:-1])


class Named(torch.nn.Module):
    """Layers with names, as in most tutorials."""

    def __init__(self):
        super().__init__()
        self.fc1 = torch.nn.Linear(4, 9)
        self.fc2 = torch.nn.Linear(9, 9)
        self.out = torch.nn.Linear(9, 5)

    def forward(self, x):
        return self.out(torch.tanh(self.fc2(torch.tanh(self.fc1(x)))))


def torch_sequential(folder, name):
    network = sequential(torch.nn.ReLU, [5, 12, 11, 4])
    save = lambda where: torch.save(network.state_dict(), where / "policy.pt")
    write(folder, name, torch, network, save, lambda where: torch.load(where / "policy.pt"), activation="relu")


def torch_named(folder, name):
    network = Named()
    save = lambda where: torch.save(network.state_dict(), where / "policy.pth")
    write(folder, name, torch, network, save, lambda where: torch.load(where / "policy.pth"), activation="tanh")


def torch_views(folder, name):
    """Weights that are transposed views, and parameters instead of tensors."""
    network = sequential(torch.nn.LeakyReLU, [3, 7, 3], bias=False)
    views = OrderedDict()
    for key, weight in network.named_parameters():
        views[key] = torch.nn.Parameter(weight.detach().t().contiguous().t())
    save = lambda where: torch.save(views, where / "policy.pt")
    write(folder, name, torch, network, save, lambda where: torch.load(where / "policy.pt"), activation="leaky_relu")


def safetensors_sequential(folder, name):
    network = sequential(torch.nn.ELU, [4, 10, 3])
    file = lambda where: where / "policy.safetensors"
    save = lambda where: safetensors.torch.save_file(network.state_dict(), file(where))
    write(folder, name, safetensors, network, save, lambda where: safetensors.torch.load_file(file(where)), activation="elu")


def safetensors_layers(folder, name):
    """An actor beside a critic: the interface lists the layers."""
    actor, critic = sequential(torch.nn.Sigmoid, [4, 6, 4]), sequential(torch.nn.Sigmoid, [4, 6, 1])
    both = {f"actor.{key}": value for key, value in actor.state_dict().items()}
    both |= {f"critic.{key}": value for key, value in critic.state_dict().items()}
    file = lambda where: where / "policy.safetensors"

    def load(where):
        loaded = safetensors.torch.load_file(file(where))
        return {key.removeprefix("actor."): value for key, value in loaded.items() if key.startswith("actor.")}

    save = lambda where: safetensors.torch.save_file(both, file(where))
    write(folder, name, safetensors, actor, save, load, activation="sigmoid", layers=["actor.0", "actor.2"])


class Line(gymnasium.Env):
    """Enough of an environment to make policies for it."""

    observation_space = gymnasium.spaces.Box(low=-6, high=6, shape=(3,), dtype=numpy.float32)
    action_space = gymnasium.spaces.Discrete(4)

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        return numpy.zeros(3, dtype=numpy.float32), {}

    def step(self, action):
        return self.observation_space.sample(), float(action == 1), bool(self.np_random.random() < 0.2), False, {}

    def action_masks(self):
        return numpy.ones(4, dtype=bool)


def write_sb3(folder, name, library, algorithm, scores, steps, **settings):
    """Trains for a moment, so that no weight is what it was, and saves."""
    model = algorithm("MlpPolicy", Line(), seed=1, device="cpu", **settings)
    model.learn(steps)
    where = place(folder, name)
    model.save(where / "policy.zip")
    model = algorithm.load(where / "policy.zip", device="cpu")
    states = questions(numpy.random.default_rng(7), 3)
    values = evaluate(lambda observation: scores(model.policy, observation), states)
    chosen = [int(model.predict(state.astype(numpy.float32), deterministic=True)[0]) for state in states]
    sure = choices(values)
    chosen = [choice if certain is not None else None for choice, certain in zip(chosen, sure)]
    # The test's variables have larger domains than these observations: a warning for each.
    fixture.write(where, library, states, values, choices=chosen, exact=False, warnings=3)


def logits(policy, observation):
    return policy.action_net(policy.mlp_extractor.forward_actor(policy.extract_features(observation, policy.pi_features_extractor)))


def sb3_ppo(folder, name):
    settings = {"n_steps": 16, "batch_size": 8, "policy_kwargs": {"net_arch": [8, 8]}}
    write_sb3(folder, name, stable_baselines3, stable_baselines3.PPO, logits, 32, **settings)


def sb3_a2c(folder, name):
    settings = {"policy_kwargs": {"activation_fn": torch.nn.ReLU, "net_arch": {"pi": [7], "vf": [3]}}}
    write_sb3(folder, name, stable_baselines3, stable_baselines3.A2C, logits, 32, **settings)


def sb3_dqn(folder, name):
    settings = {"learning_starts": 8, "buffer_size": 64, "policy_kwargs": {"net_arch": [9]}}
    values = lambda policy, observation: policy.q_net(observation)
    write_sb3(folder, name, stable_baselines3, stable_baselines3.DQN, values, 32, **settings)


def sb3_maskable(folder, name):
    settings = {"n_steps": 16, "batch_size": 8, "policy_kwargs": {"net_arch": [6, 6]}}
    write_sb3(folder, name, sb3_contrib, sb3_contrib.MaskablePPO, logits, 32, **settings)


def seeds(folder):
    """Writes the seeds of the fuzz targets for policies with two inputs and two outputs."""
    for target in ["archive", "pickle", "safetensors", "sb3"]:
        (folder / target).mkdir(parents=True, exist_ok=True)
    network = sequential(torch.nn.ReLU, [2, 3, 2])
    state = network.state_dict()

    def archive(name, value, **options):
        """A file of PyTorch, and the pickle in it."""
        file = folder / "archive" / f"{name}.pt"
        torch.save(value, file, **options)
        with zipfile.ZipFile(file) as parts:
            (folder / "pickle" / f"{name}.pkl").write_bytes(parts.read(f"{name}/data.pkl"))

    archive("chain", state)
    archive("newer", state, pickle_protocol=4)
    views = {key: torch.nn.Parameter(value.t().contiguous().t()) for key, value in state.items()}
    archive("views", views)
    archive("bad-half", {key: value.half() for key, value in state.items()})
    archive("bad-module", network)
    archive("bad-nested", {"epoch": 3, "loss": 0.5, "model": state})
    archive("bad-shapes", {"0.weight": state["0.weight"], "2.weight": torch.zeros(2, 5)})
    torch.save(state, folder / "archive" / "bad-legacy.pt", _use_new_zipfile_serialization=False)

    class Attack:
        def __reduce__(self):
            return (print, ("this must never be printed",))

    (folder / "pickle" / "bad-call.pkl").write_bytes(pickle.dumps({"0.weight": Attack()}, protocol=2))
    plain = safetensors.torch.save(state)
    (folder / "safetensors" / "chain.safetensors").write_bytes(plain)
    (folder / "safetensors" / "bad-truncated.safetensors").write_bytes(plain[:-4])
    (folder / "safetensors" / "bad-type.safetensors").write_bytes(safetensors.torch.save({"0.weight": torch.ones(2, 2, dtype=torch.int64)}))
    overflow = json.dumps({"0.weight": {"dtype": "F32", "shape": [2**62, 4], "data_offsets": [0, 0]}}).encode()
    (folder / "safetensors" / "bad-shape.safetensors").write_bytes(struct.pack("<Q", len(overflow)) + overflow)

    class Plane(Line):
        observation_space = gymnasium.spaces.Box(low=-2, high=5, shape=(2,), dtype=numpy.float32)
        action_space = gymnasium.spaces.Discrete(2)

    for name, algorithm, kwargs in [
        ("ppo", stable_baselines3.PPO, {"net_arch": [3]}),
        ("relu", stable_baselines3.PPO, {"net_arch": [3], "activation_fn": torch.nn.ReLU}),
        ("bad-gelu", stable_baselines3.PPO, {"net_arch": [3], "activation_fn": torch.nn.GELU}),
        ("bad-dqn", stable_baselines3.DQN, {"net_arch": [3]}),
    ]:
        file = folder / "archive" / f"{name}.zip"
        model = algorithm("MlpPolicy", Plane(), device="cpu", policy_kwargs=kwargs)
        model.save(file)
        with zipfile.ZipFile(file) as parts:
            data = json.loads(parts.read("data"))
        # What the reader looks at: the rest only makes the seed long.
        keep = ["policy_class", "policy_kwargs", "observation_space", "action_space"]
        data = {key: data[key] for key in keep}
        for value in data.values():
            value.pop(":serialized:", None)
        (folder / "sb3" / f"{name}.json").write_text(json.dumps(data, indent=1) + "\n")
        if name != "ppo":
            file.unlink()


KINDS = [
    torch_sequential,
    torch_named,
    torch_views,
    safetensors_sequential,
    safetensors_layers,
    sb3_ppo,
    sb3_a2c,
    sb3_dqn,
    sb3_maskable,
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to write; fixtures of these libraries that are there already are replaced")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", action="store_true", help="write the seeds of the fuzz targets instead")
    arguments = parser.parse_args()
    if arguments.seeds:
        torch.manual_seed(arguments.seed)
        return seeds(arguments.folder)
    for old in sorted(arguments.folder.glob("*/cases.json")):
        if old.parent.name.split("-")[0] in LIBRARIES:
            shutil.rmtree(old.parent)
    for number, kind in enumerate(KINDS):
        torch.manual_seed(arguments.seed * 1000 + number)
        kind(arguments.folder, kind.__name__.replace("_", "-"))


if __name__ == "__main__":
    main()
