"""A block of worlds as the loop sees it: what one arm pays at one step, in O(1).

A world is a schedule (segments of levels, slopes, seasons, open arms) plus a tape (one noise draw a
step, the best mean of each moment). Nothing here is as large as steps × arms.

The compiled functions take the arrays they read one by one: numba counts references of every array
that it takes out of a tuple, which costs more than the arithmetic.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from environments.compiled import compiled, inlined

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]

SLOPE, GROWTH, SEASON, GRADUAL, BERNOULLI, DELAYED = 1, 2, 4, 8, 16, 32
"""Bits of a world's kind: what has to be looked at."""

MEAN, VARIANCE, NEW_MEAN, NEW_VARIANCE = range(4)
"""Columns of a level."""

PER_STEP, VARIANCE_PER_STEP, SIN_WEIGHT, COS_WEIGHT = range(4)
"""Columns of what moves an arm: δ, γ, A·cos φ (the weight of sin) and A·sin φ (that of cos)."""


class Worlds(NamedTuple):
    """R worlds of one scenario, K arms and T steps. Steps count from 1; arrays over steps start at step 1."""

    kind: int
    """The bits of what is in them."""
    starts: Ints
    """[S + 1] first step of each segment; the last entry is T + 1."""
    row: Ints
    """[S] the row of levels that a segment plays."""
    blip: Ints
    """[S] 1 where the segment is a blip: its level stands alone, without drift, season or mixture."""
    level: Floats
    """[R, rows, K, 4] means and variances, and those that a gradual drift leads to."""
    motion: Floats
    """[R, K, 4] what moves each arm."""
    season: Floats
    """[period, 2] sin and cos of 2πi/period."""
    share: Floats
    """[T] gradual drift: the probability ρ(t) of the new level; else empty."""
    coin: Bytes
    """[R, T] gradual drift: 1 where the coin of the step falls on the new level; else empty."""
    noise: Floats
    """[R, T] standardised noise; uniforms where the arms are Bernoulli."""
    best: Floats
    """[R, T] the largest mean among the open arms."""
    opens: Ints
    """[R, K] the step from which an arm can be pulled."""
    closes: Ints
    """[R, K] the step from which it can't be pulled any more; T + 1 if never."""
    parts: Floats
    """[R, T, 3] delayed feedback: the parts a reward is cut into; else empty."""
    delay: Ints
    """[R, T, 3] delayed feedback: after how many steps each part falls due; else empty."""


@inlined
def level_of(kind, level, motion, season, row, blip, k, t, column):  # type: ignore[no-untyped-def]
    """Mean of arm k at step t when the level of one column (MEAN or NEW_MEAN) is played."""
    mean = level[row, k, column]
    if blip == 0:
        if kind & SLOPE:
            mean += motion[k, PER_STEP] * t
        if kind & SEASON:
            i = t % season.shape[0]
            mean += motion[k, SIN_WEIGHT] * season[i, 0] + motion[k, COS_WEIGHT] * season[i, 1]
    if kind & BERNOULLI:
        mean = min(1.0, max(0.0, mean))
    return mean


@inlined
def mean_of(kind, level, motion, season, share, row, blip, k, t):  # type: ignore[no-untyped-def]
    """μ_k(t): in a gradual drift the mean of the mixture."""
    mean = level_of(kind, level, motion, season, row, blip, k, t, MEAN)
    if kind & GRADUAL and blip == 0:
        rho = share[t - 1]
        new = level_of(kind, level, motion, season, row, blip, k, t, NEW_MEAN)
        mean = (1.0 - rho) * mean + rho * new
    return mean


@inlined
def variance_of(kind, level, motion, row, blip, k, t, column):  # type: ignore[no-untyped-def]
    """σ²_k(t) when the level of one column (VARIANCE or NEW_VARIANCE) is played."""
    variance = level[row, k, column]
    if kind & GROWTH and blip == 0:
        variance += motion[k, VARIANCE_PER_STEP] * t
    return variance


@inlined
def reward_of(kind, level, motion, season, coin, noise, row, blip, k, t):  # type: ignore[no-untyped-def]
    """What arm k pays at step t: the same for every candidate that pulls it there."""
    new = kind & GRADUAL and blip == 0 and coin[t - 1] == 1
    mean = level_of(kind, level, motion, season, row, blip, k, t, NEW_MEAN if new else MEAN)
    if kind & BERNOULLI:
        return 1.0 if noise[t - 1] < mean else 0.0
    return (
        mean + sqrt(variance_of(kind, level, motion, row, blip, k, t, NEW_VARIANCE if new else VARIANCE)) * noise[t - 1]
    )


