"""Leader run: the exact fast method for RAVEN-UCB.

Between pulls of other arms, the leader is pulled until its score falls to that of the runner-up. Whole blocks of 64,
512 or 4,096 steps are skipped when a bound certifies that the leader keeps the lead throughout the block.

A search of all arms also gives the runner-up and a bound of all other scores. Since c_t decreases, the next leader is
usually known from these before the next search, which then only serves to find the score to beat. Most runs are short,
so this matters more than the speed of a step: the processor continues with the next run while it searches.
"""

from functools import lru_cache
from math import sqrt
from typing import NamedTuple

import numpy as np

from ravenlab.common.compiled import compile_for, compiled, compiled_on_demand, inner_inlined
from ravenlab.environments import world
from ravenlab.environments.world import Floats, Ints, Worlds
from ravenlab.policies.engine.block_sums import (
    AVERAGE,
    BLOCK_REGRET,
    BLOCK_SUBOPTIMAL,
    FACTOR,
    LEVELS,
    LONGEST,
    ONE,
    PREFIX,
    SHORTEST,
    SQUARES,
    allocate_blocks,
    ensure_block,
    sum_steps,
)
from ravenlab.policies.raven_ucb import BETA0, EPSILON, ESTIMATOR, WELFORD, coefficient, next_variance

GROUP = 32  # arms that share a bound of their scores
NEVER = -1e300  # score of an arm that cannot be pulled
TABLE_BYTES = 16_000_000  # memory for the tables of c_t of a chunk of candidates


class Scratch(NamedTuple):
    """Working memory for one candidate on one world."""

    level: Floats
    """[K] A of each arm; `NEVER` if it cannot be pulled, and for the leader."""
    width: Floats
    """[K] B of each arm."""
    mean: Floats
    """[K] mean reward M."""
    spread: Floats
    """[K] sum of squared deviations Q with Welford's estimator, else S²."""
    pulls: Ints
    """[K] number of pulls N."""
    rates: Floats
    """[K, 5] mean, slope, variance, its growth and standard deviation of each arm in a segment."""
    segment: Ints
    """[K] the segment of `rates`; −1 if it has not been computed in this world."""
    bound: Floats
    """[groups] upper bound of the scores of each group of arms."""
    rewards: Floats
    """[64] rewards of a block."""
    sums: Floats
    """[5] sums of a part of a block."""


