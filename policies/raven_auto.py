"""RAVEN-auto: a RAVEN index on tracked means whose rate of change is learned online; it has no parameters.

Seven experts track the means of all arms from the same rewards, under the assumption that every mean moves and may
drift: after Δ steps without a reward of the arm, the variance P of its estimated mean M has grown by v·x·(1 + x)/τ with
x = Δ/τ. The experts have τ = ∞ (nothing changes) and τ = 10·4^j, j = 0 … 5; an arm that is pulled at every step is
averaged over about τ rewards. P also grows by B·(Δ/(t + 30K))², because nothing can be observed about an arm that is
not pulled; B is explained below. The estimate is a Kalman filter: a reward x with variance s² changes M by g·(x − M)
and P to g·s² with the gain g = P/(P + s²). For τ = ∞ the growth with B raises only the index: P without it enters
scores, gain and the new P, so that the average over all rewards of an arm is kept when the arm is pulled again after a
long time.

Every reward of an arm that was pulled before is scored for all experts by the logarithm of the density
N(x; M, P + s²), with a squared standardized residual of at most 6, so that an outlier does not decide. The expert with
the largest sum of scores, compared after every eighth such reward, selects the arm by its M and P, grown up to now:

    M + sqrt((0.45 + 0.7/N)·P·ln(1 + t/K)·X/(1 + X)),   X = (t/K · (K + 30)/(40K))²,

where K counts all arms and N all pulls of the arm. As in RAVEN-UCB the bonus grows with the variance of the rewards,
and its weight decreases with the pulls. X/(1 + X) keeps the bonus small during the first steps per arm, about 30 of
them with many arms and a few with few arms: if the horizon is that short, exploring all arms costs more than it gains.

s² of an arm is estimated from differences d of its successive rewards, which a change of its mean affects only once:
s² = (Σw·d²/2 + 20·v)/(Σw + 20), with weights that decrease by 1 − 1/100 per difference. v is the same average over all
arms with 1 − 1/90, plus two differences between first rewards of different arms, so that it exists from the start.
Until Σw of v reaches 60, after about 100 rewards, v is too uncertain for the weights of rewards: M is the plain average
and P = s²/N up to the third reward of an arm, and P of an arm with one pull is the present v.

B is computed when the experts are compared: B = 8·S²·r/K, where S² is the variance of M among the pulled arms and
r = S²/(S² + v), so S²·r is the part of S² that one reward explains. An arm with a new mean is found sooner or later,
and rarely looked for if there are many arms or if it would take many rewards.

Scores and index are unchanged if rewards are shifted, and scaled with them if they are scaled.
"""

from math import log, sqrt

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.base import PULLS, Policy
from ravenlab.policies.engine.limits import CONSTANT, COUNT_OF_STEPS, FINITE, NONNEGATIVE, Limit
from ravenlab.policies.engine.rules import argmax_row

EXPERTS = 7
MEAN, UNCERTAINTY = 1, 1 + EXPERTS  # first rows of the experts: M and P
LAST, STEP, SQUARES, COUNT, INDEX = range(1 + 2 * EXPERTS, 6 + 2 * EXPERTS)
"""Rows of an arm: its last reward and the step of it, Σw·d²/2, Σw, and its index at the last selection."""

RATE, SCORE, SPREAD = 0, EXPERTS, 2 * EXPERTS
"""First cells of the experts: 1/τ, sum of scores, and product of (P + s²)/s² since the last comparison."""
CHOSEN, PENDING, LATEST, POOLED, POOLED_COUNT, FIRST, FIRST_COUNT, REDRAWN = range(3 * EXPERTS, 3 * EXPERTS + 8)
"""Cells: the expert that selects, rewards since the last comparison, the last reward of any arm, sums for v, those of
first rewards, and B."""

