"""Sobol points equal those of SciPy."""

import numpy as np
import pytest
from scipy.stats import qmc

from ravenlab.studies.statistics.sobol import DIRECTIONS, scrambled_sobol


@pytest.mark.parametrize("dimensions", range(1, len(DIRECTIONS) + 3))
def test_equals_scipy(dimensions: int) -> None:
    for seed, count in ((0, 8), (3, 1), (7, 256)):
        expected = qmc.Sobol(dimensions, rng=np.random.default_rng(seed)).random(count)
        assert np.array_equal(scrambled_sobol(dimensions, count, seed), expected)
