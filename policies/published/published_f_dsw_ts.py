"""f-dsw TS as the logistics script ran it: min of two draws from a Beta that is discounted without a floor.

a = b = 1 at the start. Each step: all a, b ← γ·(a, b) with γ 0.99; θ = the smaller of two independent
draws from Beta(a, b); the pulled arm adds z, 1 − z (z as in published-thompson, computed by the loop).

An idle arm's a + b goes to nothing, and Beta(a, b) becomes a coin: 1 with probability a/(a+b), else 0.
Below a + b = 1e-13 it is tossed as one, one uniform for both draws. Draws that can't change who wins are
left out: the second of an arm whose first one is beaten already, and all after a θ of 1.
"""

from __future__ import annotations

from collections.abc import Mapping

from environments.compiled import inlined
from policies.engine.base import CLOSED, Param, Sizes, Value
from policies.engine.families import PublishedPolicy, draw_beta

WON, LOST, WEIGHT, BOTH = 1, 2, 3, 4
"""Rows: a and b after the arm's last pull, the discount since, and (a/(a+b))², the chance that two coins show 1."""

COIN = 1e-13
"""Below this a + b, less than one draw in 1e10 is neither 0 nor 1."""

FAINTEST = 1e-200
"""The discount stops here: only the ratio of a and b matters by then, and nothing underflows."""


@inlined
def start(arms, cells, memory, p):  # type: ignore[no-untyped-def]
    """a = b = 1, discounted for the first step."""
    for k in range(arms.shape[1]):
        arms[WON, k] = 1.0
        arms[LOST, k] = 1.0
        arms[WEIGHT, k] = p[0]
        arms[BOTH, k] = 0.25


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """The largest minimum of two draws, arm by arm in index order."""
    best, chosen = -1.0, -1
    for k in range(open_.shape[0]):
        if open_[k] == CLOSED:
            continue
        a = arms[WON, k] * arms[WEIGHT, k]
        b = arms[LOST, k] * arms[WEIGHT, k]
        if a + b < COIN:
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
    """z and 1 − z to the pulled arm, then the discount of the next step."""
    arms[WON, k] = max(arms[WON, k] * arms[WEIGHT, k] + z, 1e-250)
    arms[LOST, k] = max(arms[LOST, k] * arms[WEIGHT, k] + (1.0 - z), 1e-250)
    arms[WEIGHT, k] = 1.0
    share = arms[WON, k] / (arms[WON, k] + arms[LOST, k])
    arms[BOTH, k] = share * share
    for j in range(open_.shape[0]):
        arms[WEIGHT, j] = max(arms[WEIGHT, j] * p[0], FAINTEST)


class PublishedFDSWTS(PublishedPolicy):
    """Discounted Beta Thompson sampling without window or floor, on rewards scaled by the true means."""

    name = "published-f-dsw-ts"
    parameters = (Param("gamma", 0.99, least=0.5, most=1.0, meaning="γ, discount of a step"),)
    random = True
    slow = True
    uses_true_means = True
    start = staticmethod(start)
    choose = staticmethod(select)
    learn = staticmethod(update)

    @classmethod
    def sizes(cls, arms: int, values: Mapping[str, Value]) -> Sizes:
        return Sizes(rows=5)


POLICY = PublishedFDSWTS
