"""Leader run: the exact fast method for RAVEN-UCB.

Between pulls of other arms, the leader is pulled until its score falls to that of the runner-up. Whole blocks of 64,
512 or 4,096 steps are skipped when a bound certifies that the leader keeps the lead throughout the block.

For each block and arm, these sums are computed when a candidate first needs them and shared by all candidates: the mean
x̄ of the rewards, their centered sum of squares C = Σ(x − x̄)², a lower bound P ≤ 0 of the prefix sums of x − x̄, and the
regret and suboptimal pulls of pulling the arm throughout the block.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from environments.compiled import compiled
from environments.world import (
    BERNOULLI,
    DELAYED,
    GRADUAL,
    GROWTH,
    MEAN,
    PER_STEP,
    SEASON,
    SLOPE,
    VARIANCE,
    VARIANCE_PER_STEP,
    Floats,
    Ints,
    Worlds,
    mean_of,
    reward_of,
)
from policies.raven_ucb import BETA0, EPSILON, ESTIMATOR, WELFORD, coefficient, next_variance

SHORTEST, FACTOR, LEVELS = 64, 8, 3  # steps of the shortest blocks, ratio between levels, number of levels
AVERAGE, SQUARES, PREFIX, REGRET, SUBOPTIMAL = range(5)  # sums of a block
GROUP = 32  # arms that share a bound of their scores
NEVER = -1e300  # score of an arm that cannot be pulled
TABLE_BYTES = 16_000_000  # memory for the tables of c_t of a chunk of candidates


class Blocks(NamedTuple):
    """Storage for the blocks of one world."""

    stamp: Ints
    """[K, blocks of all levels] replication for which the sums have been computed."""
    sums: Floats
    """[K, blocks of all levels, 5]"""
    offset: Ints
    """[LEVELS] index of the first block of each level."""


def allocate_blocks(arms: int, horizon: int) -> Blocks:
    """Allocate the blocks of a world; memory of sums that are never computed is not touched."""
    counts = [horizon // (SHORTEST * FACTOR**level) for level in range(LEVELS)]
    offset = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Blocks(
        stamp=np.full((arms, int(offset[-1])), -1, dtype=np.int64),
        sums=np.empty((arms, int(offset[-1]), 5)),
        offset=offset,
    )


@compiled
def compute_shortest(worlds, r, segment, k, b, sums):  # type: ignore[no-untyped-def]
    """Compute the sums of block number b of 64 steps; `segment` must not start after the block."""
    kind, season, share = worlds.kind, worlds.season, worlds.share
    starts, rows, blips = worlds.starts[r], worlds.row[r], worlds.blip[r]
    level, motion = worlds.level[r], worlds.motion[r]
    noise, coin, best = worlds.noise[r], worlds.coin[r], worlds.best[r]
    first = b * SHORTEST + 1
    total, regret, suboptimal = 0.0, 0.0, 0.0
    s = segment
    for t in range(first, first + SHORTEST):
        while t >= starts[s + 1]:
            s += 1
        total += reward_of(kind, level, motion, season, coin, noise, rows[s], blips[s], k, t)
        mean = mean_of(kind, level, motion, season, share, rows[s], blips[s], k, t)
        regret += best[t - 1] - mean
        if mean < best[t - 1]:
            suboptimal += 1.0
    average = total / SHORTEST
    squares, prefix, lowest = 0.0, 0.0, 0.0
    s = segment
    for t in range(first, first + SHORTEST):
        while t >= starts[s + 1]:
            s += 1
        x = reward_of(kind, level, motion, season, coin, noise, rows[s], blips[s], k, t) - average
        squares += x * x
        prefix += x
        lowest = min(lowest, prefix)
    sums[AVERAGE] = average
    sums[SQUARES] = squares
    sums[PREFIX] = lowest
    sums[REGRET] = regret
    sums[SUBOPTIMAL] = suboptimal


@compiled
def join_blocks(parts, length, sums):  # type: ignore[no-untyped-def]
    """Compute the sums of a block from those of its 8 parts of `length` steps each.

    Relative to the joint average ā, the prefix sums of a part are at least (sum of x − ā before it) + P +
    length·min(x̄ − ā, 0).
    """
    average, regret, suboptimal = 0.0, 0.0, 0.0
    for i in range(FACTOR):
        average += parts[i, AVERAGE]
        regret += parts[i, REGRET]
        suboptimal += parts[i, SUBOPTIMAL]
    average /= FACTOR
    squares, before, lowest = 0.0, 0.0, 0.0
    for i in range(FACTOR):
        shift = parts[i, AVERAGE] - average
        squares += parts[i, SQUARES] + length * shift * shift
        lowest = min(lowest, before + parts[i, PREFIX] + length * min(shift, 0.0))
        before += length * shift
    sums[AVERAGE] = average
    sums[SQUARES] = squares
    sums[PREFIX] = lowest
    sums[REGRET] = regret
    sums[SUBOPTIMAL] = suboptimal


@compiled
def ensure_block(blocks, worlds, r, segment, k, level, b):  # type: ignore[no-untyped-def]
    """Compute block b of a level for arm k, and its parts, unless already done."""
    stamp, sums, offset = blocks.stamp[k], blocks.sums[k], blocks.offset
    length = SHORTEST
    for part_level in range(level + 1):
        span = FACTOR ** (level - part_level)
        for i in range(b * span, (b + 1) * span):
            place = offset[part_level] + i
            if stamp[place] == r:
                continue
            if part_level == 0:
                compute_shortest(worlds, r, segment, k, i, sums[place])
            else:
                below = offset[part_level - 1] + i * FACTOR
                join_blocks(sums[below : below + FACTOR], length // FACTOR, sums[place])
            stamp[place] = r
        length *= FACTOR


def leader_run(worlds: Worlds, candidates: Floats) -> Floats | None:
    """Return regret, reward and suboptimal pulls [C, R, 3] of candidates [C, parameters]; None if not exact.

    The method is not exact for delayed feedback, and if c_t of a candidate is not decreasing (ε of 5 or more).
    """
    if worlds.kind & DELAYED:
        return None
    replications, horizon = worlds.noise.shape
    arms = worlds.level.shape[2]
    out = np.empty((candidates.shape[0], replications, 3))
    blocks = allocate_blocks(arms, horizon)
    roots, inverses = np.empty(horizon + 3), np.empty(horizon + 3)
    scratch, bound = np.empty((5, arms)), np.empty(-(-arms // GROUP))
    chunk = max(1, TABLE_BYTES // (8 * (horizon + 2)))
    for start in range(0, candidates.shape[0], chunk):
        part = candidates[start : start + chunk]
        coefficients = np.empty((part.shape[0], horizon + 2))
        if not fill_coefficients(part, coefficients, roots, inverses):
            return None
        blocks.stamp[:] = -1
        play_candidates(worlds, part, coefficients, roots, inverses, blocks, scratch, bound, out[start : start + chunk])
    return out


@compiled
def fill_coefficients(candidates, coefficients, roots, inverses):  # type: ignore[no-untyped-def]
    """Compute c_t of every candidate, 1/sqrt(n + 1) and 1/n; return whether all c_t decrease from t = 2 on."""
    decreasing = True
    for n in range(roots.shape[0]):
        roots[n] = 1.0 / sqrt(n + 1.0)
        inverses[n] = 1.0 / n if n > 0 else 0.0
    for i in range(candidates.shape[0]):
        coefficients[i, 0] = coefficients[i, 1] = 0.0
        for t in range(2, coefficients.shape[1]):
            coefficients[i, t] = coefficient(t, candidates[i])
            if t > 2 and coefficients[i, t] > coefficients[i, t - 1]:
                decreasing = False
    return decreasing


@compiled
def find_leader(c, last, level, width, bound):  # type: ignore[no-untyped-def]
    """Return the leader at c_t (lowest index on a tie) and the score of the runner-up.

    The group of the last leader is searched first, another group only if its bound reaches the runner-up so far.
    """
    leader, best, second = -1, NEVER, NEVER
    groups = bound.shape[0]
    home = last // GROUP
    for i in range(groups):
        g = home if i == 0 else i - 1 if i <= home else i
        if bound[g] < second:
            continue
        top = NEVER
        for k in range(g * GROUP, min((g + 1) * GROUP, level.shape[0])):
            score = level[k] + c * width[k]
            top = max(top, score)
            if score > best or (score == best and k < leader):
                second = best
                best, leader = score, k
            else:
                second = max(second, score)
        bound[g] = top
    return leader, second


@compiled
def play_candidates(worlds, candidates, coefficients, roots, inverses, blocks, scratch, bound, out):  # type: ignore[no-untyped-def]
    """Play all candidates on all worlds, world by world, so that candidates share the blocks of a world.

    Scratch space [5, K]: A, B, M, Q (or S²) and N of each arm.
    """
    for r in range(worlds.noise.shape[0]):
        for i in range(candidates.shape[0]):
            play_candidate(
                worlds, r, candidates[i], coefficients[i], roots, inverses, blocks, scratch, bound, out[i, r]
            )


@compiled
def play_candidate(worlds, r, p, c, roots, inverses, blocks, scratch, bound, out):  # type: ignore[no-untyped-def]
    """Play one candidate on one world."""
    kind, season, share = worlds.kind, worlds.season, worlds.share
    starts, rows, blips = worlds.starts[r], worlds.row[r], worlds.blip[r]
    level, motion = worlds.level[r], worlds.motion[r]
    noise, coin, best = worlds.noise[r], worlds.coin[r], worlds.best[r]
    opens, closes = worlds.opens[r], worlds.closes[r]
    stamp, sums, offset = blocks.stamp, blocks.sums, blocks.offset
    score_level, score_width, means, spreads, pulls = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4]
    horizon, count = noise.shape[0], score_level.shape[0]
    beta0, epsilon, welford = p[BETA0], p[EPSILON], p[ESTIMATOR] == WELFORD
    simple = kind & (SEASON | GRADUAL | BERNOULLI) == 0
    for k in range(count):
        score_level[k], score_width[k] = NEVER, 0.0
        means[k] = spreads[k] = pulls[k] = 0.0
    regret, reward, suboptimal = 0.0, 0.0, 0.0
    t, segment, event, untried, leader = 1, 0, 1, 0, 0
    while t <= horizon:
        if t == event:
            untried, event = 0, horizon + 1
            for k in range(count):
                if opens[k] <= t < closes[k]:
                    if pulls[k] == 0.0:
                        untried += 1
                else:
                    score_level[k], score_width[k] = NEVER, 0.0
                if opens[k] > t:
                    event = min(event, opens[k])
                if closes[k] > t:
                    event = min(event, closes[k])
            for g in range(bound.shape[0]):
                bound[g] = -NEVER
        if untried > 0:
            untried -= 1
            leader = 0
            while pulls[leader] > 0.0 or not opens[leader] <= t < closes[leader]:
                leader += 1
            second = -NEVER
        else:
            leader, second = find_leader(c[t], leader, score_level, score_width, bound)
        m, q, n = means[leader], spreads[leader], int(pulls[leader])
        score = 0.0
        segment_end = -1
        base = slope = deviation = growth = 0.0
        row, blip = 0, 0
        while True:
            if welford and n > 0 and (t - 1) % SHORTEST == 0 and second < -NEVER:
                # Skip the longest block throughout which the leader is certain to keep the lead.
                skipped = False
                length = SHORTEST * FACTOR ** (LEVELS - 1)
                for step in range(LEVELS):
                    stage = LEVELS - 1 - step
                    if (t - 1) % length == 0 and t + length <= event:
                        bonus = c[t + length] * roots[n + length]
                        bonus += beta0 * sqrt(q * inverses[n + length - 1] * inverses[n + length + 1] + epsilon)
                        if m + bonus > second:
                            b = (t - 1) // length
                            place = offset[stage] + b
                            if stamp[leader, place] != r:
                                while t >= starts[segment + 1]:
                                    segment += 1
                                ensure_block(blocks, worlds, r, segment, leader, stage, b)
                            delta = sums[leader, place, AVERAGE] - m
                            drop = (length * min(delta, 0.0) + sums[leader, place, PREFIX]) * inverses[n + 1]
                            if m + drop + bonus > second:
                                weight = length * inverses[n + length]
                                m += delta * weight
                                q += sums[leader, place, SQUARES] + delta * delta * n * weight
                                n += length
                                t += length
                                regret += sums[leader, place, REGRET]
                                suboptimal += sums[leader, place, SUBOPTIMAL]
                                reward += sums[leader, place, AVERAGE] * length
                                skipped = True
                                break
                    length //= FACTOR
                if skipped:
                    segment_end = -1
                    if t == event:
                        break
                    continue
            if t >= segment_end:
                while t >= starts[segment + 1]:
                    segment += 1
                segment_end = starts[segment + 1]
                row, blip = rows[segment], blips[segment]
                base = level[row, leader, MEAN]
                slope = motion[leader, PER_STEP] if kind & SLOPE and blip == 0 else 0.0
                growth = motion[leader, VARIANCE_PER_STEP] if kind & GROWTH and blip == 0 else 0.0
                deviation = sqrt(level[row, leader, VARIANCE])
            if simple:
                mean = base + slope * t
                if growth != 0.0:
                    deviation = sqrt(level[row, leader, VARIANCE] + growth * t)
                x = mean + deviation * noise[t - 1]
            else:
                mean = mean_of(kind, level, motion, season, share, row, blip, leader, t)
                x = reward_of(kind, level, motion, season, coin, noise, row, blip, leader, t)
            n += 1
            before = x - m
            m += before * inverses[n]
            d = before * (x - m)
            if welford:
                q += d
                variance = q * inverses[n - 1]
            else:
                q = next_variance(q, d, float(n), p[ESTIMATOR])
                variance = q
            regret += best[t - 1] - mean
            suboptimal += 1.0 if mean < best[t - 1] else 0.0
            reward += x
            t += 1
            if t == event:
                break
            score = m + beta0 * sqrt(variance * inverses[n + 1] + epsilon) + c[t] * roots[n]
            if not score > second:
                break
        means[leader], spreads[leader], pulls[leader] = m, q, float(n)
        variance = q * inverses[n - 1] if welford else q
        score_level[leader] = m + beta0 * sqrt(variance * inverses[n + 1] + epsilon)
        score_width[leader] = roots[n]
        if t <= horizon:
            g = leader // GROUP
            bound[g] = max(bound[g], score_level[leader] + c[t] * score_width[leader])
    out[0] = regret
    out[1] = reward
    out[2] = suboptimal
