"""Policies from files of other libraries: the same scores as from the objects that they hold."""

import pickle

import numpy as np
import pytest
import torch
from conftest import walk_document
from test_torch import network

import surefoot
import surefoot.gym
from surefoot.convert._compare import random_states


@pytest.mark.parametrize("ending", ["pt", "pth", "safetensors"])
def test_state_dicts(blocks, tmp_path, ending):
    module = network(15, 12, 8, 5, activation=torch.nn.Tanh)
    path = tmp_path / f"policy.{ending}"
    if ending == "safetensors":
        from safetensors.torch import save_file

        save_file(module.state_dict(), path)
    else:
        torch.save(module.state_dict(), path)
    policy = surefoot.load_policy(path, blocks, inputs=blocks.observed, filter=True, activation="tanh")
    states = random_states(blocks)
    expected = surefoot.from_torch(module, blocks, filter=True)
    assert np.array_equal(policy.scores(states, "f32"), expected.scores(states, "f32"))
    saved = policy.save(tmp_path / "other" / "policy")
    assert np.array_equal(saved.scores(states, "f32"), expected.scores(states, "f32"))


def test_archives_of_stable_baselines(blocks, tmp_path):
    import stable_baselines3 as sb3

    env = surefoot.gym.make_sb3_vec(blocks, num_envs=2, dtype=np.float32)
    algorithm = sb3.PPO("MlpPolicy", env, n_steps=16, batch_size=16, device="cpu", seed=0).learn(32)
    algorithm.save(tmp_path / "policy.zip")
    policy = surefoot.load_policy(tmp_path / "policy.zip", blocks, inputs=blocks.observed)
    states = random_states(blocks)
    assert np.array_equal(policy.scores(states, "f32"), surefoot.from_sb3(algorithm, blocks).scores(states, "f32"))


def test_a_pickle_with_code_is_refused_and_not_executed(blocks, tmp_path):
    witness = tmp_path / "executed"

    class Evil:
        def __reduce__(self):
            return (open, (str(witness), "w"))

    plain = tmp_path / "plain.pth"
    plain.write_bytes(pickle.dumps(Evil()))
    archive = tmp_path / "archive.pth"
    torch.save({"0.weight": Evil(), "0.bias": torch.zeros(5)}, archive)
    for path in [plain, archive]:
        with pytest.raises(surefoot.InputError, match=path.name):
            surefoot.load_policy(path, blocks, inputs=blocks.observed)
        assert not witness.exists()


def test_constants_may_be_inputs(walk):
    module = network(2, 6, 2)
    policy = surefoot.from_torch(module, walk, inputs=["x", "limit"])
    assert policy.inputs == ["x", "7"]
    with torch.no_grad():
        expected = module(torch.tensor([[3.0, 7.0]])).numpy()[0]
    enclosed = policy.scores([{"x": 3}], "any-f32")[0]
    assert (enclosed[:, 0] <= expected).all() and (expected <= enclosed[:, 1]).all()
    other = surefoot.load_model(walk_document(), constants={"limit": 2})
    assert surefoot.from_torch(module, other, inputs=["x", "limit"]).inputs == ["x", "2"]
    assert surefoot.verify(walk, policy).verdict in ("SAFE", "UNSAFE")


def test_policies_were_accepted_under_other_constants(walk):
    """Constants may be inputs, and scores were compared for those of the other model."""
    three, eight = (surefoot.load_model(walk_document(), constants={"limit": value}) for value in (3, 8))
    policy = surefoot.from_torch(network(2, 6, 2), three, inputs=["x", "limit"])
    message = "made for the constant `limit` = 3, but in the model it is 8\n  hint: make or load the policy again"
    with pytest.raises(surefoot.UsageError, match=message):
        surefoot.verify(eight, policy)
    with pytest.raises(surefoot.UsageError, match=message):
        surefoot.simulate(eight, policy, episodes=1, steps=1)
    # The model itself says 7.
    default = surefoot.from_torch(network(2, 6, 2), walk, inputs=["x", "limit"])
    for value in (7, "7", np.int64(7)):
        same = surefoot.load_model(walk_document(), constants={"limit": value})
        assert surefoot.verify(same, default).verdict in ("SAFE", "UNSAFE")


def test_elements_of_constants_may_be_inputs():
    """The command line read them, Python did not."""
    document = walk_document()
    table = {"op": "av", "elements": [3, 5]}
    document["constants"].append({"name": "table", "type": {"kind": "array", "base": "int"}, "value": table})
    document["features"] = ["arrays"]
    model = surefoot.load_model(document)
    assert surefoot.from_torch(network(2, 6, 2), model, inputs=["x", "table[1]"]).inputs == ["x", "5"]


def test_what_looks_wrong_in_a_file_is_a_warning(walk, tmp_path):
    path = tmp_path / "policy.nnet"
    path.write_text("1,1,2,2,\n1,2,\n0,\n0,\n1,\n3,0,\n1,1,\n1,\n2,\n0,\n0,\n")
    with pytest.warns(UserWarning, match="the means are ignored"):
        policy = surefoot.load_policy(path, walk, inputs=["x"])
    assert len(policy.warnings) == 1


def test_compressed_files_are_read(walk, tmp_path):
    import gzip
    import json

    path = tmp_path / "walk.jani.gz"
    path.write_bytes(gzip.compress(json.dumps(walk_document()).encode()))
    assert surefoot.verify(surefoot.load_model(path), None).unsafe
