"""Networks of PyTorch."""

import json

import numpy as np
import pytest
import torch
from conftest import chosen

import surefoot
from surefoot.convert._compare import compare, input_values, random_states


def network(*sizes, activation=torch.nn.ReLU, bias=True, seed=0):
    torch.manual_seed(seed)
    layers = []
    for before, after in zip(sizes, sizes[1:]):
        layers += [torch.nn.Linear(before, after, bias=bias), activation()]
    return torch.nn.Sequential(*layers[:-1])


@pytest.mark.parametrize(
    "activation",
    [
        torch.nn.ReLU,
        torch.nn.Tanh,
        torch.nn.Sigmoid,
        lambda: torch.nn.LeakyReLU(0.2),
        lambda: torch.nn.ELU(0.5),
        torch.nn.ReLU6,
        lambda: torch.nn.Hardtanh(-2.0, 0.5),
    ],
)
def test_networks_of_torch(blocks, data, activation):
    module = network(15, 24, 16, 5, activation=activation)
    policy = surefoot.from_torch(module, blocks, filter=True)
    assert policy.inputs == blocks.observed and policy.outputs == blocks.labels
    assert policy.filter and policy.arithmetic == "any-f32"
    with torch.no_grad():
        expected = module(torch.as_tensor(data[0], dtype=torch.float32)).argmax(dim=1).numpy()
    assert (chosen(policy, data[0], blocks, "f32") == expected).mean() > 0.999
    assert surefoot.verify(blocks, policy, time_limit=60).document["arithmetic"] == "any-f32"


def test_nested_modules_and_layers_without_effect(blocks):
    inner = torch.nn.Sequential(torch.nn.Linear(15, 8, bias=False), torch.nn.Tanh(), torch.nn.Dropout(0.5))
    module = torch.nn.Sequential(torch.nn.Flatten(), inner, torch.nn.Identity(), torch.nn.Linear(8, 5))
    assert surefoot.from_torch(module, blocks).description == "neural network 15-8-5 (tanh)"
    assert module.training


def test_frozen_layers_came_back_in_training_mode(blocks):
    """All parts got the mode of the whole."""
    module = torch.nn.Sequential(torch.nn.Linear(15, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 5))
    module[1].eval()
    surefoot.from_torch(module, blocks)
    assert [part.training for part in module.modules()] == [True, True, False, True]


@pytest.mark.parametrize("dimensions", [(0, -1), (2, -1), (1, 0), (-2, -1)])
def test_layers_that_flatten_other_dimensions_failed_without_an_explanation(blocks, dimensions):
    """A RuntimeError or an IndexError of PyTorch came out."""
    linear = torch.nn.Linear(15, 5)
    with pytest.raises(surefoot.PolicyError, match="Sequential.0 is a Flatten of the dimensions .*\n  hint: `Flatten"):
        surefoot.from_torch(torch.nn.Sequential(torch.nn.Flatten(*dimensions), linear), blocks)
    assert surefoot.from_torch(torch.nn.Sequential(torch.nn.Flatten(-1), linear), blocks).inputs == blocks.observed


def test_a_module_that_is_applied_twice(blocks):
    """The second one was left out."""
    activation = torch.nn.Tanh()
    module = torch.nn.Sequential(torch.nn.Linear(15, 8), activation, torch.nn.Linear(8, 8), activation, torch.nn.Linear(8, 5))
    assert surefoot.from_torch(module, blocks).description == "neural network 15-8-8-5 (tanh)"


def test_state_dicts(blocks):
    module = network(15, 12, 12, 5, activation=torch.nn.Tanh)
    states = random_states(blocks)
    whole = surefoot.from_torch(module, blocks)
    shuffled = dict(sorted(module.state_dict().items(), key=lambda item: item[0], reverse=True))
    policy = surefoot.from_torch(shuffled, blocks, activation="tanh")
    assert policy.arithmetic == "any-f32"
    assert np.array_equal(policy.scores(states, "f32"), whole.scores(states, "f32"))


