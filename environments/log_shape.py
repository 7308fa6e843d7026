"""What the events of a log tell of themselves: when each arm was to be had, and how long rewards hang together."""

from __future__ import annotations

import numpy as np

from environments.log_file import Arms
from environments.memory import LONGER, best_block
from environments.world import Bytes, Floats

CLOSED = 20
"""An arm is closed where it does not occur for so many times its mean distance; by chance that is 1 in 10⁸."""

FEWEST_BLOCKS = 20
"""A block is at most this part of the stretch."""


def opening(arm: Arms, arms: int) -> tuple[Bytes, list[tuple[int, int, int]]]:
    """Which arms are open at the first event [K], and (event, arm, opens) wherever one opens or closes.

    >>> once = np.array([0, 1] * 50 + [0] * 100, dtype=np.int32)
    >>> opening(once, 3)
    (array([1, 1, 0], dtype=uint8), [(100, 1, 0)])
    """
    begins, turns = np.zeros(arms, dtype=np.uint8), []
    for k in range(arms):
        at = np.flatnonzero(arm == k)
        if not at.size:
            continue
        gaps = np.diff(np.concatenate([[-1], at, [arm.size]])) - 1
        far = CLOSED * np.median(np.diff(at)) / np.log(2.0) if at.size > 2 else np.inf
        begins[k] = not gaps[0] > far
        for place in np.flatnonzero(gaps > far):
            if place > 0:
                turns.append((int(at[place - 1]) + 1, k, 0))
            if place < at.size:
                turns.append((int(at[place]), k, 1))
    return begins, sorted(turns)


def block_of(arm: Arms, reward: Floats, arms: int) -> int:
    """How many events hang together, from what rewards are beyond their arm's mean; 1 or a few where none do."""
    counts = np.maximum(1, np.bincount(arm, minlength=arms))
    rest = reward - (np.bincount(arm, reward, minlength=arms) / counts)[arm]
    longest = max(1, reward.size // FEWEST_BLOCKS)
    if reward.size < 2 * FEWEST_BLOCKS or not np.abs(rest).max() > 1e-12 * max(1e-300, np.abs(reward).max()):
        return 1
    return int(min(max(1, round(LONGER * best_block(rest - rest.mean(), longest)[0])), longest))
