"""Rules that many policies share: nothing to set at the start, and an argmax of scores that are lines."""

from __future__ import annotations

from environments.compiled import inlined

CLOSED = 0
"""The value of `open_` for an arm that can't be pulled."""


@inlined
def nothing_known(arms, cells, memory, p):  # type: ignore[no-untyped-def]
    """All statistics begin at zero."""


@inlined
def best_line(open_, arms, level, width, slope):  # type: ignore[no-untyped-def]
    """argmax over the open arms of arms[level] + slope·arms[width], lowest index on a tie."""
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        score = arms[level, k] + slope * arms[width, k]
        if open_[k] != CLOSED and score > best:
            best, chosen = score, k
    return chosen
