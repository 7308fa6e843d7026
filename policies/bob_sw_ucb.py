"""BOB: bandit over bandit, SW-UCB with a window that EXP3 learns (Cheung, Simchi-Levi and Zhu 2019).

Time is cut into blocks of H rewards. At the start of a block, EXP3 draws the window w from J = Δ + 1 candidates
⌊H^{j/Δ}⌋, j = 0 … Δ = ⌈ln H⌉, and SW-UCB starts anew with it: z = clip((x − low)/(high − low), 0, 1), and the index at
reward i of the block is m_w + sqrt(ξ·ln min(i, w) / N_w). With G the logarithm of a candidate's weight, it is drawn
with probability p = (1−γ)·e^G/Σe^G + γ/J, and at the end of the block G ← G + γ·ẑ/(p·J), where ẑ is the mean of z in
the block. γ = min(1, sqrt(J·ln J / ((e−1)·⌈T/H⌉))) is the original's. H = ⌈sqrt(KT)⌉ corresponds to its d·sqrt(T)
for linear bandits. An arm without rewards in the window is pulled immediately.
"""

from collections.abc import Mapping
from math import ceil, e, exp, floor, log, sqrt

import numpy as np

from ravenlab.common.compiled import inlined
from ravenlab.common.errors import InputError
from ravenlab.environments.world import Floats
from ravenlab.policies.engine.limits import ARM_INDEX, COUNT_OF_PULLS, NONNEGATIVE, UNIT, Limit, Memory, Part
from ravenlab.policies.engine.parameters import Param, ParamContext, Value
from ravenlab.policies.engine.rules import HORIZON_PARAMETER, UnitPolicy, first_or_argmax, to_unit

COUNT, SUM, MEAN, WIDTH = 1, 2, 3, 4  # rows: N_w, sum of z in the window, m_w, and 1/sqrt(N_w)
SEEN, TOTAL, WINDOW, PLACE, CHANCE = range(5)  # cells: rewards of the block, their sum, w (0 before its draw), j and p
HORIZON, BLOCK, XI, LOW, HIGH = range(5)  # parameters


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """An arm without rewards in the window, else argmax of m_w + sqrt(ξ·ln min(i, w))·(1/sqrt(N_w))."""
    bonus = sqrt(p[XI] * log(max(1.0, min(cells[SEEN] + 1.0, cells[WINDOW]))))
    return first_or_argmax(open_, arms, COUNT, 1.0, MEAN, WIDTH, bonus)


@inlined
def count_windows(block):  # type: ignore[no-untyped-def]
    """J = ⌈ln H⌉ + 1."""
    return ceil(log(block)) + 1


@inlined
def learning_rate(count, p):  # type: ignore[no-untyped-def]
    """γ = min(1, sqrt(J·ln J / ((e−1)·⌈T/H⌉)))."""
    return min(1.0, sqrt(count * log(count) / ((e - 1.0) * ceil(p[HORIZON] / p[BLOCK]))))


