"""Holm's correction: what p-values are worth when several are asked for at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from environments.world import Floats
from studies.statistics.intervals import paired_interval


def holm_adjust(p: list[float]) -> list[float]:
    """Holm's step-down correction.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p)), key=lambda i: p[i])
    out, largest = [0.0] * len(p), 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p) - rank) * p[i]))
        out[i] = largest
    return out


def holm_adjust_by_name(p: Mapping[str, float]) -> dict[str, float]:
    """The same for p-values that have names.

    >>> holm_by_name({"blips": 0.01, "periodic": 0.5})
    {'blips': 0.02, 'periodic': 0.5}
    """
    return dict(zip(p, holm_adjust(list(p.values())), strict=True))


LEVEL = 0.05

ROUNDING = 1e-10
"""Two policies that pull the same arms may differ in the last digits of their sums; that is no difference."""


@dataclass(frozen=True)
class PairedTest:
    """How another differs from the reference: other − reference, its interval, and p before and after Holm."""

    name: str
    difference: float
    low: float
    high: float
    p: float
    holm: float

    @property
    def significant(self) -> bool:
        """Whether the two differ after the correction."""
        return self.holm < LEVEL


def paired_tests(reference: Floats, others: Mapping[str, Floats], seed: int) -> list[PairedTest]:
    """Hold each of the others [R] against the reference [R], world by world.

    >>> rng = np.random.default_rng(1)
    >>> worlds = rng.normal(size=50)
    >>> near, far = worlds + rng.normal(0, 0.1, 50), worlds + rng.normal(1, 0.1, 50)
    >>> [test.told_apart for test in paired_tests(worlds, {"near": near, "far": far}, seed=0)]
    [False, True]
    """
    p = [paired_t_test(other, reference) for other in others.values()]
    return [
        PairedTest(name, *paired_interval(others[name], reference, seed), p=raw, holm=corrected)
        for name, raw, corrected in zip(others, p, holm_adjust(p), strict=True)
    ]


def paired_t_test(first: Floats, second: Floats) -> float:
    """The paired t-test of two samples of the same worlds; a constant difference leaves no doubt either way.

    >>> paired_p(np.array([1.0, 2.0]), np.array([1.0, 2.0])), paired_p(np.array([2.0, 3.0]), np.array([1.0, 2.0]))
    (1.0, 0.0)
    """
    from scipy.stats import t

    sample = first - second
    sample = np.where(np.abs(sample) <= ROUNDING * np.maximum(np.abs(first), np.abs(second)), 0.0, sample)
    if np.ptp(sample) == 0.0:
        return 1.0 if sample[0] == 0.0 else 0.0
    error = float(sample.std(ddof=1)) / sample.size**0.5
    return float(2.0 * t.sf(abs(float(sample.mean())) / error, sample.size - 1))
