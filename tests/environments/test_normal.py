"""Compiled normal numbers are those of NumPy, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from environments.normal import TAIL, draw_normals
from environments.streams import Stream, generator


@pytest.mark.parametrize("seed", [0, 7, 2**32, 2**96 + 5, 2**130 + 1])
def test_numbers_are_those_of_numpy(seed: int) -> None:
    """The seeds have 1 to 5 words; the numbers reach all layers and the tails of the ziggurat method."""
    out = np.empty((3, 40_000))
    draw_normals(seed, Stream.REPORT, 2**31 - 1, "noise", out)
    expected = [generator(seed, Stream.REPORT, 2**31 - 1 + r, "noise").standard_normal(40_000) for r in range(3)]
    np.testing.assert_array_equal(out, expected)
    assert out.min() < -TAIL
    assert out.max() > TAIL