@compiled
def fill_best(worlds):  # type: ignore[no-untyped-def]
    """Write the best mean of every moment: arm by arm, so that the inner loop runs over steps."""
    kind, starts, season, share = worlds.kind, worlds.starts, worlds.season, worlds.share
    for r in range(worlds.noise.shape[0]):
        level, motion, best = worlds.level[r], worlds.motion[r], worlds.best[r]
        opens, closes = worlds.opens[r], worlds.closes[r]
        best[:] = -np.inf
        for segment in range(worlds.row.shape[0]):
            row, blip = worlds.row[segment], worlds.blip[segment]
            for k in range(level.shape[1]):
                first = max(starts[segment], opens[k])
                last = min(starts[segment + 1], closes[k])
                if blip or not kind & (SLOPE | SEASON | GRADUAL):
                    still = mean_of(kind, level, motion, season, share, row, blip, k, first)
                    part = best[first - 1 : last - 1]
                    for i in range(part.shape[0]):
                        part[i] = still if still > part[i] else part[i]
                elif not kind & (SEASON | GRADUAL | BERNOULLI):
                    # the same line as in level_of, without its branches, so that several steps go at once
                    base, slope = level[row, k, MEAN], motion[k, PER_STEP]
                    part = best[first - 1 : last - 1]
                    for i in range(part.shape[0]):
                        now = base + slope * np.int32(first + i)
                        part[i] = now if now > part[i] else part[i]
                else:
                    for t in range(first, last):
                        now = mean_of(kind, level, motion, season, share, row, blip, k, t)
                        best[t - 1] = now if now > best[t - 1] else best[t - 1]


@inlined
def mean_and_variance_of(kind, level, motion, season, share, row, blip, k, t):  # type: ignore[no-untyped-def]
    """Mean and variance of arm k at step t; in a gradual drift the mixture's: within the levels and between them."""
    mean = mean_of(kind, level, motion, season, share, row, blip, k, t)
    if kind & BERNOULLI:
        return mean, mean * (1.0 - mean)
    variance = variance_of(kind, level, motion, row, blip, k, t, VARIANCE)
    if kind & GRADUAL and blip == 0:
        rho = share[t - 1]
        old = level_of(kind, level, motion, season, row, blip, k, t, MEAN)
        new = level_of(kind, level, motion, season, row, blip, k, t, NEW_MEAN)
        variance *= 1.0 - rho
        variance += rho * variance_of(kind, level, motion, row, blip, k, t, NEW_VARIANCE)
        variance += rho * (1.0 - rho) * (new - old) ** 2
    return mean, variance


@compiled
def fill_tables(worlds, r, means, variances):  # type: ignore[no-untyped-def]
    """Means and variances of all arms at all steps of one world, [T, K]; NaN where an arm is not open."""
    kind, season, share = worlds.kind, worlds.season, worlds.share
    level, motion = worlds.level[r], worlds.motion[r]
    segment = 0
    for t in range(1, means.shape[0] + 1):
        while t >= worlds.starts[segment + 1]:
            segment += 1
        row, blip = worlds.row[segment], worlds.blip[segment]
        for k in range(means.shape[1]):
            if not worlds.opens[r, k] <= t < worlds.closes[r, k]:
                means[t - 1, k] = np.nan
                variances[t - 1, k] = np.nan
                continue
            means[t - 1, k], variances[t - 1, k] = mean_and_variance_of(
                kind, level, motion, season, share, row, blip, k, t
            )


@compiled
def fill_rewards(worlds, r, first, means, rewards):  # type: ignore[no-untyped-def]
    """Means and rewards of all arms of one world from step `first` on, as many steps as fit, open or not."""
    kind, season, share = worlds.kind, worlds.season, worlds.share
    level, motion, coin, noise = worlds.level[r], worlds.motion[r], worlds.coin[r], worlds.noise[r]
    segment = 0
    for t in range(first, min(first + means.shape[0], noise.shape[0] + 1)):
        while t >= worlds.starts[segment + 1]:
            segment += 1
        row, blip = worlds.row[segment], worlds.blip[segment]
        for k in range(means.shape[1]):
            means[t - first, k] = mean_of(kind, level, motion, season, share, row, blip, k, t)
            rewards[t - first, k] = reward_of(kind, level, motion, season, coin, noise, row, blip, k, t)


def world_tables(worlds: Worlds, replication: int = 0) -> tuple[Floats, Floats]:
    """Means and variances [T, K] of one world, for pictures and tests.

    >>> from environments import find_scenario
    >>> from environments.draw import draw_worlds
    >>> means, variances = world_tables(draw_worlds(find_scenario("stationary"), 50, 3, seed=1))
    >>> means.shape, bool((means[0] == means[-1]).all())
    ((50, 3), True)
    """
    means = np.empty((worlds.noise.shape[1], worlds.level.shape[2]))
    variances = np.empty_like(means)
    fill_tables(worlds, replication, means, variances)
    return means, variances
