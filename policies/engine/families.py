"""Rewards on the unit interval: x ↦ clip((x − low)/(high − low), 0, 1), for policies made for [0, 1]."""

from __future__ import annotations

import math
from math import exp, log, sqrt

from environments.compiled import inlined
from environments.errors import InputError
from policies.engine.base import CLOSED, Param, Policy, Values
from policies.engine.rules import GAUSSIAN, LIKELIHOOD_PARAMETER

UNIT_PARAMETERS = (
    Param("low", 0.0, least=-math.inf, power=1, meaning="the reward that counts as 0, as do all below"),
    Param("high", 1.0, least=-math.inf, power=1, meaning="the reward that counts as 1, as do all above"),
)


class UnitPolicy(Policy):
    """A policy with UNIT_PARAMETERS among its own: low must be below high."""

    @classmethod
    def check(cls, values: Values) -> None:
        low, high = float(values["low"]), float(values["high"])
        if high <= low:
            raise InputError(f"high must be above low ({low:g}) but got {high:g}.")


@inlined
def to_unit(x, low, high):  # type: ignore[no-untyped-def]
    """clip((x − low)/(high − low), 0, 1)."""
    return min(1.0, max(0.0, (x - low) / (high - low)))


class PublishedPolicy(Policy):
    """A policy with the script's own numbers, which rewards of another size don't fit."""

    family = "published"
    scalable = False
    reference = "RAVEN-UCB, logistics script"


TINY = 1e-20
"""Below this a + b, a draw is 0 or 1 as far as anyone can see."""


@inlined
def draw_beta(a, b, rng):  # type: ignore[no-untyped-def]
    """A number in [0, 1]; two parameters of 0 are taken as equal ones."""
    if a > 1.0 or b > 1.0:
        g = rng.standard_gamma(a)
        return g / (g + rng.standard_gamma(b))
    if a + b < TINY:
        return 1.0 if rng.random() < (0.5 if a == b else a / (a + b)) else 0.0
    while True:
        # in (0, 1], so that both logarithms are finite
        u = 1.0 - rng.random()
        v = 1.0 - rng.random()
        x = u ** (1.0 / a)
        y = v ** (1.0 / b)
        if x + y <= 1.0:
            if x + y > 0.0:
                return x / (x + y)
            return 1.0 / (1.0 + exp(log(v) / b - log(u) / a))


@inlined
def draw_mean(n, mean, squares, mu0, kappa0, a0, b0, rng):  # type: ignore[no-untyped-def]
    """θ of one arm."""
    kappa = kappa0 + n
    a = a0 + 0.5 * n
    b = b0 + 0.5 * squares + 0.5 * kappa0 * n * (mean - mu0) * (mean - mu0) / kappa
    variance = b / rng.standard_gamma(a)
    return (kappa0 * mu0 + n * mean) / kappa + sqrt(variance / kappa) * rng.standard_normal()


KNOWN, MEAN, SQUARES = 1, 2, 3
"""Rows of N or W, m and Q: both the window and the discount keep theirs in this order."""

LIKELIHOOD, MU0, KAPPA0, A0, B0, LOW, HIGH = range(7)
"""Places of the parameters: the prior comes first."""

PRIOR = (
    LIKELIHOOD_PARAMETER,
    Param("mu0", 0.0, least=-math.inf, power=1, meaning="μ₀, prior mean"),
    Param("kappa0", 1.0, 0.001, 10.0, least=1e-6, meaning="κ₀, rewards that the prior mean is worth"),
    Param("a0", 1.0, least=0.1, meaning="a₀, shape of the prior variance"),
    Param("b0", 1.0, 0.001, 10.0, power=2, meaning="b₀, scale of the prior variance"),
    *UNIT_PARAMETERS,
)


@inlined
def seen(x, p):  # type: ignore[no-untyped-def]
    """The reward as the likelihood takes it."""
    return x if p[LIKELIHOOD] == GAUSSIAN else to_unit(x, p[LOW], p[HIGH])


@inlined
def draw(n, mean, squares, p, rng):  # type: ignore[no-untyped-def]
    """θ of one arm."""
    if p[LIKELIHOOD] == GAUSSIAN:
        return draw_mean(n, mean, squares, p[MU0], p[KAPPA0], p[A0], p[B0], rng)
    share = min(1.0, max(0.0, mean))
    return draw_beta(1.0 + n * share, 1.0 + n * (1.0 - share), rng)


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax of one draw per open arm."""
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        if open_[k] != CLOSED:
            theta = draw(arms[KNOWN, k], arms[MEAN, k], arms[SQUARES, k], p, rng)
            if chosen < 0 or theta > best:
                best, chosen = theta, k
    return chosen


class ForgettingTS(UnitPolicy):
    """Draws by the posterior of what is not forgotten; how to forget is the subclass's `learn`."""

    family = "sampling"
    random = True
    slow = True
    choose = staticmethod(select)
