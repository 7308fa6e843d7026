"""RAVEN-auto: a RAVEN index on discounted statistics whose discount is learned online; it has no parameters.

Six experts keep statistics of the same rewards with different memories: τ = ∞ and τ = 10K·4^j, j = 0 … 4, as the
discount γ = 1 − 1/τ per reward of any arm. With the weight W and the weighted mean M of an arm, an expert predicts its
next reward by N(M, s²·(1 + 1/W)). Every reward of an arm that was pulled before is scored for all experts by the
logarithm of this density, with W at least 0.05 and the squared standardized residual at most 6, so that an outlier does
not decide. The expert with the largest sum of scores, compared after every eighth such reward, selects the arm:

    M + sqrt((0.4 + 0.6/N)·V·ln(1 + min(t, τ)/K) / W),

where K counts all arms, N all pulls of the arm, and V is the weighted mean of s² at the times of its rewards. As in
RAVEN-UCB the bonus grows with the variance, and its weight decreases with the pulls. An arm with W < 1e-3 is pulled
immediately.

s² of an arm is estimated from differences d of its successive rewards, which a change of its mean affects only once:
s² = (Σw·d²/2 + 60·v)/(Σw + 60), with weights that decrease by 1 − 1/30 per difference. v is the same average over all
arms with 1 − 1/90, plus two differences between first rewards of different arms, so that it exists from the start. The
first three rewards of an arm have the s² of the third.

Scores and index are unchanged if rewards are shifted, and scaled with them if they are scaled.
"""

from __future__ import annotations

from math import inf, log, sqrt

from environments.compiled import inlined
from policies.engine.base import CLOSED, OPEN, PULLS, Policy
from policies.engine.discounting import discount_row
from policies.engine.limits import CONSTANT, FINITE, NONNEGATIVE, UNIT, Limit

EXPERTS = 6
WEIGHT, MEAN, VARIANCE = 1, 1 + EXPERTS, 1 + 2 * EXPERTS  # first rows of the experts: W/u, M and the sum of s², over u
LAST, SQUARES, COUNT = 1 + 3 * EXPERTS, 2 + 3 * EXPERTS, 3 + 3 * EXPERTS
"""Rows of an arm: its last reward, Σw·d²/2 and Σw."""

GAMMA, MEMORY, UNIT_OF_WEIGHT, SCORE, SPREAD = (EXPERTS * i for i in range(5))
"""First cells of the experts: γ, τ, u, sum of scores, and product of 1 + 1/W since the last comparison."""
CHOSEN, PENDING, LATEST, POOLED, POOLED_COUNT, FIRST, FIRST_COUNT = range(5 * EXPERTS, 5 * EXPERTS + 7)
"""Cells: the expert that selects, rewards since the last comparison, the last reward of any arm, sums for v, and those
of first rewards."""

SHORTEST, FACTOR = 10.0, 4.0  # the shortest memory is 10K, each is 4 times as long as the one before
LATE_WEIGHT, EARLY_WEIGHT = 0.4, 0.6  # weight of the bonus after many pulls, and what one pull adds to it
FORGOTTEN = 1e-3
LEAST_WEIGHT, LARGEST_RESIDUAL = 0.05, 6.0  # in scores
EVERY = 8  # scored rewards between comparisons of the experts, so that few logarithms are needed
KEEP, KEEP_POOLED, PRIOR, FIRST_WEIGHT, PROVISIONAL = 1.0 - 1.0 / 30.0, 1.0 - 1.0 / 90.0, 60.0, 2.0, 3.0
SMALLEST_UNIT = 1e-30


@inlined
def start(arms, cells, memory, p):  # type: ignore[no-untyped-def]
    """Compute τ and γ of all experts, and set u = 1 and the products of 1 + 1/W."""
    tau = SHORTEST * arms.shape[1]
    for j in range(EXPERTS):
        cells[UNIT_OF_WEIGHT + j] = 1.0
        cells[SPREAD + j] = 1.0
        cells[MEMORY + j] = 0.0 if j == 0 else tau  # 0 is infinite: cells are finite
        cells[GAMMA + j] = 1.0 if j == 0 else 1.0 - 1.0 / tau
        tau *= FACTOR if j > 0 else 1.0


