"""What the forgetting Thompson policies share: the prior, what they see of a reward, and one draw of an arm's mean.

With N (or W) rewards of mean m and squared deviations Q, forgotten ones left out or faded:

- gaussian: normal–inverse-gamma, see `policies/_gaussian_posterior.py`;
- bernoulli: Beta(1 + S, 1 + F) with S = N·m and F = N − S on clip((x − low)/(high − low), 0, 1).

An arm of which all is forgotten draws from the prior.
"""

from __future__ import annotations

import math

from environments.compiled import inlined
from environments.errors import InputError
from policies._beta import draw_beta
from policies._gaussian_posterior import draw_mean
from policies.base import Param, Values

LIKELIHOOD, MU0, KAPPA0, A0, B0, LOW, HIGH = range(7)
"""Places of the parameters: the prior comes first."""

GAUSSIAN, BERNOULLI = 0.0, 1.0

PRIOR = (
    Param("likelihood", "gaussian", choices=("gaussian", "bernoulli"), meaning="what rewards are taken to be"),
    Param("mu0", 0.0, least=-math.inf, power=1, meaning="μ₀, prior mean"),
    Param("kappa0", 1.0, 0.001, 10.0, least=1e-6, meaning="κ₀, rewards that the prior mean is worth"),
    Param("a0", 1.0, least=0.1, meaning="a₀, shape of the prior variance"),
    Param("b0", 1.0, 0.001, 10.0, power=2, meaning="b₀, scale of the prior variance"),
    Param("low", 0.0, least=-math.inf, power=1, meaning="reward that counts as 0, for bernoulli"),
    Param("high", 1.0, least=-math.inf, power=1, meaning="reward that counts as 1, for bernoulli"),
)


@inlined
def seen(x, p):  # type: ignore[no-untyped-def]
    """The reward as the likelihood takes it."""
    if p[LIKELIHOOD] == BERNOULLI:
        return min(1.0, max(0.0, (x - p[LOW]) / (p[HIGH] - p[LOW])))
    return x


@inlined
def draw(n, mean, squares, p, rng):  # type: ignore[no-untyped-def]
    """θ of one arm."""
    if p[LIKELIHOOD] == BERNOULLI:
        share = min(1.0, max(0.0, mean))
        return draw_beta(1.0 + n * share, 1.0 + n * (1.0 - share), rng)
    return draw_mean(n, mean, squares, p[MU0], p[KAPPA0], p[A0], p[B0], rng)


def check_range(values: Values) -> None:
    """Raise InputError unless low < high."""
    if float(values["high"]) <= float(values["low"]):
        raise InputError(f"high must be above low ({values['low']}) but got {values['high']}.")
