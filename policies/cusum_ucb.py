"""CUSUM-UCB: UCB with a restart of an arm when a two-sided CUSUM of its rewards reaches h (Liu, Lee and Shroff 2018).

Rewards are scaled to z = clip((x − low)/(high − low), 0, 1). Per arm since its restart: N, m, and u₀, the mean of the
first M rewards. Each later reward updates g⁺ ← max(0, g⁺ + (z − u₀) − ε) and g⁻ ← max(0, g⁻ − (z − u₀) − ε). If g⁺ ≥ h
or g⁻ ≥ h, the arm restarts; the reward that raised the alarm is discarded.

An arm without rewards since its restart is pulled immediately. Otherwise, with probability a an open arm is drawn
uniformly (one random number decides, a second one, drawn only then, selects the arm); else argmax of
m + sqrt(ξ·ln n / N), n the sum of N over all arms.
"""

from math import log, sqrt

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine import rules
from ravenlab.policies.engine.limits import COUNT_OF_STEPS, NONNEGATIVE, UNIT
from ravenlab.policies.engine.parameters import Param, ParamContext
from ravenlab.policies.engine.restart import COUNT, MEAN, ROW_LIMITS, ROWS, WIDTH, add_reward

REFERENCE, RISE, FALL = ROWS, ROWS + 1, ROWS + 2
"""Rows after those of `engine/restart.py`: u₀ (final after M rewards), g⁺ and g⁻."""

TOTAL, ALARMS = 0, 1  # cells: n, and the number of restarts
M, _, EPSILON, H, A, XI, LOW, HIGH = range(8)  # parameters


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """A restarted arm, else a uniform arm with probability a, else argmax of m + sqrt(ξ·ln n / N)."""
    restarted = rules.first_below(open_, arms, COUNT, 1.0)
    if restarted >= 0:
        return restarted
    if rng.random() < p[A]:
        return rules.uniform_arm(open_, rules.count_open(open_), rng.random())
    bonus = sqrt(p[XI] * log(max(1.0, cells[TOTAL])))
    return rules.first_or_argmax(open_, arms, COUNT, 1.0, MEAN, WIDTH, bonus)


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Add the reward and restart the arm on an alarm."""
    z = rules.to_unit(x, p[LOW], p[HIGH])
    add_reward(k, z, arms)
    cells[TOTAL] += 1.0
    count = arms[COUNT, k]
    if count <= p[M]:
        arms[REFERENCE, k] = arms[MEAN, k]
        return
    drift = z - arms[REFERENCE, k]
    arms[RISE, k] = max(0.0, arms[RISE, k] + drift - p[EPSILON])
    arms[FALL, k] = max(0.0, arms[FALL, k] - drift - p[EPSILON])
    if arms[RISE, k] >= p[H] or arms[FALL, k] >= p[H]:
        arms[COUNT:, k] = 0.0
        cells[TOTAL] -= count
        cells[ALARMS] += 1.0


def log_steps_per_change(context: ParamContext) -> float:
    """ln(T/U) for at least one change, and at least 1: below that, noise alone would raise alarms."""
    return max(1.0, log(context.number("horizon") / max(1.0, context.number("changes"))))


def exploration_rate(context: ParamContext) -> float:
    """sqrt(U·ln(T/U)/T), at most 1."""
    horizon, changes = context.number("horizon"), context.number("changes")
    return min(1.0, sqrt(changes * log_steps_per_change(context) / horizon))


class CUSUMUCB(rules.UnitPolicy):
    r"""UCB that restarts an arm when a cumulative sum detects that its mean has changed.

    $$m + \sqrt{\frac{\xi\ln n}{N}}, \qquad g^\pm \leftarrow \max(0, g^\pm \pm (z - u_0) - \varepsilon), \quad
    \text{restart at } g^\pm \ge h$$
    """

    family = "sampling"
    reference = "Liu, Lee and Shroff 2018"
    parameters = (
        Param(
            "m", 100.0, 10.0, 1000.0, least=1.0, integer=True, meaning="M, first rewards that give the reference mean"
        ),
        rules.CHANGES_PARAMETER,
        Param("epsilon", 0.05, 0.005, 0.5, unit_power=1, meaning="ε, tolerated deviation from the reference mean"),
        Param("h", log_steps_per_change, 1.0, 50.0, unit_power=1, meaning="alarm threshold of the cumulative sum"),
        Param("a", exploration_rate, 0.0001, 0.5, most=1.0, meaning="probability of uniform exploration"),
        Param("xi", 1.0, 0.001, 5.0, unit_power=2, meaning="ξ, weight of the bonus, inside the root"),
        *rules.UnitPolicy.parameters,
    )
    row_limits = {**ROW_LIMITS, MEAN: UNIT, REFERENCE: UNIT, RISE: NONNEGATIVE, FALL: NONNEGATIVE}
    cell_limits = {TOTAL: COUNT_OF_STEPS, ALARMS: COUNT_OF_STEPS}
