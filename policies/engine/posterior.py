"""Posterior draws of Thompson sampling: Beta, normal–inverse-gamma, and sampling with forgetting."""

import math
from math import exp, log, sqrt

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.base import CLOSED
from ravenlab.policies.engine.limits import NONNEGATIVE
from ravenlab.policies.engine.parameters import Param
from ravenlab.policies.engine.rules import GAUSSIAN, LIKELIHOOD_PARAMETER, UnitPolicy, to_unit

TINY = 1e-20  # for a + b below this, draws from Beta(a, b) are 0 or 1 to double precision


@inlined
def draw_beta(a, b, rng):  # type: ignore[no-untyped-def]
    """Draw from Beta(a, b); if both parameters are 0, each end has probability ½."""
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
def draw_gaussian_mean(n, mean, squares, mu0, kappa0, a0, b0, rng):  # type: ignore[no-untyped-def]
    """Draw θ from the normal–inverse-gamma posterior of n rewards with this mean and sum of squared deviations."""
    kappa = kappa0 + n
    a = a0 + 0.5 * n
    b = b0 + 0.5 * squares + 0.5 * kappa0 * n * (mean - mu0) * (mean - mu0) / kappa
    variance = b / rng.standard_gamma(a)
    return (kappa0 * mu0 + n * mean) / kappa + sqrt(variance / kappa) * rng.standard_normal()


WEIGHT, MEAN, SQUARES = 1, 2, 3  # rows of n, m and Q; windows and discounting store theirs in this order

LIKELIHOOD, MU0, KAPPA0, A0, B0, LOW, HIGH = range(7)

PRIOR_PARAMETERS = (
    LIKELIHOOD_PARAMETER,
    Param("mu0", 0.0, least=-math.inf, power=1, meaning="μ₀, prior mean"),
    Param("kappa0", 1.0, 0.001, 10.0, least=1e-6, meaning="κ₀, weight of the prior mean in rewards"),
    Param("a0", 1.0, least=0.1, meaning="a₀, shape of the prior variance"),
    Param("b0", 1.0, 0.001, 10.0, power=2, meaning="b₀, scale of the prior variance"),
    *UnitPolicy.parameters,
)


@inlined
def transform_reward(x, p):  # type: ignore[no-untyped-def]
    """The reward on the scale of the likelihood."""
    return x if p[LIKELIHOOD] == GAUSSIAN else to_unit(x, p[LOW], p[HIGH])


@inlined
def draw_mean(n, mean, squares, p, rng):  # type: ignore[no-untyped-def]
    """Draw θ of one arm from its posterior."""
    if p[LIKELIHOOD] == GAUSSIAN:
        return draw_gaussian_mean(n, mean, squares, p[MU0], p[KAPPA0], p[A0], p[B0], rng)
    share = min(1.0, max(0.0, mean))
    return draw_beta(1.0 + n * share, 1.0 + n * (1.0 - share), rng)


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax of one draw per open arm."""
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        if open_[k] != CLOSED:
            theta = draw_mean(arms[WEIGHT, k], arms[MEAN, k], arms[SQUARES, k], p, rng)
            if chosen < 0 or theta > best:
                best, chosen = theta, k
    return chosen


class ForgettingTS(UnitPolicy):
    """Thompson sampling on weighted or recent rewards; the subclass's `learn` says which."""

    family = "sampling"
    random = True
    row_limits = {WEIGHT: NONNEGATIVE, SQUARES: NONNEGATIVE}
    choose = staticmethod(select)
