"""Gymnasium environments."""

import copy
import dataclasses
import json
import pickle
import warnings

import gymnasium
import numpy as np
import pytest
from conftest import walk_document
from gymnasium.utils.env_checker import check_env

import surefoot
import surefoot.gym
from surefoot.gym._batch import SettingNames, require_gymnasium

DOMAINS = ["blocksworld", "npuzzle", "transport", "one_way_line", "two_way_line", "beluga", "racetrack"]


def checked(env):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*render modes.*")
        check_env(env)


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_environments_of_all_domains_pass_the_checks_of_gymnasium(domain, dtype):
    checked(surefoot.gym.make(surefoot.generate(domain), dtype=dtype))


def test_masks_say_what_is_applicable(blocks):
    env = surefoot.gym.make(blocks)
    for seed in range(20):
        _, info = env.reset(seed=seed)
        for action, applicable in enumerate(info["action_mask"]):
            env.reset(options={"state": env.state})
            _, reward, terminated, _, after = env.step(action)
            assert (after["ending"] == "stall") == (not applicable)
            if not applicable:
                assert terminated and reward == -1.0
            env.reset(seed=seed)


def test_equal_seeds_give_equal_runs(blocks):
    def run(seed):
        env = surefoot.gym.make(blocks, inapplicable="stay")
        observations = [env.reset(seed=seed)[0]]
        for action in np.random.default_rng(0).integers(0, 5, 100):
            observation, _, terminated, truncated, _ = env.step(action)
            observations.append(observation)
            if terminated or truncated:
                observations.append(env.reset()[0])
        return np.array(observations)

    assert np.array_equal(run(3), run(3))
    assert not np.array_equal(run(3)[:50], run(4)[:50])


def test_environments_without_seeds_differ(blocks):
    """Several of them side by side, as in `DummyVecEnv`, made the same runs."""

    def firsts(make, **settings):
        return [[tuple(np.ravel(env.reset()[0])) for _ in range(30)] for env in (make(blocks, **settings) for _ in range(2))]

    one, other = firsts(surefoot.gym.make)
    assert one != other
    one, other = firsts(surefoot.gym.make_vec, num_envs=2)
    assert one != other
    one, other = firsts(surefoot.gym.make_vec, num_envs=2, seed=5)
    assert one == other


def test_runs_start_in_start_states_and_end_where_the_property_says(walk):
    env = surefoot.gym.make(walk, "safe", max_steps=1000)
    endings = set()
    for seed in range(200):
        observation, _ = env.reset(seed=seed)
        assert env.state == {"a.location": "l", "x": 4} and list(observation) == [4]
        while True:
            observation, reward, terminated, truncated, info = env.step(seed % 2)
            if terminated or truncated:
                break
        endings.add((info["ending"], reward, int(observation[0])))
    # Going down ends in the goal. Going up ends in 9; in 8 it is not applicable, but the silent command is.
    assert endings == {("goal", 1.0, 1), ("unsafe", -1.0, 9)}


def test_silent_commands_happen_by_chance(walk):
    env = surefoot.gym.make(walk)
    silent = 0
    for seed in range(400):
        env.reset(seed=seed, options={"state": {"x": 7}})
        _, _, _, _, info = env.step(0)
        silent += info["label"] is None
    # 200 are expected; the bounds are more than four standard deviations away.
    assert 150 < silent < 250


def test_labels_that_are_not_among_the_actions_happen_by_chance(walk):
    env = surefoot.gym.make(walk, actions=["up"])
    labels = set()
    for seed in range(50):
        env.reset(seed=seed)
        labels.add(env.step(0)[4]["label"])
    assert labels == {"up", "down"} and env.action_space.n == 1


def test_rewards_come_from_the_objective():
    rewards = {
        "goal-potential": {"op": "*", "left": -2, "right": "x"},
        "step-reward": {"op": "-", "left": 0, "right": "x"},
        "accumulate": ["steps"],
    }
    model = surefoot.load_model(walk_document(**rewards))
    env = surefoot.gym.make(model, goal_reward=50)
    env.reset(seed=0, options={"state": {"x": 3}})
    assert env.step(1)[1] == -3 + 2
    assert env.step(1)[1] == -2 + 2 + 50
    sparse = surefoot.gym.make(model, rewards="sparse", step_reward=-0.5, goal_reward=7)
    sparse.reset(seed=0, options={"state": {"x": 3}})
    assert [sparse.step(1)[1] for _ in range(2)] == [-0.5, 6.5]


