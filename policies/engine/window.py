"""Count, mean and sum of squared deviations of each arm over the last τ rewards of all arms.

A ring buffer in `memory` holds the arm (first τ places) and the reward (last τ places) of each pull. Adding or
removing a reward x, or replacing a reward y by x, updates n, m and Q = Σ(x − m)² of its arm in O(1):

    add:     m ← m + (x − m)/n, Q ← Q + (x − m_old)(x − m_new)
    remove:  m ← m − (x − m)/(n − 1), Q ← Q − (x − m_old)(x − m_new)
    replace: m ← m + (x − y)/n, Q ← Q + (x − y)(x − m_new + y − m_old)

Removals accumulate rounding errors, so everything is recomputed each time the ring wraps around, and for one arm when
the removed reward made up nearly all of its Q. Both are O(1) on average.
"""

from collections.abc import Mapping
from dataclasses import replace
from math import log, sqrt

import numpy as np

from ravenlab.common.compiled import inlined
from ravenlab.common.errors import InputError
from ravenlab.environments.world import Floats
from ravenlab.policies.engine.base import Policy
from ravenlab.policies.engine.limits import ARM_INDEX, COUNT_OF_PULLS, NONNEGATIVE, Limit, Memory, Part
from ravenlab.policies.engine.parameters import Param, ParamContext, Value

COUNT, MEAN, SQUARES = 1, 2, 3  # rows of `arms`: pulls in the window, their mean, and Q
NEXT, FILLED = 0, 1  # cells: next place of the ring to write, and number of places in use

LOST = 1e-9  # if a removal leaves less than this share of Q, the rest is mostly rounding error


@inlined
def recompute(arm, arms, cells, memory, tau):  # type: ignore[no-untyped-def]
    """Recompute n, m and Q of one arm (of all arms for −1) from the ring."""
    for j in range(arms.shape[1]):
        if arm < 0 or j == arm:
            arms[COUNT, j] = 0.0
            arms[MEAN, j] = 0.0
            arms[SQUARES, j] = 0.0
    j, n, m, q = -1, 0.0, 0.0, 0.0  # successive rewards are often of the same arm
    for i in range(int(cells[FILLED])):
        k = int(memory[i])
        if arm >= 0 and k != arm:
            continue
        if k != j:
            if j >= 0:
                arms[COUNT, j], arms[MEAN, j], arms[SQUARES, j] = n, m, q
            j, n, m, q = k, arms[COUNT, k], arms[MEAN, k], arms[SQUARES, k]
        n += 1.0
        x = memory[tau + i]
        before = x - m
        m += before * (1.0 / n)
        q += before * (x - m)
    if j >= 0:
        arms[COUNT, j], arms[MEAN, j], arms[SQUARES, j] = n, m, q


@inlined
def remove_reward(arm, x, arms):  # type: ignore[no-untyped-def]
    """Remove reward x of an arm; return whether the remaining Q is unreliable."""
    arms[COUNT, arm] -= 1.0
    if arms[COUNT, arm] == 0.0:
        arms[MEAN, arm] = 0.0
        arms[SQUARES, arm] = 0.0
        return False
    squares = arms[SQUARES, arm]
    before = x - arms[MEAN, arm]
    arms[MEAN, arm] -= before / arms[COUNT, arm]
    arms[SQUARES, arm] = max(0.0, squares - before * (x - arms[MEAN, arm]))
    return arms[SQUARES, arm] < LOST * squares


@inlined
def replace_reward(arm, oldest, x, arms):  # type: ignore[no-untyped-def]
    """Replace the oldest reward of an arm by x; return whether the resulting Q is unreliable."""
    mean, squares = arms[MEAN, arm], arms[SQUARES, arm]
    difference = x - oldest
    arms[MEAN, arm] = mean + difference * (1.0 / arms[COUNT, arm])
    arms[SQUARES, arm] = max(0.0, squares + difference * ((x - arms[MEAN, arm]) + (oldest - mean)))
    return arms[SQUARES, arm] < LOST * squares


@inlined
def push_reward(k, x, arms, cells, memory, tau):  # type: ignore[no-untyped-def]
    """Add reward x of arm k and, if the window is full, remove the oldest reward.

    Returns the arm of the removed reward, or −1. If the ring has wrapped around (cell NEXT is 0), the statistics of
    all arms have been recomputed.
    """
    place = int(cells[NEXT])
    oldest = memory[tau + place]
    removed = -1
    unreliable = False
    if cells[FILLED] == tau:
        removed = int(memory[place])
    else:
        cells[FILLED] += 1.0
    memory[place] = k
    memory[tau + place] = x
    if removed == k:
        unreliable = replace_reward(k, oldest, x, arms)
    else:
        if removed >= 0:
            unreliable = remove_reward(removed, oldest, arms)
        arms[COUNT, k] += 1.0
        before = x - arms[MEAN, k]
        arms[MEAN, k] += before * (1.0 / arms[COUNT, k])
        arms[SQUARES, k] += before * (x - arms[MEAN, k])
    place += 1
    if place == tau:
        place = 0
        recompute(-1, arms, cells, memory, tau)
    elif unreliable:
        recompute(removed, arms, cells, memory, tau)
    cells[NEXT] = place
    return removed


def window_for_changes(context: ParamContext) -> float:
    """2·sqrt(T ln T / U), the choice of Garivier and Moulines; from 1 to T steps."""
    horizon, changes = context.number("horizon"), context.number("changes")
    if changes == 0.0:
        return horizon
    return min(horizon, max(1.0, 2.0 * sqrt(horizon * log(horizon) / changes)))


def tenth_of_horizon(context: ParamContext) -> float:
    """T/10, at least one step."""
    return max(1.0, context.number("horizon") / 10.0)


def longest_window(context: ParamContext) -> float:
    """The whole horizon, at least 10 steps: upper end of the search range of a window."""
    return max(10.0, context.number("horizon"))


TAU_BY_CHANGES = Param(
    "tau", window_for_changes, 10.0, longest_window, least=1.0, integer=True, meaning="τ, rewards in the window"
)
TAU_BY_HORIZON = replace(TAU_BY_CHANGES, default=tenth_of_horizon)


class WindowPolicy(Policy):
    """A policy on a window of the last τ rewards, with the parameter `tau`."""

    row_limits = {COUNT: COUNT_OF_PULLS, SQUARES: NONNEGATIVE}
    cell_limits = {
        NEXT: Limit(0.0, "tau", whole=True),
        FILLED: Limit(0.0, "tau", whole=True),
    }

    @classmethod
    def memory_layout(cls, arms: int, values: Mapping[str, Value]) -> Memory:
        tau = int(values["tau"])
        return Memory((Part(tau, ARM_INDEX), Part(tau)))

    @classmethod
    def check_state(cls, values: Mapping[str, Value], stats: Floats, cells: Floats, memory: Floats) -> None:
        """Check that the ring is filled from its start and that the counts are those of the rewards in it."""
        tau, place, filled = int(values["tau"]), int(cells[NEXT]), int(cells[FILLED])
        if place == tau or (filled < tau and place != filled):
            raise InputError(f"cells[{NEXT}] of the state must be the next place of the ring.")
        counts = np.bincount(memory[:filled].astype(np.int64), minlength=stats.shape[1])
        if not np.array_equal(counts, stats[COUNT]):
            raise InputError(f"stats[{COUNT}] of the state must be the number of rewards of each arm in the window.")
