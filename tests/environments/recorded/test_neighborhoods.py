"""Neighborhoods of logged events: change points, sizes, openings, and whether a log supports an answer."""

import numpy as np

from ravenlab.environments.recorded.log_file import Arms
from ravenlab.environments.recorded.neighborhoods import (
    SIZES,
    Neighborhoods,
    Support,
    find_neighborhoods,
    find_openings,
    measure_support,
)
from ravenlab.environments.world import Floats

EVENTS, ARMS = 6000, 4


def uniform_arms(seed: int = 1) -> Arms:
    """A uniform logging policy."""
    return np.random.default_rng(seed).integers(0, ARMS, EVENTS).astype(np.int32)


def noise(seed: int = 2) -> Floats:
    return np.random.default_rng(seed).normal(0.0, 0.2, EVENTS)


def support_of(arm: Arms, reward: Floats) -> tuple[Neighborhoods, Support]:
    near = find_neighborhoods(arm, reward, ARMS)
    return near, measure_support(arm, near, *find_openings(arm, ARMS))


def test_neighborhoods_hold_events_of_one_arm_around_the_event() -> None:
    arm = uniform_arms()
    near = find_neighborhoods(arm, noise() + 0.3 * np.sin(np.arange(EVENTS) / 400), ARMS)
    assert sorted(near.order.tolist()) == list(range(EVENTS))
    for event in range(0, EVENTS, 17):
        members = near.order[near.first[event] : near.end[event]]
        assert event in range(near.first[event], near.end[event])
        assert set(arm[members]) == {arm[near.order[event]]}
    for k in range(ARMS):
        steps = near.until[near.begin[k] : near.begin[k + 1]]
        assert (np.diff(steps) >= 0).all()
        assert steps[-1] == EVENTS


def test_stationary_log_uses_all_events() -> None:
    arm = uniform_arms()
    near, support = support_of(arm, noise() + 0.1 * arm)
    assert not near.changes.size
    assert near.size > SIZES[-4]
    assert support.enough


def test_jumps_are_located_and_not_crossed() -> None:
    arm = uniform_arms()
    means = np.where(np.arange(EVENTS) < 2000, 0.2, 0.8)
    near, support = support_of(arm, noise() + np.where(arm == 2, means, 0.5))
    assert near.changes.size == 1
    assert abs(near.changes[0] - 2000) < 30
    moved = slice(near.begin[2], near.begin[3])
    before = near.order[near.first[moved]] < near.changes[0]
    np.testing.assert_array_equal(before, near.order[near.end[moved] - 1] < near.changes[0])
    assert near.end[near.begin[0]] - near.first[near.begin[0]] > 200
    assert support.enough


def test_gradual_change_uses_nearby_events() -> None:
    arm = uniform_arms()
    near, support = support_of(arm, noise() + 0.3 * np.sin(2 * np.pi * np.arange(EVENTS) / 1500 + arm))
    assert near.size < 200
    assert support.timescale < 1000


def test_arms_that_are_rarely_logged_while_others_change_are_not_supported() -> None:
    arm = uniform_arms()
    rare = (arm == 3) & (np.random.default_rng(3).random(EVENTS) < 0.97)
    arm[rare] = 0
    _, support = support_of(arm, noise() + 0.3 * np.sin(2 * np.pi * np.arange(EVENTS) / 1500 + arm))
    assert not support.enough
    assert support.arm == 3
    assert support.share_needed > np.mean(arm == 3)


def test_rewards_are_drawn_close_to_the_step_if_the_variance_grows() -> None:
    arm = uniform_arms()
    spread = np.linspace(0.2, 3.0, EVENTS)
    near = find_neighborhoods(arm, 0.1 * arm + spread * noise(), ARMS)
    reward = (0.1 * arm + spread * noise())[near.order]
    assert near.size > 500 > np.median(near.draw_end - near.draw_first)
    for event in range(0, EVENTS, 501):
        assert near.first[event] <= near.draw_first[event] < near.draw_end[event] <= near.end[event]
        drawn = reward[near.draw_first[event] : near.draw_end[event]] + near.shifts(reward[None])[0, event]
        assert np.isclose(drawn.mean(), near.means(reward[None])[0, event])
        assert 0.5 < drawn.std() / (0.2 * spread[near.order[event]]) < 2.0


def test_binary_rewards_are_not_shifted() -> None:
    arm = uniform_arms()
    clicks = (np.random.default_rng(4).random(EVENTS) < 0.1 + 0.2 * arm).astype(np.float64)
    near = find_neighborhoods(arm, clicks, ARMS)
    assert not near.shifts(clicks[near.order][None]).any()


def test_an_arm_is_closed_in_long_gaps() -> None:
    arm = np.random.default_rng(1).integers(0, 4, 3000).astype(np.int32)
    arm[:1000][arm[:1000] == 2] = 0
    arm[2000:][arm[2000:] == 3] = 0
    open_at_start, switches = find_openings(arm, 5)
    assert open_at_start.tolist() == [1, 1, 0, 1, 0]
    assert [(k, opens) for _, k, opens in switches] == [(2, 1), (3, 0)]
    assert arm[switches[0][0]] == 2
    assert arm[switches[1][0] - 1] == 3


def test_an_arm_that_is_preferred_at_times_stays_open() -> None:
    rng = np.random.default_rng(1)
    preferred = (np.arange(EVENTS) // 1500) % ARMS
    arm = np.where(rng.random(EVENTS) < 0.8, preferred, rng.integers(0, ARMS, EVENTS)).astype(np.int32)
    assert find_openings(arm, ARMS)[1] == []


def test_an_arm_neglected_by_an_adaptive_policy_is_not_supported() -> None:
    rng = np.random.default_rng(1)
    preferred = (np.arange(EVENTS) // 1500) % ARMS
    arm = np.where(rng.random(EVENTS) < 0.8, preferred, rng.integers(0, ARMS, EVENTS)).astype(np.int32)
    arm[3000:][arm[3000:] == 0] = 1
    _, support = support_of(arm, noise())
    assert support.neglected == 0
    assert not support.enough
