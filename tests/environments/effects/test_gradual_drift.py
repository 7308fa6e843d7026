import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ravenlab.common.errors import InputError
from ravenlab.environments import find_scenario
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.world import world_tables
from tests.environments import reference_world
from tests.environments.properties import quick
from tests.messages import raises_naming


@quick
@given(start=st.integers(1, 80), length=st.integers(1, 80), seed=st.integers(0, 1000))
def test_the_mixture_has_the_stated_mean_and_variance(start: int, length: int, seed: int) -> None:
    scenario = find_scenario("gradual-drift", {"start": start, "end": start + length})
    worlds = draw_worlds(scenario, 100, 3, seed)
    means, variances = world_tables(worlds)
    mu, sigma2, new_mu, new_sigma2 = worlds.level[0, 0].T
    for t in range(1, 101):
        rho = min(1.0, max(0.0, (t - start) / length))
        mean = (1 - rho) * mu + rho * new_mu
        second = (1 - rho) * (sigma2 + mu**2) + rho * (new_sigma2 + new_mu**2)
        assert np.allclose(means[t - 1], mean, rtol=0, atol=1e-12)
        assert np.allclose(variances[t - 1], second - mean**2, rtol=0, atol=1e-12)


def test_coins_are_independent_with_the_stated_probability() -> None:
    worlds = draw_worlds(find_scenario("gradual-drift"), 200, 2, seed=4, replications=2000)
    rho = worlds.share
    assert rho[49] == 0.0
    assert rho[99] == 0.5
    assert rho[149] == 1.0
    error = np.sqrt(rho * (1 - rho) / 2000)
    assert (np.abs(worlds.coin.mean(axis=0) - rho) <= 4.5 * error).all()
    centred = worlds.coin - rho
    covariance = (centred[:, 60:139] * centred[:, 61:140]).mean()
    assert abs(covariance) < 4 * 0.25 / np.sqrt(2000 * 79)


def test_a_reward_comes_from_one_of_the_two_levels() -> None:
    worlds = draw_worlds(find_scenario("gradual-drift"), 200, 2, seed=4)
    for t in range(1, 201):
        old, old_variance, new, new_variance = worlds.level[0, 0, 1]
        mean, variance = (new, new_variance) if worlds.coin[0, t - 1] else (old, old_variance)
        expected = mean + np.sqrt(variance) * worlds.noise[0, t - 1]
        assert reference_world.reward(worlds, 0, 1, t) == pytest.approx(expected, abs=1e-12)


def test_both_levels_are_independent_base_draws() -> None:
    level = draw_worlds(find_scenario("gradual-drift"), 50, 10, 1, replications=300).level[:, 0]
    old, new = level[..., 0].ravel(), level[..., 2].ravel()
    assert abs(np.corrcoef(old, new)[0, 1]) < 4 / np.sqrt(old.size)
    assert new.min() >= 0.3
    assert new.max() < 0.8
    assert level[..., 3].min() >= 0.01
    assert level[..., 3].max() < 0.09


def test_a_jump_replaces_both_levels_of_its_arms_only() -> None:
    worlds = draw_worlds(find_scenario("gradual-drift+localized-jump"), 100, 6, seed=3)
    for row in range(1, worlds.level.shape[1]):
        moved = worlds.level[0, row, :, 0] != worlds.level[0, row - 1, :, 0]
        assert moved.sum() == 2
        assert (worlds.level[0, row, moved, :2] == worlds.level[0, row, moved, 2:]).all()
        assert (worlds.level[0, row, ~moved] == worlds.level[0, row - 1, ~moved]).all()


@pytest.mark.parametrize(("start", "end"), [(50, 50), (60, 50), ("50%", "25%"), ("1%", 1)])
def test_the_end_must_be_after_the_start(start: int | str, end: int | str) -> None:
    with raises_naming(InputError, "end", "start"):
        find_scenario("gradual-drift", {"start": start, "end": end}).check(100, 3)
