"""Simulated traces: the rewards of all arms at all steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from environments import find_scenario
from environments.draw import draw_worlds
from environments.world import Floats, fill_rewards

SEED = 2026


def simulate_trace(name: str, number: int, horizon: int = 10_000, arms: int = 10, **settings: Any) -> Floats:
    """Return one world of a scenario as a trace; NaN where an arm is closed."""
    worlds = draw_worlds(find_scenario(name, settings), horizon, arms, SEED, first=number)
    means = np.empty((horizon, worlds.level.shape[2]))
    rewards = np.empty_like(means)
    fill_rewards(worlds, 0, 1, means, rewards)
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
