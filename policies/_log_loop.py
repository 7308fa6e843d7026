"""The loop over a log: one policy is replayed on its events. A template, specialised for each policy.

An event counts only when the policy picks the arm that was logged: then it learns from it, and that is a step of the
policy's own. Else the event is passed over and nothing is learned.
"""

from __future__ import annotations

from typing import Any

from policies._steps import first_untried
from policies.base import PULLS

start: Any = None
select: Any = None
update: Any = None


def play(worlds, first, last, p, open_, arms, cells, memory, rng, again, tally):  # type: ignore[no-untyped-def]
    """Replay logs first … last − 1 and write Σ w·reward, Σ w, Σ w², matched events and Σ of all rewards to tally[r].

    `again` says whether the policy draws anew at each event or holds on to its choice until that arm comes. The rest
    is as in `_loop.play`.
    """
    arm, reward, weight, block = worlds.arm, worlds.reward, worlds.weight, worlds.block
    events, count, turns = arm.shape[0], open_.shape[0], worlds.turn_at.shape[0]
    for r in range(first, last):
        arms[:] = 0.0
        cells[:] = 0.0
        memory[:] = 0.0
        start(arms, cells, memory, p)
        untried, turn, t, k = 0, 0, 1, -1
        gained, weights, squares, total = 0.0, 0.0, 0.0, 0.0
        for i in range(count):
            open_[i] = worlds.begins[i]
            untried += open_[i]
        for place in range(worlds.starts.shape[1]):
            begin = worlds.starts[r, place]
            for offset in range(min(block, events - place * block)):
                while turn < turns and worlds.turn_at[turn] <= place * block + offset:
                    i = worlds.turn_arm[turn]
                    if open_[i] != worlds.turn_open[turn] and arms[PULLS, i] == 0.0:
                        untried += 1 if worlds.turn_open[turn] == 1 else -1
                    open_[i] = worlds.turn_open[turn]
                    turn += 1
                    k = -1
                if k < 0 or again:
                    k = first_untried(open_, arms) if untried > 0 else select(t, open_, arms, cells, memory, p, rng)
                event = begin + offset
                x = reward[event]
                total += x
                if arm[event] == k:
                    if arms[PULLS, k] == 0.0:
                        untried -= 1
                    arms[PULLS, k] += 1.0
                    update(t, k, x, open_, arms, cells, memory, p, rng)
                    w = weight[event]
                    gained += w * x
                    weights += w
                    squares += w * w
                    t += 1
                    k = -1
        tally[r, 0] = gained
        tally[r, 1] = weights
        tally[r, 2] = squares
        tally[r, 3] = t - 1
        tally[r, 4] = total
