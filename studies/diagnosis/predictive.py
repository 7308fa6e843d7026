"""Posterior predictive check: whether worlds of the proposed scenario resemble the recorded rewards.

Statistics of the rewards are compared with those of simulated worlds of the same length, with the same missing cells.
One that is far outside the range of all worlds means that the scenario is not a description of the data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ravenlab.common.text import format_number
from ravenlab.environments import Scenario, find_scenario
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.recorded.trace_world import TraceWorlds
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats, fill_rewards
from ravenlab.policies import find_policy
from ravenlab.policies.engine.play import play
from ravenlab.studies.diagnosis.result import STATIONARY

WORLDS = 100
MAX_ROWS = 10_000  # of longer recordings, equally spaced rows are compared
BLOCKS = 20  # into which rows are divided for statistics over time
TOLERANCE = 0.25  # distance from the range of the worlds, as a share of the range, at which data differ
FULL = 0.9  # share of cells from which policies can be played
POLICIES = ("raven-ucb", "ucb1")


def find_mismatch(
    values: Floats, kinds: Mapping[str, Mapping[str, Any]], base: Mapping[str, Any], arms: int, seed: int = 0
) -> str:
    """Return how rewards [N, K] differ from worlds of a scenario; an empty string if they resemble them.

    Args:
        values: Rewards by row and arm; NaN where no reward was observed.
        kinds: Settings of each effect of the scenario.
        base: Settings of the base world.
        arms: Number of arms of the scenario, without an arm that opens later.
        seed: Seed of the worlds.

    >>> rewards = np.random.default_rng(1).normal([0.2, 0.5], 0.3, size=(1000, 2))
    >>> base = {"variance_low": 0.05, "variance_high": 0.15}
    >>> find_mismatch(rewards, {}, {**base, "mean_low": 0.0, "mean_high": 0.8}, 2)
    ''
    >>> find_mismatch(rewards, {}, {**base, "mean_low": 5.0, "mean_high": 9.0}, 2)
    'the mean reward is 0.346 in the data but 5.209 to 8.656 in simulated worlds'
    """
    values = values[:: -(-len(values) // MAX_ROWS)]
    plain = find_scenario("+".join(kinds) or STATIONARY)
    known = plain.parameters()
    settings = {
        f"{kind}.{name}" if f"{kind}.{name}" in known else name: value
        for kind, effect in kinds.items()
        for name, value in effect.items()
    }
    scenario = plain.with_settings({**base, **settings})
    center = float(np.nanmean(values))
    scale = float(np.nanstd(values)) or 1.0
    measured = _measure(values, center, scale)
    simulated = [_measure(world, center, scale) for world in _simulate(scenario, values, arms, seed)]
    for name, value in measured.items():
        others = np.array([statistics[name] for statistics in simulated])
        low = float(others.min())
        high = float(others.max())
        margin = TOLERANCE * (high - low)
        if not low - margin <= value <= high + margin:
            ends = f"{format_number(low)} to {format_number(high)}"
            return f"{name} is {format_number(value)} in the data but {ends} in simulated worlds"
    return ""


def _simulate(scenario: Scenario, values: Floats, arms: int, seed: int) -> list[Floats]:
    """Draw worlds as tables; cells of a log are missing where they are missing in the data."""
    rows = len(values)
    observed = ~np.isnan(values)
    sparse = observed.mean() < FULL
    worlds = draw_worlds(scenario, rows, arms, seed, replications=WORLDS, stream=Stream.SIMULATE)
    steps = np.arange(1, rows + 1)[:, None]
    means = np.empty((rows, worlds.level.shape[2]))
    tables = []
    for r in range(WORLDS):
        rewards = np.empty_like(means)
        fill_rewards(worlds, r, 1, means, rewards)
        rewards[(steps < worlds.opens[r]) | (steps >= worlds.closes[r])] = np.nan
        rewards = rewards[:, ~np.isnan(rewards).all(axis=0)]
        if sparse:
            width = min(rewards.shape[1], observed.shape[1])
            rewards = np.where(observed[:, :width], rewards[:, :width], np.nan)
        tables.append(rewards)
    return tables


def _measure(values: Floats, center: float, scale: float) -> dict[str, float]:
    """Compute the statistics of a table that are compared."""
    observed = ~np.isnan(values)
    filled = np.where(observed, values, 0.0)
    means = filled.sum(axis=0) / np.maximum(observed.sum(axis=0), 1)
    ranked = np.sort(means)
    starts = np.linspace(0, len(values), BLOCKS + 1).astype(np.int64)[:-1]
    counts = np.add.reduceat(observed.astype(np.float64), starts, axis=0)
    sums = np.add.reduceat(filled, starts, axis=0)
    blocks = np.where(counts > 0, sums / np.maximum(counts, 1.0), means)
    deviations = blocks - blocks.mean(axis=0)
    squares = (deviations**2).sum(axis=0)
    correlation = (deviations[1:] * deviations[:-1]).sum(axis=0) / np.maximum(squares, 1e-300)
    steps = [np.diff(values[observed[:, k], k]) for k in range(values.shape[1])]
    noise = [float((step**2).mean()) / 2.0 for step in steps if step.size]
    statistics = {
        "the mean reward": float(means.mean()),
        "the standard deviation of the arms' means": float(means.std()),
        "the difference of the two best arms": float(ranked[-1] - ranked[-2]) if ranked.size > 1 else 0.0,
        "the variance of the noise": float(np.mean(noise)),
        "the standard deviation of the means over time": float(np.sqrt(squares / BLOCKS).mean()),
        "the autocorrelation of the means over time": float(correlation.mean()),
    }
    if observed.mean() >= FULL and observed.any(axis=1).all():
        scaled = (values - center) / scale
        statistics |= {
            f"the regret of {policy} per step, in standard deviations,": _regret(policy, scaled) for policy in POLICIES
        }
    return statistics


def _regret(policy: str, values: Floats) -> float:
    """Play a policy on a table and return its mean regret per step against the best fixed arm."""
    policy_class = find_policy(policy)
    rows, arms = values.shape
    best = int(np.nanmean(values, axis=0).argmax())
    is_open = ~np.isnan(values)
    switches = np.ones(rows, dtype=np.uint8)
    switches[1:] = (is_open[1:] != is_open[:-1]).any(axis=1)
    table = np.ascontiguousarray(values)
    worlds = TraceWorlds(
        table, np.zeros(rows), np.full(rows, best, dtype=np.int64), switches, np.zeros(1, dtype=np.int64), rows
    )
    params = policy_class.resolve({}, arms, rows)
    played = play(policy_class, params, worlds, 0, 0, Stream.SIMULATE, np.empty(0, dtype=np.int64))
    return float(np.nanmean(values[:, best]) - played.reward[0] / rows)
