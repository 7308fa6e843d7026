"""ADR-UCB: UCB1 restarted by adaptive windows (ADWIN), with monitored arms (Komiyama, Fouché and Honda 2024).

Rewards are scaled to z = clip((x − low)/(high − low), 0, 1). With τ the step of the last restart (0 initially),
s = t − τ and N, m of the rewards since then, the index is m + sqrt(ξ·ln s / N). All arms restart if at some split of
the n = N rewards of an arm into the first i with mean m₁ and the others with mean m₂

    |m₁ − m₂| > sqrt(ln(1/δ)/(2i)) + sqrt(ln(1/δ)/(2(n−i))).

There is no forced exploration. So that changes are seen although the preferred arm changes, two arms are monitored:
block l = 1, 2, … ends at s = (2^l − 1)·KN₀. At the end of block 1, and when the last KN₀ steps of each later block
begin, the arm with the most pulls since the restart, other than for monitoring, is chosen; during these steps it is
pulled at every step with s mod K = 1, and in the next block at every step with s mod K = 0. This schedule is
reconstructed from the authors' code, whose block numbers do not fit its comments; it was not compared with the article.

The authors' code has Thompson sampling and kl-UCB as base policies, and N₀ = ⌈log₂ T⌉; δ = T^−3 is ours. The splits are
those of `glr-klucb`, tested at every eighth reward of an arm (the authors' code: a third of the splits at every tenth
step).
"""

from collections.abc import Mapping
from math import ceil, log, log2, sqrt

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.base import CLOSED
from ravenlab.policies.engine.limits import COUNT_OF_PULLS, COUNT_OF_STEPS, NONNEGATIVE, UNIT, Limit, Memory, Part
from ravenlab.policies.engine.parameters import Param, ParamContext, Value
from ravenlab.policies.engine.restart import COUNT, MEAN, ROW_LIMITS, ROWS, WIDTH, add_reward
from ravenlab.policies.engine.rules import UnitPolicy, argmax_row, count_open, first_below, first_or_argmax, to_unit
from ravenlab.policies.glr_klucb import LEVELS, PERIOD, RING, SUM, store_split

DRAWN = ROWS  # row after those of `engine/restart.py`: pulls since the restart, other than for monitoring; SUM follows
RESTART, ALARMS, BLOCK, MONITORED, NEXT = range(5)
"""Cells: τ, number of restarts, l − 1, and 1 + the index of the monitored arm and of the next one; 0 for none."""
DELTA, N0, XI, LOW, HIGH = range(5)  # parameters
ROUNDING = 1e-9  # relative rounding error of the quick bound is far smaller


@inlined
def monitored_arm(s, open_, cells):  # type: ignore[no-untyped-def]
    """The arm that is pulled for monitoring at step s since the restart, else −1."""
    place = int(s) % count_open(open_)
    k = -1
    if place == 0:
        k = int(cells[MONITORED]) - 1
    elif place == 1:
        k = int(cells[NEXT]) - 1
    return k if k >= 0 and open_[k] != CLOSED else -1


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """An arm without rewards since τ, else a monitored arm, else argmax of m + sqrt(ξ·ln s / N)."""
    restarted = first_below(open_, arms, COUNT, 1.0)
    if restarted >= 0:
        return restarted
    since = max(1.0, t - cells[RESTART])
    monitored = monitored_arm(since, open_, cells)
    if monitored >= 0:
        return monitored
    return first_or_argmax(open_, arms, COUNT, 1.0, MEAN, WIDTH, sqrt(p[XI] * log(since)))


@inlined
def advance_block(s, open_, arms, cells, p):  # type: ignore[no-untyped-def]
    """Choose monitored arms at the ends of blocks and of their parts."""
    length = max(1, count_open(open_)) * p[N0]  # a late reward may arrive while all arms are closed
    if cells[BLOCK] == 0.0:
        if s >= length:
            cells[MONITORED] = 1 + argmax_row(open_, arms, DRAWN)
            cells[BLOCK] = 1.0
        return
    size = 2.0 ** (cells[BLOCK] + 1.0)
    if cells[NEXT] == 0.0 and s >= (size - 2.0) * length:
        cells[NEXT] = 1 + argmax_row(open_, arms, DRAWN)
    if s >= (size - 1.0) * length:
        cells[MONITORED] = cells[NEXT]
        cells[NEXT] = 0.0
        cells[BLOCK] += 1.0


