"""Parameters that policies of different families have in common, each with one default, range and meaning."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from environments.compiled import inlined
from policies.engine.base import CLOSED, OPEN, PULLS, Param

HORIZON_PARAMETER = Param(
    "horizon", lambda setting: setting.number("horizon"), least=1.0, meaning="T, the steps to be played"
)

CHANGES = Param("changes", 10.0, meaning="U, how many changes are expected")

XI_PARAMETER = Param("xi", 0.6, 0.001, 5.0, power=2, meaning="ξ, weight of the bonus, inside the root")

LIKELIHOOD_PARAMETER = Param(
    "likelihood", "gaussian", choices=("gaussian", "bernoulli"), meaning="what rewards are taken for"
)

GAUSSIAN = 0.0
"""How the rules read the first likelihood."""


MEAN, SQUARES = 1, 2
"""Rows of `arms`: the mean, and Q, the sum of squared deviations from it."""


@inlined
def take_in(arms, k, x):  # type: ignore[no-untyped-def]
    """Welford's update after pull number n: M ← M + (x − M)/n, Q ← Q + (x − M_old)(x − M_new)."""
    before = x - arms[MEAN, k]
    arms[MEAN, k] += before / arms[PULLS, k]
    arms[SQUARES, k] += before * (x - arms[MEAN, k])


@inlined
def learn_mean(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """The rule `update` of policies that keep the mean and nothing else."""
    arms[MEAN, k] += (x - arms[MEAN, k]) / arms[PULLS, k]


@inlined
def count_open(open_):  # type: ignore[no-untyped-def]
    """K, the number of open arms."""
    count = 0
    for k in range(open_.shape[0]):
        if open_[k] != CLOSED:
            count += 1
    return count


@inlined
def any_arm(open_, count, u):  # type: ignore[no-untyped-def]
    """The open arm number ⌊u·K⌋, from 0, for a uniform u."""
    left = min(int(u * count), count - 1)
    for k in range(open_.shape[0]):
        if open_[k] != CLOSED:
            if left == 0:
                return k
            left -= 1
    return -1


@inlined
def best_arm(open_, arms):  # type: ignore[no-untyped-def]
    """argmax m."""
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        if open_[k] != CLOSED and arms[MEAN, k] > best:
            best, chosen = arms[MEAN, k], k
    return chosen


@inlined
def unknown_arm(open_, arms, known, least):  # type: ignore[no-untyped-def]
    """The first arm with arms[known] < least for which no reward is awaited, else −1."""
    for k in range(open_.shape[0]):
        if arms[known, k] < least and open_[k] == OPEN:
            return k
    return -1


@inlined
def best_known_line(open_, arms, known, least, level, width, slope):  # type: ignore[no-untyped-def]
    """argmax of arms[level] + slope·arms[width] over the open arms with arms[known] ≥ least, else −1."""
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        score = arms[level, k] + slope * arms[width, k]
        if open_[k] != CLOSED and arms[known, k] >= least and score > best:
            best, chosen = score, k
    return chosen


@inlined
def unknown_or_best_line(open_, arms, known, least, level, width, slope):  # type: ignore[no-untyped-def]
    """`unknown_arm`, else `best_known_line`: in one pass, which saves up to a fifth of a step with many arms."""
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        if open_[k] == CLOSED:
            continue
        if arms[known, k] < least:
            if open_[k] == OPEN:
                return k
            continue
        score = arms[level, k] + slope * arms[width, k]
        if score > best:
            best, chosen = score, k
    return chosen


@inlined
def pulls_for(horizon, delta):  # type: ignore[no-untyped-def]
    """n_Δ = ⌈2·ln(TΔ²)/Δ²⌉; a float, since it leaves all whole numbers where Δ goes to nothing."""
    return np.ceil(2.0 * log(horizon * delta * delta) / (delta * delta))


@inlined
def radius(horizon, delta):  # type: ignore[no-untyped-def]
    """r = sqrt(ln(TΔ²)/(2·n_Δ)), half the width of a mean's interval after n_Δ pulls."""
    return sqrt(log(horizon * delta * delta) / (2.0 * pulls_for(horizon, delta)))


@inlined
def coefficient(t, alpha0, epsilon):  # type: ignore[no-untyped-def]
    """c_t = α_t·sqrt(ln(t+1)) with α_t = α₀/ln(t+ε)."""
    return alpha0 * sqrt(log(t + 1.0)) / log(t + epsilon)
