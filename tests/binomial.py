"""How many hits of n are no surprise: the exact binomial band of 99.9 %."""

from __future__ import annotations


def band(count: int, share: float = 0.95, level: float = 0.999) -> tuple[int, int]:
    """The smallest and the largest number of hits that chance allows.

    >>> band(1000)
    (926, 971)
    """
    from scipy.stats import binom

    low, high = binom.ppf([0.5 - level / 2, 0.5 + level / 2], count, share)
    return int(low), int(high)
