"""Count, mean and squared deviations of each arm over the last τ rewards of all arms together.

A ring in `memory` holds the arm (first τ places) and the reward (last τ places) of each pull. A
reward that comes in or falls out moves n, m and Q = Σ(x − m)² of its arm in O(1):

    in:   m ← m + (x − m)/n, Q ← Q + (x − m_old)(x − m_new)
    out:  m ← m − (x − m)/(n − 1), Q ← Q − (x − m_old)(x − m_new)

Taking out rounds anew each time, so all is computed afresh once per turn of the ring, and for one
arm at once when the reward that falls out was nearly all of its Q: both are O(1) on average.
"""

from __future__ import annotations

from math import log, sqrt

from environments.compiled import inlined
from policies.engine.base import Param, ParamContext

COUNT, MEAN, SQUARES = 1, 2, 3
"""Rows of `arms`: pulls in the window, their mean, and Q."""

NEXT, FILLED = 0, 1
"""Cells: the place of the ring that is written next, and how many places are in use."""

CELLS = 2

LOST = 1e-9
"""When Q shrinks to less than this share of itself, what is left is mostly rounding."""


@inlined
def rebuild(arm, arms, cells, memory, tau):  # type: ignore[no-untyped-def]
    """n, m and Q of one arm (of all for arm −1) from the ring itself."""
    for j in range(arms.shape[1]):
        if arm < 0 or j == arm:
            arms[COUNT, j] = 0.0
            arms[MEAN, j] = 0.0
            arms[SQUARES, j] = 0.0
    for i in range(int(cells[FILLED])):
        j = int(memory[i])
        if arm < 0 or j == arm:
            arms[COUNT, j] += 1.0
            before = memory[tau + i] - arms[MEAN, j]
            arms[MEAN, j] += before / arms[COUNT, j]
            arms[SQUARES, j] += before * (memory[tau + i] - arms[MEAN, j])


@inlined
def take_out(arm, x, arms):  # type: ignore[no-untyped-def]
    """Without reward x of the arm; gives whether too little is left of Q to trust it."""
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
def push(k, x, arms, cells, memory, tau):  # type: ignore[no-untyped-def]
    """Reward x of arm k comes in, and the oldest falls out if the window is full.

    Gives the arm whose reward fell out, or −1. When the ring has come to its beginning again
    (cell NEXT is 0), the numbers of all arms are new.
    """
    place = int(cells[NEXT])
    gone = -1
    doubt = False
    if cells[FILLED] == tau:
        gone = int(memory[place])
        doubt = take_out(gone, memory[tau + place], arms)
    else:
        cells[FILLED] += 1.0
    memory[place] = k
    memory[tau + place] = x
    arms[COUNT, k] += 1.0
    before = x - arms[MEAN, k]
    arms[MEAN, k] += before / arms[COUNT, k]
    arms[SQUARES, k] += before * (x - arms[MEAN, k])
    place += 1
    if place == tau:
        place = 0
        rebuild(-1, arms, cells, memory, tau)
    elif doubt:
        rebuild(gone, arms, cells, memory, tau)
    cells[NEXT] = place
    return gone


def tuned_to_changes(setting: ParamContext) -> float:
    """2·sqrt(T ln T / U), Garivier and Moulines' choice; at least one step, and no more than there are."""
    horizon, changes = setting.number("horizon"), setting.number("changes")
    if changes == 0.0:
        return horizon
    return min(horizon, max(1.0, 2.0 * sqrt(horizon * log(horizon) / changes)))


def a_tenth(setting: ParamContext) -> float:
    """T/10, at least one step."""
    return max(1.0, setting.number("horizon") / 10.0)


def longest(setting: ParamContext) -> float:
    """The longest window worth a search: all of the horizon."""
    return max(10.0, setting.number("horizon"))


TAU_BY_CHANGES = Param(
    "tau", tuned_to_changes, 10.0, longest, least=1.0, integer=True, meaning="τ, rewards in the window"
)

TAU_BY_HORIZON = Param("tau", a_tenth, 10.0, longest, least=1.0, integer=True, meaning="τ, rewards in the window")
