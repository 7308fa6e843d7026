"""What an arm pays over a whole block of steps, worked out once per world and kept for all candidates.

Blocks are of 64, 512 and 4096 steps. For block and arm: the mean x̄ of the rewards, their centred
sum of squares C = Σ(x − x̄)², P, a lower bound of the smallest prefix sum of x − x̄ (at most 0), and
the regret and suboptimal pulls of whoever pulls the arm all through. A block is worked out when a
candidate first asks for it, from the rewards themselves, so any world will do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from environments.compiled import compiled
from environments.world import Floats, Ints, mean_of, reward_of

SHORTEST = 64
FACTOR = 8
LEVELS = 3
AVERAGE, SQUARES, PREFIX, REGRET, SUBOPTIMAL = range(5)


class Blocks(NamedTuple):
    """Room for the blocks of one world; `stamp` says of which world an entry is."""

    stamp: Ints
    """[K, blocks of all levels]"""
    sums: Floats
    """[K, blocks of all levels, 5]"""
    offset: Ints
    """[LEVELS] where a level's blocks begin."""


def make_blocks(arms: int, horizon: int) -> Blocks:
    """Room for a world. The sums are not touched before they are asked for, so most of it stays virtual."""
    counts = [horizon // (SHORTEST * FACTOR**level) for level in range(LEVELS)]
    offset = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Blocks(
        stamp=np.full((arms, int(offset[-1])), -1, dtype=np.int64),
        sums=np.empty((arms, int(offset[-1]), 5)),
        offset=offset,
    )


@compiled
def fill_shortest(worlds, r, segment, k, b, sums):  # type: ignore[no-untyped-def]
    """Sums over block number b of 64 steps; `segment` is one that does not begin after it."""
    kind, starts, season, share = worlds.kind, worlds.starts, worlds.season, worlds.share
    level, motion, noise, coin, best = (
        worlds.level[r],
        worlds.motion[r],
        worlds.noise[r],
        worlds.coin[r],
        worlds.best[r],
    )
    first = b * SHORTEST + 1
    total, regret, suboptimal = 0.0, 0.0, 0.0
    s = segment
    for t in range(first, first + SHORTEST):
        while t >= starts[s + 1]:
            s += 1
        total += reward_of(kind, level, motion, season, coin, noise, worlds.row[s], worlds.blip[s], k, t)
        mean = mean_of(kind, level, motion, season, share, worlds.row[s], worlds.blip[s], k, t)
        regret += best[t - 1] - mean
        if mean < best[t - 1]:
            suboptimal += 1.0
    average = total / SHORTEST
    squares, prefix, lowest = 0.0, 0.0, 0.0
    s = segment
    for t in range(first, first + SHORTEST):
        while t >= starts[s + 1]:
            s += 1
        x = reward_of(kind, level, motion, season, coin, noise, worlds.row[s], worlds.blip[s], k, t) - average
        squares += x * x
        prefix += x
        lowest = min(lowest, prefix)
    sums[AVERAGE] = average
    sums[SQUARES] = squares
    sums[PREFIX] = lowest
    sums[REGRET] = regret
    sums[SUBOPTIMAL] = suboptimal


@compiled
def join(parts, length, sums):  # type: ignore[no-untyped-def]
    """Sums over a block from those of its 8 parts of `length` steps each.

    Around the joint average ā a part's prefix sums lie above (sum of x − ā before it) + P +
    length·min(x̄ − ā, 0): a bound, which is all that a certificate needs.
    """
    average, regret, suboptimal = 0.0, 0.0, 0.0
    for i in range(FACTOR):
        average += parts[i, AVERAGE]
        regret += parts[i, REGRET]
        suboptimal += parts[i, SUBOPTIMAL]
    average /= FACTOR
    squares, before, lowest = 0.0, 0.0, 0.0
    for i in range(FACTOR):
        shift = parts[i, AVERAGE] - average
        squares += parts[i, SQUARES] + length * shift * shift
        lowest = min(lowest, before + parts[i, PREFIX] + length * min(shift, 0.0))
        before += length * shift
    sums[AVERAGE] = average
    sums[SQUARES] = squares
    sums[PREFIX] = lowest
    sums[REGRET] = regret
    sums[SUBOPTIMAL] = suboptimal


@compiled
def ensure(blocks, worlds, r, segment, k, level, b):  # type: ignore[no-untyped-def]
    """Work out block b of a level for arm k, and the blocks it is made of, unless they are there."""
    stamp, sums, offset = blocks.stamp[k], blocks.sums[k], blocks.offset
    length = SHORTEST
    for part_level in range(level + 1):
        span = FACTOR ** (level - part_level)
        for i in range(b * span, (b + 1) * span):
            place = offset[part_level] + i
            if stamp[place] == r:
                continue
            if part_level == 0:
                fill_shortest(worlds, r, segment, k, i, sums[place])
            else:
                below = offset[part_level - 1] + i * FACTOR
                join(sums[below : below + FACTOR], length // FACTOR, sums[place])
            stamp[place] = r
        length *= FACTOR
