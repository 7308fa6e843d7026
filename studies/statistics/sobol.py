"""Scrambled Sobol points, the same as those of SciPy.

Importing `scipy.stats` takes as long as a tenth of a study, and nothing else of a study needs it.
"""

import numpy as np

from ravenlab.environments.world import Floats, Ints

BITS = 30

DIRECTIONS = (
    (3, (1,)),
    (7, (1, 3)),
    (11, (1, 3, 1)),
    (13, (1, 1, 1)),
    (19, (1, 1, 3, 3)),
    (25, (1, 3, 5, 13)),
    (37, (1, 1, 5, 5, 17)),
)
"""Primitive polynomials over the field of two elements, and initial direction numbers, of the second and further
dimensions (Joe and Kuo 2008)."""


def scrambled_sobol(dimensions: int, count: int, seed: int) -> Floats:
    """Return the first points [count, dimensions] of a Sobol sequence with a random linear scrambling and shift.

    >>> scrambled_sobol(2, 4, seed=0).round(2).tolist()
    [[0.41, 0.96], [0.72, 0.11], [0.9, 0.53], [0.22, 0.41]]
    """
    if dimensions > len(DIRECTIONS) + 1:
        from scipy.stats import qmc

        return np.asarray(qmc.Sobol(dimensions, rng=np.random.default_rng(seed)).random(count))
    (rng,) = np.random.default_rng(seed).spawn(1)
    weights = 2 ** np.arange(BITS)
    shift = rng.integers(2, size=(dimensions, BITS), dtype=np.uint32) @ weights
    lower = np.tril(rng.integers(2, size=(dimensions, BITS, BITS), dtype=np.uint32)).astype(np.int64)
    lower[:, range(BITS), range(BITS)] = 1
    points = np.empty((count, dimensions))
    gray = np.arange(count) ^ (np.arange(count) >> 1)
    for d in range(dimensions):
        columns = _direction_numbers(d)
        bits = columns[:, None] >> np.arange(BITS - 1, -1, -1) & 1  # of each column, the highest first
        scrambled = (bits @ lower[d].T % 2) @ weights[::-1]
        number = np.full(count, shift[d])
        for j in range(BITS):
            number ^= np.where(gray >> j & 1, scrambled[j], 0)
        points[:, d] = number / 2.0**BITS
    return points


def _direction_numbers(dimension: int) -> Ints:
    """Return the direction numbers of a dimension, as integers of `BITS` bits."""
    numbers = [1] * BITS
    if dimension > 0:
        polynomial, initial = DIRECTIONS[dimension - 1]
        degree = len(initial)
        numbers[:degree] = initial
        for j in range(degree, BITS):
            numbers[j] = numbers[j - degree]
            for k in range(degree):
                if polynomial >> (degree - 1 - k) & 1:
                    numbers[j] ^= numbers[j - k - 1] << (k + 1)
    return np.array([number << (BITS - 1 - j) for j, number in enumerate(numbers)])
