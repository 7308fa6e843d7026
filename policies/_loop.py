"""The general loop: one policy plays worlds of a block. A template, specialised for each policy.

`start`, `select` and `update` are the policy's rules (see `policies/base.py`); `PEEKS` is true for
the two published policies that read the true means.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from environments.world import DELAYED, mean_of, reward_of
from policies._steps import first_untried, note_step
from policies.base import PULLS

PEEKS = False


start: Any = None
select: Any = None
update: Any = None


def play(worlds, first, last, p, open_, arms, cells, memory, due, rng, marks, out, curve, pulls):  # type: ignore[no-untyped-def]
    """Play worlds first … last − 1 and write regret, reward and suboptimal pulls into out[r].

    Scratch: open_ [K], arms [rows, K], cells, memory, due (a ring for delayed feedback). `curve`
    [R, marks, 2] takes regret and reward up to each marked step; `pulls` [R, T] who was pulled
    when; either may be empty.
    """
    kind, starts, season, share = worlds.kind, worlds.starts, worlds.season, worlds.share
    horizon, count = worlds.noise.shape[1], open_.shape[0]
    for r in range(first, last):
        level, motion, noise, best, coin = (
            worlds.level[r],
            worlds.motion[r],
            worlds.noise[r],
            worlds.best[r],
            worlds.coin[r],
        )
        opens, closes = worlds.opens[r], worlds.closes[r]
        open_[:] = 0
        arms[:] = 0.0
        cells[:] = 0.0
        memory[:] = 0.0
        due[:] = 0.0
        start(arms, cells, memory, p)
        segment, event, untried, mark = -1, 1, 0, 0
        row, blip = 0, 0
        regret, reward, suboptimal = 0.0, 0.0, 0
        for t in range(1, horizon + 1):
            if t == starts[segment + 1]:
                segment += 1
                row, blip = worlds.row[segment], worlds.blip[segment]
            if t == event:
                untried, event = 0, horizon + 1
                for k in range(count):
                    open_[k] = 1 if opens[k] <= t < closes[k] else 0
                    if open_[k] == 1 and arms[PULLS, k] == 0.0:
                        untried += 1
                    if opens[k] > t:
                        event = min(event, opens[k])
                    if closes[k] > t:
                        event = min(event, closes[k])
            if untried > 0:
                k = first_untried(open_, arms)
                untried -= 1
            else:
                k = select(t, open_, arms, cells, memory, p, rng)
            x = reward_of(kind, level, motion, season, coin, noise, row, blip, k, t)
            seen = x
            if kind & DELAYED:
                ring = due.shape[0]
                for i in range(worlds.parts.shape[2]):
                    due[(t + worlds.delay[r, t - 1, i]) % ring] += x * worlds.parts[r, t - 1, i]
                seen = due[t % ring]
                due[t % ring] = 0.0
            if PEEKS:
                low, high = np.inf, -np.inf
                for j in range(count):
                    if open_[j] == 1:
                        true_mean = mean_of(kind, level, motion, season, share, row, blip, j, t)
                        low, high = min(low, true_mean), max(high, true_mean)
                seen = min(1.0, max(0.0, (seen - low) / (high - low + 1e-6)))
            arms[PULLS, k] += 1.0
            update(t, k, seen, open_, arms, cells, memory, p, rng)
            mean = mean_of(kind, level, motion, season, share, row, blip, k, t)
            regret += best[t - 1] - mean
            reward += x
            if mean < best[t - 1]:
                suboptimal += 1
            mark = note_step(r, t, k, regret, reward, mark, marks, curve, pulls)
        out[r, 0] = regret
        out[r, 1] = reward
        out[r, 2] = suboptimal
