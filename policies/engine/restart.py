"""What the policies that notice changes share: statistics since a restart, and exploration that is forced.

After a restart nothing is known of an arm. Forced exploration at rate γ takes the K open arms
in turn at the beginning of every ⌈K/γ⌉ steps.
"""

from __future__ import annotations

from math import ceil, floor, sqrt

from environments.compiled import inlined
from policies.engine.rules import any_arm, count_open

COUNT, MEAN, WIDTH = 1, 2, 3
"""Rows of `arms`: N and m since the restart, and 1/sqrt(N); all 0 where nothing is known."""

ROWS = 4


@inlined
def forget(k, arms):  # type: ignore[no-untyped-def]
    """Nothing is known of arm k any more."""
    arms[COUNT, k] = 0.0
    arms[MEAN, k] = 0.0
    arms[WIDTH, k] = 0.0


@inlined
def take_in(k, x, arms):  # type: ignore[no-untyped-def]
    """N, m and width of an arm with one more reward."""
    arms[COUNT, k] += 1.0
    arms[MEAN, k] += (x - arms[MEAN, k]) / arms[COUNT, k]
    arms[WIDTH, k] = 1.0 / sqrt(arms[COUNT, k])


@inlined
def forced_arm(step, open_, rate):  # type: ignore[no-untyped-def]
    """The arm whose turn it is at a step (counted from 1) of the exploration that is forced, else −1."""
    if rate <= 0.0:
        return -1
    count = count_open(open_)
    period = ceil(count / rate)
    place = step - 1.0
    place -= period * floor(place / period)
    if place >= count:
        return -1
    return any_arm(open_, count, (place + 0.5) / count)
