"""Tsallis-INF: follow the regularized leader with the ½-Tsallis entropy (Zimmert and Seldin 2021).

Losses are ℓ = 1 − z, z = clip((x − low)/(high − low), 0, 1), and L is the sum of an arm's estimated losses ℓ/p, where p
is the probability of the draw. At step t an arm is drawn with probability p = 4/(η(L − ξ))², η = 2c/√t, where ξ, below
all L, is such that the probabilities of the open arms sum to 1. c = 1 is the anytime learning rate of the original.

With y = L − min L and ξ = min L − s, the sum of 4/(η(y + s))² is convex and decreasing in s, and at least 1 at s = 2/η.
Newton's method from there approaches the solution from the left and needs few steps.

Opening and closing: while an arm is closed, its L is stored relative to the average of the open arms when it closed; it
continues from their average when it opens again, and a new arm starts with the average. Rewards without a draw, such as
those of first pulls, change nothing.
"""

from math import sqrt

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.base import CLOSED
from ravenlab.policies.engine.exp3 import ACTIVE, GAIN, PENDING, claim_draw
from ravenlab.policies.engine.limits import COUNT_OF_STEPS, FLAG, NONNEGATIVE
from ravenlab.policies.engine.parameters import Param
from ravenlab.policies.engine.rules import UnitPolicy, to_unit

LOSS, CHANCE = 1, 5
"""Rows beside ACTIVE, GAIN (1/p of the latest draw) and PENDING of `engine/exp3.py`: L, and p of the latest draw."""

C, LOW, HIGH = range(3)  # parameters
PRECISION = 1e-12  # of the sum of the probabilities
MOST_STEPS = 50  # of Newton's method; fewer than ten are needed


@inlined
def average_loss(arms, open_, kept):  # type: ignore[no-untyped-def]
    """Average L of the arms that were open at the last draw; with `kept`, of those that still are. 0 for none."""
    total, count = 0.0, 0.0
    for k in range(open_.shape[0]):
        if arms[ACTIVE, k] == 1.0 and (not kept or open_[k] != CLOSED):
            total += arms[LOSS, k]
            count += 1.0
    return total / max(1.0, count)


@inlined
def adopt_open_arms(open_, arms):  # type: ignore[no-untyped-def]
    """Shift L of arms that were opened or closed since the last draw."""
    before, after = average_loss(arms, open_, False), average_loss(arms, open_, True)
    for k in range(open_.shape[0]):
        if open_[k] == CLOSED and arms[ACTIVE, k] == 1.0:
            arms[LOSS, k] -= before
            arms[ACTIVE, k] = 0.0
            arms[PENDING, k] = 0.0
        elif open_[k] != CLOSED and arms[ACTIVE, k] == 0.0:
            arms[LOSS, k] += after
            arms[ACTIVE, k] = 1.0


@inlined
def set_chances(arms, rate):  # type: ignore[no-untyped-def]
    """Set p of the open arms by Newton's method; return their sum, 1 up to `PRECISION`."""
    lowest = 1e300
    for k in range(arms.shape[1]):
        if arms[ACTIVE, k] == 1.0:
            lowest = min(lowest, arms[LOSS, k])
    shift, total = 2.0 / rate, 0.0
    for _ in range(MOST_STEPS):
        total, slope = 0.0, 0.0
        for k in range(arms.shape[1]):
            if arms[ACTIVE, k] == 1.0:
                root = 2.0 / (rate * (arms[LOSS, k] - lowest + shift))
                arms[CHANCE, k] = root * root
                total += root * root
                slope += root * root * root
        if abs(total - 1.0) <= PRECISION:
            break
        shift += (total - 1.0) / (rate * slope)
    return total


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Draw an arm with probability p."""
    adopt_open_arms(open_, arms)
    left = rng.random() * set_chances(arms, 2.0 * p[C] / sqrt(t))
    chosen = -1
    for k in range(open_.shape[0]):
        if open_[k] != CLOSED:
            left -= arms[CHANCE, k]
            chosen = k
            if left < 0.0:
                break
    arms[GAIN, chosen] = 1.0 / arms[CHANCE, chosen]
    arms[PENDING, chosen] += 1.0
    return chosen


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Add the estimated loss of the drawn arm."""
    if claim_draw(arms, k):
        arms[LOSS, k] += arms[GAIN, k] * (1.0 - to_unit(x, p[LOW], p[HIGH]))


class TsallisINF(UnitPolicy):
    r"""Optimal up to constants for both stochastic and adversarial rewards, without knowing which.

    $$p = \frac{4}{\eta^2 (L - \xi)^2}, \quad \eta = \frac{2c}{\sqrt t}, \qquad L \leftarrow L + \frac{1 - z}{p}$$
    """

    family = "sampling"
    reference = "Zimmert and Seldin 2021"
    parameters = (
        Param("c", 1.0, 0.01, 100.0, least=1e-6, meaning="factor of the learning rate 2/√t"),
        *UnitPolicy.parameters,
    )
    row_limits = {ACTIVE: FLAG, GAIN: NONNEGATIVE, PENDING: COUNT_OF_STEPS, CHANCE: NONNEGATIVE}
