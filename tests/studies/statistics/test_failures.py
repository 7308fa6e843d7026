"""Sample sizes in the presence of rare failures."""

import numpy as np
import pytest
from scipy.special import pdtri

from ravenlab.environments.world import Floats
from ravenlab.studies.statistics import intervals
from ravenlab.studies.statistics.failures import (
    ENOUGH_FAILURES,
    MAX_GROWTH,
    MIN_WORLDS,
    FailureSample,
    bound_poisson_mean,
    grow_sample,
)
from ravenlab.studies.statistics.intervals import mean_interval
from ravenlab.studies.statistics.paired import estimate_difference

RATE, BACKGROUND, COST, UNIFORM = 0.0018, 20.0, 2200.0, 3300.0
"""A pool like RAVEN-UCB with α₀ 2 in stationary worlds (K 5, T 20,000): 0.2 % of the worlds lose the best arm."""

TRUE_MEAN = BACKGROUND + RATE * COST
VALIDATIONS = 200


def draw(rng: np.random.Generator, count: int) -> Floats:
    """Results [1, count, 2] of one candidate: regret, and whether the world fails."""
    failed = rng.random(count) < RATE
    regret = rng.gamma(4.0, BACKGROUND / 4.0, count) + np.where(failed, rng.gamma(4.0, COST / 4.0, count), 0.0)
    return np.stack([regret, failed], axis=-1)[None]


def is_reliable(played: Floats) -> bool:
    regret, failed = played[0].T
    return FailureSample(regret.size, int(failed.sum()), float(regret.mean()), UNIFORM).reliable


def test_sample_without_failures_is_unreliable_until_unseen_ones_cannot_matter() -> None:
    assert not FailureSample(1000, 0, 20.0, 3300.0).reliable
    assert FailureSample(10_000, 0, 20.0, 3300.0).reliable
    assert FailureSample(1000, 0, 20.0, 3300.0).highest_rate == pytest.approx(0.003, rel=0.01)
    assert FailureSample(1000, 0, 20.0, 3300.0).unseen == pytest.approx(9.9, rel=0.01)


def test_enough_failures_make_a_sample_reliable() -> None:
    assert FailureSample(1000, ENOUGH_FAILURES, 20.0, 3300.0).reliable
    assert not FailureSample(1000, ENOUGH_FAILURES - 1, 20.0, 3300.0).reliable


def test_growth_is_limited_and_appends_worlds_in_order() -> None:
    ranges = []

    def play(first: int, count: int) -> Floats:
        ranges.append((first, count))
        return np.arange(first, first + count, dtype=np.float64)[None, :, None]

    played = grow_sample(play, MIN_WORLDS, lambda played: False)
    assert played[0, :, 0].tolist() == list(range(MAX_GROWTH * MIN_WORLDS))
    assert ranges[:3] == [(0, MIN_WORLDS), (MIN_WORLDS, MIN_WORLDS), (2 * MIN_WORLDS, 2 * MIN_WORLDS)]


def test_small_samples_are_kept() -> None:
    def play(first: int, count: int) -> Floats:
        return np.zeros((1, count, 1))

    assert grow_sample(play, MIN_WORLDS - 1, lambda played: False).shape[1] == MIN_WORLDS - 1


def test_rule_restores_the_coverage_of_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 200 worlds intervals miss the true mean in a third of the samples; with the rule they cover it."""
    monkeypatch.setattr(intervals, "RESAMPLES", 300)

    def covers(sample: Floats, seed: int) -> bool:
        _, low, high = mean_interval(sample, seed)
        return low <= TRUE_MEAN <= high

    rng = np.random.default_rng(1)
    small = [covers(draw(rng, 200)[0, :, 0], seed) for seed in range(VALIDATIONS)]
    grown = [
        covers(grow_sample(lambda first, count: draw(rng, count), 1000, is_reliable)[0, :, 0], seed)
        for seed in range(VALIDATIONS)
    ]
    error = (0.05 * 0.95 / VALIDATIONS) ** 0.5
    assert np.mean(small) < 0.8
    assert np.mean(grown) > 0.95 - 3.3 * error


def test_rule_restores_the_level_of_paired_tests() -> None:
    """A constant competitor with the same mean: the samples with too few failures favour the failing policy."""

    def rejects(sample: Floats) -> bool:
        return estimate_difference(sample, np.full(sample.size, TRUE_MEAN)).p_value < 0.05

    rng = np.random.default_rng(2)
    small = [rejects(draw(rng, 200)[0, :, 0]) for _ in range(VALIDATIONS)]
    grown = [
        rejects(grow_sample(lambda first, count: draw(rng, count), 1000, is_reliable)[0, :, 0])
        for _ in range(VALIDATIONS)
    ]
    error = (0.05 * 0.95 / VALIDATIONS) ** 0.5
    assert np.mean(small) > 0.5
    assert np.mean(grown) < 0.07 + 3.3 * error


@pytest.mark.parametrize("level", [0.001, 0.025, 0.05, 0.5])
@pytest.mark.parametrize("count", [0, 1, 9, 100, 16_000])
def test_the_bound_of_a_poisson_mean_is_that_of_scipy(count: int, level: float) -> None:
    assert bound_poisson_mean(count, level) == pytest.approx(pdtri(count, level), rel=1e-10)
