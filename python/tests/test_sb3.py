"""Policies of Stable-Baselines3, trained in the environments of this package."""

import json

import gymnasium
import numpy as np
import pytest
import sb3_contrib as contrib
import stable_baselines3 as sb3
import torch
from conftest import walk_document

import surefoot
import surefoot.gym
from surefoot.convert._compare import random_states
from surefoot.gym._sb3 import SB3VectorEnvironment

SETTINGS = {"max_steps": 30, "inapplicable": "stay", "dtype": np.float32}


def algorithms(env):
    small = {"net_arch": [16, 16]}
    relu = {**small, "activation_fn": torch.nn.ReLU}
    common = {"seed": 0, "device": "cpu"}
    return {
        "ppo": lambda: sb3.PPO("MlpPolicy", env, n_steps=32, policy_kwargs=small, **common),
        "ppo-relu": lambda: sb3.PPO("MlpPolicy", env, n_steps=32, policy_kwargs=relu, **common),
        "a2c": lambda: sb3.A2C("MlpPolicy", env, policy_kwargs=small, **common),
        "dqn": lambda: sb3.DQN("MlpPolicy", env, learning_starts=50, policy_kwargs=small, **common),
        "maskable": lambda: contrib.MaskablePPO("MlpPolicy", env, n_steps=32, policy_kwargs=small, **common),
    }


@pytest.mark.parametrize("name", ["ppo", "ppo-relu", "a2c", "dqn", "maskable"])
def test_trained_policies_choose_what_predict_does(blocks, name):
    env = surefoot.gym.make_sb3_vec(blocks, num_envs=4, **SETTINGS)
    algorithm = algorithms(env)[name]().learn(300)
    policy = surefoot.from_sb3(algorithm, blocks)
    assert policy.filter == (name == "maskable")
    assert policy.inputs == blocks.observed and policy.outputs == blocks.labels
    states = random_states(blocks, 300)
    names = [variable.name for variable in blocks.variables]
    rows = states[:, [names.index(each) for each in policy.inputs]].astype(np.float32)
    actions, _ = algorithm.predict(rows, deterministic=True)
    found = policy.scores(states, "f32")[..., 0].argmax(axis=1)
    assert (found == actions).mean() > 0.99
    result = surefoot.verify(blocks, policy, time_limit=60)
    assert result.verdict in ("SAFE", "UNSAFE")


def test_single_environments_can_be_wrapped(blocks):
    env = surefoot.gym.make(blocks, observed=["table-counter", "hand-empty"], **SETTINGS)
    algorithm = sb3.PPO("MlpPolicy", env, n_steps=16, batch_size=16, device="cpu", seed=0).learn(16)
    policy = surefoot.from_sb3(algorithm, blocks)
    assert policy.inputs == ["table-counter", "hand-empty"]


def test_the_environment_passes_the_checks_of_stable_baselines(blocks):
    from stable_baselines3.common.env_checker import check_env

    check_env(surefoot.gym.make(blocks, dtype=np.float32))


def test_masks_reach_maskable_ppo(blocks):
    from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported

    env = surefoot.gym.make_sb3_vec(blocks, num_envs=3)
    env.seed(3)
    env.reset()
    assert is_masking_supported(env)
    masks = get_action_masks(env)
    assert masks.shape == (3, 5) and not masks.all()
    assert np.array_equal(masks, env.action_masks())


def test_runs_of_the_vectorised_environment_are_those_of_single_ones(blocks):
    env = surefoot.gym.make_sb3_vec(blocks, num_envs=4, **SETTINGS)
    env.seed(11)
    observations = env.reset()
    singles = [surefoot.gym.make(blocks, **SETTINGS) for _ in range(4)]
    assert np.array_equal(observations, [single.reset(seed=11 + i)[0] for i, single in enumerate(singles)])
    random = np.random.default_rng(0)
    returns, ends = np.zeros(4), 0
    for _ in range(100):
        actions = random.integers(0, 5, 4)
        observations, rewards, dones, infos = env.step(actions)
        for i, single in enumerate(singles):
            observation, reward, terminated, truncated, info = single.step(actions[i])
            returns[i] += reward
            assert rewards[i] == reward and dones[i] == (terminated or truncated)
            if dones[i]:
                ends += 1
                assert np.array_equal(infos[i]["terminal_observation"], observation)
                assert infos[i]["TimeLimit.truncated"] == truncated and infos[i]["ending"] == info["ending"]
                assert infos[i]["episode"]["r"] == returns[i]
                observation, returns[i] = single.reset()[0], 0
            assert np.array_equal(observations[i], observation)
    assert ends > 4


