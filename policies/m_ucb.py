"""M-UCB: UCB1 since the last restart, which comes when the two halves of an arm's last w rewards differ.

Rewards are z = clip((x − low)/(high − low), 0, 1). With τ the step of the last restart (0 at first) and N, m of
the rewards since: m + sqrt(2·ln(t − τ) / N). Forced exploration at rate γ: the open arms in turn at the
beginning of every ⌈K/γ⌉ steps since τ. Once an arm has w rewards since τ, |sum of the later half − sum of the earlier
half| > b restarts all arms; the reward that did it is forgotten too. Of an odd w the last w − 1 rewards count.

The difference D of the halves moves in O(1): a new z makes the oldest of the later half, y, one of the earlier,
whose oldest, o, goes: D ← D + z − 2y + o. It is computed afresh once per turn of the ring, so no rounding builds up.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log, sqrt

from environments.compiled import inlined
from policies.engine.base import Param, ParamContext, Sizes, Value
from policies.engine.families import UNIT_PARAMETERS, UnitPolicy, to_unit
from policies.engine.restart import COUNT, MEAN, ROWS, WIDTH, forced_arm, forget, take_in
from policies.engine.rules import best_known_line, unknown_arm

DIFFERENCE = ROWS
"""Row behind those since the restart: D, while a window is full."""

RESTART, ALARMS = 0, 1
"""Cells: τ, and how many restarts there were."""

W, B, GAMMA, LOW, HIGH = range(5)
"""Places of the parameters."""


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """An arm without rewards since τ at once, else one that is forced, else argmax of m + sqrt(2·ln(t − τ) / N)."""
    unknown = unknown_arm(open_, arms, COUNT, 1.0)
    if unknown >= 0:
        return unknown
    since = max(1.0, t - cells[RESTART])
    forced = forced_arm(since, open_, p[GAMMA])
    if forced >= 0:
        return forced
    return best_known_line(open_, arms, COUNT, 1.0, MEAN, WIDTH, sqrt(2.0 * log(since)))


@inlined
def window_differs(k, z, arms, memory, p):  # type: ignore[no-untyped-def]
    """Put z, which arm k has been credited with, into its ring; gives whether |D| > b."""
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
    """One more reward since τ, or a restart of all arms."""
    z = to_unit(x, p[LOW], p[HIGH])
    take_in(k, z, arms)
    if window_differs(k, z, arms, memory, p):
        for j in range(open_.shape[0]):
            forget(j, arms)
        cells[RESTART] = t
        cells[ALARMS] += 1.0


def threshold(setting: ParamContext) -> float:
    """sqrt(w·ln(2KT²)/2), which by Hoeffding T tests without a change cross with probability 1/(KT) at most."""
    horizon = setting.number("horizon")
    return sqrt(setting.number("w") * log(2.0 * setting.arms * horizon * horizon) / 2.0)


class MUCB(UnitPolicy):
    """UCB1 that starts again when an arm's latest rewards no longer look like those just before."""

    name = "m-ucb"
    reference = "Cao, Wen, Kveton and Xie 2019"
    parameters = (
        Param("w", 200.0, 20.0, 2000.0, least=2.0, integer=True, meaning="rewards of an arm in its window"),
        Param("b", threshold, meaning="by how much the sums of the window's halves must differ"),
        Param("gamma", 0.05, 0.001, 0.5, most=1.0, meaning="γ, the share of steps that explore"),
        *UNIT_PARAMETERS,
    )
    choose = staticmethod(select)
    learn = staticmethod(update)

    @classmethod
    def sizes(cls, arms: int, values: Mapping[str, Value]) -> Sizes:
        return Sizes(rows=ROWS + 1, cells=2, memory=arms * 2 * (int(values["w"]) // 2))


POLICY = MUCB
