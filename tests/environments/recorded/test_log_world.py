"""Resampled logs: local, reproducible, with closed arms in long gaps."""

from __future__ import annotations

import numpy as np

from environments.errors import InputError
from environments.recorded.log_world import (
    ORDERS_PER_LOG,
    SHIFT_DIVISOR,
    LogScenario,
    LogWorlds,
    choose_block_length,
    find_openings,
)
from environments.streams import Stream
from tests.environments.recordings import draw_log
from tests.messages import raises_naming


def event_order(worlds: LogWorlds, r: int) -> list[int]:
    """Return the indices of the segment's events in the order of resampled log r."""
    n, block = worlds.arm.size, worlds.block
    return [int(worlds.starts[r, i // block]) + i % block for i in range(n)]


def test_the_first_replication_is_the_segment_in_original_order() -> None:
    scenario = LogScenario(draw_log(), "log:t")
    for stream in (Stream.SEARCH, Stream.SELECTION, Stream.REPORT):
        segment = scenario.segment(stream)
        worlds = scenario.draw(10, 1, 0, 1, stream)
        assert event_order(worlds, 0) == list(range(segment.rows))
        np.testing.assert_array_equal(worlds.reward, scenario.log.reward[segment.first : segment.last])


def test_resampled_events_stay_close_to_their_position() -> None:
    scenario = LogScenario(draw_log(events=4000), "log:t")
    for stream in (Stream.SEARCH, Stream.REPORT):
        worlds = scenario.draw(10, 1, 1, 40, stream)
        n = worlds.arm.size
        for r in range(40):
            order = np.array(event_order(worlds, r))
            assert order.min() >= 0
            assert order.max() < n
            assert np.abs(order - np.arange(n)).max() <= 4.2 * n / SHIFT_DIVISOR + worlds.block


def test_permutations_of_the_log_contain_each_event_once() -> None:
    scenario = LogScenario(draw_log(events=2000), "log:t")
    worlds = scenario.draw(10, 1, 0, 2 * ORDERS_PER_LOG, Stream.REPORT)
    assert worlds.block == 1
    for r in range(ORDERS_PER_LOG):
        assert sorted(event_order(worlds, r)) == list(range(worlds.arm.size))
    resampled = [sorted(event_order(worlds, r)) for r in range(ORDERS_PER_LOG, 2 * ORDERS_PER_LOG)]
    assert all(order == resampled[0] for order in resampled)
    assert len(set(resampled[0])) < worlds.arm.size


def test_logs_do_not_depend_on_how_replications_are_split() -> None:
    scenario = LogScenario(draw_log(), "log:t")
    whole = scenario.draw(10, 3, 0, 40, Stream.REPORT).starts
    parts = [scenario.draw(10, 3, first, 20, Stream.REPORT).starts for first in (0, 20)]
    np.testing.assert_array_equal(whole, np.concatenate(parts))


def test_an_arm_is_closed_in_long_gaps() -> None:
    arm = np.random.default_rng(1).integers(0, 4, 3000).astype(np.int32)
    arm[:1000][arm[:1000] == 2] = 0
    arm[2000:][arm[2000:] == 3] = 0
    open_at_start, switches = find_openings(arm, 5)
    assert open_at_start.tolist() == [1, 1, 0, 1, 0]
    assert [(k, opens) for _, k, opens in switches] == [(2, 1), (3, 0)]
    assert arm[switches[0][0]] == 2
    assert arm[switches[1][0] - 1] == 3


def test_blocks_are_longer_for_autocorrelated_rewards() -> None:
    rng = np.random.default_rng(1)
    arm = rng.integers(0, 3, 3000).astype(np.int32)
    walk = np.convolve(rng.normal(size=3029), np.ones(30) / 5, "valid")
    assert choose_block_length(arm, rng.normal(size=3000), 3) < 10 < choose_block_length(arm, walk, 3)


def test_weights_are_clipped_and_costs_negated() -> None:
    log = draw_log(propensities=True)
    worlds = LogScenario(log, "log:t", minimize=True, clip=3.0).draw(10, 1, 0, 1, Stream.SIMULATE)
    assert log.propensity is not None
    np.testing.assert_array_equal(worlds.weight, np.minimum(1 / log.propensity, 3.0))
    np.testing.assert_array_equal(worlds.reward, -log.reward)


def test_too_short_log_is_rejected() -> None:
    scenario = LogScenario(draw_log(events=149), "log:t")
    with raises_naming(InputError, "3 arms", "150"):
        scenario.check(10, 3)