class Fixed(gymnasium.Env):
    """An environment with given spaces."""

    def __init__(self, observations, actions):
        self.observation_space, self.action_space = observations, actions

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.observation_space.sample(), {}

    def step(self, action):
        return self.observation_space.sample(), 0.0, False, False, {}


def ppo(observations, actions=None, policy="MlpPolicy", **options):
    actions = actions or gymnasium.spaces.Discrete(2)
    return sb3.PPO(policy, Fixed(observations, actions), n_steps=8, batch_size=8, device="cpu", **options)


def box(low, high, size=1):
    return gymnasium.spaces.Box(low, high, (size,), np.float32)


def test_bounds_of_observations_are_compared(walk):
    assert surefoot.from_sb3(ppo(box(0, 9)), walk).inputs == ["x"]
    surefoot.from_sb3(ppo(box(-np.inf, np.inf)), walk)
    with pytest.raises(surefoot.PolicyError, match="`x` with values from 0 to 9, but .* from 0 to 5"):
        surefoot.from_sb3(ppo(box(0, 5)), walk)


def test_observations_of_half_precision_are_refused_where_they_round():
    """At 2049 the policy saw 2048 in training."""
    for upper in (2048, 2049):
        document = walk_document()
        document["variables"][0]["type"]["upper-bound"] = upper
        model = surefoot.load_model(document)
        algorithm = ppo(gymnasium.spaces.Box(-60000, 60000, (1,), np.float16))
        if upper == 2048:
            assert surefoot.from_sb3(algorithm, model).inputs == ["x"]
        else:
            with pytest.raises(surefoot.PolicyError, match="from 0 to 2049, but observations are float16, .*\n  hint: "):
                surefoot.from_sb3(algorithm, model)


def test_policies_that_do_not_fit_are_refused(walk):
    discrete = gymnasium.spaces.Discrete
    cases = [
        (ppo(box(0, 9), box(-1, 1)), "has the action space Box"),
        (ppo(box(0, 9), discrete(2, start=1)), "begin at 1"),
        (ppo(box(0, 9), discrete(3)), "has 3 outputs"),
        (ppo(box(0, 9, 2)), "has 2 inputs"),
        (ppo(discrete(10)), "has the observation space Discrete"),
        (ppo(gymnasium.spaces.Dict({"x": box(0, 9)}), policy="MultiInputPolicy"), "has the observation space Dict"),
    ]
    for algorithm, message in cases:
        with pytest.raises(surefoot.PolicyError, match=message):
            surefoot.from_sb3(algorithm, walk)
    with pytest.raises(surefoot.PolicyError, match="a dict has no policy"):
        surefoot.from_sb3({}, walk)


def test_normalised_observations_are_refused(walk):
    from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

    def normalised(**options):
        return VecNormalize(DummyVecEnv([lambda: Fixed(box(0, 9), gymnasium.spaces.Discrete(2))]), **options)

    with pytest.raises(surefoot.PolicyError, match="normalised observations"):
        surefoot.from_sb3(sb3.PPO("MlpPolicy", normalised(), device="cpu"), walk)
    surefoot.from_sb3(sb3.PPO("MlpPolicy", normalised(norm_obs=False), device="cpu"), walk)