SHORTEST, FACTOR = 10.0, 4.0  # the shortest memory, and the ratio of a memory to the one before
LATE_WEIGHT, EARLY_WEIGHT = 0.45, 0.7  # weight of the bonus after many pulls, and what one pull adds to it
RAMP, FEW_ARMS = 40.0, 30.0  # X is 1 after RAMP steps per arm, sooner with fewer arms than about FEW_ARMS
REDRAWN_WEIGHT, WARM_UP = 8.0, 30.0
LARGEST_RESIDUAL = 6.0
EVERY = 8  # scored rewards between comparisons of the experts, so that few logarithms are needed
KEEP, KEEP_POOLED, PRIOR, FIRST_WEIGHT, PROVISIONAL = 1.0 - 1.0 / 100.0, 1.0 - 1.0 / 90.0, 20.0, 2.0, 3.0
KNOWN = 60.0  # Σw of v from which on v is certain enough
LARGEST_SPREAD = 1e150  # eight factors of 1e9 steps without a pull have a product of 1e130; more would overflow
SMALLEST_SPREAD = 0.5  # a factor is at least 1, except for rounding


@inlined
def start(arms, cells, memory, p):  # type: ignore[no-untyped-def]
    """Compute 1/τ of all experts, and set the products to 1."""
    tau = SHORTEST
    for j in range(EXPERTS):
        cells[SPREAD + j] = 1.0
        cells[RATE + j] = 0.0 if j == 0 else 1.0 / tau
        tau *= FACTOR if j > 0 else 1.0


@inlined
def pooled_variance(cells):  # type: ignore[no-untyped-def]
    """v."""
    first = cells[FIRST] / max(1.0, cells[FIRST_COUNT])
    return (cells[POOLED] + FIRST_WEIGHT * first) / (cells[POOLED_COUNT] + FIRST_WEIGHT)


@inlined
def share_of_steps(age, t, count):  # type: ignore[no-untyped-def]
    """(Δ/(t + 30K))²."""
    share = age / (t + WARM_UP * count)
    return share * share


