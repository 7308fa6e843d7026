"""The largest q with d(m, q) ≤ L, d the binary relative entropy: the upper bound of kl-UCB.

d(m, q) = H − m·ln q − (1−m)·ln(1−q) with H = m·ln m + (1−m)·ln(1−m), which only a pull changes. For q above m it
grows and is convex, so Newton's steps from above go down to the root without overshooting, and a step from
below lands above it. The last one, when it is short, is made Chebyshev's, step·(1 + step·d″/(2d′)), whose error is of
the third order: under 1e-9, and mostly far under.

Two bounds lie above the root, the lesser of which is where to begin when nothing better is known: m + sqrt(L/2)
(Pinsker), and 1 − exp(−(L − H)/(1−m)), which is what is left without the term in ln q.
"""

from __future__ import annotations

from math import exp, log, sqrt

from environments.compiled import inlined
from policies.engine.base import CLOSED, PULLS, Param
from policies.engine.rules import GAUSSIAN, LIKELIHOOD_PARAMETER, UNIT_PARAMETERS, UnitPolicy, argmax_score, to_unit

CLOSE = 1e-3
"""A step this short, relative to the room on both sides, is the last one."""

MOST_STEPS = 100
"""Never reached; no loop is without an end."""


@inlined
def negative_entropy(m):  # type: ignore[no-untyped-def]
    """H, 0 at both ends."""
    if m <= 0.0 or m >= 1.0:
        return 0.0
    return m * log(m) + (1.0 - m) * log(1.0 - m)


@inlined
def from_above(m, h, level):  # type: ignore[no-untyped-def]
    """A q at or above the root."""
    return min(m + sqrt(0.5 * level), 1.0 - exp((h - level) / (1.0 - m)))


@inlined
def upper_bound(m, h, level, guess):  # type: ignore[no-untyped-def]
    """The largest q with d(m, q) ≤ level; a guess within (m, 1) saves steps and changes nothing else."""
    if level <= 0.0 or m >= 1.0:
        return m
    if m <= 0.0:
        return 1.0 - exp(-level)
    q = guess if m < guess < 1.0 else from_above(m, h, level)
    for _ in range(MOST_STEPS):
        if not m < q < 1.0:
            # closer to an end than numbers can tell
            return min(1.0, max(m, q))
        room, rest = q - m, 1.0 - q
        step = (h - m * log(q) - (1.0 - m) * log(rest) - level) * q * rest / room
        if abs(step) <= CLOSE * room * rest:
            return q - step - step * step * (m * rest * rest + (1.0 - m) * q * q) / (2.0 * room * q * rest)
        q -= step
        if q >= 1.0:
            q = from_above(m, h, level)
    return q


MEAN, WIDTH = 1, 2
"""Rows: the mean and, where the likelihood is gaussian, 1/sqrt(N)."""

ENTROPY, REACH = 2, 3
"""Rows where it is bernoulli: m·ln m + (1−m)·ln(1−m), and (q − m)/sqrt(ln t) as far as is known."""

LIKELIHOOD, S2, LOW, HIGH = range(4)
"""Places of the parameters."""

SLACK = 1e-12
"""How far rounding may lift d(m, q) at a tie: who is this close is solved for."""

NEARLY = 1e-300
"""In place of 0, so that logarithms are finite."""

S2_PARAMETER = Param("s2", 0.25, 1e-4, 1.0, power=2, meaning="s², the rewards' variance (gaussian)")


@inlined
def solve(k, level, root, arms):  # type: ignore[no-untyped-def]
    """q of arm k at ln t = level = root²; how far it reaches is kept as the next guess."""
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
    favourite, best = chosen, solve(chosen, level, root, arms)
    log_q, log_rest = log(max(best, NEARLY)), log(max(1.0 - best, NEARLY))
    for k in range(open_.shape[0]):
        m = arms[MEAN, k]
        distance = arms[ENTROPY, k] - m * log_q - (1.0 - m) * log_rest
        beaten = m < best and arms[PULLS, k] * (distance - SLACK) > level
        if beaten or open_[k] == CLOSED or k == favourite:
            continue
        q = solve(k, level, root, arms)
        if q > best or (q == best and k < chosen):
            best, chosen = q, k
            log_q, log_rest = log(max(best, NEARLY)), log(max(1.0 - best, NEARLY))
    return chosen


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax of q."""
    if p[LIKELIHOOD] == GAUSSIAN:
        return argmax_score(open_, arms, MEAN, WIDTH, sqrt(2.0 * p[S2] * log(t)))
    return best_bound(t, open_, arms)


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Running mean, and what of q or d depends on nothing else."""
    n = arms[PULLS, k]
    if p[LIKELIHOOD] == GAUSSIAN:
        arms[MEAN, k] += (x - arms[MEAN, k]) / n
        arms[WIDTH, k] = 1.0 / sqrt(n)
    else:
        arms[MEAN, k] += (to_unit(x, p[LOW], p[HIGH]) - arms[MEAN, k]) / n
        arms[ENTROPY, k] = negative_entropy(arms[MEAN, k])
        arms[REACH, k] *= sqrt((n - 1.0) / n)


class KLUCB(UnitPolicy):
    """UCB whose bonus is as wide as the rewards' likelihood allows and no wider."""

    name = "kl-ucb"
    reference = "Garivier and Cappé 2011"
    parameters = (
        LIKELIHOOD_PARAMETER,
        S2_PARAMETER,
        *UNIT_PARAMETERS,
    )
    rows = 4
    choose = staticmethod(select)
    learn = staticmethod(update)