@pytest.mark.parametrize("norm_obs", [True, False])
def test_normalised_observations_are_seen_in_what_was_saved(walk, norm_obs, tmp_path):
    """Archives were read as if observations were not normalised."""
    from stable_baselines3.common.vec_env import VecNormalize

    env = VecNormalize(surefoot.gym.make_sb3_vec(walk, num_envs=2, dtype=np.float32), norm_obs=norm_obs)
    algorithm = sb3.A2C("MlpPolicy", env, n_steps=4, device="cpu", seed=0).learn(8)
    algorithm.save(tmp_path / "policy.zip")
    with pytest.raises(surefoot.InputError, match="trained in a `VecNormalize`, which is not part of the file"):
        surefoot.load_policy(tmp_path / "policy.zip", walk, inputs=["x"])
    with pytest.raises(surefoot.PolicyError, match="trained in a VecNormalize, which was not saved with it"):
        surefoot.from_sb3(sb3.A2C.load(tmp_path / "policy.zip"), walk)
    whole = sb3.A2C.load(tmp_path / "policy.zip", env=env)
    if norm_obs:
        with pytest.raises(surefoot.PolicyError, match="trained on normalised observations"):
            surefoot.from_sb3(whole, walk)
    else:
        assert surefoot.from_sb3(whole, walk).inputs == ["x"]


def test_extractors_of_their_own_are_refused(walk):
    from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

    class Squared(BaseFeaturesExtractor):
        def __init__(self, space):
            super().__init__(space, 1)

        def forward(self, rows):
            return rows * rows

    algorithm = ppo(box(0, 9), policy_kwargs={"features_extractor_class": Squared})
    with pytest.raises(surefoot.PolicyError, match="features extractor of type Squared"):
        surefoot.from_sb3(algorithm, walk)


def test_wrappers_that_change_observations_are_refused(walk):
    env = gymnasium.wrappers.RescaleObservation(surefoot.gym.make(walk, dtype=np.float32), 0.0, 1.0)
    algorithm = sb3.PPO("MlpPolicy", env, n_steps=8, batch_size=8, device="cpu")
    with pytest.raises(surefoot.PolicyError, match="a wrapper that changes observations"):
        surefoot.from_sb3(algorithm, walk)


def wrapped(wrap, walk, algorithm=sb3.PPO, **options):
    env = wrap(surefoot.gym.make(walk, dtype=np.float32, **options))
    return algorithm("MlpPolicy", env, n_steps=8, batch_size=8, device="cpu", seed=0)


class Swapped(gymnasium.ActionWrapper):
    def action(self, action):
        return 1 - action


class Shifted(gymnasium.Wrapper):
    def step(self, action):
        observation, *rest = self.env.step(action)
        return (9 - observation, *rest)


class Cheap(gymnasium.RewardWrapper):
    def reward(self, reward):
        return reward / 2


def test_wrappers_that_change_actions_are_refused(walk):
    """Names of labels were taken through them."""
    with pytest.raises(surefoot.PolicyError, match="a wrapper that changes actions"):
        surefoot.from_sb3(wrapped(Swapped, walk), walk)
    with pytest.raises(surefoot.PolicyError, match="a wrapper that may change observations or actions"):
        surefoot.from_sb3(wrapped(Shifted, walk), walk)
    wrappers = gymnasium.wrappers
    for wrap in [
        Cheap,
        wrappers.RecordEpisodeStatistics,
        lambda env: wrappers.TimeLimit(env, 20),
        lambda env: wrappers.NormalizeReward(wrappers.OrderEnforcing(env)),
    ]:
        assert surefoot.from_sb3(wrapped(wrap, walk), walk).inputs == ["x"]


def test_wrappers_in_other_processes_are_seen(walk):
    from stable_baselines3.common.vec_env import SubprocVecEnv

    for wrap, message in [(Shifted, "may change observations"), (Cheap, None)]:
        env = SubprocVecEnv([lambda wrap=wrap: wrap(surefoot.gym.make(walk, dtype=np.float32))], start_method="forkserver")
        try:
            algorithm = sb3.PPO("MlpPolicy", env, n_steps=8, batch_size=8, device="cpu")
            if message is None:
                assert surefoot.from_sb3(algorithm, walk).outputs == walk.labels
            else:
                with pytest.raises(surefoot.PolicyError, match=message):
                    surefoot.from_sb3(algorithm, walk)
        finally:
            env.close()


