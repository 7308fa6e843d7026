"""What a model of a trace is made of: each kind of change as columns over the rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from environments.world import Floats
from studies.diagnosis.blocks import TraceBlocks

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Term:
    """One kind of change: how means and variances may move, and what it costs to say so.

    A coefficient an arm goes with every column that is in use for that arm; `shared` counts what all arms have in
    common, such as a period.
    """

    kind: str
    mean: Floats
    """[N, p] columns that an arm's mean may follow."""
    mean_used: Bools
    """[p, K]"""
    variance: Floats
    """[N, q] columns that an arm's variance may follow."""
    variance_used: Bools
    """[q, K]"""
    shared: int = 0
    bulge: Floats | None = None
    """[N] ρ(1 − ρ): a mixture of two levels adds this times their squared distance to the variance."""
    about: dict[str, Any] = field(default_factory=dict)
    """What was found, for those who describe it."""

    def mean_used_or_variance(self) -> Bools:
        """Which arms use the columns that say how strong it is: those of the means where there are any."""
        return self.mean_used if self.mean.shape[1] else self.variance_used


def make_term(kind: str, arms: int, mean: Floats | None = None, variance: Floats | None = None, **more: Any) -> Term:
    """A term whose columns are in use for all arms."""
    rows = next(each.shape[0] for each in (mean, variance) if each is not None)
    mean = np.empty((rows, 0)) if mean is None else mean
    variance = np.empty((rows, 0)) if variance is None else variance
    used = [np.ones((table.shape[1], arms), dtype=bool) for table in (mean, variance)]
    return Term(kind, mean, used[0], variance, used[1], **more)


def incremental_drift_term(blocks: TraceBlocks) -> Term:
    """The coefficient of an arm is what its mean gains over the whole stretch."""
    return make_term("incremental-drift", blocks.arms, mean=blocks.time[:, None])


def variance_drift_term(blocks: TraceBlocks) -> Term:
    """The coefficient of an arm is what its σ² gains over the whole stretch."""
    return make_term("variance-drift", blocks.arms, variance=blocks.time[:, None])
