"""Sums over blocks of steps, with which leader runs skip whole blocks.

For each block and arm, these sums are computed when a candidate first needs them and shared by all candidates: the mean
x̄ of the rewards, their centered sum of squares C = Σ(x − x̄)², a lower bound P ≤ 0 of the prefix sums of x − x̄, and the
regret and suboptimal pulls of pulling the arm throughout the block.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from ravenlab.common.compiled import inner
from ravenlab.environments import world
from ravenlab.environments.world import Floats, Ints

SHORTEST, FACTOR, LEVELS = 64, 8, 3  # steps of the shortest blocks, ratio between levels, number of levels
LONGEST = SHORTEST * FACTOR ** (LEVELS - 1)
AVERAGE, SQUARES, PREFIX, BLOCK_REGRET, BLOCK_SUBOPTIMAL = range(5)  # sums of a block
ONE = np.uint64(1)  # an index without a sign needs no check whether it counts from the end of the array


class Blocks(NamedTuple):
    """Storage for the blocks of one world."""

    stamp: Ints
    """[K, blocks of all levels] replication for which the sums have been computed."""
    sums: Floats
    """[K, blocks of all levels, 5]"""
    offset: Ints
    """[LEVELS] index of the first block of each level."""


def allocate_blocks(arms: int, horizon: int) -> Blocks:
    """Allocate the blocks of a world; memory of sums that are never computed is not touched."""
    counts = [horizon // (SHORTEST * FACTOR**level) for level in range(LEVELS)]
    offset = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Blocks(
        stamp=np.full((arms, int(offset[-1])), -1, dtype=np.int64),
        sums=np.empty((arms, int(offset[-1]), 5)),
        offset=offset,
    )


@inner
def sum_steps(worlds, r, segment, k, t, end, rewards, sums):  # type: ignore[no-untyped-def]
    """Compute the sums of steps t … end − 1, at most 64; `segment` must not start after t."""
    kind, season, share = worlds.kind, worlds.season, worlds.share
    starts, rows, blips = worlds.starts[r], worlds.row[r], worlds.blip[r]
    level, motion = worlds.level[r], worlds.motion[r]
    noise, coin, best = worlds.noise[r], worlds.coin[r], worlds.best[r]
    total, regret, suboptimal = 0.0, 0.0, 0.0
    count, i = float(end - t), np.uint64(0)
    while t < end:
        while t >= starts[segment + 1]:
            segment += 1
        row, blip = rows[segment], blips[segment]
        last = end if end < starts[segment + 1] else starts[segment + 1]
        simple = kind & (world.SEASON | world.GRADUAL | world.BERNOULLI) == 0
        base, variance = level[row, k, world.MEAN], level[row, k, world.VARIANCE]
        slope = motion[k, world.PER_STEP] if kind & world.SLOPE and blip == 0 else 0.0
        growth = motion[k, world.VARIANCE_PER_STEP] if kind & world.GROWTH and blip == 0 else 0.0
        deviation = sqrt(variance)
        for u in range(t, last):
            if simple:
                mean = base + slope * u
                if growth != 0.0:
                    deviation = sqrt(variance + growth * u)
                x = mean + deviation * noise[u - 1]
            else:
                mean = world.mean_of(kind, level, motion, season, share, row, blip, k, u)
                x = world.reward_of(kind, level, motion, season, coin, noise, row, blip, k, u)
            rewards[i] = x
            i += ONE
            total += x
            regret += best[u - 1] - mean
            suboptimal += 1.0 if mean < best[u - 1] else 0.0
        t = last
    average = total / count
    squares, prefix, lowest = 0.0, 0.0, 0.0
    for j in range(i):
        x = rewards[j] - average
        squares += x * x
        prefix += x
        lowest = prefix if prefix < lowest else lowest
    sums[AVERAGE] = average
    sums[SQUARES] = squares
    sums[PREFIX] = lowest
    sums[BLOCK_REGRET] = regret
    sums[BLOCK_SUBOPTIMAL] = suboptimal


@inner
def ensure_block(blocks, worlds, r, segment, k, level, b, rewards):  # type: ignore[no-untyped-def]
    """Compute block b of a level for arm k, and its parts, unless already done.

    Relative to the joint average ā of 8 parts, the prefix sums of a part are at least (sum of x − ā before it) + P +
    length·min(x̄ − ā, 0).
    """
    stamp, sums, offset = blocks.stamp[k], blocks.sums[k], blocks.offset
    length = span = 1
    for _ in range(level):
        span *= FACTOR
    for part_level in range(level + 1):
        for i in range(b * span, (b + 1) * span):
            place = offset[part_level] + i
            if stamp[place] == r:
                continue
            stamp[place] = r
            block = sums[place]
            if part_level == 0:
                sum_steps(worlds, r, segment, k, i * SHORTEST + 1, (i + 1) * SHORTEST + 1, rewards, block)
                continue
            below = offset[part_level - 1] + i * FACTOR
            average, regret, suboptimal = 0.0, 0.0, 0.0
            for j in range(below, below + FACTOR):
                average += sums[j, AVERAGE]
                regret += sums[j, BLOCK_REGRET]
                suboptimal += sums[j, BLOCK_SUBOPTIMAL]
            average /= FACTOR
            squares, before, lowest = 0.0, 0.0, 0.0
            for j in range(below, below + FACTOR):
                shift = sums[j, AVERAGE] - average
                squares += sums[j, SQUARES] + length * shift * shift
                low = before + sums[j, PREFIX] + length * (shift if shift < 0.0 else 0.0)
                lowest = low if low < lowest else lowest
                before += length * shift
            block[AVERAGE] = average
            block[SQUARES] = squares
            block[PREFIX] = lowest
            block[BLOCK_REGRET] = regret
            block[BLOCK_SUBOPTIMAL] = suboptimal
        length = SHORTEST if part_level == 0 else length * FACTOR
        span //= FACTOR