def test_masks_of_ones_own_are_refused(walk):
    from sb3_contrib.common.wrappers import ActionMasker

    algorithm = wrapped(lambda env: ActionMasker(env, lambda env: np.array([True, False])), walk, contrib.MaskablePPO)
    with pytest.raises(surefoot.PolicyError, match="masks of its own"):
        surefoot.from_sb3(algorithm, walk)
    assert surefoot.from_sb3(algorithm, walk, filter=True).filter


@pytest.mark.parametrize("algorithm", [sb3.PPO, contrib.MaskablePPO])
@pytest.mark.parametrize("said", [None, False, True])
@pytest.mark.parametrize("told", [None, False, True])
def test_the_filter_of_an_interface_was_ignored(walk, tmp_path, algorithm, said, told):
    """What is told wins, then what the interface says; an interface with `"filter": true` gave a policy without."""
    path = tmp_path / "policy.jani2nnet"
    document = {"file": "unused", "input": [{"name": "x", "automaton": None}], "output": walk.labels}
    path.write_text(json.dumps(document if said is None else {**document, "filter": said}))
    policy = surefoot.from_sb3(wrapped(lambda env: env, walk, algorithm), walk, interface=path, filter=told)
    expected = [value for value in (told, said, algorithm is contrib.MaskablePPO) if value is not None][0]
    assert policy.filter == expected


class Masked(Fixed):
    def action_masks(self):
        return np.array([True, False])


def test_masks_of_environments_of_ones_own_were_taken_for_the_applicable_labels(walk, tmp_path):
    """Only those of ActionMasker were refused, not a method of the environment."""
    env = Masked(box(0, 9), gymnasium.spaces.Discrete(2))
    algorithm = contrib.MaskablePPO("MlpPolicy", env, n_steps=8, batch_size=8, device="cpu", seed=0)
    with pytest.raises(
        surefoot.PolicyError, match="not known to be one of `surefoot.gym`, so its masks need not .*\n  hint: `filter=True`"
    ):
        surefoot.from_sb3(algorithm, walk)
    for told in (True, False):
        assert surefoot.from_sb3(algorithm, walk, filter=told).filter == told
    path = tmp_path / "policy.jani2nnet"
    path.write_text(json.dumps({"file": "", "filter": True, "input": [{"name": "x", "automaton": None}], "output": walk.labels}))
    assert surefoot.from_sb3(algorithm, walk, interface=path).filter
    algorithm.save(tmp_path / "policy.zip")
    assert surefoot.from_sb3(contrib.MaskablePPO.load(tmp_path / "policy.zip"), walk).filter


def test_labels_of_an_environment_of_another_model_were_dropped():
    """Its variable has another name, so its labels did not count either: they were exchanged."""
    other = walk_document()
    other = surefoot.load_model(json.loads(json.dumps(other).replace('"x"', '"position"')))
    model = surefoot.load_model(walk_document())
    algorithm = wrapped(lambda env: env, other, actions=["down", "up"])
    for lists in [{}, {"inputs": ["x"]}, {"outputs": ["down", "up"]}]:
        with pytest.raises(surefoot.PolicyError, match="with the variable `position`, .*\n  hint: list both `inputs="):
            surefoot.from_sb3(algorithm, model, **lists)
    with pytest.raises(surefoot.PolicyError, match="the outputs are `up`, `down`, but PPO was trained on `down`, `up`"):
        surefoot.from_sb3(algorithm, model, inputs=["x"], outputs=["up", "down"])
    assert surefoot.from_sb3(algorithm, model, inputs=["x"], outputs=["down", "up"]).outputs == ["down", "up"]
    with pytest.raises(surefoot.PolicyError, match="a wrapper that may change observations or actions"):
        surefoot.from_sb3(wrapped(Shifted, other), model, inputs=["x"], outputs=["up", "down"])


class Sly(Cheap):
    def action_masks(self):
        return np.array([True, False])


class Spaced(Cheap):
    @property
    def observation_space(self):
        return gymnasium.spaces.Box(0, 9, (1,), np.float16)


class Delegating(Cheap):
    def __getattr__(self, name):
        return getattr(self.env, name)


class Patched(Cheap):
    def __init__(self, env):
        super().__init__(env)
        self.step = lambda action: env.step(1 - action)


