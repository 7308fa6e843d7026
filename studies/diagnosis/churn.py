"""Arm churn: arms that are not there before some row, after it, or for a long while in between.

An arm that is seen at a rate q is missed for m rows in a row with probability (1 − q)^m; a log shows one arm a step
and asks for longer absences than a trace of all arms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from environments.world import Floats

SHORTEST = 0.01
"""Of the rows; a shorter absence is a missing value."""
SURE = 0.01
"""Largest probability of an absence that is called one."""


@dataclass(frozen=True)
class Absence:
    """Rows first … last − 1, counted from 0, at which an arm was not there."""

    arm: int
    first: int
    last: int
    p: float


def absences(values: Floats) -> list[Absence]:
    """All absences that chance does not explain, in the order of arms and rows.

    >>> table = np.ones((1000, 2))
    >>> table[:300, 1] = np.nan
    >>> [(each.arm, each.first, each.last) for each in absences(table)]
    [(1, 0, 300)]
    """
    rows, arms = values.shape
    out = []
    for k in range(arms):
        seen = np.flatnonzero(~np.isnan(values[:, k]))
        if not seen.size:
            continue
        edges = np.concatenate([[-1], seen, [rows]])
        gaps = np.diff(edges) - 1
        long = [int(i) for i in np.flatnonzero(gaps >= max(2.0, SHORTEST * rows))]
        usual = rows - int(gaps[long].sum())
        rate = min(seen.size / usual, seen.size / (seen.size + 1.0))
        for i in long:
            p = min(1.0, float(np.exp(gaps[i] * np.log1p(-rate))) * (seen.size + 1) * arms)
            if p < SURE:
                out.append(Absence(k, int(edges[i]) + 1, int(edges[i + 1]), p))
    return out
