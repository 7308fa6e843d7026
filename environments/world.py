"""Worlds as arrays that the loops read: the mean, variance and reward of one arm at one step in O(1).

A world is a schedule (segments of levels, slopes, seasons, open arms) and a tape (one noise draw and the best mean per
step). No array has steps × arms entries.

Compiled functions take the arrays they read as separate arguments: numba counts references of every array that it takes
out of a tuple, which costs more than the arithmetic.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from ravenlab.common.arrays import Bytes
from ravenlab.common.arrays import Floats as Floats
from ravenlab.common.arrays import Ints as Ints
from ravenlab.common.compiled import compiled, inlined, inner_inlined

SLOPE = 1
GROWTH = 2
SEASON = 4
GRADUAL = 8
BERNOULLI = 16
DELAYED = 32
WALK = 64
"""Bits of `Worlds.kind`: features that are present."""

MEAN, VARIANCE, NEW_MEAN, NEW_VARIANCE = range(4)  # columns of `Worlds.level`
PER_STEP, VARIANCE_PER_STEP, SIN_WEIGHT, COS_WEIGHT = range(4)
"""Columns of `Worlds.motion`: δ, γ, A·cos φ (weight of sin) and A·sin φ (weight of cos)."""


CLEARLY = 1e-12  # relative difference between means that exceeds all rounding errors


class Worlds(NamedTuple):
    """R worlds of one scenario, K arms and T steps. Steps count from 1; arrays over steps start at step 1."""

    kind: int
    """Bits of the features that are present."""
    starts: Ints
    """[R, S + 1] first step of each segment; the last entry is T + 1, and so are those of unused segments before it."""
    row: Ints
    """[R, S] index of the level row of each segment."""
    blip: Ints
    """[R, S] 1 if the segment is a blip, whose level has no drift, season or mixture."""
    level: Floats
    """[R, rows, K, 4] means and variances, and those at the end of a gradual drift."""
    motion: Floats
    """[R, K, 4] slopes and seasonal weights of each arm."""
    season: Floats
    """[period, 2] sin and cos of 2πi/period."""
    share: Floats
    """[T] gradual drift: the probability ρ(t) of the new level; else empty."""
    coin: Bytes
    """[R, T] gradual drift: 1 if the step uses the new level; else empty."""
    noise: Floats
    """[R, T] standardized noise; uniform numbers if the arms are Bernoulli."""
    best: Floats
    """[R, T] the largest mean among the open arms."""
    opens: Ints
    """[R, K] first step at which an arm can be pulled."""
    closes: Ints
    """[R, K] first step at which it cannot be pulled any more; T + 1 if it stays open."""
    parts: Floats
    """[R, T, 3] delayed feedback: shares of the parts of a reward; else empty."""
    delay: Ints
    """[R, T, 3] delayed feedback: delay of each part in steps; else empty."""


@inner_inlined
def schedule_of(worlds, r):  # type: ignore[no-untyped-def]
    """What `mean_of` reads in world r, and first steps, level rows and blip marks of its segments."""
    laws = worlds.kind, worlds.level[r], worlds.motion[r], worlds.season, worlds.share
    return laws, worlds.starts[r], worlds.row[r], worlds.blip[r]


@inner_inlined
def level_of(kind, level, motion, season, row, blip, k, t, column):  # type: ignore[no-untyped-def]
    """Mean of arm k at step t for the level in one column (MEAN or NEW_MEAN)."""
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
    """Mean μ_k(t); in a gradual drift that of the mixture."""
    mean = level_of(kind, level, motion, season, row, blip, k, t, MEAN)
    if kind & GRADUAL and blip == 0:
        rho = share[t - 1]
        new = level_of(kind, level, motion, season, row, blip, k, t, NEW_MEAN)
        mean = (1.0 - rho) * mean + rho * new
    return mean


@inner_inlined
def variance_of(kind, level, motion, row, blip, k, t, column):  # type: ignore[no-untyped-def]
    """Variance σ²_k(t) for the level in one column (VARIANCE or NEW_VARIANCE)."""
    variance = level[row, k, column]
    if kind & GROWTH and blip == 0:
        variance += motion[k, VARIANCE_PER_STEP] * t
    return variance


@inner_inlined
def reward_of(kind, level, motion, season, coin, noise, row, blip, k, t):  # type: ignore[no-untyped-def]
    """Reward of arm k at step t: the same for every candidate that pulls it."""
    new = kind & GRADUAL and blip == 0 and coin[t - 1] == 1
    mean = level_of(kind, level, motion, season, row, blip, k, t, NEW_MEAN if new else MEAN)
    if kind & BERNOULLI:
        return 1.0 if noise[t - 1] < mean else 0.0
    return (
        mean + sqrt(variance_of(kind, level, motion, row, blip, k, t, NEW_VARIANCE if new else VARIANCE)) * noise[t - 1]
    )


@compiled
def fill_best(worlds):  # type: ignore[no-untyped-def]
    """Write the best mean of every step: arm by arm, so that the inner loop runs over steps.

    Where means are constant or linear, an arm that is below another one at both ends of a segment is never the best.
    """
    for r in range(worlds.noise.shape[0]):
        (kind, level, motion, season, share), starts, rows, blips = schedule_of(worlds, r)
        best = worlds.best[r]
        opens = worlds.opens[r]
        closes = worlds.closes[r]
        best[:] = -np.inf
        for segment in range(rows.shape[0]):
            row = rows[segment]
            blip = blips[segment]
            begin = starts[segment]
            end = starts[segment + 1]
            linear = blip != 0 or not kind & (SEASON | GRADUAL | BERNOULLI)
            high = -np.inf
            scale = 0.0
            top_first = -np.inf
            top_last = -np.inf
            for k in range(level.shape[1] if linear else 0):
                scale = max(scale, abs(level[row, k, MEAN]) + abs(motion[k, PER_STEP]) * end)
                if opens[k] <= begin and closes[k] >= end:
                    early = mean_of(kind, level, motion, season, share, row, blip, k, begin)
                    late = mean_of(kind, level, motion, season, share, row, blip, k, end - 1)
                    if early + late > high:
                        high = early + late
                        top_first = early
                        top_last = late
            top_first -= CLEARLY * scale
            top_last -= CLEARLY * scale
            for k in range(level.shape[1]):
                first = max(begin, opens[k])
                last = min(end, closes[k])
                if linear:
                    early = mean_of(kind, level, motion, season, share, row, blip, k, begin)
                    late = mean_of(kind, level, motion, season, share, row, blip, k, end - 1)
                    if early < top_first and late < top_last:
                        continue
                if blip or not kind & (SLOPE | SEASON | GRADUAL):
                    still = mean_of(kind, level, motion, season, share, row, blip, k, first)
                    part = best[first - 1 : last - 1]
                    for i in range(part.shape[0]):
                        part[i] = still if still > part[i] else part[i]
                elif linear:
                    # as in level_of, without branches, so that the loop can be vectorized
                    base = level[row, k, MEAN]
                    slope = motion[k, PER_STEP]
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
    """Mean and variance of arm k at step t; in a gradual drift those of the mixture."""
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


def moments_at(worlds: Worlds, r: int, step: int) -> Floats:
    """Return mean and variance [2, K] of all arms, open or closed, of one world at one step."""
    segment = int(np.searchsorted(worlds.starts[r], step, side="right")) - 1
    laws = (worlds.kind, worlds.level[r], worlds.motion[r], worlds.season, worlds.share)
    place = (worlds.row[r, segment], worlds.blip[r, segment])
    arms = range(worlds.level.shape[2])
    return np.array([mean_and_variance_of(*laws, *place, k, step) for k in arms]).T


@compiled
def fill_tables(worlds, r, means, variances):  # type: ignore[no-untyped-def]
    """Write means and variances of all arms at all steps of one world, [T, K]; NaN where an arm is closed."""
    (kind, level, motion, season, share), starts, rows, blips = schedule_of(worlds, r)
    segment = 0
    for t in range(1, means.shape[0] + 1):
        while t >= starts[segment + 1]:
            segment += 1
        row = rows[segment]
        blip = blips[segment]
        for k in range(means.shape[1]):
            if not worlds.opens[r, k] <= t < worlds.closes[r, k]:
                means[t - 1, k] = np.nan
                variances[t - 1, k] = np.nan
                continue
            means[t - 1, k], variances[t - 1, k] = mean_and_variance_of(
                kind, level, motion, season, share, row, blip, k, t
            )


@compiled
def fill_uniform_regret(worlds, first, totals, counts, out):  # type: ignore[no-untyped-def]
    """Write the expected regret of uniform choice among the open arms from step `first` to the last, for each world.

    `totals` and `counts` are working memory, one number per step.
    """
    for r in range(out.shape[0]):
        (kind, level, motion, season, share), starts, rows, blips = schedule_of(worlds, r)
        best = worlds.best[r]
        opens = worlds.opens[r]
        closes = worlds.closes[r]
        totals[:] = 0.0
        counts[:] = 0.0
        for segment in range(rows.shape[0]):
            row = rows[segment]
            blip = blips[segment]
            for k in range(level.shape[1]):
                begin = max(first, starts[segment], opens[k])
                end = min(starts[segment + 1], closes[k])
                if begin >= end:
                    continue
                part = totals[begin - first : end - first]
                count = counts[begin - first : end - first]
                for i in range(count.shape[0]):
                    count[i] += 1.0
                if kind & (SEASON | GRADUAL | BERNOULLI):
                    for i in range(part.shape[0]):
                        part[i] += mean_of(kind, level, motion, season, share, row, blip, k, begin + i)
                    continue
                # as in level_of, without branches, so that the loop can be vectorized
                base = level[row, k, MEAN]
                slope = motion[k, PER_STEP] if kind & SLOPE and blip == 0 else 0.0
                for i in range(part.shape[0]):
                    part[i] += base + slope * np.int32(begin + i)
        regret = 0.0
        for i in range(totals.shape[0]):
            regret += best[first - 1 + i] - totals[i] / counts[i]
        out[r] = regret


@compiled
def fill_rewards(worlds, r, first, means, rewards):  # type: ignore[no-untyped-def]
    """Write means and rewards of all arms, open or closed, of one world from step `first` on."""
    (kind, level, motion, season, share), starts, rows, blips = schedule_of(worlds, r)
    coin = worlds.coin[r]
    noise = worlds.noise[r]
    segment = 0
    for t in range(first, min(first + means.shape[0], noise.shape[0] + 1)):
        while t >= starts[segment + 1]:
            segment += 1
        row = rows[segment]
        blip = blips[segment]
        for k in range(means.shape[1]):
            means[t - first, k] = mean_of(kind, level, motion, season, share, row, blip, k, t)
            rewards[t - first, k] = reward_of(kind, level, motion, season, coin, noise, row, blip, k, t)


def world_tables(worlds: Worlds, replication: int = 0) -> tuple[Floats, Floats]:
    """Return means and variances [T, K] of one world, for plots and tests.

    >>> from ravenlab.environments import find_scenario
    >>> from ravenlab.environments.draw import draw_worlds
    >>> means, variances = world_tables(draw_worlds(find_scenario("stationary"), 50, 3, seed=1))
    >>> means.shape, bool((means[0] == means[-1]).all())
    ((50, 3), True)
    """
    means = np.empty((worlds.noise.shape[1], worlds.level.shape[2]))
    variances = np.empty_like(means)
    fill_tables(worlds, replication, means, variances)
    return means, variances
