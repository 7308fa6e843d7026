"""Building blocks of rules: shared parameters, scaling to [0, 1], statistics, argmax and random choice."""

import math
from math import log, sqrt
from typing import ClassVar

import numpy as np

from ravenlab.common.compiled import inlined
from ravenlab.common.errors import InputError
from ravenlab.common.text import format_number
from ravenlab.policies.engine.base import CLOSED, OPEN, PULLS, Policy
from ravenlab.policies.engine.parameters import Param, Values

HORIZON_PARAMETER = Param("horizon", lambda context: context.number("horizon"), least=1.0, meaning="T, number of steps")

CHANGES_PARAMETER = Param("changes", 10.0, meaning="U, expected number of changes")

XI_PARAMETER = Param("xi", 0.6, 0.001, 5.0, power=2, meaning="ξ, weight of the bonus, inside the root")

LIKELIHOOD_PARAMETER = Param(
    "likelihood", "gaussian", choices=("gaussian", "bernoulli"), meaning="distribution assumed for rewards"
)
GAUSSIAN = 0.0  # encoding of the first likelihood


class UnitPolicy(Policy):
    """A policy for rewards in [0, 1], with the parameters `low` and `high`."""

    parameters: ClassVar[tuple[Param, ...]] = (
        Param("low", 0.0, least=-math.inf, power=1, meaning="reward mapped to 0; smaller ones are clipped"),
        Param("high", 1.0, least=-math.inf, power=1, meaning="reward mapped to 1; larger ones are clipped"),
    )

    @classmethod
    def check(cls, values: Values) -> None:
        low, high = float(values["low"]), float(values["high"])
        if high <= low:
            raise InputError(f"high must be above low ({format_number(low)}) but got {format_number(high)}.")


@inlined
def to_unit(x, low, high):  # type: ignore[no-untyped-def]
    """clip((x − low)/(high − low), 0, 1)."""
    return min(1.0, max(0.0, (x - low) / (high - low)))


MEAN, SQUARES = 1, 2  # rows of `arms`: the mean, and Q, the sum of squared deviations from it


@inlined
def add_reward(arms, k, x):  # type: ignore[no-untyped-def]
    """Welford's update after pull number n: M ← M + (x − M)/n, Q ← Q + (x − M_old)(x − M_new)."""
    before = x - arms[MEAN, k]
    arms[MEAN, k] += before / arms[PULLS, k]
    arms[SQUARES, k] += before * (x - arms[MEAN, k])


@inlined
def update_mean(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """The rule `update` of policies whose only statistic is the mean."""
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
def uniform_arm(open_, count, u):  # type: ignore[no-untyped-def]
    """Open arm number ⌊u·K⌋, counted from 0, for a uniform random number u."""
    left = min(int(u * count), count - 1)
    for k in range(open_.shape[0]):
        if open_[k] != CLOSED:
            if left == 0:
                return k
            left -= 1
    return -1


@inlined
def argmax_row(open_, arms, row):  # type: ignore[no-untyped-def]
    """argmax of arms[row] over the open arms, lowest index on a tie."""
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        if open_[k] != CLOSED and arms[row, k] > best:
            best, chosen = arms[row, k], k
    return chosen


@inlined
def argmax_score(open_, arms, level, width, slope):  # type: ignore[no-untyped-def]
    """argmax of arms[level] + slope·arms[width] over the open arms, lowest index on a tie.

    Two branches are up to three times as fast as one that joins both conditions.
    """
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        if open_[k] == CLOSED:
            continue
        score = arms[level, k] + slope * arms[width, k]
        if score > best:
            best, chosen = score, k
    return chosen


@inlined
def first_below(open_, arms, row, least):  # type: ignore[no-untyped-def]
    """The first open arm with arms[row] < least that does not wait for a reward, else −1."""
    for k in range(open_.shape[0]):
        if arms[row, k] < least and open_[k] == OPEN:
            return k
    return -1


@inlined
def first_or_argmax(open_, arms, row, least, level, width, slope):  # type: ignore[no-untyped-def]
    """`first_below`, else `argmax_score` over the open arms with arms[row] ≥ least, else −1.

    One pass is up to 20 % faster with many arms than two.
    """
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        if open_[k] == CLOSED:
            continue
        if arms[row, k] < least:
            if open_[k] == OPEN:
                return k
            continue
        score = arms[level, k] + slope * arms[width, k]
        if score > best:
            best, chosen = score, k
    return chosen


@inlined
def pulls_needed(horizon, delta):  # type: ignore[no-untyped-def]
    """n_Δ = ⌈2·ln(TΔ²)/Δ²⌉; a float, because it exceeds the integer range for small Δ."""
    return np.ceil(2.0 * log(horizon * delta * delta) / (delta * delta))


@inlined
def confidence_radius(horizon, delta):  # type: ignore[no-untyped-def]
    """r = sqrt(ln(TΔ²)/(2·n_Δ)), the half-width of the confidence interval of a mean after n_Δ pulls."""
    return sqrt(log(horizon * delta * delta) / (2.0 * pulls_needed(horizon, delta)))