class Noisy(Cheap):
    """As harmless as the one that it is made from."""

    def __init__(self, env):
        super().__init__(env)
        self.total = 0.0

    def reward(self, reward):
        self.total += self.twice(reward)
        return reward

    def twice(self, reward):
        return 2 * reward


@pytest.mark.parametrize("wrap", [Sly, Spaced, Delegating, Patched])
def test_wrappers_of_rewards_with_more_than_rewards_passed(walk, wrap):
    """They were looked at for `step` and `reset` only."""
    with pytest.raises(surefoot.PolicyError, match="a wrapper that may change observations or actions"):
        surefoot.from_sb3(wrapped(wrap, walk, contrib.MaskablePPO), walk)


def test_harmless_wrappers_are_accepted(walk, blocks):
    wrappers = gymnasium.wrappers
    for wrap in [
        Noisy,
        wrappers.Autoreset,
        wrappers.PassiveEnvChecker,
        lambda env: wrappers.TransformReward(env, lambda reward: reward / 2),
        lambda env: wrappers.ClipReward(env, -1, 1),
        lambda env: sb3.common.monitor.Monitor(Noisy(env)),
    ]:
        assert surefoot.from_sb3(wrapped(wrap, walk, contrib.MaskablePPO), walk).filter
    env = wrappers.RenderCollection(surefoot.gym.make(blocks, render_mode="rgb_array"))
    assert surefoot.from_sb3(sb3.A2C("MlpPolicy", env, device="cpu"), blocks).outputs == blocks.labels


def test_wrappers_of_vectors_that_are_made_from_harmless_ones_passed(walk):
    """A class made from VecMonitor was taken for it, and only the outermost VecNormalize was looked at."""
    from stable_baselines3.common.vec_env import VecCheckNan, VecMonitor, VecNormalize

    class Negated(VecMonitor):
        def step_wait(self):
            observations, *rest = super().step_wait()
            return (-observations, *rest)

    def algorithm(wrap):
        env = surefoot.gym.make_sb3_vec(walk, num_envs=2, dtype=np.float32)
        return sb3.PPO("MlpPolicy", wrap(env), n_steps=4, batch_size=8, device="cpu")

    for wrap in [VecMonitor, VecCheckNan, lambda env: VecNormalize(VecMonitor(env), norm_obs=False)]:
        assert surefoot.from_sb3(algorithm(wrap), walk).inputs == ["x"]
    with pytest.raises(surefoot.PolicyError, match="the wrapper Negated, which is not known"):
        surefoot.from_sb3(algorithm(lambda env: VecCheckNan(Negated(env))), walk)
    with pytest.raises(surefoot.PolicyError, match="normalised observations"):
        surefoot.from_sb3(algorithm(lambda env: VecNormalize(VecNormalize(env), norm_obs=False)), walk)


class Reversed(surefoot.gym.Environment):
    def step(self, action):
        return super().step(1 - action)


class Choosy(surefoot.gym.Environment):
    def action_masks(self):
        return np.array([True, False])


class Inside(gymnasium.Env):
    """Holds an environment and answers for it."""

    def __init__(self, env):
        self.inner = env
        self.observation_space, self.action_space = env.observation_space, env.action_space

    def __getattr__(self, name):
        if name == "inner":
            raise AttributeError(name)
        return getattr(self.inner, name)

    def reset(self, *, seed=None, options=None):
        return self.inner.reset(seed=seed, options=options)

    def step(self, action):
        return self.inner.step(1 - action)


class Similar(Fixed):
    """Says what it shows, like an environment of this package."""

    inputs, outputs = ["x"], ["down", "up"]


