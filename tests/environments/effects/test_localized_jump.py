import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ravenlab.common.errors import InputError
from ravenlab.environments import find_scenario
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.world import Worlds, world_tables
from tests.environments.properties import quick
from tests.messages import raises_naming


@quick
@given(
    horizon=st.integers(20, 120),
    every=st.integers(1, 130),
    arms=st.integers(1, 12),
    fraction=st.fractions(Fraction(1, 100), 1, max_denominator=100),
    seed=st.integers(0, 1000),
)
def test_number_and_size_of_jumps(horizon: int, every: int, arms: int, fraction: Fraction, seed: int) -> None:
    scenario = find_scenario("localized-jump", {"every": every, "fraction": str(fraction)})
    means, variances = world_tables(draw_worlds(scenario, horizon, arms, seed))
    for t in range(2, horizon + 1):
        moved = means[t - 1] != means[t - 2]
        expected = max(1, math.floor(fraction * arms)) if t % every == 0 else 0
        assert moved.sum() == expected
        assert (moved == (variances[t - 1] != variances[t - 2])).all()
    assert means.min() >= 0.3
    assert means.max() < 0.8
    assert variances.min() >= 0.01
    assert variances.max() < 0.09


@pytest.mark.parametrize(
    ("fraction", "arms", "count"), [("1/3", 9, 3), ("1/3", 2, 1), (0.29, 100, 29), ("29%", 100, 29)]
)
def test_shares_of_the_arms_are_exact(fraction: float | str, arms: int, count: int) -> None:
    means, _ = world_tables(draw_worlds(find_scenario("localized-jump", {"fraction": fraction}), 100, arms, 1))
    assert (means[9] != means[8]).sum() == count


def test_extra_arm_does_not_increase_the_number_of_jumping_arms() -> None:
    worlds = draw_worlds(find_scenario("localized-jump+arm-churn"), 100, 5, 1)
    level = worlds.level[0, :, :, 0]
    assert ((level[1:] != level[:-1]).sum(axis=1) == 1).all()


def test_jumps_happen_at_the_last_step_but_not_at_the_first() -> None:
    means, _ = world_tables(draw_worlds(find_scenario("localized-jump", {"every": 50}), 50, 4, 1))
    assert (means[:49] == means[0]).all()
    assert (means[49] != means[0]).sum() == 1
    worlds = draw_worlds(find_scenario("localized-jump", {"every": 1}), 10, 4, 1)
    assert worlds.starts[0].tolist() == list(range(1, 12))
    base = draw_worlds(find_scenario("stationary"), 10, 4, 1)
    assert (world_tables(worlds)[0][0] == world_tables(base)[0][0]).all()


def test_jumps_choose_arms_uniformly_and_independently() -> None:
    worlds = draw_worlds(find_scenario("localized-jump"), 100, 10, 7, replications=400)
    jumped = np.diff(worlds.level[..., 0], axis=1) != 0
    jumps = jumped.shape[0] * jumped.shape[1]
    assert (np.abs(jumped.mean(axis=(0, 1)) - 0.3) < 4 * math.sqrt(0.3 * 0.7 / jumps)).all()
    in_both = (jumped[:, 1:] & jumped[:, :-1]).mean()
    assert abs(in_both - 0.09) < 4 * math.sqrt(0.09 * 0.91 / jumps)


def change_times(worlds: Worlds, r: int) -> list[int]:
    """Return the first steps of all segments of a world but the first."""
    return [int(t) for t in worlds.starts[r, 1:] if t <= worlds.noise.shape[1]]


def test_geometric_times_are_memoryless() -> None:
    """Every step after the first is a change with probability 1/every, independently of earlier changes."""
    horizon, every, worlds = 2000, 40, 200
    drawn = draw_worlds(
        find_scenario("localized-jump", {"every": every, "times": "geometric"}), horizon, 3, 5, 0, worlds
    )
    changes = np.zeros((worlds, horizon + 1))
    for r in range(worlds):
        changes[r, change_times(drawn, r)] = 1
    rate = 1 / every
    steps = worlds * (horizon - 1)
    assert changes[:, :2].sum() == 0
    assert abs(changes.sum() / steps - rate) < 4 * math.sqrt(rate * (1 - rate) / steps)
    after_change = changes[:, 3:][changes[:, 2:-1] == 1]
    assert abs(after_change.mean() - rate) < 4 * math.sqrt(rate * (1 - rate) / after_change.size)


def test_jittered_times_differ_by_less_than_half_a_period_from_the_fixed_ones() -> None:
    scenario = find_scenario("localized-jump", {"every": 50, "times": "jittered"})
    worlds = draw_worlds(scenario, 1000, 3, 5, 0, 100)
    shifts = np.concatenate([np.array(change_times(worlds, r)) % 50 for r in range(100)])
    assert set(shifts) == set(range(50)) - {25}  # −24 … 24
    assert abs(np.where(shifts > 25, shifts - 50, shifts).mean()) < 4 * math.sqrt((49**2 - 1) / 12 / shifts.size)
    assert not np.array_equal(worlds.starts[0], worlds.starts[1])


@quick
@given(
    times=st.sampled_from(["geometric", "jittered"]),
    horizon=st.integers(4, 150),
    every=st.integers(1, 200),
    seed=st.integers(0, 1000),
)
def test_jumps_at_random_times_change_as_many_arms_as_at_fixed_times(
    times: str, horizon: int, every: int, seed: int
) -> None:
    worlds = draw_worlds(find_scenario("localized-jump", {"every": every, "times": times}), horizon, 4, seed)
    means, _ = world_tables(worlds)
    jumps = change_times(worlds, 0)
    assert all(1 < t <= horizon for t in jumps)
    for t in range(2, horizon + 1):
        assert (means[t - 1] != means[t - 2]).sum() == (1 if t in jumps else 0)


def test_unknown_times_are_rejected() -> None:
    with raises_naming(InputError, "times", "fixed", "geometric", "jittered", "'random'"):
        find_scenario("localized-jump", {"times": "random"}).check(100, 3)


def test_logistics_jumps_every_5000_steps_for_all_horizons() -> None:
    scenario = find_scenario("logistics")
    assert draw_worlds(scenario, 12_000, 100, 1).starts[0].tolist() == [1, 5000, 10_000, 12_001]
    worlds = draw_worlds(scenario, 50_000, 100, 1)
    assert worlds.starts[0].tolist() == [1, *range(5000, 50_001, 5000), 50_001]
    level = worlds.level[0, :, :, 0]
    assert ((level[1:] != level[:-1]).sum(axis=1) == 33).all()
