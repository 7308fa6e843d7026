"""Thompson sampling: draw θ of every open arm from its posterior and pull argmax θ (Thompson 1933).

- gaussian: normal–inverse-gamma prior (μ₀, κ₀, a₀, b₀), Honda and Takemura 2014; see `policies/engine/posterior.py`.
- bernoulli: Beta(1+S, 1+F) with S = Σz, F = Σ(1−z) = N − S, z = clip((x − low)/(high − low), 0, 1).
"""

import math
from collections.abc import Mapping

import numpy as np

from ravenlab.common.compiled import inlined
from ravenlab.common.errors import InputError
from ravenlab.environments.world import Floats
from ravenlab.policies.engine import rules
from ravenlab.policies.engine.base import CLOSED, PULLS
from ravenlab.policies.engine.limits import NONNEGATIVE, Limit
from ravenlab.policies.engine.parameters import Param, Value
from ravenlab.policies.engine.posterior import draw_beta, draw_gaussian_mean

SUCCESSES = 1  # row of S, for the Bernoulli likelihood
LIKELIHOOD, MU0, KAPPA0, A0, B0, LOW, HIGH = range(7)  # parameters


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax θ; draws are made arm by arm."""
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        if open_[k] == CLOSED:
            continue
        n = arms[PULLS, k]
        if p[LIKELIHOOD] == rules.GAUSSIAN:
            theta = draw_gaussian_mean(
                n, arms[rules.MEAN, k], arms[rules.SQUARES, k], p[MU0], p[KAPPA0], p[A0], p[B0], rng
            )
        else:
            theta = draw_beta(1.0 + arms[SUCCESSES, k], 1.0 + n - arms[SUCCESSES, k], rng)
        if theta > best:
            best, chosen = theta, k
    return chosen


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Update m and Q, or S."""
    if p[LIKELIHOOD] == rules.GAUSSIAN:
        rules.add_reward(arms, k, x)
    else:
        arms[SUCCESSES, k] += rules.to_unit(x, p[LOW], p[HIGH])


class Thompson(rules.UnitPolicy):
    r"""Pulls each arm with the posterior probability that it is the best.

    $$b_N = b_0 + \frac{N V}{2} + \frac{\kappa_0 N (m - \mu_0)^2}{2\kappa_N}; \qquad
    \sigma^2 \sim \mathrm{IG}(a_N, b_N), \quad \theta \sim \mathcal N(\mu_N, \sigma^2/\kappa_N)$$
    """

    family = "sampling"
    reference = "Thompson 1933; Honda and Takemura 2014 for the Gaussian prior"
    parameters = (
        rules.LIKELIHOOD_PARAMETER,
        Param("mu0", 0.0, least=-math.inf, power=1, meaning="μ₀, prior mean (Gaussian)"),
        Param("kappa0", 1.0, 0.001, 10.0, meaning="κ₀, weight of the prior mean in rewards (Gaussian)"),
        Param("a0", 1.0, meaning="a₀, shape of the prior variance (Gaussian)"),
        Param("b0", 1.0, 0.001, 10.0, power=2, meaning="b₀, scale of the prior variance (Gaussian)"),
        *rules.UnitPolicy.parameters,
    )
    row_limits = {SUCCESSES: Limit(0.0, "pulls", likelihood="bernoulli"), rules.SQUARES: NONNEGATIVE}

    @classmethod
    def check_state(cls, values: Mapping[str, Value], stats: Floats, cells: Floats, memory: Floats) -> None:
        """Check that arms without pulls have no statistics."""
        if np.any(stats[1:, stats[PULLS] == 0.0]):
            raise InputError("stats of the state must be 0 for arms without pulls.")
