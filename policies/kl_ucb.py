"""kl-UCB: the largest q with N·d(m, q) ≤ ln t, d the relative entropy of the likelihood (Garivier and Cappé 2011).

Gaussian likelihood: m + sqrt(2s²·ln t / N). Bernoulli likelihood, on rewards scaled to [0, 1]: d is the binary relative
entropy, d(m, q) = H − m·ln q − (1−m)·ln(1−q) with H = m·ln m + (1−m)·ln(1−m), which changes only with a pull. It is
increasing and convex for q > m, so Newton steps from above decrease to the root, and a step from below ends above it.
The last, short step is a Chebyshev step, step·(1 + step·d″/(2d′)), with an error of third order, below 1e-9.

The initial value is the smaller of two upper bounds, with L = ln t / N: m + sqrt(L/2) (Pinsker) and
1 − exp(−(L − H)/(1−m)), which omits the term in ln q.
"""

from math import exp, log, nan, sqrt

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.base import CLOSED, PULLS
from ravenlab.policies.engine.index import NONE, IndexPolicy
from ravenlab.policies.engine.limits import Limit
from ravenlab.policies.engine.parameters import Param
from ravenlab.policies.engine.rules import GAUSSIAN, LIKELIHOOD_PARAMETER, UnitPolicy, argmax_score, to_unit

CLOSE = 1e-3  # relative length of a step that is the last one
MOST_STEPS = 100  # upper limit of the number of steps, never reached in practice


@inlined
def negative_entropy(m):  # type: ignore[no-untyped-def]
    """H, which is 0 at both ends."""
    if m <= 0.0 or m >= 1.0:
        return 0.0
    return m * log(m) + (1.0 - m) * log(1.0 - m)


@inlined
def initial_bound(m, h, level):  # type: ignore[no-untyped-def]
    """An upper bound of the root."""
    return min(m + sqrt(0.5 * level), 1.0 - exp((h - level) / (1.0 - m)))


@inlined
def upper_bound(m, h, level, guess):  # type: ignore[no-untyped-def]
    """The largest q with d(m, q) ≤ level; a guess within (m, 1) saves steps."""
    if level <= 0.0 or m >= 1.0:
        return m
    if m <= 0.0:
        return 1.0 - exp(-level)
    q = guess if m < guess < 1.0 else initial_bound(m, h, level)
    for _ in range(MOST_STEPS):
        if not m < q < 1.0:
            # closer to an end than double precision can represent
            return min(1.0, max(m, q))
        room, rest = q - m, 1.0 - q
        step = (h - m * log(q) - (1.0 - m) * log(rest) - level) * q * rest / room
        if abs(step) <= CLOSE * room * rest:
            return q - step - step * step * (m * rest * rest + (1.0 - m) * q * q) / (2.0 * room * q * rest)
        q -= step
        if q >= 1.0:
            q = initial_bound(m, h, level)
    return q


MEAN, WIDTH = 1, 2  # rows: m and, for the Gaussian likelihood, 1/sqrt(N)
ENTROPY, REACH = 2, 3  # rows for the Bernoulli likelihood: H, and the latest known (q − m)/sqrt(ln t)
LIKELIHOOD, S2, LOW, HIGH = range(4)  # parameters
SLACK = 1e-12  # tolerance of d(m, q) for rounding errors: q of arms within it is computed exactly
NEARLY_ZERO = 1e-300  # used instead of 0, so that logarithms are finite


@inlined
def solve(k, level, root, arms):  # type: ignore[no-untyped-def]
    """q of arm k at ln t = level = root²; (q − m)/root is stored as the next guess."""
    m = arms[MEAN, k]
    q = upper_bound(m, arms[ENTROPY, k], level / arms[PULLS, k], m + root * arms[REACH, k])
    arms[REACH, k] = (q - m) / root if root > 0.0 else 0.0
    return q


@inlined
def best_bound(t, open_, arms):  # type: ignore[no-untyped-def]
    """argmax of q over the open arms, lowest index on a tie."""
    level = log(t)
    root = sqrt(level)
    chosen = argmax_score(open_, arms, MEAN, REACH, root)
    leader, best = chosen, solve(chosen, level, root, arms)
    log_q, log_rest = log(max(best, NEARLY_ZERO)), log(max(1.0 - best, NEARLY_ZERO))
    for k in range(open_.shape[0]):
        m = arms[MEAN, k]
        distance = arms[ENTROPY, k] - m * log_q - (1.0 - m) * log_rest
        beaten = m < best and arms[PULLS, k] * (distance - SLACK) > level
        if beaten or open_[k] == CLOSED or k == leader:
            continue
        q = solve(k, level, root, arms)
        if q > best or (q == best and k < chosen):
            best, chosen = q, k
            log_q, log_rest = log(max(best, NEARLY_ZERO)), log(max(1.0 - best, NEARLY_ZERO))
    return chosen


@inlined
def coefficient(t, p):  # type: ignore[no-untyped-def]
    """sqrt(2s²·ln t); NaN for the Bernoulli likelihood, whose q has no closed form."""
    return sqrt(2.0 * p[S2] * log(t)) if p[LIKELIHOOD] == GAUSSIAN else nan


@inlined
def index(k, c, ahead, arms, cells, p):  # type: ignore[no-untyped-def]
    """m + sqrt(2s²·ln t)·(1/sqrt(N)), q of the Gaussian likelihood."""
    return arms[MEAN, k] + c * arms[WIDTH, k]


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax q."""
    if p[LIKELIHOOD] == GAUSSIAN:
        return argmax_score(open_, arms, MEAN, WIDTH, coefficient(t, p))
    return best_bound(t, open_, arms)


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Update m and the terms of q that change only with a pull."""
    n = arms[PULLS, k]
    if p[LIKELIHOOD] == GAUSSIAN:
        arms[MEAN, k] += (x - arms[MEAN, k]) / n
        arms[WIDTH, k] = 1.0 / sqrt(n)
    else:
        arms[MEAN, k] += (to_unit(x, p[LOW], p[HIGH]) - arms[MEAN, k]) / n
        arms[ENTROPY, k] = negative_entropy(arms[MEAN, k])
        arms[REACH, k] *= sqrt((n - 1.0) / n)
    return NONE


class KLUCB(IndexPolicy, UnitPolicy):
    r"""UCB whose confidence bound follows the likelihood of the rewards.

    $$\max\{q : N\, d(m, q) \le \ln t\}$$
    """

    reference = "Garivier and Cappé 2011"
    parameters = (
        LIKELIHOOD_PARAMETER,
        Param("s2", 0.25, 1e-4, 1.0, power=2, meaning="s², variance of the rewards (Gaussian)"),
        *UnitPolicy.parameters,
    )
    rows = 4
    row_limits = {MEAN: Limit(0.0, 1.0, likelihood="bernoulli"), WIDTH: Limit(0.0, 1.0, likelihood="gaussian")}
