"""A newcomer's hour: train a small policy in less than a minute, and find out whether it is safe.

    pip install . gymnasium stable-baselines3 sb3-contrib
    python python/examples/first_policy.py

Four blocks are to be stacked. At most three of them may lie on the table at once, and moves fail half of the time.
"""

import argparse
import time

import numpy as np
import torch
from sb3_contrib import MaskablePPO

import surefoot
import surefoot.gym


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=150_000, help="steps of training")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()

    # The environment: a model and its property, which says what is unsafe and what the goal is.
    model = surefoot.generate("blocksworld", blocks=4, table_limit=3)
    print(f"{model!r}\n  unsafe: {model.properties[0].unsafe}\n  goal:   {model.properties[0].goal}")

    # Small networks are faster on one thread.
    torch.set_num_threads(1)

    # Train on exactly this model. Masks keep the learner from choosing what is not applicable.
    env = surefoot.gym.make_sb3_vec(model, num_envs=64, dtype=np.float32, max_steps=50, step_reward=-0.01)
    began = time.monotonic()
    learner = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=128,
        batch_size=512,
        gamma=0.97,
        learning_rate=1e-3,
        policy_kwargs={"net_arch": [32, 32]},
        seed=arguments.seed,
        device="cpu",
    ).learn(arguments.steps)
    print(f"trained for {arguments.steps} steps in {time.monotonic() - began:.0f} s")

    # Hand the trained object over. Its scores are compared with those of PyTorch.
    policy = surefoot.from_sb3(learner, model)
    print(repr(policy))

    # How good is it?
    simulation = surefoot.simulate(model, policy, episodes=1000, steps=50, goal="terminal", seed=1)
    print(f"of 1000 episodes, {simulation.summary['goal']} reach the goal and {simulation.summary['unsafe']} are unsafe")

    # Is it safe? Runs end at the goal.
    result = surefoot.verify(model, policy, goal="terminal")
    print(result)

    # Look at what went wrong, if something did: why was that chosen?
    if result.unsafe:
        last_choice = result.trace[-2]
        explanation = surefoot.explain(model, policy, last_choice)
        print(f"\nbefore the last step it chooses {' or '.join(explanation.choice)}")
        print(f"  which depends on {', '.join(explanation.relevant)}")
        if explanation.nearest is not None:
            changes = {name: value for name, value in explanation.nearest.items() if value != last_choice[name]}
            print(f"  the nearest state with another choice differs in {changes}")
    elif result.safe:
        print(f"\nthe proof: {result.certificate!r}")


if __name__ == "__main__":
    main()