def test_a_potential_has_an_old_name():
    potential = {"op": "*", "left": -2, "right": "x"}
    env = surefoot.gym.make(surefoot.load_model(walk_document(**{"goal-reward": potential})))
    env.reset(seed=0, options={"state": {"x": 3}})
    assert env.step(1)[1] == 2
    both = surefoot.load_model(walk_document(**{"goal-reward": potential, "goal-potential": potential}))
    with pytest.raises(surefoot.InputError, match="only one of both"):
        surefoot.gym.make(both)


def test_start_states_are_counted(blocks, walk):
    assert surefoot.gym.make(walk).start_states == (1, True)
    env = surefoot.gym.make(blocks)
    count, complete = env.start_states
    drawn = {tuple(env.reset(seed=seed)[0]) for seed in range(20 * count)}
    assert complete and len(drawn) <= count and len(drawn) > count // 2


def test_runs_are_cut_off(walk):
    env = surefoot.gym.make(walk, max_steps=3, end_at_goal=False)
    env.reset(seed=0)
    ends = [env.step(1)[2:4] for _ in range(3)]
    assert ends == [(False, False), (False, False), (False, True)]


def test_unsafe_states_may_be_passed(walk):
    env = surefoot.gym.make(walk, end_at_unsafe=False)
    env.reset(options={"state": {"x": 7}})
    for _ in range(100):
        observation, reward, terminated, _, _ = env.step(0)
        assert not terminated and reward == (-1.0 if observation[0] == 9 else 0.0)
        if observation[0] == 9:
            break
    assert observation[0] == 9


@pytest.mark.parametrize("goal, expected", [(None, [0.0, 0.0]), ("strict", [1.0, 1.0])])
def test_strict_goals_that_are_unsafe_count_as_safe(goal, expected):
    """With `end_at_unsafe=False` they cost as much as other unsafe states."""
    document = walk_document()
    document["properties"][0]["expression"]["reach"] = {"op": "≤", "left": "x", "right": 1}
    rewards = []
    for end_at_unsafe in (False, True):
        env = surefoot.gym.make(document, goal=goal, end_at_unsafe=end_at_unsafe)
        env.reset(options={"state": {"x": 2}})
        _, reward, terminated, _, info = env.step(1)
        assert terminated and info["ending"] == ("unsafe" if end_at_unsafe and goal is None else "goal")
        rewards.append(reward + (info["ending"] == "unsafe"))
    assert rewards == expected


def test_options_that_are_not_known_are_refused(walk):
    """Vectorised environments took no state, and said nothing."""
    with pytest.raises(surefoot.UsageError, match="no option `states`, only `state`"):
        surefoot.gym.make(walk).reset(options={"states": {"x": 3}})
    with pytest.raises(surefoot.UsageError, match="no option `state`, only `reset_mask`"):
        surefoot.gym.make_vec(walk, num_envs=2).reset(options={"state": {"x": 3}})


def test_seeds_of_vectorised_runs(blocks):
    """Tuples and arrays of seeds were ignored."""
    vector = surefoot.gym.make_vec(blocks, num_envs=3)
    expected = [surefoot.gym.make(blocks).reset(seed=seed)[0] for seed in (4, 9, 6)]
    for seeds in [[4, 9, 6], (4, 9, 6), np.array([4, 9, 6])]:
        assert np.array_equal(vector.reset(seed=seeds)[0], expected)
    mask = np.array([False, True, False])
    vector.reset(seed=[None, 9, None], options={"reset_mask": mask})
    with pytest.raises(surefoot.UsageError, match="`seed` must be a number, or 3 of them"):
        vector.reset(seed=[1, 2])


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_vectorised_runs_are_those_of_single_environments(blocks, mode):
    count, settings = 5, {"max_steps": 7, "inapplicable": "stay"}
    mode = gymnasium.vector.AutoresetMode(mode)
    vector = surefoot.gym.make_vec(blocks, num_envs=count, autoreset=mode, **settings)
    singles = [surefoot.gym.make(blocks, **settings) for _ in range(count)]
    observations, info = vector.reset(seed=10)
    firsts = [env.reset(seed=10 + index) for index, env in enumerate(singles)]
    assert np.array_equal(observations, [first[0] for first in firsts])
    assert np.array_equal(info["action_mask"], [first[1]["action_mask"] for first in firsts])
    over = [False] * count
    random = np.random.default_rng(1)
    for _ in range(60):
        actions = random.integers(0, 5, count)
        observations, rewards, terminated, truncated, info = vector.step(actions)
        for index, env in enumerate(singles):
            if over[index]:
                observation, _ = env.reset()
                expected = (observation, 0.0, False, False)
                over[index] = False
            else:
                expected = env.step(actions[index])
                over[index] = expected[2] or expected[3]
            assert (rewards[index], terminated[index], truncated[index]) == expected[1:4]
            if over[index] and mode == gymnasium.vector.AutoresetMode.SAME_STEP:
                assert info["_final_obs"][index] and np.array_equal(info["final_obs"][index], expected[0])
                expected = env.reset()
                over[index] = False
            assert np.array_equal(observations[index], expected[0])


