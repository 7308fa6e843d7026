"""Arms of which something is known: those whose count or weight, in a row of `arms`, has not fallen below a least one.

Policies that forget or start again may lose all that they knew of an arm. It is then pulled at once, lowest index
first, unless a reward of it is still to come; and while that is so, it is not among those that are compared.
"""

from __future__ import annotations

from environments.compiled import inlined
from policies.base import CLOSED, OPEN


@inlined
def unknown_arm(open_, arms, known, least):  # type: ignore[no-untyped-def]
    """The first arm with arms[known] < least for which no reward is awaited, else −1."""
    for k in range(open_.shape[0]):
        if arms[known, k] < least and open_[k] == OPEN:
            return k
    return -1


@inlined
def best_known_line(open_, arms, known, least, level, width, slope):  # type: ignore[no-untyped-def]
    """argmax of arms[level] + slope·arms[width] over the open arms with arms[known] ≥ least, else −1."""
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        score = arms[level, k] + slope * arms[width, k]
        if open_[k] != CLOSED and arms[known, k] >= least and score > best:
            best, chosen = score, k
    return chosen


@inlined
def unknown_or_best_line(open_, arms, known, least, level, width, slope):  # type: ignore[no-untyped-def]
    """`unknown_arm`, else `best_known_line`: in one pass, which saves up to a fifth of a step with many arms."""
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        if open_[k] == CLOSED:
            continue
        if arms[known, k] < least:
            if open_[k] == OPEN:
                return k
            continue
        score = arms[level, k] + slope * arms[width, k]
        if score > best:
            best, chosen = score, k
    return chosen
