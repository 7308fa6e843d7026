"""Weights w of the EXP3 family, and the draw of an arm by p = (1−γ)·w/W + γ/K, W the sum of w over the K open arms.

p does not notice the scale of the weights, so they may be divided by anything: when W has left [1e-20, 1e20], the
open arms' are divided by their average. A weight of less than 1e-200 of the average counts as that: its arm is
as good as never drawn for its weight, and no number becomes 0 or infinite, however long the play.

Arms that come and go: K is the arms open now. A closed arm keeps its weight as a multiple of the average it left
behind, and comes back with that multiple of the average it finds; a new arm begins with the average itself.

A reward x becomes the estimate x/p, so it takes a choice, whose p is known, to learn from it. The first pull of an
arm is no choice, and a reward that came without one says nothing of p either: both leave the weights as they were.
"""

from __future__ import annotations

from math import exp

from environments.compiled import inlined
from policies.engine.base import CLOSED

WEIGHT, INSIDE, STAKE, OWED = 1, 2, 3, 4
"""Rows: w (a multiple of the average while closed), 1 where an arm was open at the last draw, what its latest choice
makes of a reward (the learning rate over p), and how many choices still wait for theirs."""

ROWS = 5

TOTAL, COUNT = 0, 1
"""Cells: W and K."""

CELLS = 2

FAR = 1e20
LEAST = 1e-200


@inlined
def all_alike(arms):  # type: ignore[no-untyped-def]
    """Every weight is 1, closed arms' too."""
    for k in range(arms.shape[1]):
        arms[WEIGHT, k] = 1.0


@inlined
def start(arms, cells, memory, p):  # type: ignore[no-untyped-def]
    """Nothing is known."""
    all_alike(arms)


@inlined
def come_and_go(open_, arms):  # type: ignore[no-untyped-def]
    """Put the weights of arms that closed or opened on the scale that they belong to."""
    before, were, stay, stayed = 0.0, 0.0, 0.0, 0.0
    for k in range(open_.shape[0]):
        if arms[INSIDE, k] == 1.0:
            before += arms[WEIGHT, k]
            were += 1.0
            if open_[k] != CLOSED:
                stay += arms[WEIGHT, k]
                stayed += 1.0
    for k in range(open_.shape[0]):
        if open_[k] == CLOSED and arms[INSIDE, k] == 1.0:
            arms[WEIGHT, k] *= were / before
            arms[INSIDE, k] = 0.0
            arms[OWED, k] = 0.0
        elif open_[k] != CLOSED and arms[INSIDE, k] == 0.0:
            if stayed > 0.0:
                arms[WEIGHT, k] *= stay / stayed
            arms[INSIDE, k] = 1.0


@inlined
def look(open_, arms, cells):  # type: ignore[no-untyped-def]
    """W and K of the arms that are open now."""
    moved = False
    for k in range(open_.shape[0]):
        moved |= (open_[k] != CLOSED) != (arms[INSIDE, k] == 1.0)
    if moved:
        come_and_go(open_, arms)
    total, count = 0.0, 0.0
    for k in range(open_.shape[0]):
        total += arms[INSIDE, k] * arms[WEIGHT, k]
        count += arms[INSIDE, k]
    cells[TOTAL] = total
    cells[COUNT] = count


@inlined
def probability(arms, cells, k, gamma):  # type: ignore[no-untyped-def]
    """p of an open arm."""
    return (1.0 - gamma) * arms[WEIGHT, k] / cells[TOTAL] + gamma / cells[COUNT]


@inlined
def draw(arms, cells, gamma, u):  # type: ignore[no-untyped-def]
    """The first open arm at which the running sum of p exceeds a uniform u; call `look` before."""
    slope, floor = (1.0 - gamma) / cells[TOTAL], gamma / cells[COUNT]
    running, chosen = 0.0, -1
    for k in range(arms.shape[1]):
        if arms[INSIDE, k] == 1.0:
            running += slope * arms[WEIGHT, k] + floor
            chosen = k
            if running > u:
                break
    return chosen


@inlined
def choose(open_, arms, cells, gamma, rng):  # type: ignore[no-untyped-def]
    """Draw an arm by p; its reward x will multiply its weight by exp(γ·(x/p)/K), that is exp(stake·x)."""
    look(open_, arms, cells)
    k = draw(arms, cells, gamma, rng.random())
    arms[STAKE, k] = gamma / (cells[COUNT] * probability(arms, cells, k, gamma))
    arms[OWED, k] += 1.0
    return k


@inlined
def was_chosen(arms, k):  # type: ignore[no-untyped-def]
    """Whether a reward of arm k belongs to a choice, which has then got it."""
    if arms[OWED, k] == 0.0:
        return False
    arms[OWED, k] -= 1.0
    return True


@inlined
def multiply(arms, cells, k, exponent):  # type: ignore[no-untyped-def]
    """w of an open arm times e to the exponent (at most 1)."""
    before = arms[WEIGHT, k]
    arms[WEIGHT, k] = max(before * exp(exponent), LEAST * cells[TOTAL])
    cells[TOTAL] = max(0.0, cells[TOTAL] - before) + arms[WEIGHT, k]


@inlined
def keep_in_bounds(arms, cells):  # type: ignore[no-untyped-def]
    """Divide the weights by their average where W has gone far.

    That is taken from the weights themselves: where one was nearly all of W and fell, a running W has lost the others.
    """
    if not 1.0 / FAR <= cells[TOTAL] <= FAR:
        total = 0.0
        for k in range(arms.shape[1]):
            total += arms[INSIDE, k] * arms[WEIGHT, k]
        for k in range(arms.shape[1]):
            if arms[INSIDE, k] == 1.0:
                arms[WEIGHT, k] = max(arms[WEIGHT, k] * (cells[COUNT] / total), LEAST)
        cells[TOTAL] = cells[COUNT]
