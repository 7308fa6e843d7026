"""M-UCB: UCB1 with a restart when the two halves of an arm's last w rewards differ (Cao, Wen, Kveton and Xie 2019).

Rewards are scaled to z = clip((x − low)/(high − low), 0, 1). With τ the step of the last restart (0 initially) and N, m
of the rewards since then, the index is m + sqrt(ξ·ln(t − τ) / N), as in the original with ξ = 2. Forced exploration at
rate γ takes the open arms in turn at the start of every ⌈K/γ⌉ steps since τ. Once an arm has w rewards since τ,
|sum of the later half − sum of the earlier half| > b restarts all arms; the reward that raised the alarm is discarded.
If w is odd, the last w − 1 rewards are used.

The difference D of the halves is updated in O(1): a new z moves the oldest reward of the later half, y, to the earlier
half, whose oldest, o, is removed: D ← D + z − 2y + o. D is recomputed at each wrap-around of the ring, so that
rounding errors do not accumulate.
"""

from collections.abc import Mapping
from math import log, sqrt

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.limits import COUNT_OF_STEPS, UNIT, Memory, Part
from ravenlab.policies.engine.parameters import Param, ParamContext, Value
from ravenlab.policies.engine.restart import COUNT, MEAN, ROW_LIMITS, ROWS, WIDTH, add_reward, forced_arm
from ravenlab.policies.engine.rules import UnitPolicy, first_below, first_or_argmax, to_unit

DIFFERENCE = ROWS  # row after those of `engine/restart.py`: D, once the window is full
RESTART, ALARMS = 0, 1  # cells: τ, and the number of restarts
W, B, GAMMA, XI, LOW, HIGH = range(6)  # parameters


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """An arm without rewards since τ, else forced exploration, else argmax of m + sqrt(ξ·ln(t − τ) / N)."""
    restarted = first_below(open_, arms, COUNT, 1.0)
    if restarted >= 0:
        return restarted
    since = max(1.0, t - cells[RESTART])
    forced = forced_arm(since, open_, p[GAMMA])
    if forced >= 0:
        return forced
    return first_or_argmax(open_, arms, COUNT, 1.0, MEAN, WIDTH, sqrt(p[XI] * log(since)))


@inlined
def window_differs(k, z, arms, memory, p):  # type: ignore[no-untyped-def]
    """Add z to the window of arm k, whose count includes it; return whether |D| > b."""
    half = int(p[W]) // 2
    first = k * 2 * half
    count = int(arms[COUNT, k])
    slot = (count - 1) % (2 * half)
    oldest = memory[first + slot]
    memory[first + slot] = z
    if slot + 1 == 2 * half:
        difference = 0.0
        for i in range(first, first + half):
            difference += memory[i + half] - memory[i]
        arms[DIFFERENCE, k] = difference
    elif count > 2 * half:
        middle = slot + half if slot < half else slot - half
        arms[DIFFERENCE, k] += z - 2.0 * memory[first + middle] + oldest
    return count >= 2 * half and abs(arms[DIFFERENCE, k]) > p[B]


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Add the reward and restart all arms on an alarm."""
    z = to_unit(x, p[LOW], p[HIGH])
    add_reward(k, z, arms)
    if window_differs(k, z, arms, memory, p):
        arms[COUNT:ROWS] = 0.0
        cells[RESTART] = t
        cells[ALARMS] += 1.0


def alarm_threshold(context: ParamContext) -> float:
    """sqrt(w·ln(2KT²)/2), which T tests without a change exceed with probability at most 1/(KT) (Hoeffding)."""
    horizon = context.number("horizon")
    return sqrt(context.number("w") * log(2.0 * context.arms * horizon * horizon) / 2.0)


class MUCB(UnitPolicy):
    r"""UCB1 that restarts when the latest rewards of an arm differ from those just before.

    $$m + \sqrt{\frac{\xi\ln(t - \tau)}{N}}, \qquad
    \text{restart if } \Bigl|\sum_{\text{later half}} z - \sum_{\text{earlier half}} z\Bigr| > b$$
    """

    reference = "Cao, Wen, Kveton and Xie 2019"
    parameters = (
        Param("w", 200.0, 20.0, 2000.0, least=2.0, integer=True, meaning="length of the window of each arm in rewards"),
        Param("b", alarm_threshold, 0.5, 100.0, unit_power=1, meaning="alarm threshold of the halves' difference"),
        Param("gamma", 0.05, 0.001, 0.5, most=1.0, meaning="γ, share of steps with forced exploration"),
        Param("xi", 2.0, 0.001, 5.0, unit_power=2, meaning="ξ, weight of the bonus, inside the root"),
        *UnitPolicy.parameters,
    )
    rows = ROWS + 1
    row_limits = {**ROW_LIMITS, MEAN: UNIT}
    cell_limits = {RESTART: COUNT_OF_STEPS, ALARMS: COUNT_OF_STEPS}

    @classmethod
    def memory_layout(cls, arms: int, values: Mapping[str, Value]) -> Memory:
        return Memory((Part(2 * (int(values["w"]) // 2), UNIT),), repeat=arms)
