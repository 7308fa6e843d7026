"""Published scenarios against the description of the authors' scripts."""

import numpy as np
import pytest

from ravenlab.environments import find_scenario
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.world import Worlds, world_tables
from ravenlab.policies.engine.simulation import simulate

SENSITIVITY = ["published-variance-drift", "published-incremental-drift", "published-blips"]


def draw(name: str, horizon: int, arms: int = 10) -> Worlds:
    return draw_worlds(find_scenario(name), horizon, arms, seed=3, replications=2)


@pytest.mark.parametrize("name", SENSITIVITY)
def test_scenarios_are_stationary_before_step_5000(name: str) -> None:
    worlds, stationary = draw(name, 1000), draw("stationary", 1000)
    assert all((a == b).all() for a, b in zip(world_tables(worlds), world_tables(stationary), strict=True))
    assert (worlds.noise == stationary.noise).all()


@pytest.mark.parametrize("name", SENSITIVITY)
def test_shifts_occur_at_steps_5000_and_10000(name: str) -> None:
    starts = draw(name, 10_000).starts[0].tolist()
    assert starts == ([1, 5000, 10_001] if name == "published-blips" else [1, 5000, 10_000, 10_001])


@pytest.mark.parametrize(("horizon", "shifts"), [(5099, 0), (5100, 1), (10_000, 1), (10_100, 2)])
def test_no_blip_when_fewer_than_100_steps_remain(horizon: int, shifts: int) -> None:
    assert draw("published-blips", horizon).row.shape[1] == 1 + shifts


def test_variances_are_redrawn_and_means_constant() -> None:
    means, variances = world_tables(draw("published-variance-drift", 6000))
    assert (means == means[0]).all()
    assert (variances[4998] == variances[0]).all()
    assert (variances[4999] != variances[0]).all()
    assert ((variances >= 0.01) & (variances < 0.09)).all()


def test_means_move_by_up_to_a_hundredth_within_the_range() -> None:
    worlds = draw_worlds(find_scenario("published-incremental-drift", {"every": 10}), 5000, 10, seed=3)
    means, variances = world_tables(worlds)
    steps = np.diff(means, axis=0)
    assert (variances == variances[0]).all()
    assert 0.0095 < np.abs(steps).max() <= 0.01 + 1e-12
    assert means.min() == 0.3
    assert means.max() == 0.8


def test_blips_never_end() -> None:
    means, variances = world_tables(draw("published-blips", 9000))
    for table in (means, variances):
        assert (table[4998] != table[4999]).all()
        assert (table[4999:] == table[4999]).all()


def test_logistics_levels_and_jumps() -> None:
    worlds = draw("published-logistics", 50_000, 100)
    assert worlds.starts[0].tolist() == [1, *range(5001, 45_002, 5000), 50_001]
    mean, deviation = worlds.level[0, :, :, 0], np.sqrt(worlds.level[0, :, :, 1])
    assert np.allclose(mean[0], np.linspace(0.3, 0.8, 100))
    assert np.allclose(deviation[0], np.linspace(0.1, 0.3, 100))
    for j in range(1, 10):
        moved = mean[j] != mean[j - 1]
        assert moved.sum() == 33
        assert (moved == (deviation[j] != deviation[j - 1])).all()
    assert mean.min() >= 0.3
    assert mean.max() <= 0.8
    assert deviation.min() >= 0.0999
    assert deviation.max() <= 0.3001


def test_logistics_also_measures_regret_against_the_constant() -> None:
    result = simulate("ucb1", "published-logistics", horizon=12_000, arms=20, replications=3, seed=1)
    assert result.regret_constant is not None
    # Reward and regret against 0.8 add up to 0.8·T, apart from the noise of the rewards (σ ≤ 0.3).
    gap = result.reward + result.regret_constant - 0.8 * 12_000
    assert (np.abs(gap) < 4 * 0.3 * np.sqrt(12_000)).all()
    assert simulate("ucb1", "logistics", horizon=200, arms=5, replications=1, seed=1).regret_constant is None
