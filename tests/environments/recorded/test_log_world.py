"""Replications on a log: reproducible, with resampled rewards and bootstrap blocks."""

import numpy as np

from ravenlab.common.errors import InputError
from ravenlab.environments.recorded.log_file import Log
from ravenlab.environments.recorded.log_world import MIN_REPLAYS, LogScenario, PreparedLog, source_log
from ravenlab.environments.streams import Stream
from tests.environments.recordings import draw_log
from tests.messages import raises_naming


def test_search_uses_the_segment_itself() -> None:
    scenario = LogScenario(draw_log(), "log:t")
    segment = scenario.segment(Stream.SEARCH)
    worlds = scenario.draw(10, 1, 0, 9, Stream.SEARCH)
    order = np.argsort(worlds.arm, kind="stable")
    np.testing.assert_array_equal(worlds.reward, scenario.log.reward[segment.first : segment.last][order][None])
    assert worlds.log.tolist() == [0] * 9
    assert len(set(worlds.key.tolist())) == 9


def test_resampled_rewards_come_from_the_neighborhood() -> None:
    scenario = LogScenario(draw_log(events=4000), "log:t")
    worlds = scenario.draw(10, 1, 0, 32, Stream.REPORT)
    original, *resampled = worlds.reward
    assert len(resampled) == 4
    for reward in resampled:
        assert np.mean(reward != original) > 0.5
        for event in range(0, original.size, 41):
            drawn = original[worlds.draw_first[event] : worlds.draw_end[event]] + worlds.shift[0, event]
            assert np.isclose(drawn, reward[event]).any()
    sizes = worlds.end - worlds.first
    for reward, mean in zip(worlds.reward, worlds.mean, strict=True):
        assert np.isclose(mean[7] * sizes[7], reward[worlds.first[7] : worlds.end[7]].sum())


def test_half_of_the_replications_uses_the_segment_itself() -> None:
    sources = [source_log(r) for r in range(MIN_REPLAYS)]
    assert sources.count(0) == MIN_REPLAYS // 2
    assert all(sources.count(log) == 4 for log in range(1, 17))


def test_replications_do_not_depend_on_how_they_are_split() -> None:
    scenario = LogScenario(draw_log(), "log:t")
    whole = scenario.draw(10, 3, 0, 40, Stream.REPORT)
    for first in (0, 20):
        part = scenario.draw(10, 3, first, 20, Stream.REPORT)
        np.testing.assert_array_equal(part.key, whole.key[first : first + 20])
        np.testing.assert_array_equal(part.reward[part.log], whole.reward[whole.log[first : first + 20]])
        np.testing.assert_array_equal(part.mean[part.log], whole.mean[whole.log[first : first + 20]])


def test_blocks_are_longer_for_autocorrelated_rewards() -> None:
    rng = np.random.default_rng(1)
    arm = rng.integers(0, 3, 3000).astype(np.int32)
    walk = np.convolve(rng.normal(size=3029), np.ones(30) / 5, "valid")
    independent = PreparedLog.of(arm, rng.normal(size=3000), 3)
    dependent = PreparedLog.of(arm, walk, 3)
    assert independent.block == 1 < dependent.block
    assert not np.array_equal(dependent.resample(1, 0, 1), dependent.reward)
    np.testing.assert_array_equal(dependent.resample(1, 0, 0), dependent.reward)


def test_costs_are_negated_and_propensities_ignored() -> None:
    log = draw_log(propensities=True)
    worlds = LogScenario(log, "log:t", minimize=True).draw(10, 1, 0, 1, Stream.SIMULATE)
    order = np.argsort(log.arm, kind="stable")
    np.testing.assert_array_equal(worlds.reward[0], -log.reward[order])
    without = Log.from_columns([log.names[k] for k in log.arm], log.reward)
    again = LogScenario(without, "log:t", minimize=True).draw(10, 1, 0, 1, Stream.SIMULATE)
    np.testing.assert_array_equal(worlds.mean, again.mean)


def test_a_log_that_is_too_short_is_rejected() -> None:
    scenario = LogScenario(draw_log(events=149), "log:t")
    with raises_naming(InputError, "3 arms", "150"):
        scenario.check(10, 3)
