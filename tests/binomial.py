"""The 99.9 % band of a binomial count."""


def band(count: int, share: float = 0.95, level: float = 0.999) -> tuple[int, int]:
    """Return the smallest and the largest count in the central 99.9 % band.

    >>> band(1000)
    (926, 971)
    """
    from scipy.stats import binom

    low, high = binom.ppf([0.5 - level / 2, 0.5 + level / 2], count, share)
    return int(low), int(high)