def test_state_dicts_are_not_guessed_at(blocks, tmp_path):
    """An activation of ReLU was the default, and names were sorted where they do not say the order."""
    tensors = network(15, 12, 12, 5, activation=torch.nn.Tanh).state_dict()
    with pytest.raises(surefoot.InputError, match="activation"):
        surefoot.from_torch(tensors, blocks)
    with pytest.raises(surefoot.InputError, match='the activation "softsign" is unknown'):
        surefoot.from_torch(tensors, blocks, activation="softsign")
    square = network(15, 12, 12, 12, 5, activation=torch.nn.Tanh).state_dict()
    names = {"0": "first", "2": "hidden_b", "4": "hidden_a", "6": "last"}
    renamed = {names[name.split(".")[0]] + "." + name.split(".")[1]: value for name, value in square.items()}
    with pytest.raises(surefoot.InputError, match="the order of the layers .* is unclear"):
        surefoot.from_torch(renamed, blocks, activation="tanh")
    listed = surefoot.from_torch(renamed, blocks, activation="tanh", layers=list(names.values()))
    states = random_states(blocks)
    assert np.array_equal(
        listed.scores(states, "f32"), surefoot.from_torch(square, blocks, activation="tanh").scores(states, "f32")
    )
    path = tmp_path / "policy.jani2nnet"
    names = [{"name": name, "automaton": None} for name in blocks.observed]
    path.write_text(json.dumps({"file": "unused", "input": names, "output": blocks.labels, "activation": "tanh"}))
    by_file = surefoot.from_torch(tensors, blocks, interface=path)
    assert by_file.description == "neural network 15-12-12-5 (tanh)"
    assert surefoot.from_torch(network(15, 12, 5), blocks, interface=path).description == "neural network 15-12-5"
    with pytest.raises(surefoot.PolicyError, match="torch.float64, but must be float32"):
        surefoot.from_torch({name: value.double() for name, value in tensors.items()}, blocks, activation="tanh")
    with pytest.raises(surefoot.UsageError, match="are for state dicts"):
        surefoot.from_torch(network(15, 5), blocks, activation="relu")


@pytest.mark.parametrize(
    "tensors, message",
    [
        ({"0.weight": torch.zeros(3, 3, 2, 2)}, "0.weight"),
        ({"0.weight": torch.zeros(8, 15), "2.weight": torch.zeros(5, 7)}, "2"),
        ({"0.weight": torch.full((5, 15), float("inf"))}, "0.weight"),
        ({"state_dict": {"0.weight": torch.zeros(5, 15)}}, "`state_dict`\n  hint: of a checkpoint"),
        ({}, "there is nothing"),
    ],
)
def test_state_dicts_that_do_not_fit_are_refused(blocks, tensors, message):
    with pytest.raises(surefoot.InputError, match=message):
        surefoot.from_torch(tensors, blocks, activation="relu" if len(tensors) > 1 else None)


def test_explicit_lists_and_interface_files(walk, tmp_path):
    module = network(1, 4, 2)
    swapped = surefoot.from_torch(module, walk, inputs=["x"], outputs=["down", "up"])
    assert swapped.outputs == ["down", "up"]
    path = tmp_path / "policy.jani2nnet"
    document = {"file": "unused.nnet", "filter": True, "input": [{"name": "x", "automaton": None}], "output": ["down", "up"]}
    path.write_text(json.dumps(document))
    by_file = surefoot.from_torch(module, walk, interface=path)
    assert by_file.outputs == ["down", "up"] and by_file.filter
    with pytest.raises(surefoot.UsageError, match="leave out `inputs` and `outputs`"):
        surefoot.from_torch(module, walk, interface=path, outputs=["up", "down"])