def allocate_scratch(arms: int) -> Scratch:
    """Allocate the working memory for a number of arms."""
    return Scratch(
        level=np.empty(arms),
        width=np.empty(arms),
        mean=np.empty(arms),
        spread=np.empty(arms),
        pulls=np.empty(arms, dtype=np.int64),
        rates=np.empty((arms, 5)),
        segment=np.empty(arms, dtype=np.int64),
        bound=np.empty(-(-arms // GROUP)),
        rewards=np.empty(SHORTEST),
        sums=np.empty(5),
    )


def leader_run(worlds: Worlds, candidates: Floats, mark: int = 0) -> Floats | None:
    """Return regret, reward, suboptimal pulls, and regret up to step `mark` [C, R, 4] of candidates [C, parameters].

    None is returned where the method is not exact: for delayed feedback, and if c_t of a candidate is not decreasing
    (ε of 5 or more).
    """
    if worlds.kind & world.DELAYED:
        return None
    replications, horizon = worlds.noise.shape
    arms = worlds.level.shape[2]
    out = np.empty((candidates.shape[0], replications, 4))
    blocks, scratch = allocate_blocks(arms, horizon), allocate_scratch(arms)
    chunk = max(1, TABLE_BYTES // (8 * (horizon + 2)))
    for start in range(0, candidates.shape[0], chunk):
        part = candidates[start : start + chunk]
        tables = make_tables(part.tobytes(), part.shape[0], horizon)
        if tables is None:
            return None
        blocks.stamp[:] = -1
        play_candidates(worlds, part, *tables, blocks, scratch, mark, out[start : start + chunk])
    return out


def compile_kernel(worlds: Worlds, candidates: Floats) -> None:
    """Compile what takes longest before the first call of `leader_run`."""
    coefficients, row = np.empty((1, 1)), np.empty(1)
    work = allocate_blocks(1, 1), allocate_scratch(1)
    compile_for(play_candidates, worlds, candidates, coefficients, row, row, *work, 0, np.empty((1, 1, 4)))


@lru_cache(maxsize=2)
def make_tables(parameters: bytes, count: int, horizon: int) -> tuple[Floats, Floats, Floats] | None:
    """Return the tables of `fill_coefficients`, or None if c_t of a candidate does not decrease.

    They are kept for the next blocks of worlds.
    """
    candidates = np.frombuffer(parameters).reshape(count, -1).copy()  # a read-only array is of another type for numba
    coefficients = np.empty((count, horizon + 2))
    roots, inverses = np.empty(horizon + 3), np.empty(horizon + 3)
    decreasing = fill_coefficients(candidates, coefficients, roots, inverses)
    return (coefficients, roots, inverses) if decreasing else None


@compiled_on_demand
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


@inner_inlined
def find_best(c, home, level, width, bound):  # type: ignore[no-untyped-def]
    """Return the highest score at c_t, its arm (the lowest index on a tie), and a bound of all other scores.

    The group of arm `home` is searched first, another group only if its bound reaches the highest score so far.
    """
    best, arm, rest = NEVER, np.int64(-1), NEVER
    first = home // GROUP
    for i in range(bound.shape[0]):
        g = first if i == 0 else i - 1 if i <= first else i
        if bound[g] < best:
            rest = bound[g] if bound[g] > rest else rest
            continue
        top, place, below = NEVER, np.int64(-1), NEVER
        end = (g + 1) * GROUP if (g + 1) * GROUP < level.shape[0] else level.shape[0]
        for k in range(np.uint64(g * GROUP), np.uint64(end)):
            # without branches: which arm is the highest cannot be predicted
            score = level[k] + c * width[k]
            lower = score if score < top else top
            below = lower if lower > below else below
            place = np.int64(k) if score > top else place
            top = score if score > top else top
        bound[g] = top
        if top > best or (top == best and place < arm):
            rest = best if best > below else below
            best, arm = top, place
        else:
            rest = top if top > rest else rest
    return best, arm, rest


@inner_inlined
def walk(t, end, n, m, q, totals, rates, p, floor, second, noise, best, c, roots, inverses):  # type: ignore[no-untyped-def]
    """Pull the leader until step `end`, or until its score is at most `second`.

    For Welford's estimator, and means and variances that are constant or linear. The score is at least m + `floor` +
    c_t·B with `floor` = β₀·sqrt(ε), so that the variance is usually not needed. This holds in floating-point arithmetic
    too, because every operation is monotone.
    """
    regret, reward, suboptimal = totals
    base, slope, variance, growth, deviation = rates
    beta0, epsilon = p[BETA0], p[EPSILON]
    u, v, now = np.uint64(t), np.uint64(n), float(t)
    while True:
        mean = base + slope * now
        if growth != 0.0:
            deviation = sqrt(variance + growth * now)
        x = mean + deviation * noise[u - ONE]
        top = best[u - ONE]
        regret += top - mean
        suboptimal += 1.0 if mean < top else 0.0
        reward += x
        u += ONE
        v += ONE
        now += 1.0
        before = x - m
        m += before * inverses[v]
        q += before * (x - m)
        bonus = c[u] * roots[v]
        leads, last = m + floor + bonus > second, u == np.uint64(end)
        if last or not leads:
            level = m + beta0 * sqrt(q * inverses[v - ONE] * inverses[v + ONE] + epsilon)
            leads = level + bonus > second
            if last or not leads:
                break
    return np.int64(u), np.int64(v), m, q, (regret, reward, suboptimal), level, leads


@compiled
def play_candidates(worlds, candidates, coefficients, roots, inverses, blocks, scratch, mark, out):  # type: ignore[no-untyped-def]
    """Play all candidates on all worlds, world by world, so that candidates share the blocks of a world.

    This is one function, because numba optimizes a function again for each that calls it.
    """
    kind, season, share = worlds.kind, worlds.season, worlds.share
    stamp, sums, offset = blocks.stamp, blocks.sums, blocks.offset
    score_level, score_width, bound = scratch.level, scratch.width, scratch.bound
    means, spreads, pulls = scratch.mean, scratch.spread, scratch.pulls
    rates, part = scratch.rates, scratch.sums
    horizon, count = worlds.noise.shape[1], score_level.shape[0]
    for number in range(worlds.noise.shape[0] * candidates.shape[0]):
        r, i = number // candidates.shape[0], number % candidates.shape[0]
        if i == 0:
            for k in range(count):
                scratch.segment[k] = -1
        p, c = candidates[i], coefficients[i]
        starts, rows, blips = worlds.starts[r], worlds.row[r], worlds.blip[r]
        level, motion = worlds.level[r], worlds.motion[r]
        noise, coin, best = worlds.noise[r], worlds.coin[r], worlds.best[r]
        opens, closes = worlds.opens[r], worlds.closes[r]
        beta0, epsilon, welford = p[BETA0], p[EPSILON], p[ESTIMATOR] == WELFORD
        simple = welford and kind & (world.SEASON | world.GRADUAL | world.BERNOULLI) == 0
        floor = beta0 * sqrt(epsilon)
        for k in range(count):
            score_level[k], score_width[k] = NEVER, 0.0
            means[k] = spreads[k] = 0.0
            pulls[k] = 0
        regret, reward, suboptimal, marked = 0.0, 0.0, 0.0, 0.0
        t, segment, event, untried, leader, rival, rest = 1, 0, 1, 0, 0, -1, NEVER
        while t <= horizon:
            if t == event:
                untried, event, rival = 0, horizon + 1, -1
                for k in range(count):
                    if opens[k] <= t < closes[k]:
                        if pulls[k] == 0:
                            untried += 1
                    else:
                        score_level[k], score_width[k] = NEVER, 0.0
                    if t < opens[k] < event:
                        event = opens[k]
                    if t < closes[k] < event:
                        event = closes[k]
                for g in range(bound.shape[0]):
                    bound[g] = -NEVER
            if untried > 0:
                untried -= 1
                leader = 0
                while pulls[leader] > 0 or not opens[leader] <= t < closes[leader]:
                    leader += 1
                second, rival = -NEVER, -1
            else:
                # All other arms are as they were at the last search, and c_t has decreased.
                if rival >= 0:
                    own = score_level[leader] + c[t] * score_width[leader]
                    other = score_level[rival] + c[t] * score_width[rival]
                    if other > rest and (other > own or (other == own and rival < leader)):
                        leader = rival
                    elif not (own > rest and (own > other or (own == other and leader < rival))):
                        rival = -1
                known = rival >= 0
                while True:
                    if known:
                        score_level[leader] = NEVER
                    second, rival, rest = find_best(c[t], leader, score_level, score_width, bound)
                    if known:
                        break
                    leader, known = rival, True
            m, q, n = means[leader], spreads[leader], pulls[leader]
            segment_end = -1
            base = slope = deviation = growth = variance = own_level = 0.0
            row, blip = 0, 0
            while True:
                if welford and n > 0 and (t - 1) % SHORTEST == 0 and second < -NEVER:
                    # Skip the longest block throughout which the leader is certain to keep the lead.
                    stage, length, place = LEVELS - 1, LONGEST, 0
                    while stage >= 0:
                        if (t - 1) % length == 0 and t + length <= event:
                            bonus = c[t + length] * roots[n + length]
                            bonus += beta0 * sqrt(q * inverses[n + length - 1] * inverses[n + length + 1] + epsilon)
                            if m + bonus > second:
                                place = offset[stage] + (t - 1) // length
                                if stamp[leader, place] != r:
                                    while t >= starts[segment + 1]:
                                        segment += 1
                                    block = (t - 1) // length
                                    ensure_block(blocks, worlds, r, segment, leader, stage, block, scratch.rewards)
                                shift = sums[leader, place, AVERAGE] - m
                                drop = length * (shift if shift < 0.0 else 0.0) + sums[leader, place, PREFIX]
                                if m + drop * inverses[n + 1] + bonus > second:
                                    break
                        stage -= 1
                        length //= FACTOR
                    if stage >= 0:
                        if t - 1 <= mark < t + length:
                            while t >= starts[segment + 1]:
                                segment += 1
                            marked = regret
                            for first in range(t, mark + 1, SHORTEST):
                                last = first + SHORTEST if first + SHORTEST < mark + 1 else mark + 1
                                sum_steps(worlds, r, segment, leader, first, last, scratch.rewards, part)
                                marked += part[BLOCK_REGRET]
                        delta, weight = sums[leader, place, AVERAGE] - m, length * inverses[n + length]
                        m += delta * weight
                        q += sums[leader, place, SQUARES] + delta * delta * n * weight
                        n += length
                        t += length
                        regret += sums[leader, place, BLOCK_REGRET]
                        suboptimal += sums[leader, place, BLOCK_SUBOPTIMAL]
                        reward += sums[leader, place, AVERAGE] * length
                        segment_end = -1
                        own_level = m + beta0 * sqrt(q * inverses[n - 1] * inverses[n + 1] + epsilon)
                        if t == event:
                            break
                        continue
                if t >= segment_end:
                    while t >= starts[segment + 1]:
                        segment += 1
                    segment_end = starts[segment + 1]
                    if t <= mark < segment_end:
                        segment_end = mark + 1
                    elif t == mark + 1:
                        marked = regret
                    row, blip = rows[segment], blips[segment]
                    if scratch.segment[leader] != segment:
                        scratch.segment[leader] = segment
                        moving = blip == 0
                        rates[leader, 0] = level[row, leader, world.MEAN]
                        rates[leader, 1] = motion[leader, world.PER_STEP] if kind & world.SLOPE and moving else 0.0
                        rates[leader, 2] = level[row, leader, world.VARIANCE]
                        rates[leader, 3] = (
                            motion[leader, world.VARIANCE_PER_STEP] if kind & world.GROWTH and moving else 0.0
                        )
                        rates[leader, 4] = sqrt(level[row, leader, world.VARIANCE])
                    base, slope = rates[leader, 0], rates[leader, 1]
                    variance, growth, deviation = rates[leader, 2], rates[leader, 3], rates[leader, 4]
                if simple:
                    end = segment_end if segment_end < event else event
                    next_block = t + SHORTEST - (t - 1) % SHORTEST
                    if second < -NEVER and next_block < end:
                        end = next_block
                    totals, moments = (regret, reward, suboptimal), (base, slope, variance, growth, deviation)
                    t, n, m, q, totals, own_level, leads = walk(
                        t, end, n, m, q, totals, moments, p, floor, second, noise, best, c, roots, inverses
                    )
                    regret, reward, suboptimal = totals
                else:
                    mean = world.mean_of(kind, level, motion, season, share, row, blip, leader, t)
                    x = world.reward_of(kind, level, motion, season, coin, noise, row, blip, leader, t)
                    n += 1
                    before = x - m
                    m += before * inverses[n]
                    d = before * (x - m)
                    if welford:
                        q += d
                        sample = q * inverses[n - 1]
                    else:
                        q = next_variance(q, d, float(n), p[ESTIMATOR])
                        sample = q
                    regret += best[t - 1] - mean
                    suboptimal += 1.0 if mean < best[t - 1] else 0.0
                    reward += x
                    t += 1
                    own_level = m + beta0 * sqrt(sample * inverses[n + 1] + epsilon)
                    leads = own_level + c[t] * roots[n] > second
                if t == event or not leads:
                    break
            means[leader], spreads[leader], pulls[leader] = m, q, n
            score_level[leader] = own_level
            score_width[leader] = roots[n]
            if t <= horizon and bound.shape[0] > 1:
                g = leader // GROUP
                own = own_level + c[t] * roots[n]
                bound[g] = own if own > bound[g] else bound[g]
        out[i, r, 0] = regret
        out[i, r, 1] = reward
        out[i, r, 2] = suboptimal
        out[i, r, 3] = marked if mark < horizon else regret