@inlined
def pooled_variance(cells):  # type: ignore[no-untyped-def]
    """v."""
    first = cells[FIRST] / max(1.0, cells[FIRST_COUNT])
    return (cells[POOLED] + FIRST_WEIGHT * first) / (cells[POOLED_COUNT] + FIRST_WEIGHT)


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax of the index of the expert with the largest score."""
    j = int(cells[CHOSEN])
    unit, steps = cells[UNIT_OF_WEIGHT + j], float(t)
    if j > 0:
        steps = min(steps, cells[MEMORY + j])
    level, v = log(1.0 + steps / open_.shape[0]), pooled_variance(cells)
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        if open_[k] == CLOSED:
            continue
        stored, n = arms[WEIGHT + j, k], arms[PULLS, k]
        weight, score = stored * unit, inf
        if weight >= FORGOTTEN:
            variance = arms[VARIANCE + j, k] / stored if n > 1.0 else v
            score = arms[MEAN + j, k] + sqrt((LATE_WEIGHT + EARLY_WEIGHT / n) * level * variance / weight)
        if score > best and (open_[k] == OPEN or score < inf):
            best, chosen = score, k
    return chosen


@inlined
def update_variance(t, k, x, arms, cells):  # type: ignore[no-untyped-def]
    """Add the difference from the last reward of the arm, and return s² of the arm."""
    if arms[PULLS, k] > 1.0:
        d = x - arms[LAST, k]
        arms[SQUARES, k] = KEEP * arms[SQUARES, k] + 0.5 * d * d
        arms[COUNT, k] = KEEP * arms[COUNT, k] + 1.0
        cells[POOLED] = KEEP_POOLED * cells[POOLED] + 0.5 * d * d
        cells[POOLED_COUNT] = KEEP_POOLED * cells[POOLED_COUNT] + 1.0
    elif t > 1:
        d = x - cells[LATEST]
        cells[FIRST] += 0.5 * d * d
        cells[FIRST_COUNT] += 1.0
    arms[LAST, k] = x
    cells[LATEST] = x
    return (arms[SQUARES, k] + PRIOR * pooled_variance(cells)) / (arms[COUNT, k] + PRIOR)


@inlined
def add_score(j, k, x, variance, arms, cells):  # type: ignore[no-untyped-def]
    """Add ln N(x; M, s²·(1 + 1/W)) to the score of an expert, without the terms that all share and without ln(1 + 1/W).

    The factor 1 + 1/W is multiplied to the product, whose logarithm is added before the next comparison.
    """
    spread = 1.0 + 1.0 / max(arms[WEIGHT + j, k] * cells[UNIT_OF_WEIGHT + j], LEAST_WEIGHT)
    cells[SPREAD + j] *= spread
    difference, scale = x - arms[MEAN + j, k], variance * spread
    squares = difference * difference
    if squares > LARGEST_RESIDUAL * scale:
        cells[SCORE + j] -= 0.5 * LARGEST_RESIDUAL
    elif scale > 0.0:
        cells[SCORE + j] -= 0.5 * squares / scale


@inlined
def choose_expert(cells):  # type: ignore[no-untyped-def]
    """Complete the scores and choose the expert with the largest, the first on a tie."""
    highest = -1e300
    for j in range(EXPERTS):
        cells[SCORE + j] -= 0.5 * log(cells[SPREAD + j])
        cells[SPREAD + j] = 1.0
        if cells[SCORE + j] > highest:
            highest = cells[SCORE + j]
            cells[CHOSEN] = j
    cells[PENDING] = 0.0


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Score all experts, and add the reward to their statistics."""
    n = arms[PULLS, k]
    variance = update_variance(t, k, x, arms, cells)
    if n > 1.0:
        for j in range(EXPERTS):
            add_score(j, k, x, variance, arms, cells)
        cells[PENDING] += 1.0
        if cells[PENDING] >= EVERY:
            choose_expert(cells)
    for j in range(EXPERTS):
        unit = cells[UNIT_OF_WEIGHT + j] * cells[GAMMA + j]
        if unit < SMALLEST_UNIT:
            discount_row(WEIGHT + j, unit, arms)
            discount_row(VARIANCE + j, unit, arms)
            unit = 1.0
        cells[UNIT_OF_WEIGHT + j] = unit
        added = 1.0 / unit
        weight = arms[WEIGHT + j, k] + added
        arms[WEIGHT + j, k] = weight
        arms[MEAN + j, k] += (x - arms[MEAN + j, k]) * (added / weight)
        if n <= PROVISIONAL:
            arms[VARIANCE + j, k] = weight * variance
        else:
            arms[VARIANCE + j, k] += added * variance


class RavenAuto(Policy):
    r"""RAVEN's index without parameters: the discount and the scale of the rewards are learned online.

    $$M + \sqrt{\Bigl(0.4 + \frac{0.6}{N}\Bigr) \frac{V \ln(1 + \min(t, \tau)/K)}{W}}, \qquad
    \tau \text{ of the expert with the largest } \sum \ln \mathcal N\Bigl(x; M, s^2 \bigl(1 + \tfrac{1}{W}\bigr)\Bigr)$$
    """

    name = "raven-auto"
    reference = "RAVEN-UCB's index with learned discount and variance; ours"
    rows = 4 + 3 * EXPERTS
    row_limits = {
        **dict.fromkeys(range(WEIGHT, WEIGHT + EXPERTS), NONNEGATIVE),
        **dict.fromkeys(range(VARIANCE, VARIANCE + EXPERTS), NONNEGATIVE),
        **dict.fromkeys((SQUARES, COUNT), NONNEGATIVE),
    }
    cells = 5 * EXPERTS + 7
    cell_limits = {
        **dict.fromkeys((*range(GAMMA, GAMMA + EXPERTS), *range(MEMORY, MEMORY + EXPERTS)), CONSTANT),
        **dict.fromkeys(range(UNIT_OF_WEIGHT, UNIT_OF_WEIGHT + EXPERTS), UNIT),
        **dict.fromkeys(range(SPREAD, SPREAD + EXPERTS), Limit(1.0, (1.0 + 1.0 / LEAST_WEIGHT) ** EVERY)),
        CHOSEN: Limit(0.0, EXPERTS - 1.0, whole=True),
        PENDING: Limit(0.0, EVERY - 1.0, whole=True),
        LATEST: FINITE,
        **dict.fromkeys((POOLED, POOLED_COUNT, FIRST, FIRST_COUNT), NONNEGATIVE),
    }
    start = staticmethod(start)
    choose = staticmethod(select)
    learn = staticmethod(update)
