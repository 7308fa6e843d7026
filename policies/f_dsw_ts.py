"""f-dsw TS: θ = g(draw from Beta(S+1, F+1), draw from Beta(1+s, 1+f)), g one of min, mean, max.

S, F: every step all (S, F) ← γ(S, F), then the pulled arm adds z, 1−z. s, f: sums of z and 1−z over the
last n rewards of the arm itself, its hot window. z = clip((x − low)/(high − low), 0, 1).

The window's draw is made first, the discounted one only where it can still matter: not where even a 1 would
leave θ at or below the best one so far. Arms that are left alone have a narrow window and a wide discounted
posterior, so this order saves more draws than the other.

The sum over a window costs O(1) a pull and never subtracts, so no rounding builds up: rewards fill a ring of
n slots in turns. s is the sum of this turn's rewards plus that of the last turn's which are not yet
overwritten; the latter stands in the ring, since each turn ends by turning rewards into sums from there on.
"""

from __future__ import annotations

from collections.abc import Mapping

from environments.compiled import inlined
from policies.engine.base import CLOSED, PULLS, Param, Value
from policies.engine.posterior import draw_beta
from policies.engine.rules import UNIT_PARAMETERS, UnitPolicy, to_unit

SUCCESSES, FAILURES, HOT, TURN = 1, 2, 3, 4
"""Rows: S, F, s, and the sum of the rewards of this turn of the ring."""

G, GAMMA, N, LOW, HIGH = range(5)
"""Places of the parameters."""

FUNCTIONS = ("min", "mean", "max")
MIN, MEAN = 0.0, 1.0
"""How the rules read the first two."""

FORGOTTEN = 1e-200
"""What is discounted below this is 0: numbers that lost digits are slow, and 1 + S is 1 long before."""


@inlined
def joined(cold, hot, g):  # type: ignore[no-untyped-def]
    """g(cold, hot)."""
    if g == MIN:
        return min(cold, hot)
    if g == MEAN:
        return 0.5 * (cold + hot)
    return max(cold, hot)


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax θ, the draws made arm by arm, that of the window first."""
    best, chosen = -1.0, -1
    for k in range(open_.shape[0]):
        if open_[k] == CLOSED:
            continue
        size = min(arms[PULLS, k], p[N])
        hot = draw_beta(1.0 + arms[HOT, k], 1.0 + size - arms[HOT, k], rng)
        if joined(1.0, hot, p[G]) <= best:
            continue
        cold = draw_beta(arms[SUCCESSES, k] + 1.0, arms[FAILURES, k] + 1.0, rng)
        theta = joined(cold, hot, p[G])
        if theta > best:
            best, chosen = theta, k
    return chosen


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Discount all arms, add the reward to this one, and put it into its window."""
    z = to_unit(x, p[LOW], p[HIGH])
    for j in range(open_.shape[0]):
        s, f = p[GAMMA] * arms[SUCCESSES, j], p[GAMMA] * arms[FAILURES, j]
        arms[SUCCESSES, j] = s if s > FORGOTTEN else 0.0
        arms[FAILURES, j] = f if f > FORGOTTEN else 0.0
    arms[SUCCESSES, k] += z
    arms[FAILURES, k] += 1.0 - z
    n = int(p[N])
    first = k * n
    slot = (int(arms[PULLS, k]) - 1) % n
    memory[first + slot] = z
    arms[TURN, k] += z
    if slot + 1 < n:
        arms[HOT, k] = arms[TURN, k] + memory[first + slot + 1]
    else:
        arms[HOT, k] = arms[TURN, k]
        arms[TURN, k] = 0.0
        for i in range(first + n - 2, first - 1, -1):
            memory[i] += memory[i + 1]


class FDSWTS(UnitPolicy):
    """Thompson sampling that trusts an arm only if both its discounted past and its latest rewards agree."""

    name = "f-dsw-ts"
    family = "sampling"
    reference = "Cavenaghi, Sottocornola, Stella and Zanker 2021"
    parameters = (
        Param("g", "min", choices=FUNCTIONS, meaning="how the two draws are joined"),
        Param("gamma", 0.95, 1e-4, 0.3, "one-minus", most=1.0, meaning="γ, discount a step"),
        Param("n", 75.0, 10.0, 1000.0, least=1.0, integer=True, meaning="rewards in an arm's hot window"),
        *UNIT_PARAMETERS,
    )
    random = True
    slow = True
    rows = 5
    choose = staticmethod(select)
    learn = staticmethod(update)

    @classmethod
    def memory_size(cls, arms: int, values: Mapping[str, Value]) -> int:
        return arms * int(values["n"])
