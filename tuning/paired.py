"""One against many in the same worlds: paired t-tests, with Holm's correction for asking more than once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from environments.world import Floats
from tuning.statistics import paired_interval

LEVEL = 0.05


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
    def told_apart(self) -> bool:
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
    from scipy.stats import ttest_1samp

    differences = {name: other - reference for name, other in others.items()}
    p = [1.0 if np.ptp(each) == 0.0 and each[0] == 0.0 else _p(ttest_1samp, each) for each in differences.values()]
    return [
        PairedTest(name, *paired_interval(others[name], reference, seed), p=raw, holm=corrected)
        for name, raw, corrected in zip(differences, p, holm(p), strict=True)
    ]


def _p(test: object, sample: Floats) -> float:
    """A constant difference leaves no doubt; the t-test would divide by zero."""
    if np.ptp(sample) == 0.0:
        return 0.0
    return float(test(sample, 0.0).pvalue)  # type: ignore[operator]


def holm(p: list[float]) -> list[float]:
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