@inlined
def exploration(t, count):  # type: ignore[no-untyped-def]
    """ln(1 + t/K)·X/(1 + X)."""
    per_arm = t / count
    root = per_arm * (count + FEW_ARMS) / (RAMP * count)
    x = root * root
    return log(1.0 + per_arm) * (x / (1.0 + x))


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax of the index of the expert with the largest score."""
    j, count = int(cells[CHOSEN]), open_.shape[0]
    rate, v, level = cells[RATE + j], pooled_variance(cells), exploration(t, count)
    known = cells[POOLED_COUNT] >= KNOWN
    moved, redrawn = v * rate * rate, cells[REDRAWN] * share_of_steps(1.0, t, count)  # per step, and per squared step
    for k in range(count):  # no branches, so that the compiler vectorizes the loop
        n, age = max(1.0, arms[PULLS, k]), t - arms[STEP, k]
        variance = arms[UNCERTAINTY + j, k] if n > 1.0 or known else v
        variance += age * (moved * (1.0 + age * rate) + age * redrawn)
        arms[INDEX, k] = arms[MEAN + j, k] + sqrt((LATE_WEIGHT + EARLY_WEIGHT / n) * level * variance)
    return argmax_row(open_, arms, INDEX)


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
def track(k, x, age, redrawn, variance, arms, cells):  # type: ignore[no-untyped-def]
    """Score all experts and update M and P; the logarithms of (P + s²)/s² are added before the next comparison."""
    v, n, precision, known = pooled_variance(cells), arms[PULLS, k], 1.0 / variance, cells[POOLED_COUNT] >= KNOWN
    for j in range(EXPERTS):
        rate = cells[RATE + j]
        moved = age * rate
        before = arms[UNCERTAINTY + j, k] + v * moved * (1.0 + moved) * rate + redrawn * (rate > 0.0)
        if n <= PROVISIONAL and not known:
            before = variance / (n - 1.0)
        difference, scale = x - arms[MEAN + j, k], before + variance
        inverse = 1.0 / scale
        gain = before * inverse
        cells[SPREAD + j] = min(LARGEST_SPREAD, cells[SPREAD + j] * (scale * precision))
        cells[SCORE + j] -= 0.5 * min(LARGEST_RESIDUAL, difference * difference * inverse)
        arms[MEAN + j, k] += gain * difference
        arms[UNCERTAINTY + j, k] = gain * variance


@inlined
def set_single_pulls(arms, cells):  # type: ignore[no-untyped-def]
    """Set P of the arms with one pull to v."""
    for k in range(arms.shape[1]):
        if arms[PULLS, k] == 1.0:
            arms[UNCERTAINTY : UNCERTAINTY + EXPERTS, k] = pooled_variance(cells)


@inlined
def choose_expert(arms, cells):  # type: ignore[no-untyped-def]
    """Complete the scores and choose the expert with the largest, the first on a tie; then compute B."""
    highest, j = -1e300, 0
    for i in range(EXPERTS):
        cells[SCORE + i] -= 0.5 * log(cells[SPREAD + i])
        cells[SPREAD + i] = 1.0
        if cells[SCORE + i] > highest:
            highest, j = cells[SCORE + i], i
    cells[CHOSEN], cells[PENDING] = j, 0.0
    count, mean, squares = 0.0, 0.0, 0.0
    for k in range(arms.shape[1]):
        if arms[PULLS, k] > 0.0:
            count += 1.0
            difference = arms[MEAN + j, k] - mean
            mean += difference / count
            squares += difference * (arms[MEAN + j, k] - mean)
    spread, v = squares / max(1.0, count - 1.0), pooled_variance(cells)
    explained = spread * (spread / (spread + v)) if v > 0.0 else 0.0
    cells[REDRAWN] = REDRAWN_WEIGHT / arms.shape[1] * explained


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Estimate the variance, track the mean of the arm, and compare the experts after every eighth scored reward."""
    count_before = cells[POOLED_COUNT]
    variance, age = update_variance(t, k, x, arms, cells), t - arms[STEP, k]
    arms[STEP, k] = t
    if count_before < KNOWN <= cells[POOLED_COUNT]:
        set_single_pulls(arms, cells)
    if arms[PULLS, k] > 1.0 and variance > 0.0:
        track(k, x, age, cells[REDRAWN] * share_of_steps(age, t, arms.shape[1]), variance, arms, cells)
    else:
        arms[MEAN : MEAN + EXPERTS, k] = x
        arms[UNCERTAINTY : UNCERTAINTY + EXPERTS, k] = variance
    if arms[PULLS, k] > 1.0:
        cells[PENDING] += 1.0
        if cells[PENDING] >= EVERY:
            choose_expert(arms, cells)


class RavenAuto(Policy):
    r"""RAVEN's index without parameters: the rate of change and the scale of the rewards are learned online.

    $$M + \sqrt{\Bigl(0.45 + \frac{0.7}{N}\Bigr) P \ln\Bigl(1 + \frac{t}{K}\Bigr) \frac{X}{1 + X}}, \qquad
    X = \Bigl(\frac{t (K + 30)}{40 K^2}\Bigr)^2, \qquad
    M, P \text{ of the Kalman filter with the largest } \sum \ln \mathcal N(x; M, P + s^2)$$
    """

    reference = "RAVEN-UCB's index with learned rate of change and variance; ours"
    row_limits = {
        **dict.fromkeys(range(UNCERTAINTY, UNCERTAINTY + EXPERTS), NONNEGATIVE),
        STEP: COUNT_OF_STEPS,
        **dict.fromkeys((SQUARES, COUNT), NONNEGATIVE),
        INDEX: FINITE,
    }
    cell_limits = {
        **dict.fromkeys(range(RATE, RATE + EXPERTS), CONSTANT),
        **dict.fromkeys(range(SPREAD, SPREAD + EXPERTS), Limit(SMALLEST_SPREAD, LARGEST_SPREAD)),
        CHOSEN: Limit(0.0, EXPERTS - 1.0, whole=True),
        PENDING: Limit(0.0, EVERY - 1.0, whole=True),
        **dict.fromkeys((POOLED, POOLED_COUNT, FIRST, FIRST_COUNT, REDRAWN), NONNEGATIVE),
    }