def test_the_vectorised_environment_has_the_spaces_of_gymnasium(blocks):
    vector = surefoot.gym.make_vec(blocks, num_envs=3, dtype=np.float32)
    observations, _ = vector.reset(seed=0)
    assert observations in vector.observation_space and observations.dtype == np.float32
    for _ in range(10):
        observations, rewards, terminated, truncated, _ = vector.step(vector.action_space.sample())
        assert observations in vector.observation_space
        assert rewards.shape == terminated.shape == truncated.shape == (3,)


def test_text_names_the_step_and_the_values(walk):
    env = surefoot.gym.make(walk, render_mode="ansi")
    env.reset(seed=0)
    assert env.render() == "(start)\nx  4\n"
    env.step(1)
    assert env.render() == "(down)\nx  3\n"


def test_text_says_that_nothing_happened(walk):
    """After a stall or a step that changes nothing, it said `start`."""
    for inapplicable in ("stall", "stay"):
        env = surefoot.gym.make(walk, render_mode="ansi", inapplicable=inapplicable, goal="ignore")
        env.reset(options={"state": {"x": 1}})
        env.step(1)
        assert env.render() == "(nothing happened)\nx  1\n"
        env.reset(seed=0)
        assert env.render().startswith("(start)")


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"actions": ["left"]}, "no label `left`"),
        ({"observed": ["y"]}, "no variable `y`"),
        ({"observed": ["x", "x"]}, "each once"),
        ({"rewards": "dense"}, "`rewards` is 'dense'"),
        ({"inapplicable": "crash"}, "`inapplicable` is 'crash'"),
        ({"dtype": np.int64}, "must be int32 or float32"),
        ({"max_steps": 0}, "`max_steps` is 0"),
        ({"max_steps": 1.5}, "`max_steps` is 1.5, but must be a whole number"),
        ({"render_mode": "human"}, "`render_mode` is 'human'"),
        ({"max_step": 3}, "no setting `max_step`\n  hint: did you mean `max_steps`"),
        ({"observed": "x"}, "`observed` is 'x', but must be a list of names"),
        ({"actions": [0]}, "`actions` holds 0, but must be a list of names"),
        ({"end_at_unsafe": 0}, "`end_at_unsafe` is 0, but must be True"),
        ({"goal": "foo"}, "`goal` is 'foo'"),
        ({"goal_reward": float("nan")}, "`goal_reward` is nan, but must be a finite number"),
        ({"step_reward": -np.inf}, "`step_reward` is -inf"),
        ({"stall_reward": "1"}, "`stall_reward` is '1'"),
        ({"goal": "ignore", "end_at_goal": True}, "`end_at_goal` is True, but `goal` is 'ignore'"),
        ({"goal": "strict", "end_at_goal": False}, "`end_at_goal` is False, but `goal` is 'strict'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(walk, settings, message):
    with pytest.raises(surefoot.UsageError, match=message):
        surefoot.gym.make(walk, **settings)


def test_actions_and_states_that_do_not_exist_are_refused(walk):
    env = surefoot.gym.make(walk)
    env.reset(seed=0)
    with pytest.raises(ValueError, match="2 is none of the actions 0 to 1"):
        env.step(2)
    with pytest.raises(surefoot.UsageError, match="10 is no value of `x`"):
        env.reset(options={"state": {"x": 10}})


def test_a_model_that_is_wrong_at_a_state_is_told():
    document = walk_document()
    document["automata"][0]["edges"][0]["guard"] = {"exp": True}
    document["automata"][0]["edges"] = document["automata"][0]["edges"][:2]
    zero = {"name": "zero", "expression": {"op": "PA", "reach": {"op": "=", "left": "x", "right": 0}}}
    env = surefoot.gym.make(document, zero)
    env.reset(seed=0, options={"state": {"x": 9}})
    with pytest.raises(surefoot.ModelError, match="sets `x` to 1[01], outside its domain 0..9"):
        env.step(0)
    blocked = surefoot.gym.make(document, zero, out_of_domain="block")
    blocked.reset(seed=0, options={"state": {"x": 9}})
    assert blocked.step(0)[4]["ending"] == "deadlock"


@pytest.mark.parametrize("domain", DOMAINS)
def test_images_of_all_domains_change_with_the_state(domain):
    env = surefoot.gym.make(surefoot.generate(domain), render_mode="rgb_array", inapplicable="stay")
    random = np.random.default_rng(0)
    images = set()
    for seed in range(5):
        _, info = env.reset(seed=seed)
        for _ in range(5):
            image = env.render()
            assert image.dtype == np.uint8 and image.ndim == 3 and image.shape[2] == 3
            images.add(image.tobytes())
            _, _, terminated, _, info = env.step(random.choice(np.flatnonzero(info["action_mask"])))
            if terminated:
                break
    assert len(images) > 3


def test_both_encodings_of_blocks_look_the_same():
    images = []
    for encoding in ["legacy", "direct"]:
        model = surefoot.generate("blocksworld", blocks=3, table_limit=2, encoding=encoding)
        env = surefoot.gym.make(model, render_mode="rgb_array")
        # Block 1 stands on block 0, and block 2 is in the hand.
        positions = {"legacy": (1, 2, 0), "direct": (0, 1, 3)}[encoding]
        blocks = {f"block_{i}": position for i, position in enumerate(positions)}
        clear = {"clear_0": 0, "clear_1": 1, "clear_2": 0}
        costs = {f"cost_block_{i}": 0 for i in range(3)}
        state = {"hand-empty": 0, "table-counter": 1, **blocks, **clear, **costs, "step_cost": 0}
        env.reset(options={"state": state})
        images.append(env.render())
    assert np.array_equal(*images)


def test_models_of_ones_own_have_no_images(walk):
    with pytest.raises(surefoot.UsageError, match="no images of states of `walk`"):
        surefoot.gym.make(walk, render_mode="rgb_array")


def test_an_interpreter_without_gymnasium_is_told(monkeypatch):
    import importlib
    import sys

    monkeypatch.setitem(sys.modules, "gymnasium", None)
    monkeypatch.delitem(sys.modules, "surefoot.gym._env")
    with pytest.raises(surefoot.MissingLibraryError, match="surefoot.gym needs the library gymnasium"):
        importlib.import_module("surefoot.gym._env")


@pytest.mark.parametrize(
    "version, is_enough", [("0.29.1", False), ("1.0.0", False), ("1.1.0", True), ("1.10", True), ("2.0a1", True)]
)
def test_an_old_gymnasium_is_told(monkeypatch, version, is_enough):
    """It lacked a name that is imported."""
    monkeypatch.setattr(gymnasium, "__version__", version)
    if is_enough:
        return require_gymnasium()
    with pytest.raises(surefoot.MissingLibraryError, match=f"needs gymnasium 1.1 or later, but {version} is installed"):
        require_gymnasium()


def all_kinds(model, **settings):
    """One environment of each kind."""
    return [make(model, **settings) for make in (surefoot.gym.make, surefoot.gym.make_vec, surefoot.gym.make_sb3_vec)]


def test_a_model_file_that_changed_makes_no_environment(tmp_path):
    """Positions of the old variables were those of others in the new file."""
    path = tmp_path / "walk.jani"
    path.write_text(json.dumps(walk_document()))
    model = surefoot.load_model(path)
    surefoot.gym.make(model)
    document = walk_document()
    document["variables"].insert(0, {**document["variables"][0], "name": "y"})
    path.write_text(json.dumps(document))
    for make in (surefoot.gym.make, surefoot.gym.make_vec, surefoot.gym.make_sb3_vec):
        with pytest.raises(surefoot.UsageError, match="walk.jani: the file has changed since `load_model`"):
            make(model)
    assert surefoot.gym.make(path).inputs == ["y", "x"]


@pytest.mark.parametrize("action", [0.7, "0", None, np.array([1]), np.float32(1)])
def test_actions_are_not_truncated(walk, action):
    """0.7 was 0, and so was the text."""
    env = surefoot.gym.make(walk)
    env.reset(seed=0)
    with pytest.raises(surefoot.UsageError, match="the action is .*, but must be a whole number"):
        env.step(action)
    for right in (1, np.int64(1), np.uint8(1), np.array(1)):
        env.reset(seed=0)
        assert env.step(right)[4]["label"] == "down"


@pytest.mark.parametrize(
    "actions, message",
    [
        ([0.7, 0, 0], "actions are of type float64, but must be whole numbers"),
        (["0", "0", "0"], "must be whole numbers"),
        ([0, 0], r"there are 3 runs, but the actions have the shape \(2,\)"),
        ([[0, 0, 0]], r"the shape \(1, 3\)"),
        ([0, 2, 0], "2 is none of the actions 0 to 1"),
    ],
)
def test_actions_of_vectorised_runs_are_not_truncated(walk, actions, message):
    """0.7 was 0, and so was the text."""
    vector, sb3 = surefoot.gym.make_vec(walk, num_envs=3), surefoot.gym.make_sb3_vec(walk, num_envs=3)
    for env in (vector, sb3):
        env.reset()
        with pytest.raises(surefoot.UsageError, match=message):
            env.step(actions)
        env.step(np.array([0, 1, 0], np.uint8))


def test_states_to_start_in_are_not_truncated(walk):
    """1.5 was 1."""
    with pytest.raises(surefoot.UsageError, match="`x` is 1.5, but must be a whole number"):
        surefoot.gym.make(walk).reset(options={"state": {"x": 1.5}})


@pytest.mark.parametrize("seed, message", [(-1, "`seed` is -1"), (2**70, "less than 2\\^64"), (1.5, "`seed` is 1.5")])
def test_seeds_are_whole_numbers_of_64_bits(walk, seed, message):
    """They were truncated, masked, or taken though negative."""
    single, vector, sb3 = all_kinds(walk)
    for call in [
        lambda: single.reset(seed=seed),
        lambda: vector.reset(seed=seed),
        lambda: vector.reset(seed=[seed] * 16),
        lambda: sb3.seed(seed),
        lambda: surefoot.gym.make_vec(walk, seed=seed),
        lambda: surefoot.gym.make_sb3_vec(walk, seed=seed),
    ]:
        with pytest.raises(surefoot.UsageError, match=message):
            call()
    assert single.reset(seed=np.int64(3))[0] == vector.reset(seed=np.uint8(3))[0][0]
    with pytest.raises(surefoot.UsageError, match="less than 2\\^64"):
        vector.reset(seed=2**64 - 1)


def test_goals_that_are_ignored_are_states_like_others(walk):
    """They ended runs and were rewarded."""
    for settings in ({"goal": "ignore"}, {"end_at_goal": False}, {"goal": "ignore", "end_at_goal": False}):
        env = surefoot.gym.make(walk, **settings)
        env.reset(options={"state": {"x": 2}})
        assert env.step(1)[1:3] == (0.0, False) and env.state["x"] == 1
    for settings in ({}, {"goal": "terminal"}, {"goal": "strict"}, {"end_at_goal": True}, {"goal": "strict", "end_at_goal": True}):
        env = surefoot.gym.make(walk, **settings)
        env.reset(options={"state": {"x": 2}})
        assert env.step(1)[1:3] == (1.0, True)


@pytest.mark.parametrize("goal", ["terminal", "strict"])
def test_goals_that_end_runs_need_a_goal(walk, goal):
    """`verify` refuses that, environments did not."""
    zero = {"name": "zero", "expression": {"op": "PA", "reach": {"op": "=", "left": "x", "right": 0}}}
    for ask in (surefoot.gym.make, lambda model, property, goal: surefoot.verify(model, None, property, goal=goal)):
        with pytest.raises(surefoot.ModelError, match="the property has no goal condition"):
            ask(walk, zero, goal=goal)
    surefoot.gym.make(walk, zero)


def test_there_is_no_step_before_reset(walk):
    """It was a deadlock."""
    single, vector, sb3 = all_kinds(walk)
    vector.reset(options={"reset_mask": np.arange(16) < 15})
    for call in (lambda: single.step(0), lambda: vector.step([0] * 16), lambda: sb3.step([0] * 16)):
        with pytest.raises(gymnasium.error.ResetNeeded, match="no step before `reset`"):
            call()
    with pytest.raises(gymnasium.error.ResetNeeded, match="no state before `reset`"):
        single.state
    vector.reset()
    vector.step([0] * 16)


def test_environments_are_not_copied(walk):
    """Copies made steps of the same runs."""
    for env in all_kinds(walk):
        for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="make a new one with `make`"):
                duplicate(env)
    assert copy.deepcopy(walk).name == pickle.loads(pickle.dumps(walk)).name == "walk"