@inlined
def draw_window(cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Draw w; the logarithms of the weights are at the end of the memory."""
    block, count = int(p[BLOCK]), count_windows(p[BLOCK])
    first, gamma = 2 * block, learning_rate(count, p)
    highest, total = memory[first], 0.0
    for j in range(count):
        highest = max(highest, memory[first + j])
    for j in range(count):
        total += exp(memory[first + j] - highest)
    left = rng.random()
    for j in range(count):
        chance = (1.0 - gamma) * exp(memory[first + j] - highest) / total + gamma / count
        left -= chance
        cells[PLACE] = j
        cells[CHANCE] = chance
        if left < 0.0:
            break
    cells[WINDOW] = floor(block ** (cells[PLACE] / (count - 1.0))) if count > 1 else 1.0


@inlined
def add(k, z, count, arms):  # type: ignore[no-untyped-def]
    """Add z to the window of arm k (count 1), or remove it (count −1)."""
    arms[COUNT, k] += count
    arms[SUM, k] = arms[SUM, k] + count * z if arms[COUNT, k] > 0.0 else 0.0
    arms[MEAN, k] = arms[SUM, k] / max(1.0, arms[COUNT, k])
    arms[WIDTH, k] = 1.0 / sqrt(arms[COUNT, k]) if arms[COUNT, k] > 0.0 else 0.0


@inlined
def finish_block(arms, cells, memory, p):  # type: ignore[no-untyped-def]
    """Update the weight of the window, and clear all statistics."""
    block, count = int(p[BLOCK]), count_windows(p[BLOCK])
    memory[2 * block + int(cells[PLACE])] += learning_rate(count, p) * cells[TOTAL] / (block * cells[CHANCE] * count)
    cells[:] = 0.0
    arms[COUNT:] = 0.0


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Add the reward to the block, and remove the one that leaves the window."""
    if cells[WINDOW] == 0.0:
        draw_window(cells, memory, p, rng)
    block, place, window = int(p[BLOCK]), int(cells[SEEN]), int(cells[WINDOW])
    z = to_unit(x, p[LOW], p[HIGH])
    memory[place] = k
    memory[block + place] = z
    add(k, z, 1.0, arms)
    if place >= window:
        add(int(memory[place - window]), memory[block + place - window], -1.0, arms)
    cells[SEEN] += 1.0
    cells[TOTAL] += z
    if place + 1 == block:
        finish_block(arms, cells, memory, p)


def block_length(context: ParamContext) -> float:
    """⌈sqrt(KT)⌉, at most T."""
    horizon = context.number("horizon")
    return min(horizon, float(ceil(sqrt(context.arms * horizon))))


class BobSWUCB(UnitPolicy):
    r"""SW-UCB whose window is learned online by EXP3, for changes at an unknown rate.

    $$m_w + \sqrt{\frac{\xi \ln\min(i, w)}{N_w}}, \qquad w \sim \text{EXP3 over } \lfloor H^{j/\Delta} \rfloor$$
    """

    reference = "Cheung, Simchi-Levi and Zhu 2019"
    parameters = (
        HORIZON_PARAMETER,
        Param("block", block_length, least=1.0, integer=True, meaning="H, rewards per block"),
        Param("xi", 0.6, 0.001, 5.0, unit_power=2, meaning="ξ, weight of the bonus, inside the root"),
        *UnitPolicy.parameters,
    )
    random = True
    row_limits = {COUNT: COUNT_OF_PULLS, MEAN: UNIT, WIDTH: UNIT, SUM: NONNEGATIVE}
    cell_limits = {
        SEEN: Limit(0.0, "block", whole=True),
        TOTAL: NONNEGATIVE,
        WINDOW: Limit(0.0, "block", whole=True),
        PLACE: Limit(0.0, "block", whole=True),
        CHANCE: UNIT,
    }

    @classmethod
    def memory_layout(cls, arms: int, values: Mapping[str, Value]) -> Memory:
        block = int(values["block"])
        windows = count_windows(min(block, 2**62))  # a larger block does not fit in the memory anyway
        return Memory((Part(block, ARM_INDEX), Part(block, UNIT), Part(windows, NONNEGATIVE)))

    @classmethod
    def check_state(cls, values: Mapping[str, Value], stats: Floats, cells: Floats, memory: Floats) -> None:
        """Check that the window is one of the candidates, and that the counts are those of the rewards in it."""
        block, seen, window = int(values["block"]), int(cells[SEEN]), int(cells[WINDOW])
        count = count_windows(block)
        if window == 0:
            valid = seen == 0
        else:
            place = int(cells[PLACE])
            drawn = floor(block ** (place / (count - 1.0))) if count > 1 else 1
            valid = 0 < seen < block and place < count and window == drawn and cells[CHANCE] > 0.0
        if not valid:
            raise InputError("cells of the state must describe a block with one of its windows.")
        recent = memory[max(0, seen - window) : seen].astype(np.int64)
        if not np.array_equal(np.bincount(recent, minlength=stats.shape[1]), stats[COUNT]):
            raise InputError(f"stats[{COUNT}] of the state must be the number of rewards of each arm in the window.")
