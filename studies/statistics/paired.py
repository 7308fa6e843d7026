"""Paired tests of samples from the same worlds, and Holm's correction for multiple tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ravenlab.common.interval import ERROR_RATE, Interval
from ravenlab.environments.world import Floats
from ravenlab.studies.statistics.intervals import paired_interval

ROUNDING = 1e-10
"""Relative difference treated as zero: sums of policies that pull the same arms may differ in their last digits."""


def holm_adjust(p: list[float]) -> list[float]:
    """Adjust p-values for multiple tests by Holm's step-down procedure.

    >>> holm_adjust([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p)), key=lambda i: p[i])
    adjusted, largest = [0.0] * len(p), 0.0
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


@dataclass(frozen=True)
class PairedTest:
    """Difference of a sample from the reference, and p before and after Holm's correction."""

    name: str
    difference: Interval
    p: float
    holm: float

    @property
    def significant(self) -> bool:
        """Whether the two differ after the correction."""
        return self.holm < ERROR_RATE


def paired_tests(reference: Floats, others: Mapping[str, Floats], seed: int) -> list[PairedTest]:
    """Test each of the other samples [R] against the reference [R], world by world.

    >>> rng = np.random.default_rng(1)
    >>> worlds = rng.normal(size=50)
    >>> near, far = worlds + rng.normal(0, 0.1, 50), worlds + rng.normal(1, 0.1, 50)
    >>> [test.significant for test in paired_tests(worlds, {"near": near, "far": far}, seed=0)]
    [False, True]
    """
    p = [paired_t_test(other, reference) for other in others.values()]
    return [
        PairedTest(name, paired_interval(others[name], reference, seed), p=raw, holm=adjusted)
        for name, raw, adjusted in zip(others, p, holm_adjust(p), strict=True)
    ]


def paired_t_test(first: Floats, second: Floats) -> float:
    """Return the p-value of the paired t-test; a constant difference gives 0, or 1 if it is zero.

    >>> same, shifted = np.array([1.0, 2.0]), np.array([2.0, 3.0])
    >>> paired_t_test(same, same), paired_t_test(shifted, same)
    (1.0, 0.0)
    """
    from scipy.special import stdtr

    sample = _subtract(first, second)
    if np.ptp(sample) == 0.0:
        return 1.0 if sample[0] == 0.0 else 0.0
    error = float(sample.std(ddof=1)) / sample.size**0.5
    return float(2.0 * stdtr(sample.size - 1, -abs(float(sample.mean())) / error))


def skewed_t_test(first: Floats, second: Floats) -> float:
    """Return the p-value of the paired t-test after Hall's transformation, which corrects for skewness.

    Differences are skewed if one of the two fails in a few worlds. Too few of these worlds in the sample reduce the
    mean and the standard error alike, so the t-test rejects too often. Reference: Hall 1992, *On the Removal of
    Skewness by Transformation*, Journal of the Royal Statistical Society B 54.

    >>> rng = np.random.default_rng(1)
    >>> rare = np.where(rng.random(1000) < 0.005, 100.0, 0.0)
    >>> skewed_t_test(rare, np.ones(1000)) > paired_t_test(rare, np.ones(1000))
    True
    """
    from scipy.special import stdtr

    sample = _subtract(first, second)
    if np.ptp(sample) == 0.0:
        return 1.0 if sample[0] == 0.0 else 0.0
    count, spread = sample.size, float(sample.std(ddof=1))
    ratio = float(sample.mean()) / spread
    skewness = float((((sample - sample.mean()) / spread) ** 3).mean())
    transformed = ratio + skewness * ratio**2 / 3.0 + skewness**2 * ratio**3 / 27.0 + skewness / (6.0 * count)
    return float(2.0 * stdtr(count - 1, -abs(transformed) * count**0.5))


def _subtract(first: Floats, second: Floats) -> Floats:
    """Return first − second, with differences from rounding set to zero."""
    sample = first - second
    return np.where(np.abs(sample) <= ROUNDING * np.maximum(np.abs(first), np.abs(second)), 0.0, sample)
