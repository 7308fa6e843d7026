"""What the forgetting Thompson policies share: the prior, what they see of a reward, and the draw that decides.

With N (or W) rewards of mean m and squared deviations Q, forgotten ones left out or faded:

- gaussian: normal–inverse-gamma, see `policies/_gaussian_posterior.py`;
- bernoulli: Beta(1 + S, 1 + F) with S = N·m and F = N − S on clip((x − low)/(high − low), 0, 1).

An arm of which all is forgotten draws from the prior.
"""

from __future__ import annotations

import math

from environments.compiled import inlined
from policies._beta import draw_beta
from policies._gaussian_posterior import draw_mean
from policies._parameters import GAUSSIAN, LIKELIHOOD_PARAMETER
from policies._unit import UNIT_PARAMETERS, UnitPolicy, to_unit
from policies.base import CLOSED, Param

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