def test_classes_made_from_environments_were_taken_for_them(walk):
    """The innermost environment was never looked at: its masks, steps and observations can be other ones."""
    from stable_baselines3.common.vec_env import DummyVecEnv

    class Negated(SB3VectorEnvironment):
        def step_wait(self):
            observations, *rest = super().step_wait()
            return (-observations, *rest)

    class Other(DummyVecEnv):
        def step_async(self, actions):
            super().step_async(1 - actions)

    def make(**options):
        return surefoot.gym.make(walk, dtype=np.float32, **options)

    patched = make()
    patched.step = lambda action, step=patched.step: step(1 - action)
    environments = [
        Reversed(walk, dtype=np.float32),
        Choosy(walk, dtype=np.float32),
        patched,
        Inside(make()),
        DummyVecEnv([lambda: Inside(make())]),
        Similar(box(0, 9), gymnasium.spaces.Discrete(2)),
        Negated(surefoot.gym.make_sb3_vec(walk, num_envs=2, dtype=np.float32)._batch),
        Other([make]),
    ]
    for env in environments:
        for algorithm in (sb3.PPO, contrib.MaskablePPO):
            with pytest.raises(surefoot.PolicyError, match="of another class than those of `surefoot.gym`.*\n  hint: "):
                surefoot.from_sb3(algorithm("MlpPolicy", env, n_steps=8, batch_size=8, device="cpu"), walk)
    different = DummyVecEnv([make, lambda: make(actions=["down", "up"])])
    with pytest.raises(surefoot.PolicyError, match="side by side show different"):
        surefoot.from_sb3(sb3.PPO("MlpPolicy", different, n_steps=8, batch_size=8, device="cpu"), walk)


def test_environments_in_other_processes_are_asked_for_their_class(walk):
    """Those that are not of this package died of the question what they show."""
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import SubprocVecEnv

    for make, message in [
        (lambda: surefoot.gym.make(walk, dtype=np.float32), None),
        (lambda: Reversed(walk, dtype=np.float32), "of another class"),
        (lambda: Monitor(Choosy(walk, dtype=np.float32)), "of another class"),
        (lambda: Monitor(Inside(surefoot.gym.make(walk, dtype=np.float32))), "a wrapper that may change"),
        (lambda: Fixed(box(0, 9), gymnasium.spaces.Discrete(2)), None),
    ]:
        env = SubprocVecEnv([make], start_method="forkserver")
        try:
            algorithm = sb3.PPO("MlpPolicy", env, n_steps=8, batch_size=8, device="cpu")
            if message is None:
                assert surefoot.from_sb3(algorithm, walk).outputs == walk.labels
                assert env.reset().shape == (1, 1)
            else:
                with pytest.raises(surefoot.PolicyError, match=message):
                    surefoot.from_sb3(algorithm, walk)
        finally:
            env.close()
    with pytest.raises(surefoot.PolicyError, match="it is closed\n  hint: call `from_sb3` before `close`"):
        surefoot.from_sb3(algorithm, walk)
    assert surefoot.from_sb3(algorithm, walk, inputs=["x"], outputs=walk.labels).inputs == ["x"]


def test_lists_that_contradict_the_environment_are_refused(walk, blocks):
    algorithm = wrapped(lambda env: env, walk)
    with pytest.raises(surefoot.PolicyError, match="the outputs are `down`, `up`, but PPO was trained on `up`, `down`"):
        surefoot.from_sb3(algorithm, walk, outputs=["down", "up"])
    other = [blocks.observed[1], blocks.observed[0], *blocks.observed[2:]]
    with pytest.raises(surefoot.PolicyError, match="the inputs are .*, but PPO was trained on"):
        surefoot.from_sb3(wrapped(lambda env: env, blocks), blocks, inputs=other)


def test_policies_of_other_classes_are_refused(walk):
    class Own(sb3.common.policies.ActorCriticPolicy):
        pass

    algorithm = ppo(box(0, 9), policy=Own)
    with pytest.raises(
        surefoot.PolicyError, match="a policy of type Own, .*\n  hint: of one that computes the same, pass its network"
    ):
        surefoot.from_sb3(algorithm, walk)
    network = torch.nn.Sequential(algorithm.policy.mlp_extractor.policy_net, algorithm.policy.action_net)
    assert surefoot.from_torch(network, walk).inputs == ["x"]
    env = surefoot.gym.make_sb3_vec(walk, num_envs=2, dtype=np.float32)
    recurrent = contrib.RecurrentPPO("MlpLstmPolicy", env, n_steps=8, device="cpu")
    with pytest.raises(surefoot.PolicyError, match="a policy of type RecurrentActorCriticPolicy"):
        surefoot.from_sb3(recurrent, walk)
    with pytest.raises(surefoot.PolicyError, match="a policy of type QRDQNPolicy"):
        surefoot.from_sb3(contrib.QRDQN("MlpPolicy", env, device="cpu"), walk)


