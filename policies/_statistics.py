"""Running mean and variance of each arm, shared by the policies that need one or both."""

from __future__ import annotations

from environments.compiled import inlined
from policies.base import PULLS

MEAN, SQUARES = 1, 2
"""Rows of `arms`: the mean, and Q, the sum of squared deviations from it."""


@inlined
def take_in(arms, k, x):  # type: ignore[no-untyped-def]
    """Welford's update after pull number n: M ← M + (x − M)/n, Q ← Q + (x − M_old)(x − M_new)."""
    before = x - arms[MEAN, k]
    arms[MEAN, k] += before / arms[PULLS, k]
    arms[SQUARES, k] += before * (x - arms[MEAN, k])


@inlined
def learn_mean(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """The rule `update` of policies that keep the mean and nothing else."""
    arms[MEAN, k] += (x - arms[MEAN, k]) / arms[PULLS, k]
