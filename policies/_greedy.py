"""The two moves of the ε-greedy family: any open arm, or the one with the best mean."""

from __future__ import annotations

from environments.compiled import inlined
from policies._statistics import MEAN
from policies.base import CLOSED


@inlined
def count_open(open_):  # type: ignore[no-untyped-def]
    """K, the number of open arms."""
    count = 0
    for k in range(open_.shape[0]):
        if open_[k] != CLOSED:
            count += 1
    return count


@inlined
def any_arm(open_, count, u):  # type: ignore[no-untyped-def]
    """The open arm number ⌊u·K⌋, from 0, for a uniform u."""
    left = min(int(u * count), count - 1)
    for k in range(open_.shape[0]):
        if open_[k] != CLOSED:
            if left == 0:
                return k
            left -= 1
    return -1


@inlined
def best_arm(open_, arms):  # type: ignore[no-untyped-def]
    """argmax m."""
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        if open_[k] != CLOSED and arms[MEAN, k] > best:
            best, chosen = arms[MEAN, k], k
    return chosen