@pytest.mark.parametrize(
    "module, message",
    [
        (torch.nn.Sequential(torch.nn.Linear(15, 5), torch.nn.Softplus()), "Sequential.1 is a layer of type Softplus"),
        (torch.nn.Sequential(torch.nn.Linear(15, 5), torch.nn.Softmax(-1)), r"leave it out at the end, with `network\[:-1\]`"),
        (torch.nn.Sequential(torch.nn.Conv1d(1, 2, 3)), "of type Conv1d"),
        (torch.nn.LSTM(15, 5), "of type LSTM"),
        (torch.nn.Sequential(torch.nn.Linear(14, 5)), "the policy has 14 inputs, but the model has .* 15"),
        (torch.nn.Sequential(torch.nn.Linear(15, 6)), "the policy has 6 outputs, but the model has .* 5"),
        (torch.nn.Sequential(torch.nn.Linear(15, 5).double()), "torch.float64, but must be float32"),
        (torch.nn.Sequential(torch.nn.ReLU()), "no Linear layer"),
    ],
)
def test_networks_that_do_not_fit_are_refused(blocks, module, message):
    with pytest.raises(surefoot.PolicyError, match=message):
        surefoot.from_torch(module, blocks)


def test_parameters_that_are_no_numbers_are_refused(blocks):
    module = network(15, 5)
    with torch.no_grad():
        module[0].bias[2] = float("nan")
    with pytest.raises(surefoot.PolicyError, match="infinite or not a number"):
        surefoot.from_torch(module, blocks)


def test_names_that_do_not_exist_are_refused(walk):
    module = network(1, 2)
    with pytest.raises(surefoot.PolicyError, match="no variable or constant `y`"):
        surefoot.from_torch(module, walk, inputs=["y"])
    with pytest.raises(surefoot.PolicyError, match="no label `left`"):
        surefoot.from_torch(module, walk, outputs=["left", "up"])


def test_a_network_that_does_something_else_is_found_out(blocks):
    class Scaled(torch.nn.Sequential):
        def forward(self, rows):
            return 2 * super().forward(rows)

    with pytest.raises(surefoot.PolicyError, match="of type Scaled"):
        surefoot.from_torch(Scaled(torch.nn.Linear(15, 5)), blocks)
    module = network(15, 8, 5)
    policy = surefoot.from_torch(module, blocks)
    with torch.no_grad():
        module[2].weight[3, 1] += 0.01
    with pytest.raises(surefoot.ComparisonError, match="the score of `choose_block_2` is .* in PyTorch") as caught:
        compare(policy, "PyTorch", lambda rows: module(torch.as_tensor(rows).float()).detach().numpy(), "any-f32")
    assert caught.value.label == "choose_block_2" and set(caught.value.state) == {v.name for v in blocks.variables}


def test_hooks_are_found_out(blocks):
    module = network(15, 8, 5)
    module[0].register_forward_hook(lambda layer, given, result: result + 1)
    with pytest.raises(surefoot.ComparisonError):
        surefoot.from_torch(module, blocks)


def test_saved_policies_are_the_same_on_disk(blocks, tmp_path):
    policy = surefoot.from_torch(network(15, 8, 5), blocks, filter=True)
    saved = policy.save(tmp_path / "trained")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["trained.jani2nnet", "trained.onnx"]
    states = random_states(blocks)
    assert np.array_equal(saved.scores(states), policy.scores(states))
    read = surefoot.load_policy(tmp_path / "trained.jani2nnet", blocks)
    assert read.filter and read.description == policy.description
    listed = surefoot.load_policy(tmp_path / "trained.onnx", blocks, inputs=blocks.observed, filter=True)
    assert np.array_equal(listed.scores(states, "f32"), policy.scores(states, "f32"))


def test_inputs_are_read_in_the_order_of_the_interface(blocks):
    policy = surefoot.from_torch(network(2, 5), blocks, inputs=["block_2", "hand-empty"])
    states = random_states(blocks, 10)
    names = [variable.name for variable in blocks.variables]
    rows = input_values(policy, states)
    assert np.array_equal(rows, states[:, [names.index("block_2"), names.index("hand-empty")]])
