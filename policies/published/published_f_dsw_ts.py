"""f-dsw TS as in the logistics script: the minimum of two draws from a Beta distribution discounted without a floor.

Initially a = b = 1. At each step all a, b ← γ·(a, b) with γ = 0.99; θ is the smaller of two independent draws from
Beta(a, b); the pulled arm adds z and 1 − z (z as in published-thompson, computed by the loop).

For an idle arm a + b tends to 0, and Beta(a, b) tends to a Bernoulli distribution with probability a/(a+b). Below
a + b = 1e-13 it is drawn as such, with one random number for both draws. Draws that cannot change the result are
skipped: the second one of an arm whose first one is already beaten, and all after a θ of 1.
"""

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.base import CLOSED
from ravenlab.policies.engine.parameters import Param
from ravenlab.policies.engine.posterior import draw_beta
from ravenlab.policies.published import PublishedPolicy

WON, LOST, WEIGHT, BOTH = 1, 2, 3, 4
"""Rows: a and b after the last pull, the discount since then, and (a/(a+b))², the probability of two ones."""

BERNOULLI = 1e-13  # for a + b below this, fewer than one draw in 1e10 is neither 0 nor 1
SMALLEST_DISCOUNT = 1e-200  # lower limit of the discount against underflow; only the ratio of a and b matters there


@inlined
def start(arms, cells, memory, p):  # type: ignore[no-untyped-def]
    """Set a = b = 1, discounted for the first step."""
    arms[WON] = 1.0
    arms[LOST] = 1.0
    arms[WEIGHT] = p[0]
    arms[BOTH] = 0.25


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax of the minimum of two draws, arm by arm in index order."""
    best, chosen = -1.0, -1
    for k in range(open_.shape[0]):
        if open_[k] == CLOSED:
            continue
        a = arms[WON, k] * arms[WEIGHT, k]
        b = arms[LOST, k] * arms[WEIGHT, k]
        if a + b < BERNOULLI:
            theta = 1.0 if rng.random() < arms[BOTH, k] else 0.0
        else:
            theta = draw_beta(a, b, rng)
            if theta > best:
                theta = min(theta, draw_beta(a, b, rng))
        if theta > best:
            best, chosen = theta, k
            if best >= 1.0:
                break
    return chosen


@inlined
def update(t, k, z, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Add z and 1 − z to the pulled arm, then apply the discount of the next step."""
    arms[WON, k] = max(arms[WON, k] * arms[WEIGHT, k] + z, 1e-250)
    arms[LOST, k] = max(arms[LOST, k] * arms[WEIGHT, k] + (1.0 - z), 1e-250)
    arms[WEIGHT, k] = 1.0
    share = arms[WON, k] / (arms[WON, k] + arms[LOST, k])
    arms[BOTH, k] = share * share
    for j in range(open_.shape[0]):
        arms[WEIGHT, j] = max(arms[WEIGHT, j] * p[0], SMALLEST_DISCOUNT)


class PublishedFDSWTS(PublishedPolicy):
    r"""Discounted Beta Thompson sampling of the logistics script, on rewards scaled by the true means.

    $$\theta = \min(\theta_1, \theta_2), \qquad \theta_1, \theta_2 \sim \mathrm{Beta}(a, b)$$
    """

    parameters = (Param("gamma", 0.99, least=0.5, most=1.0, meaning="γ, discount per step"),)
    random = True
    uses_true_means = True
    rows = 5
