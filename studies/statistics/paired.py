"""Paired tests of samples from the same worlds, Holm's correction for multiple tests, and simultaneous intervals.

An interval of a difference belongs to the test of the difference: it has the level at which `simultaneous_levels` says
that the corrected test decides, and it excludes 0 exactly if that test rejects.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from ravenlab.common.interval import CONFIDENCE_LEVEL, ERROR_RATE, Interval
from ravenlab.environments.world import Floats

ROUNDING = 1e-10
"""Relative difference treated as zero: sums of policies that pull the same arms may differ in their last digits."""


SYMMETRIC = 1e-6
"""Skewness that counts as none."""


def holm_adjust(p: Sequence[float]) -> list[float]:
    """Adjust p-values for multiple tests by Holm's step-down procedure.

    >>> holm_adjust([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p)), key=lambda i: p[i])
    adjusted = [0.0] * len(p)
    largest = 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p) - rank) * p[i]))
        adjusted[i] = largest
    return adjusted


def holm_adjust_by_name(p: Mapping[str, float]) -> dict[str, float]:
    """Adjust named p-values.

    >>> holm_adjust_by_name({"blips": 0.01, "periodic": 0.5})
    {'blips': 0.02, 'periodic': 0.5}
    """
    return dict(zip(p, holm_adjust(list(p.values())), strict=True))


def simultaneous_levels(p: Sequence[float]) -> list[float]:
    """Return the level of the interval of each difference that belongs to Holm's tests of these p-values.

    Of m intervals each has the level 1 − 5 %/m, so that together they contain all true differences with a probability
    of 95 % (Bonferroni). Where Holm's procedure rejects only in a later step, the level is that of this step.

    >>> [round(level, 4) for level in simultaneous_levels([0.001, 0.02, 0.2])]
    [0.9833, 0.975, 0.9833]
    """
    levels = [1.0 - ERROR_RATE / max(1, len(p))] * len(p)
    adjusted = holm_adjust(p)
    for rank, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        if adjusted[i] < ERROR_RATE <= len(p) * p[i]:
            levels[i] = 1.0 - ERROR_RATE / (len(p) - rank)
    return levels


@dataclass(frozen=True)
class StudentEstimate:
    """An estimated difference whose error has Student's distribution."""

    mean: float
    error: float
    """Standard error."""
    degrees: float
    """Degrees of freedom."""

    @property
    def p_value(self) -> float:
        """The p-value of the difference from 0; without an error 0, or 1 if the difference is 0."""
        from scipy.special import stdtr

        if self.error == 0.0:
            return 1.0 if self.mean == 0.0 else 0.0
        return float(2.0 * stdtr(self.degrees, -abs(self.mean) / self.error))

    def interval(self, level: float = CONFIDENCE_LEVEL) -> Interval:
        """Return the interval; `level` is that of this difference alone, so that several hold together at 95 %.

        >>> estimate = StudentEstimate(2.0, 1.0, 30.0)
        >>> [estimate.interval(1.0 - p).excludes_zero for p in (1.001 * estimate.p_value, 0.999 * estimate.p_value)]
        [True, False]
        """
        from scipy.special import stdtrit

        half = self.error * float(stdtrit(self.degrees, 0.5 + level / 2.0))
        return Interval(self.mean, self.mean - half, self.mean + half, of="difference")


@dataclass(frozen=True)
class PairedTest:
    """Difference of a sample from the reference, and p before and after Holm's correction."""

    name: str
    difference: Interval
    """With the simultaneous interval of all differences from the reference."""
    p: float
    holm: float

    @property
    def significant(self) -> bool:
        """Whether the two differ after the correction."""
        return self.holm < ERROR_RATE


def paired_tests(reference: Floats, others: Mapping[str, Floats]) -> list[PairedTest]:
    """Test each of the other samples [R] against the reference [R], world by world, with Student's distribution.

    >>> rng = np.random.default_rng(1)
    >>> worlds = rng.normal(size=50)
    >>> near, far = worlds + rng.normal(0, 0.1, 50), worlds + rng.normal(1, 0.1, 50)
    >>> [test.significant for test in paired_tests(worlds, {"near": near, "far": far})]
    [False, True]
    """
    estimates = [estimate_difference(other, reference) for other in others.values()]
    p = [estimate.p_value for estimate in estimates]
    return [
        PairedTest(name, estimate.interval(level), p=estimate.p_value, holm=adjusted)
        for name, estimate, level, adjusted in zip(
            others, estimates, simultaneous_levels(p), holm_adjust(p), strict=True
        )
    ]


