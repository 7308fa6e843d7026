"""How many worlds an estimate of mean regret needs when a few worlds fail.

A world fails if the regret of its last tenth of the steps exceeds half that of uniform choice (`policies.engine.play`).
Typically 0 to 1 % of the worlds fail, each with a hundred times the regret of the others. A sample without failures
looks harmless, so its observed skewness cannot tell whether it is large enough. The rule below bounds the failures that
the sample may have missed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from environments.world import Floats

MIN_WORLDS = 1000
"""Samples of at least this size are enlarged if necessary. A smaller budget is a deliberate choice and is kept."""

MAX_GROWTH = 16  # largest factor by which a sample is enlarged
ENOUGH_FAILURES = 10  # failures from which on the failing worlds are well represented
UNSEEN_SHARE = 0.05  # share of the mean regret that unseen failures may add
LEVEL = 0.05  # error probability of the upper bound of the failure rate


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
        from scipy.stats import chi2

        return float(chi2.ppf(1.0 - LEVEL, 2 * (self.failures + 1))) / 2.0 / self.worlds

    @property
    def unseen(self) -> float:
        """Largest plausible amount that failures missing from the sample add to the mean regret."""
        return (self.highest_rate - self.rate) * self.uniform

    @property
    def reliable(self) -> bool:
        """Whether an interval of the mean can be trusted: enough failures, or unseen ones cannot matter."""
        return self.failures >= ENOUGH_FAILURES or self.unseen <= UNSEEN_SHARE * self.mean


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
