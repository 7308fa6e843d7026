"""Simulated traces: the rewards of all arms at all steps."""

from typing import Any

import numpy as np

from ravenlab.environments import find_scenario
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.noise import NOISES
from ravenlab.environments.world import Floats, fill_rewards

SEED = 2026


def simulate_trace(
    name: str, number: int, horizon: int = 10_000, arms: int = 10, independent: bool = False, **settings: Any
) -> Floats:
    """Return one world of a scenario as a trace; NaN where an arm is closed.

    All arms share the noise draw of a step, as in a study, unless the noise is `independent` between arms.
    """
    scenario = find_scenario(name, settings)
    worlds = draw_worlds(scenario, horizon, arms, SEED, first=number)
    means = np.empty((horizon, worlds.level.shape[2]))
    rewards, of_arm = np.empty_like(means), np.empty_like(means)
    fill_rewards(worlds, 0, 1, means, rewards)
    for k in range(rewards.shape[1] if independent else 0):
        rng = np.random.default_rng([SEED, number, k])
        noise = NOISES[scenario.noise].draw(rng, horizon)[None]
        coin = (rng.random((1, worlds.share.size)) < worlds.share).astype(np.uint8)
        fill_rewards(worlds._replace(noise=noise, coin=coin), 0, 1, means, of_arm)
        rewards[:, k] = of_arm[:, k]
    t = np.arange(1, horizon + 1)[:, None]
    rewards[(t < worlds.opens[0]) | (t >= worlds.closes[0])] = np.nan
    return rewards


def keep_one_arm_per_row(table: Floats, seed: int) -> Floats:
    """Keep one random open arm per row, as in a log."""
    rng = np.random.default_rng(seed)
    picked = np.where(np.isnan(table), -1.0, rng.random(table.shape)).argmax(axis=1)
    out = np.full_like(table, np.nan)
    rows = np.arange(table.shape[0])
    out[rows, picked] = table[rows, picked]
    return out
