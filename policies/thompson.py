"""Thompson sampling: draw θ of every open arm from its posterior, pull argmax θ.

- gaussian: normal–inverse-gamma (μ₀, κ₀, a₀, b₀), see `policies/engine/families.py`.
- bernoulli: Beta(1+S, 1+F) with S = Σz, F = Σ(1−z) = N − S, z = clip((x − low)/(high − low), 0, 1).
"""

from __future__ import annotations

import math

from environments.compiled import inlined
from policies.engine.base import CLOSED, PULLS, Param
from policies.engine.posterior import draw_beta, draw_gaussian_mean
from policies.engine.rules import (
    GAUSSIAN,
    LIKELIHOOD_PARAMETER,
    MEAN,
    SQUARES,
    UNIT_PARAMETERS,
    UnitPolicy,
    add_reward,
    to_unit,
)

SUCCESSES = 1
"""Row of S, where the likelihood is bernoulli."""

LIKELIHOOD, MU0, KAPPA0, A0, B0, LOW, HIGH = range(7)
"""Places of the parameters."""


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax θ, the draws made arm by arm."""
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        if open_[k] == CLOSED:
            continue
        n = arms[PULLS, k]
        if p[LIKELIHOOD] == GAUSSIAN:
            theta = draw_gaussian_mean(n, arms[MEAN, k], arms[SQUARES, k], p[MU0], p[KAPPA0], p[A0], p[B0], rng)
        else:
            theta = draw_beta(1.0 + arms[SUCCESSES, k], 1.0 + n - arms[SUCCESSES, k], rng)
        if theta > best:
            best, chosen = theta, k
    return chosen


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """m and Q, or S."""
    if p[LIKELIHOOD] == GAUSSIAN:
        add_reward(arms, k, x)
    else:
        arms[SUCCESSES, k] += to_unit(x, p[LOW], p[HIGH])


class Thompson(UnitPolicy):
    """Pulls every arm with the probability that it is the best one."""

    name = "thompson"
    family = "sampling"
    reference = "Thompson 1933; Honda and Takemura 2014 for the Gaussian prior"
    parameters = (
        LIKELIHOOD_PARAMETER,
        Param("mu0", 0.0, least=-math.inf, power=1, meaning="μ₀, prior mean (gaussian)"),
        Param("kappa0", 1.0, 0.001, 10.0, meaning="κ₀, how many rewards the prior mean is worth (gaussian)"),
        Param("a0", 1.0, meaning="a₀, half as many as the prior variance is worth (gaussian)"),
        Param("b0", 1.0, 0.001, 10.0, power=2, meaning="b₀, the prior's half sum of squares (gaussian)"),
        *UNIT_PARAMETERS,
    )
    random = True
    slow = True
    rows = 3
    choose = staticmethod(select)
    learn = staticmethod(update)