@inlined
def means_differ(k, arms, memory, p):  # type: ignore[no-untyped-def]
    """Whether the means before and after a stored split of arm k differ by more than the bound.

    The bound is at least sqrt(ln(1/δ)·n/(2i(n−i))). Most splits do not exceed even that, which needs no root.
    """
    n, total = arms[COUNT, k], arms[SUM, k]
    m, half = total / n, -0.5 * log(p[DELTA])
    multiples, ring = int(n) - 1, k * LEVELS * 2 * RING
    for _ in range(LEVELS):
        if multiples == 0:
            break
        for i in range(ring, ring + min(multiples, RING)):
            first, rest = memory[i], n - memory[i]
            gap = memory[i + RING] - first * m
            if gap * gap * n >= (1.0 - ROUNDING) * half * first * rest:
                gap = abs(memory[i + RING] / first - (total - memory[i + RING]) / rest)
                if gap > sqrt(half / first) + sqrt(half / rest):
                    return True
        multiples //= 2
        ring += 2 * RING
    return False


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Add the reward, and restart all arms on an alarm."""
    since = max(1.0, t - cells[RESTART])
    z = to_unit(x, p[LOW], p[HIGH])
    add_reward(k, z, arms)
    arms[SUM, k] += z
    if monitored_arm(since, open_, cells) != k:
        arms[DRAWN, k] += 1.0
    if int(arms[COUNT, k]) % PERIOD == 0 and p[DELTA] > 0.0 and means_differ(k, arms, memory, p):
        arms[COUNT:] = 0.0
        cells[RESTART] = t
        cells[ALARMS] += 1.0
        cells[BLOCK:] = 0.0
    else:
        store_split(k, arms, memory)
        advance_block(since, open_, arms, cells, p)


def confidence(context: ParamContext) -> float:
    """T^−3."""
    return float(context.number("horizon") ** -3.0)


def monitoring_length(context: ParamContext) -> float:
    """⌈log₂ T⌉, at least 1."""
    return float(max(1, ceil(log2(context.number("horizon")))))


class ADRUCB(UnitPolicy):
    r"""UCB1 that restarts when the rewards of an arm do not fit in one adaptive window, and monitors its best arms.

    $$m + \sqrt{\frac{\xi \ln(t - \tau)}{N}}, \qquad
    \text{restart if } |m_1 - m_2| > \sqrt{\frac{\ln(1/\delta)}{2i}} + \sqrt{\frac{\ln(1/\delta)}{2(n - i)}}$$
    """

    reference = "Komiyama, Fouché and Honda 2024"
    parameters = (
        Param("delta", confidence, 1e-10, 1.0, most=1.0, meaning="δ, confidence of the test of each split"),
        Param("n0", monitoring_length, least=1.0, integer=True, meaning="N₀, a first block has K·N₀ steps"),
        Param("xi", 2.0, 0.001, 5.0, unit_power=2, meaning="ξ, weight of the bonus, inside the root"),
        *UnitPolicy.parameters,
    )
    row_limits = {**ROW_LIMITS, MEAN: UNIT, DRAWN: COUNT_OF_PULLS, SUM: NONNEGATIVE}
    cell_limits = {
        **dict.fromkeys((RESTART, ALARMS), COUNT_OF_STEPS),
        BLOCK: Limit(0.0, 64.0, whole=True),
        **dict.fromkeys((MONITORED, NEXT), Limit(0.0, "arms", whole=True)),
    }

    @classmethod
    def memory_layout(cls, arms: int, values: Mapping[str, Value]) -> Memory:
        return Memory((Part(RING, COUNT_OF_STEPS), Part(RING)), repeat=arms * LEVELS)
