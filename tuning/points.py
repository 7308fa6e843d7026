"""Candidates by their number alone: a low-discrepancy sequence, and a grid that refines itself.

Neither depends on how many are wanted, so a search that is extended goes on where it stood.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import islice, product

import numpy as np

from environments.world import Floats


def sobol_points(dimensions: int, first: int, count: int, seed: int) -> Floats:
    """Scrambled Sobol points number first … first + count − 1 in the unit cube.

    >>> both = sobol_points(2, 0, 8, seed=1)
    >>> bool((sobol_points(2, 3, 5, seed=1) == both[3:]).all())
    True
    """
    from scipy.stats import qmc

    sequence = qmc.Sobol(dimensions, scramble=True, rng=np.random.default_rng(seed))
    points = sequence.random_base2((first + count - 1).bit_length())
    return np.asarray(points[first : first + count])


def grid_points(dimensions: int, first: int, count: int) -> Floats:
    """Grid points number first … first + count − 1: ends and middle of every axis, then halfway between, and so on.

    >>> grid_points(1, 0, 5).ravel().tolist()
    [0.0, 0.5, 1.0, 0.25, 0.75]
    """
    return np.array(_refined(dimensions, first + count)[first : first + count])


@cache
def _refined(dimensions: int, count: int) -> list[tuple[float, ...]]:
    return list(islice(_refining(dimensions), count))


def _refining(dimensions: int) -> Iterator[tuple[float, ...]]:
    cells = 2
    while True:
        for place in product(range(cells + 1), repeat=dimensions):
            if cells == 2 or any(step % 2 for step in place):
                yield tuple(step / cells for step in place)
        cells *= 2