def test_options_of_stable_baselines_are_not_ignored(walk):
    """Runs started elsewhere, and nothing was said."""
    env = surefoot.gym.make_sb3_vec(walk, num_envs=2)
    for options in ({"state": {"x": 3}}, [{"state": {"x": 3}}, {}]):
        with pytest.raises(surefoot.UsageError, match="no options of `reset`"):
            env.set_options(options)
    env.set_options({})
    env.set_options()
    env.reset()


@pytest.mark.parametrize("count", [0, 2**40, 1.5])
def test_numbers_of_runs_have_bounds(walk, count):
    """Many ended the interpreter."""
    with pytest.raises(surefoot.UsageError, match="`num_envs` is"):
        surefoot.gym.make_vec(walk, num_envs=count)
    assert surefoot.gym.make_vec(walk, num_envs=np.int64(2)).reset()[0].shape == (2, 1)


def test_masks_are_those_that_gymnasium_and_sb3_contrib_take(blocks):
    """`sample` refused them."""
    import sb3_contrib

    env = surefoot.gym.make(blocks, max_steps=20)
    _, info = env.reset(seed=0)
    for _ in range(50):
        assert np.array_equal(info["action_mask"], env.action_masks()) and env.action_masks().dtype == np.bool_
        _, _, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
        assert info["ending"] != "stall"
        if terminated or truncated:
            _, info = env.reset()
    algorithm = sb3_contrib.MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=16, device="cpu", seed=0).learn(32)
    for mask in (info["action_mask"], env.action_masks()):
        action, _ = algorithm.predict(env.reset()[0], action_masks=mask)
        env.step(action)


