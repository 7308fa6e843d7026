"""Intervals hold what they promise, on regrets as skewed as they are."""

from __future__ import annotations

import time
from functools import lru_cache

import numpy as np
import pytest

from environments.streams import Stream
from environments.world import Floats
from policies.engine.play import REGRET
from studies.spec.objective import parse_objective
from studies.spec.study import StudySpec
from studies.statistics.intervals import MAX_RESAMPLED, indistinguishable, mean_interval, paired_interval
from tests.binomial import band
from tuning.workers.problem import Evaluator


@lru_cache(maxsize=4)
def regrets(scenario: str) -> Floats:
    """Regrets [2, 4000] of two candidates: samples are drawn from these, so the true mean is known exactly."""
    spec = StudySpec(scenario=scenario, horizon=300, arms=5)
    candidates = [spec.values({}), spec.values({"alpha0": 0.2, "beta0": 0.3})]
    return Evaluator(spec).play(candidates, Stream.SIMULATE, 0, 4000)[..., REGRET]


@pytest.mark.parametrize(("scenario", "size"), [("stationary", 200), ("stationary", 400), ("localized-jump", 200)])
def test_the_interval_of_a_mean_covers(scenario: str, size: int) -> None:
    pool, rng = regrets(scenario)[0], np.random.default_rng(1)
    hits = 0
    for i in range(400):
        _, low, high = mean_interval(pool[rng.integers(0, pool.size, size)], seed=i)
        hits += low <= pool.mean() <= high
    least, most = band(400)
    assert least <= hits <= most


def test_the_interval_of_a_difference_covers() -> None:
    pool, rng = regrets("localized-jump"), np.random.default_rng(2)
    truth = (pool[1] - pool[0]).mean()
    hits = 0
    for i in range(400):
        worlds = rng.integers(0, pool.shape[1], 200)
        _, low, high = paired_interval(pool[1, worlds], pool[0, worlds], seed=i)
        hits += low <= truth <= high
    least, most = band(400)
    assert least <= hits <= most


def test_a_skewed_tail_is_missed_on_its_side_by_the_plain_interval_alone() -> None:
    rng = np.random.default_rng(3)
    above = plain = 0
    for i in range(600):
        sample = rng.lognormal(sigma=1.0, size=60)
        mean, _, high = mean_interval(sample, seed=i)
        truth = np.exp(0.5)
        above += truth > high
        plain += truth > mean + 1.96 * sample.std(ddof=1) / 60**0.5
    assert plain > 1.5 * above


def test_it_is_the_same_from_the_same_seed_alone() -> None:
    sample = np.random.default_rng(4).exponential(size=500)
    assert mean_interval(sample, seed=1) == mean_interval(sample, seed=1)
    assert mean_interval(sample, seed=1) != mean_interval(sample, seed=2)
    assert mean_interval(sample, seed=1)[0] == sample.mean()


def test_a_wider_level_is_a_wider_interval() -> None:
    sample = np.random.default_rng(5).exponential(size=300)
    _, low, high = mean_interval(sample, seed=1)
    _, lower, higher = mean_interval(sample, seed=1, level=0.99)
    assert lower < low < high < higher


def test_moving_and_stretching_the_sample_moves_and_stretches_the_interval() -> None:
    sample = np.random.default_rng(6).exponential(size=300)
    plain = np.array(mean_interval(sample, seed=1))
    np.testing.assert_allclose(np.array(mean_interval(5.0 + 3.0 * sample, seed=1)), 5.0 + 3.0 * plain, rtol=1e-9)


def test_a_constant_sample_has_no_width_and_a_rare_event_a_finite_one() -> None:
    assert mean_interval(np.full(50, 0.1), seed=0)[1:] == pytest.approx((0.1, 0.1))
    rare = np.zeros(2000)
    rare[7] = 1.0
    mean, low, high = mean_interval(rare, seed=0)
    assert low <= mean <= high < 0.1


def test_a_long_sample_is_resampled_in_groups_and_says_the_same() -> None:
    sample = np.random.default_rng(7).exponential(size=5 * MAX_RESAMPLED + 3)
    mean, low, high = mean_interval(sample, seed=0)
    error = sample.std(ddof=1) / sample.size**0.5
    assert mean == sample.mean()
    assert (high - low) / (2 * 1.96 * error) == pytest.approx(1.0, abs=0.1)


def test_two_thousand_replications_take_no_time() -> None:
    sample = np.random.default_rng(8).exponential(size=2000)
    took = []
    for _ in range(5):
        begin = time.process_time()
        mean_interval(sample, seed=0)
        took.append(time.process_time() - begin)
    assert min(took) < 0.1


@pytest.mark.parametrize("count", [2, 6, 18])
def test_none_that_is_as_good_goes_but_in_one_family_of_twenty(count: int) -> None:
    """All have one law, so every one that goes is an error; the best on the sample is chosen on the sample."""
    rng, families = np.random.default_rng(9), 100
    wrong = 0
    for i in range(families):
        shared = rng.normal(size=150)
        wrong += not indistinguishable(rng.exponential(size=(count, 150)) + shared, seed=i).all()
    assert wrong <= band(families, 0.05)[1]


def test_the_truly_best_stays_beside_many_poor_ones() -> None:
    rng, families = np.random.default_rng(10), 150
    lost = 0
    for i in range(families):
        worse = np.array([0.0, 0.02, 0.02, 1.0, 1.0, 2.0, 3.0])[:, None]
        kept = indistinguishable(rng.exponential(size=(7, 150)) + worse, seed=i)
        lost += not kept[0]
        assert not kept[5:].any()
    assert lost <= band(families, 0.05)[1]


def test_pairing_shows_what_the_spread_would_hide() -> None:
    rng = np.random.default_rng(11)
    worlds = 100.0 * rng.normal(size=400)
    samples = np.stack([worlds + rng.normal(size=400), worlds + 0.5 + rng.normal(size=400)])
    assert indistinguishable(samples, seed=0).tolist() == [True, False]


def test_equals_stay_and_a_constant_difference_goes() -> None:
    worlds = np.random.default_rng(12).normal(size=100)
    assert indistinguishable(np.stack([worlds, worlds, worlds + 0.5]), seed=0).tolist() == [True, True, False]
    assert indistinguishable(worlds[None], seed=0).tolist() == [True]


@pytest.mark.parametrize("objective", ["quantile:0.9", "cvar:0.9"])
def test_other_objectives_are_resampled_themselves(objective: str) -> None:
    """The second has the better mean and the worse tail."""
    rng = np.random.default_rng(13)
    samples = np.stack([1.0 + 0.1 * rng.normal(size=400), 2.0 * (rng.random(400) < 0.2)])
    assert indistinguishable(samples, seed=0).tolist() == [False, True]
    assert indistinguishable(samples, seed=0, value=parse_objective(objective).value).tolist() == [True, False]


@pytest.mark.parametrize("objective", ["quantile:0.8", "cvar:0.8"])
def test_their_family_error_is_kept_too(objective: str) -> None:
    rng, families, value = np.random.default_rng(14), 60, parse_objective(objective).value
    wrong = sum(
        not indistinguishable(rng.exponential(size=(4, 150)), seed=i, value=value).all() for i in range(families)
    )
    assert wrong <= band(families, 0.05)[1]


def test_a_long_sample_keeps_its_own_best() -> None:
    samples = np.random.default_rng(15).normal(size=(5, 2 * MAX_RESAMPLED + 1))
    assert indistinguishable(samples, seed=0)[samples.mean(axis=1).argmin()]
