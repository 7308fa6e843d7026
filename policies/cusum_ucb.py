"""CUSUM-UCB: UCB since an arm's own last restart, which comes when a two-sided CUSUM of its rewards reaches h.

Rewards are z = clip((x − low)/(high − low), 0, 1). Of each arm since its restart: N, m, and u₀, the mean of its first
M rewards; each later one moves g⁺ ← max(0, g⁺ + (z − u₀) − ε) and g⁻ ← max(0, g⁻ − (z − u₀) − ε). g⁺ ≥ h or g⁻ ≥ h
restarts that arm alone; the reward that did it is forgotten too.

An arm without rewards since its restart is pulled at once. Else with probability a any open arm, uniformly (one
uniform decides, a second one, drawn only then, names the arm); else argmax of m + sqrt(ln n / N), n the sum of N over
all arms, as in the original (its ξ is 1).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log, sqrt

from environments.compiled import inlined
from policies.engine.base import Param, ParamContext, Sizes, Value
from policies.engine.families import UNIT_PARAMETERS, UnitPolicy, to_unit
from policies.engine.restart import COUNT, MEAN, ROWS, WIDTH, forget, take_in
from policies.engine.rules import CHANGES, any_arm, best_known_line, count_open, unknown_arm

REFERENCE, RISE, FALL = ROWS, ROWS + 1, ROWS + 2
"""Rows behind those since the restart: u₀ (once there are M rewards), g⁺ and g⁻."""

TOTAL, ALARMS = 0, 1
"""Cells: n, and how many restarts there were."""

M, _, EPSILON, H, A, LOW, HIGH = range(7)
"""Places of the parameters."""


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """An arm of which nothing is known at once, else any arm with probability a, else argmax of m + sqrt(ln n / N)."""
    unknown = unknown_arm(open_, arms, COUNT, 1.0)
    if unknown >= 0:
        return unknown
    if rng.random() < p[A]:
        return any_arm(open_, count_open(open_), rng.random())
    bonus = sqrt(log(max(1.0, cells[TOTAL])))
    return best_known_line(open_, arms, COUNT, 1.0, MEAN, WIDTH, bonus)


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """One more reward since the arm's restart, or its restart."""
    z = to_unit(x, p[LOW], p[HIGH])
    take_in(k, z, arms)
    cells[TOTAL] += 1.0
    count = arms[COUNT, k]
    if count <= p[M]:
        arms[REFERENCE, k] = arms[MEAN, k]
        return
    drift = z - arms[REFERENCE, k]
    arms[RISE, k] = max(0.0, arms[RISE, k] + drift - p[EPSILON])
    arms[FALL, k] = max(0.0, arms[FALL, k] - drift - p[EPSILON])
    if arms[RISE, k] >= p[H] or arms[FALL, k] >= p[H]:
        forget(k, arms)
        arms[REFERENCE, k] = 0.0
        arms[RISE, k] = 0.0
        arms[FALL, k] = 0.0
        cells[TOTAL] -= count
        cells[ALARMS] += 1.0


def log_steps_per_change(setting: ParamContext) -> float:
    """ln(T/U) for at least one change, and at least 1, below which the sums would cross h by noise alone."""
    return max(1.0, log(setting.number("horizon") / max(1.0, setting.number("changes"))))


def exploration(setting: ParamContext) -> float:
    """sqrt(U·ln(T/U)/T), at most 1."""
    horizon, changes = setting.number("horizon"), setting.number("changes")
    return min(1.0, sqrt(changes * log_steps_per_change(setting) / horizon))


class CUSUMUCB(UnitPolicy):
    """UCB that forgets an arm when small deviations from how it began add up."""

    name = "cusum-ucb"
    family = "sampling"
    reference = "Liu, Lee and Shroff 2018"
    parameters = (
        Param("m", 100.0, least=1.0, integer=True, meaning="M, an arm's first rewards, whose mean it is held to"),
        CHANGES,
        Param("epsilon", 0.05, 0.005, 0.5, meaning="ε, the deviation that is put up with"),
        Param("h", log_steps_per_change, 1.0, 50.0, meaning="the sum of deviations that is an alarm"),
        Param("a", exploration, 0.001, 0.5, most=1.0, meaning="the share of steps that explore"),
        *UNIT_PARAMETERS,
    )
    random = True
    choose = staticmethod(select)
    learn = staticmethod(update)

    @classmethod
    def sizes(cls, arms: int, values: Mapping[str, Value]) -> Sizes:
        return Sizes(rows=ROWS + 3, cells=2)


POLICY = CUSUMUCB