def estimate_difference(first: Floats, second: Floats) -> StudentEstimate:
    """Estimate the mean of first − second over the same worlds.

    >>> same, shifted = np.array([1.0, 2.0]), np.array([2.0, 3.0])
    >>> estimate_difference(same, same).p_value, estimate_difference(shifted, same).p_value
    (1.0, 0.0)
    """
    sample = _subtract(first, second)
    error = 0.0 if np.ptp(sample) == 0.0 else float(sample.std(ddof=1)) / sample.size**0.5
    return StudentEstimate(float(sample.mean()), error, sample.size - 1.0)


@dataclass(frozen=True)
class SkewedEstimate:
    """An estimated difference whose error has Student's distribution after Hall's transformation.

    Differences are skewed if one of the two fails in a few worlds. Too few of these worlds in the sample reduce the
    mean and the standard error alike, so the t-test rejects too often. Reference: Hall 1992, *On the Removal of
    Skewness by Transformation*, Journal of the Royal Statistical Society B 54.

    >>> rng = np.random.default_rng(1)
    >>> rare = np.where(rng.random(1000) < 0.005, 100.0, 0.0)
    >>> SkewedEstimate.of(rare, np.ones(1000)).p_value > estimate_difference(rare, np.ones(1000)).p_value
    True
    """

    mean: float
    spread: float
    """Standard deviation between worlds."""
    skewness: float
    worlds: int
    degrees: int | None = None
    """Degrees of freedom of the spread, if they are not those of the worlds."""

    @classmethod
    def of(cls, first: Floats, second: Floats) -> Self:
        """Estimate the mean of first − second over the same worlds."""
        sample = _subtract(first, second)
        mean = float(sample.mean())
        if np.ptp(sample) == 0.0:
            return cls(mean, 0.0, 0.0, sample.size)
        spread = float(sample.std(ddof=1))
        return cls(mean, spread, float((((sample - mean) / spread) ** 3).mean()), sample.size)

    @property
    def p_value(self) -> float:
        """The p-value of the difference from 0; without an error 0, or 1 if the difference is 0."""
        if self.spread == 0.0:
            return 1.0 if self.mean == 0.0 else 0.0
        x = self.mean / self.spread
        skewness = self.skewness
        transformed = x + skewness * x**2 / 3.0 + skewness**2 * x**3 / 27.0 + skewness / (6.0 * self.worlds)
        return replace(self._unit, mean=transformed).p_value

    def interval(self, level: float = CONFIDENCE_LEVEL) -> Interval:
        """Return the differences that the test at 1 − level does not reject.

        >>> estimate = SkewedEstimate(mean=5.0, spread=40.0, skewness=9.0, worlds=500)
        >>> [estimate.interval(1.0 - p).excludes_zero for p in (1.001 * estimate.p_value, 0.999 * estimate.p_value)]
        [True, False]
        """
        half = self._unit.interval(level).high
        low, high = (self.mean - self.spread * self._invert(end) for end in (half, -half))
        return Interval(self.mean, low, high, of="difference")

    @property
    def _unit(self) -> StudentEstimate:
        """The error of the transformed ratio of mean to spread."""
        return StudentEstimate(0.0, self.worlds**-0.5, float(self.degrees or self.worlds - 1))

    def _invert(self, transformed: float) -> float:
        """Return the ratio of mean to spread that Hall's transformation maps to a value."""
        if abs(self.skewness) < SYMMETRIC:
            return transformed
        root = np.cbrt(1.0 + self.skewness * (transformed - self.skewness / (6.0 * self.worlds)))
        return float(3.0 * (root - 1.0) / self.skewness)


def _subtract(first: Floats, second: Floats) -> Floats:
    """Return first − second, with differences from rounding set to zero."""
    sample = first - second
    return np.where(np.abs(sample) <= ROUNDING * np.maximum(np.abs(first), np.abs(second)), 0.0, sample)
