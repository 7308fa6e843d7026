"""Statistics since a restart and forced exploration, for policies that detect changes."""

from math import ceil, floor, sqrt

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.limits import COUNT_OF_PULLS, UNIT
from ravenlab.policies.engine.rules import count_open, uniform_arm

COUNT, MEAN, WIDTH = 1, 2, 3
"""Rows of `arms`: N and m since the restart, and 1/sqrt(N); all 0 without rewards since the restart."""

ROWS = 4
NO_STEP = 1 << 62  # after every step
ROW_LIMITS = {COUNT: COUNT_OF_PULLS, WIDTH: UNIT}


@inlined
def add_reward(k, x, arms):  # type: ignore[no-untyped-def]
    """Update N, m and 1/sqrt(N) of arm k."""
    arms[COUNT, k] += 1.0
    arms[MEAN, k] += (x - arms[MEAN, k]) / arms[COUNT, k]
    arms[WIDTH, k] = 1.0 / sqrt(arms[COUNT, k])


@inlined
def forced_arm(step, open_, rate):  # type: ignore[no-untyped-def]
    """The arm to explore, else −1: the open arms in turn at the start of every ⌈K/rate⌉ steps, counted from 1."""
    if rate <= 0.0:
        return -1
    count = count_open(open_)
    period = ceil(count / rate)
    place = step - 1.0
    place -= period * floor(place / period)
    if place >= count:
        return -1
    return uniform_arm(open_, count, (place + 0.5) / count)


@inlined
def next_forced_step(step, open_, rate):  # type: ignore[no-untyped-def]
    """The first step after this one at which `forced_arm` may return an arm, if the same arms are open."""
    if rate <= 0.0:
        return NO_STEP
    count = count_open(open_)
    period = ceil(count / rate)
    begin = period * floor((step - 1.0) / period)
    return step + 1 if step - begin < count else int(min(begin + period + 1.0, NO_STEP))
