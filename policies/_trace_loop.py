"""The loop over windows of a trace: one policy plays rows of a table. A template, specialised for each policy.

As `_loop.play`, but for what the arms pay: cells of the table, whose arms may open and close at any row. An arm that
opens again is just open again; one that was never pulled is pulled at once.
"""

from __future__ import annotations

from typing import Any

from policies._steps import first_untried, note_step
from policies.base import PULLS

start: Any = None
select: Any = None
update: Any = None


def play(worlds, first, last, p, open_, arms, cells, memory, rng, marks, out, curve, pulls, by_row, by_step):  # type: ignore[no-untyped-def]
    """Play windows first … last − 1 and write regret, reward and suboptimal pulls into out[r].

    `by_row` [N] and `by_step` [T] add up regret by the row and by the step of the window at which it came; either
    may be empty. The rest is as in `_loop.play`.
    """
    values, smoothed, best, turns = worlds.values, worlds.smoothed, worlds.best, worlds.turns
    horizon, count = worlds.horizon, open_.shape[0]
    for r in range(first, last):
        offset = worlds.offsets[r]
        arms[:] = 0.0
        cells[:] = 0.0
        memory[:] = 0.0
        start(arms, cells, memory, p)
        untried, mark = 0, 0
        regret, reward, suboptimal = 0.0, 0.0, 0
        for t in range(1, horizon + 1):
            row = offset + t - 1
            if t == 1 or turns[row] == 1:
                untried = 0
                for k in range(count):
                    open_[k] = 1 if values[row, k] == values[row, k] else 0
                    if open_[k] == 1 and arms[PULLS, k] == 0.0:
                        untried += 1
            if untried > 0:
                k = first_untried(open_, arms)
                untried -= 1
            else:
                k = select(t, open_, arms, cells, memory, p, rng)
            x = values[row, k]
            arms[PULLS, k] += 1.0
            update(t, k, x, open_, arms, cells, memory, p, rng)
            lost = best[row] - smoothed[row, k]
            regret += lost
            reward += x
            if lost > 0.0:
                suboptimal += 1
            mark = note_step(r, t, k, regret, reward, mark, marks, curve, pulls)
            if by_row.shape[0] > 0:
                by_row[row] += lost
                by_step[t - 1] += lost
        out[r, 0] = regret
        out[r, 1] = reward
        out[r, 2] = suboptimal
