"""How many worlds an estimate of mean regret needs when a few worlds fail.

A world fails if the regret of its last tenth of the steps exceeds half that of uniform choice (`policies.engine.play`).
In the settings of `tools.evidence.failure_coverage`, 0 to 2 % of the worlds fail, each with 25 to 110 times the regret
of the others. A sample without failures looks harmless, so its observed skewness cannot tell whether it is large
enough. The rule below bounds the failures that the sample may have missed.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ravenlab.common.interval import ERROR_RATE, Interval
from ravenlab.environments.world import Floats

MIN_WORLDS = 1000
"""Samples of at least this size are enlarged if necessary. A smaller budget is a deliberate choice and is kept."""

MAX_GROWTH = 16  # largest factor by which a sample is enlarged
ENOUGH_FAILURES = 10  # failures from which on the failing worlds are well represented
UNSEEN_SHARE = 0.05  # share of the mean regret that unseen failures may add
NEGLIGIBLE = 1e-17  # relative size of a term that does not change a sum
DIGITS = 11  # significant digits of a bound; further ones would depend on the processor's logarithms


@dataclass(frozen=True)
class FailureSample:
    """The failing worlds in a sample of regrets of one candidate."""

    worlds: int
    failures: int
    mean: float
    """Mean regret over all worlds."""
    uniform: float
    """Mean regret of uniform choice over all steps, which bounds the regret of a typical failing world."""

    @property
    def rate(self) -> float:
        """Share of failing worlds."""
        return self.failures / self.worlds

    @property
    def highest_rate(self) -> float:
        """Upper 95 % confidence bound of the failure rate (Poisson; 3 / R without failures)."""
        return self._bound_rate(ERROR_RATE)

    @property
    def unseen(self) -> float:
        """Largest plausible amount that failures missing from the sample add to the mean regret."""
        return (self.highest_rate - self.rate) * self.uniform

    def unseen_in_difference(self, error_rate: float) -> float:
        """Return the same for a difference, whose interval is two-sided and fails with the error rate."""
        return (self._bound_rate(error_rate / 2.0) - self.rate) * self.uniform

    @property
    def reliable(self) -> bool:
        """Whether an interval of the mean can be trusted: enough failures, or unseen ones cannot matter."""
        return self.failures >= ENOUGH_FAILURES or self.unseen <= UNSEEN_SHARE * self.mean

    def _bound_rate(self, level: float) -> float:
        return bound_poisson_mean(self.failures, level) / self.worlds

    def p_value(self, difference: float) -> float:
        """Return the probability, doubled, of so few failures if unseen ones made up for a difference of mean regrets.

        >>> sample = FailureSample(worlds=1000, failures=0, mean=20.0, uniform=3000.0)
        >>> round(sample.p_value(3.0), 3), round(sample.p_value(15.0), 3)
        (0.736, 0.013)
        """
        from scipy.special import pdtr

        if not self.uniform > 0.0:
            return 0.0
        expected = self.failures + difference * self.worlds / self.uniform
        return min(1.0, 2.0 * float(pdtr(self.failures, expected)))


def bound_poisson_mean(count: int, level: float) -> float:
    """Return the mean of a Poisson distribution whose values are at most `count` with probability `level`, up to 0.5.

    This is `scipy.special.pdtri`. Importing that module takes a twentieth of the time of a study, which needs nothing
    else of it.

    >>> round(bound_poisson_mean(0, 0.05), 4), round(bound_poisson_mean(9, 0.05), 4)
    (2.9957, 15.7052)
    """
    low = float(count)
    high = count + 40.0 + 40.0 * math.sqrt(count)
    while True:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            return float(f"{middle:.{DIGITS}g}")
        low, high = (middle, high) if _poisson_probability(count, middle) > level else (low, middle)


def _poisson_probability(count: int, mean: float) -> float:
    """Return the probability of at most `count` for a mean above it, beginning with the largest term."""
    term = math.exp(count * math.log(mean) - mean - math.lgamma(count + 1.0))
    total = 0.0
    for i in range(count, -1, -1):
        total += term
        term *= i / mean
        if term < NEGLIGIBLE * total:
            break
    return total


def include_unseen_in_mean(mean: Interval, sample: FailureSample) -> Interval:
    """Raise the upper end of an interval of mean regret by the failures that the sample may have missed.

    >>> raised = include_unseen_in_mean(Interval(20.0, 19.0, 21.0), FailureSample(1000, 0, 20.0, 500.0))
    >>> raised.low, round(raised.high, 1)
    (19.0, 21.5)
    """
    if sample.failures >= ENOUGH_FAILURES:
        return mean
    return replace(mean, high=max(mean.high, mean.mean + sample.unseen))


def include_unseen(
    difference: Interval, first: FailureSample, second: FailureSample, error_rate: float = ERROR_RATE
) -> Interval:
    """Widen the interval of first − second by the failures that the samples may have missed.

    Two samples that agree in every world are equal in their failures as well, and the interval is kept.

    >>> rare, none = FailureSample(1000, 0, 20.0, 3000.0), FailureSample(1000, 0, 20.0, 0.0)
    >>> [round(x, 1) for x in include_unseen(Interval(5.0, 4.0, 6.0), none, rare)]
    [5.0, -6.1, 6.0]
    """
    if difference.low == difference.high:
        return difference
    lowest = difference.mean - second.unseen_in_difference(error_rate)
    highest = difference.mean + first.unseen_in_difference(error_rate)
    return replace(difference, low=min(difference.low, lowest), high=max(difference.high, highest))


def grow_sample(play: Callable[[int, int], Floats], worlds: int, reliable: Callable[[Floats], bool]) -> Floats:
    """Double a sample until it is reliable, at most `MAX_GROWTH`-fold; samples below `MIN_WORLDS` are kept as they are.

    Args:
        play: Returns the results [C, count, columns] in worlds first … first + count − 1.
        worlds: Initial number of worlds.
        reliable: Whether the results so far suffice.

    >>> grow_sample(lambda first, count: np.zeros((1, count, 3)), 1000, lambda played: played.shape[1] > 3000).shape
    (1, 4000, 3)
    """
    played = play(0, worlds)
    while MIN_WORLDS <= played.shape[1] < MAX_GROWTH * worlds and not reliable(played):
        played = np.concatenate([played, play(played.shape[1], played.shape[1])], axis=1)
    return played
