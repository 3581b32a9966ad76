"""Gymnasium environments."""

import warnings

import gymnasium
import numpy as np
import pytest
from conftest import walk_document
from gymnasium.utils.env_checker import check_env

import surefoot
import surefoot.gym

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
        ({"render_mode": "human"}, "`render_mode` is 'human'"),
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
