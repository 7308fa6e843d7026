"""Coverage of bootstrap intervals and error rates of `indistinguishable` on skewed regrets."""

import time
from functools import lru_cache

import numpy as np
import pytest

from ravenlab.common.interval import Z95
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats
from ravenlab.studies.spec.objective import parse_objective
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.statistics.intervals import MAX_RESAMPLED, indistinguishable, mean_interval, paired_interval
from ravenlab.tuning.workers.problem import Evaluator
from tests.binomial import band


@lru_cache(maxsize=4)
def regrets(scenario: str) -> Floats:
    """Return regrets [2, 4000] of two candidates; samples are drawn from these, so the true means are known."""
    spec = StudySpec(scenario=scenario, horizon=300, arms=5)
    candidates = [spec.resolve_params({}), spec.resolve_params({"alpha0": 0.2, "beta0": 0.3})]
    return Evaluator(spec).play(candidates, Stream.SIMULATE, 0, 4000).regret


@pytest.mark.parametrize(("scenario", "size"), [("stationary", 200), ("localized-jump", 400)])
def test_the_interval_of_a_mean_covers(scenario: str, size: int) -> None:
    pool, rng = regrets(scenario)[0], np.random.default_rng(1)
    hits = 0
    for i in range(300):
        _, low, high = mean_interval(pool[rng.integers(0, pool.size, size)], seed=i)
        hits += low <= pool.mean() <= high
    lowest, highest = band(300)
    assert lowest <= hits <= highest


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


def test_the_normal_interval_misses_a_skewed_tail_more_often() -> None:
    rng = np.random.default_rng(3)
    above = plain = 0
    for i in range(600):
        sample = rng.lognormal(sigma=1.0, size=60)
        mean, _, high = mean_interval(sample, seed=i)
        truth = np.exp(0.5)
        above += truth > high
        plain += truth > mean + Z95 * sample.std(ddof=1) / 60**0.5
    assert plain > 1.5 * above


def test_an_interval_depends_on_the_seed_only() -> None:
    sample = np.random.default_rng(4).exponential(size=500)
    assert mean_interval(sample, seed=1) == mean_interval(sample, seed=1)
    assert mean_interval(sample, seed=1) != mean_interval(sample, seed=2)
    assert mean_interval(sample, seed=1).mean == sample.mean()


def test_a_higher_level_gives_a_wider_interval() -> None:
    sample = np.random.default_rng(5).exponential(size=300)
    narrow, wide = mean_interval(sample, seed=1), mean_interval(sample, seed=1, level=0.99)
    assert wide.low < narrow.low < narrow.high < wide.high
    assert (narrow.level, wide.level) == (0.95, 0.99)


def test_intervals_are_equivariant_to_shift_and_scale() -> None:
    sample = np.random.default_rng(6).exponential(size=300)
    expected = mean_interval(sample, seed=1).scaled(3.0).shifted(5.0)
    np.testing.assert_allclose([*mean_interval(5.0 + 3.0 * sample, seed=1)], [*expected], rtol=1e-9)


def test_constant_samples_and_rare_events() -> None:
    assert [*mean_interval(np.full(50, 0.1), seed=0)] == pytest.approx([0.1, 0.1, 0.1])
    rare = np.zeros(2000)
    rare[7] = 1.0
    mean, low, high = mean_interval(rare, seed=0)
    assert low <= mean <= high < 0.1


def test_a_long_sample_is_resampled_in_groups() -> None:
    sample = np.random.default_rng(7).exponential(size=5 * MAX_RESAMPLED + 3)
    interval = mean_interval(sample, seed=0)
    assert interval.mean == sample.mean()
    assert interval.standard_error == pytest.approx(sample.std(ddof=1) / sample.size**0.5, rel=0.1)


def test_two_thousand_replications_are_fast() -> None:
    sample = np.random.default_rng(8).exponential(size=2000)
    seconds = []
    for _ in range(5):
        begin = time.process_time()
        mean_interval(sample, seed=0)
        seconds.append(time.process_time() - begin)
    assert min(seconds) < 0.1


@pytest.mark.parametrize("count", [2, 6, 18])
def test_the_family_wise_error_rate_is_controlled(count: int) -> None:
    """All candidates have the same distribution, so every removal is an error."""
    rng, families = np.random.default_rng(9), 100
    errors = 0
    for i in range(families):
        shared = rng.normal(size=150)
        errors += not indistinguishable(rng.exponential(size=(count, 150)) + shared, seed=i).all()
    assert errors <= band(families, 0.05)[1]


def test_the_true_best_is_kept_among_many_poor_candidates() -> None:
    rng, families = np.random.default_rng(10), 150
    lost = 0
    for i in range(families):
        worse = np.array([0.0, 0.02, 0.02, 1.0, 1.0, 2.0, 3.0])[:, None]
        kept = indistinguishable(rng.exponential(size=(7, 150)) + worse, seed=i)
        lost += not kept[0]
        assert not kept[5:].any()
    assert lost <= band(families, 0.05)[1]


def test_pairing_reveals_small_differences() -> None:
    rng = np.random.default_rng(11)
    worlds = 100.0 * rng.normal(size=400)
    samples = np.stack([worlds + rng.normal(size=400), worlds + 0.5 + rng.normal(size=400)])
    assert indistinguishable(samples, seed=0).tolist() == [True, False]


def test_equal_samples_are_kept_and_a_constant_difference_is_removed() -> None:
    worlds = np.random.default_rng(12).normal(size=100)
    assert indistinguishable(np.stack([worlds, worlds, worlds + 0.5]), seed=0).tolist() == [True, True, False]
    assert indistinguishable(worlds[None], seed=0).tolist() == [True]


@pytest.mark.parametrize("objective", ["quantile:0.9", "cvar:0.9"])
def test_other_objectives_are_resampled(objective: str) -> None:
    """The second candidate has the better mean and the worse tail."""
    rng = np.random.default_rng(13)
    samples = np.stack([1.0 + 0.1 * rng.normal(size=400), 2.0 * (rng.random(400) < 0.2)])
    assert indistinguishable(samples, seed=0).tolist() == [False, True]
    assert indistinguishable(samples, seed=0, value=parse_objective(objective).value).tolist() == [True, False]


@pytest.mark.parametrize("objective", ["quantile:0.8", "cvar:0.8"])
def test_the_error_rate_is_controlled_for_other_objectives(objective: str) -> None:
    rng, families, value = np.random.default_rng(14), 30, parse_objective(objective).value
    wrong = sum(
        not indistinguishable(rng.exponential(size=(4, 150)), seed=i, value=value).all() for i in range(families)
    )
    assert wrong <= band(families, 0.05)[1]


def test_the_best_of_a_long_sample_is_kept() -> None:
    samples = np.random.default_rng(15).normal(size=(5, 2 * MAX_RESAMPLED + 1))
    assert indistinguishable(samples, seed=0)[samples.mean(axis=1).argmin()]
