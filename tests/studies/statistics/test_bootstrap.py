"""Coverage of block bootstrap intervals, and the effective sample size compared with theory."""

import numpy as np
import pytest

from ravenlab.environments.world import Floats
from ravenlab.studies.statistics.bootstrap import estimate_dependence, resample_sums, sum_interval
from tests.binomial import band

TRIES = 300


def autoregressive(rng: np.random.Generator, correlation: float, rows: int) -> Floats:
    """Return a series with x_t = correlation·x_{t−1} + noise."""
    from scipy.signal import lfilter

    return np.asarray(lfilter([1.0], [1.0, -correlation], rng.normal(size=rows + 200)))[200:]


@pytest.mark.parametrize(("correlation", "rows"), [(0.0, 200), (0.5, 450), (0.8, 1500)])
def test_intervals_of_an_autoregressive_mean_cover(correlation: float, rows: int) -> None:
    rng = np.random.default_rng(1)
    hits, sizes = 0, []
    for seed in range(TRIES):
        series = autoregressive(rng, correlation, rows)
        dependence = estimate_dependence(series)
        hits += sum_interval(float(series.sum()), series, dependence, seed).contains(0.0)
        sizes.append(dependence.effective)
    least, most = band(TRIES)
    assert least <= hits <= most
    theory = rows * (1.0 - correlation) / (1.0 + correlation)
    assert theory / 1.3 < np.median(sizes) < theory * 1.3


def test_intervals_without_blocks_do_not_cover() -> None:
    """Without blocks, the coverage of the test above is too low."""
    rng = np.random.default_rng(1)
    hits = 0
    for seed in range(60):
        series = autoregressive(rng, 0.8, 450)
        quantiles = np.quantile(resample_sums(series[None], 1, seed)[:, 0], [0.025, 0.975])
        hits += bool(series.sum() - quantiles[1] <= 0.0 <= series.sum() - quantiles[0])
    assert hits < band(60)[0]


def test_blocks_have_a_minimal_length() -> None:
    series = np.random.default_rng(2).normal(size=400)
    assert estimate_dependence(series).block < 10
    assert estimate_dependence(series, min_block=40).block >= 40
    assert estimate_dependence(series, min_block=4000).block == 100
    assert (
        estimate_dependence(series, min_block=40, offsets=80).widening()
        > estimate_dependence(series, min_block=40).widening()
    )


@pytest.mark.parametrize("rows", [1, 2, 7, 8, 30])
def test_short_and_constant_series(rows: int) -> None:
    for series in (np.zeros(rows), np.arange(rows, dtype=float)):
        dependence = estimate_dependence(series, min_block=3)
        assert sum_interval(0.0, series - series.mean(), dependence, seed=0).contains(0.0)
        assert 1 <= dependence.block <= max(1, rows)