def test_infos_of_last_steps_are_those_of_gymnasium(walk):
    """With `SAME_STEP` there was no `final_info`."""
    make = lambda: surefoot.gym.make(walk, max_steps=1)
    mode = gymnasium.vector.AutoresetMode.SAME_STEP
    expected = gymnasium.vector.SyncVectorEnv([make] * 2, autoreset_mode=mode)
    found = surefoot.gym.make_vec(walk, num_envs=2, max_steps=1, autoreset="SAME_STEP")
    infos = []
    for env in (expected, found):
        env.reset(seed=0)
        infos.append(env.step(np.array([1, 1]))[4])
    assert {"final_obs", "_final_obs", "final_info", "_final_info"} <= set(infos[0]) & set(infos[1])
    assert infos[1]["_final_info"].all() and infos[1]["final_info"]["_ending"].all()
    names = [found.endings[ending] for ending in infos[1]["final_info"]["ending"]]
    assert names == list(infos[0]["final_info"]["ending"]) == ["step-limit"] * 2


def test_modes_have_names(walk):
    """Only values were known."""
    for name in ("SAME_STEP", "SameStep", gymnasium.vector.AutoresetMode.SAME_STEP):
        env = surefoot.gym.make_vec(walk, num_envs=1, autoreset=name)
        assert env.metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.SAME_STEP
    with pytest.raises(surefoot.UsageError, match="`autoreset` is 'now', but must be an `AutoresetMode` or one of 'NextStep'"):
        surefoot.gym.make_vec(walk, autoreset="now")


def test_type_checkers_know_the_settings():
    """They took every name and value."""
    fields = {field.name: field.type for field in dataclasses.fields(surefoot.gym.Settings)}
    assert {name: kind.__forward_arg__ for name, kind in SettingNames.__annotations__.items()} == fields