def test_what_predict_does_is_compared(walk):
    algorithm = ppo(box(0, 9), seed=0)
    predict = algorithm.predict

    def other(rows, **options):
        actions, state = predict(rows, **options)
        return 1 - actions, state

    surefoot.from_sb3(algorithm, walk)
    algorithm.predict = other
    with pytest.raises(surefoot.ComparisonError, match="PPO.predict chooses `"):
        surefoot.from_sb3(algorithm, walk)


@pytest.mark.parametrize("name", ["ppo", "dqn"])
def test_modes_of_policies_were_changed(blocks, name):
    """`predict` puts all of a policy in evaluation mode."""
    policy = (algorithm := algorithms(surefoot.gym.make_sb3_vec(blocks, num_envs=2, **SETTINGS))[name]()).policy
    parts = list(policy.modules())
    for index, part in enumerate(parts):
        part.training = index % 2 == 0
    surefoot.from_sb3(algorithm, blocks)
    assert [part.training for part in parts] == [index % 2 == 0 for index in range(len(parts))]


@pytest.mark.parametrize("net_arch", [[], [8], {"pi": [8, 4], "vf": [6]}])
def test_shapes_of_networks(walk, net_arch):
    sizes = {"net_arch": net_arch, "share_features_extractor": False}
    policy = surefoot.from_sb3(ppo(box(0, 9), policy_kwargs=sizes), walk)
    hidden = net_arch["pi"] if isinstance(net_arch, dict) else net_arch
    assert "-".join(map(str, [1, *hidden, 2])) in policy.description


@pytest.mark.parametrize("name", ["ppo", "a2c", "dqn", "maskable"])
def test_archives_are_the_same_policies(blocks, name, tmp_path):
    """An archive of MaskablePPO chose among all labels."""
    env = surefoot.gym.make_sb3_vec(blocks, num_envs=2, seed=1, **SETTINGS)
    algorithm = algorithms(env)[name]().learn(100)
    algorithm.save(tmp_path / "policy.zip")
    expected = surefoot.from_sb3(algorithm, blocks)
    states = random_states(blocks)
    read = surefoot.load_policy(tmp_path / "policy.zip", blocks, inputs=blocks.observed)
    loaded = surefoot.from_sb3(type(algorithm).load(tmp_path / "policy.zip"), blocks)
    for policy in [read, loaded]:
        assert policy.filter == expected.filter == (name == "maskable")
        assert np.array_equal(policy.scores(states, "f32"), expected.scores(states, "f32"))
    without = surefoot.load_policy(tmp_path / "policy.zip", blocks, inputs=blocks.observed, filter=False)
    assert not without.filter
    with pytest.raises(surefoot.PolicyError, match="this is a file\n  hint: `load_policy"):
        surefoot.from_sb3(tmp_path / "policy.zip", blocks)


def test_archives_with_classes_of_ones_own_are_refused(walk, tmp_path):
    """Classes were known by their name, whatever their module."""
    algorithm = ppo(box(0, 9), policy_kwargs={"activation_fn": ReLU})
    algorithm.save(tmp_path / "policy.zip")
    with pytest.raises(surefoot.InputError, match=r'the activation "(\w+\.)*test_sb3\.ReLU" is not read'):
        surefoot.load_policy(tmp_path / "policy.zip", walk, inputs=["x"])
    with pytest.raises(surefoot.PolicyError, match="a layer of type ReLU, which is not known"):
        surefoot.from_sb3(algorithm, walk)


class ReLU(torch.nn.Module):
    def forward(self, rows):
        return torch.relu(rows) ** 2


def test_activations_that_are_not_known_are_refused(walk):
    algorithm = ppo(box(0, 9), policy_kwargs={"activation_fn": torch.nn.GELU})
    with pytest.raises(surefoot.PolicyError, match="mlp_extractor.policy_net.1 is a layer of type GELU"):
        surefoot.from_sb3(algorithm, walk)
