"""Means over the held-out files of a collection of traces, of which there are few.

The spread and the skewness are those of all files around the mean of their group, because a few held-out files may lack
the rare ones in which a policy fails. The degrees of freedom are those of the held-out files alone, whose spread may
be another one. The interval contains that of Student's t and that after Hall's transformation, and the test rejects
only if both do: in simulated collections each of them alone covers less (`tools.evidence.collection_coverage`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ravenlab.common.interval import CONFIDENCE_LEVEL, Interval
from ravenlab.environments.world import Floats
from ravenlab.studies.statistics.paired import SkewedEstimate, StudentEstimate

HIDDEN_SKEWNESS = 8.0
"""Few files show less skewness than their distribution has: by about so many divided by the number of files."""


@dataclass(frozen=True)
class FileEstimate:
    """A mean of held-out files, or a paired difference of two.

    >>> estimate = FileEstimate.of(np.array([3.0, 4.0, 5.0, 4.0]), np.array([9.0, 8.0, 10.0, 9.0]))
    >>> estimate.mean, estimate.degrees, estimate.p_value < 0.05, estimate.interval().low > 0.0
    (4.0, 3, True, True)
    """

    mean: float
    spread: float
    """Standard deviation between files."""
    skewness: float
    files: int
    degrees: int
    """Degrees of freedom."""

    @staticmethod
    def of(held_out: Floats, others: Floats) -> FileEstimate:
        """Estimate the mean of the held-out files; the other ones, if any, only add to the spread."""
        groups = [held_out, others] if others.size > 1 else [held_out]
        centered = np.concatenate([group - group.mean() for group in groups])
        spread = float(np.sqrt((centered**2).sum() / (centered.size - len(groups))))
        skewness = float(((centered / spread) ** 3).mean()) if spread > 0.0 else 0.0
        skewness *= 1.0 + HIDDEN_SKEWNESS / centered.size
        return FileEstimate(float(held_out.mean()), spread, skewness, held_out.size, held_out.size - 1)

    @property
    def error(self) -> float:
        """Standard error."""
        return self.spread / math.sqrt(self.files)

    @property
    def student(self) -> StudentEstimate:
        """The estimate for a symmetric distribution."""
        return StudentEstimate(self.mean, self.error, self.degrees)

    @property
    def skewed(self) -> SkewedEstimate:
        """The estimate with its skewness."""
        return SkewedEstimate(self.mean, self.spread, self.skewness, self.files, self.degrees)

    @property
    def p_value(self) -> float:
        """The p-value of the difference from 0."""
        return max(self.student.p_value, self.skewed.p_value)

    def interval(self, level: float = CONFIDENCE_LEVEL) -> Interval:
        """Return the interval that belongs to the p-value."""
        one = self.student.interval(level)
        other = self.skewed.interval(level)
        return Interval(self.mean, min(one.low, other.low), max(one.high, other.high), of="difference")
