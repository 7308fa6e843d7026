"""Compiled random numbers are those of NumPy, to the last bit."""

import numpy as np
import pytest

from ravenlab.environments.random_numbers import TAIL, draw_numbers
from ravenlab.environments.streams import Stream, generator


@pytest.mark.parametrize("seed", [0, 7, 2**32, 2**96 + 5, 2**130 + 1])
def test_normal_numbers_are_those_of_numpy(seed: int) -> None:
    """The seeds have 1 to 5 words; the numbers reach all layers and the tails of the ziggurat method."""
    out = np.empty((3, 40_000))
    draw_numbers(seed, Stream.REPORT, 2**31 - 1, "noise", True, out)
    expected = [generator(seed, Stream.REPORT, 2**31 - 1 + r, "noise").standard_normal(40_000) for r in range(3)]
    np.testing.assert_array_equal(out, expected)
    assert out.min() < -TAIL
    assert out.max() > TAIL


@pytest.mark.parametrize("seed", [0, 2**96 + 5])
def test_uniform_numbers_are_those_of_numpy(seed: int) -> None:
    out = np.empty((3, 1000))
    draw_numbers(seed, Stream.SEARCH, 5, "base", False, out)
    expected = [generator(seed, Stream.SEARCH, 5 + r, "base").random(1000) for r in range(3)]
    np.testing.assert_array_equal(out, expected)
