import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ravenlab.common.errors import InputError
from ravenlab.environments import find_scenario
from ravenlab.environments.catalog import EFFECTS
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.world import world_tables
from tests.environments.properties import quick
from tests.messages import raises_naming

OTHERS = [name for name in EFFECTS if name not in ("blips", "arm-churn")]


@quick
@given(
    every=st.integers(2, 60),
    lasting=st.integers(1, 59),
    others=st.lists(st.sampled_from(OTHERS), min_size=1, unique=True),
    seed=st.integers(0, 1000),
)
def test_after_a_blip_the_world_is_bit_identical_to_one_without(
    every: int, lasting: int, others: list[str], seed: int
) -> None:
    lasting = 1 + lasting % (every - 1)
    name = "blips.every" if "localized-jump" in others else "every"
    blips = find_scenario("+".join([*others, "blips"]), {name: every, "lasting": lasting})
    without = find_scenario("+".join(others))
    with_blips = world_tables(draw_worlds(blips, 100, 4, seed))
    without_blips = world_tables(draw_worlds(without, 100, 4, seed))
    for t in range(1, 101):
        inside = t >= every and t % every < lasting
        for changed, unchanged in zip(with_blips, without_blips, strict=True):
            if inside:
                assert (changed[t - 1] != unchanged[t - 1]).all()
            else:
                assert changed[t - 1].tobytes() == unchanged[t - 1].tobytes()
        if inside:
            assert ((with_blips[0][t - 1] >= 0.3) & (with_blips[0][t - 1] < 0.8)).all()
            assert ((with_blips[1][t - 1] >= 0.01) & (with_blips[1][t - 1] < 0.09)).all()


def test_the_last_blip_ends_at_the_horizon() -> None:
    worlds = draw_worlds(find_scenario("blips", {"every": 50, "lasting": 20}), 110, 3, 1)
    assert worlds.starts[0].tolist() == [1, 50, 70, 100, 111]
    assert worlds.blip[0].tolist() == [0, 1, 0, 1]
    worlds = draw_worlds(find_scenario("blips", {"every": 50, "lasting": 1}), 100, 3, 1)
    assert worlds.starts[0].tolist() == [1, 50, 51, 100, 101]
    assert worlds.blip[0].tolist() == [0, 1, 0, 1]


@quick
@given(
    times=st.sampled_from(["geometric", "jittered"]),
    every=st.integers(2, 60),
    lasting=st.integers(1, 59),
    seed=st.integers(0, 1000),
)
def test_blips_at_random_times_never_overlap_and_the_world_returns(
    times: str, every: int, lasting: int, seed: int
) -> None:
    lasting = 1 + lasting % (every - 1)
    scenario = find_scenario("blips", {"every": every, "lasting": lasting, "times": times})
    worlds = draw_worlds(scenario, 200, 3, seed)
    means, _ = world_tables(worlds)
    usual, _ = world_tables(draw_worlds(find_scenario("stationary"), 200, 3, seed))
    lengths = np.diff(worlds.starts[0])
    for segment in np.flatnonzero(lengths):
        first, end = worlds.starts[0, segment : segment + 2]
        if worlds.blip[0, segment]:
            assert lengths[segment] == lasting or end == 201
            assert segment > 0
            assert not worlds.blip[0, segment - 1]
        assert (means[first - 1 : end - 1] == usual[0]).all() != bool(worlds.blip[0, segment])


def test_the_mean_distance_of_blips_at_random_times_is_every() -> None:
    for times in ("geometric", "jittered"):
        scenario = find_scenario("blips", {"every": 50, "lasting": 20, "times": times})
        worlds = draw_worlds(scenario, 5000, 2, 3, 0, 50)
        starts = [worlds.starts[r, :-1][worlds.blip[r] == 1] for r in range(50)]
        gaps = np.concatenate([np.diff(at) for at in starts])
        assert gaps.min() > 20
        assert abs(gaps.mean() - 50) < 4 * gaps.std() / gaps.size**0.5 + 0.5


def test_every_blip_is_an_independent_draw() -> None:
    worlds = draw_worlds(find_scenario("blips"), 200, 3, 1)
    means, _ = world_tables(worlds)
    assert len(np.unique(means[:, 0])) == 11


@pytest.mark.parametrize(("every", "lasting"), [(10, 10), (10, 11), (1, 1), ("10%", "10%"), ("1%", "0.5%")])
def test_blips_longer_than_their_interval_are_rejected(every: int | str, lasting: int | str) -> None:
    with raises_naming(InputError, "lasting", "every"):
        find_scenario("blips", {"every": every, "lasting": lasting}).check(100, 3)
