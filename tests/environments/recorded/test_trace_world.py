from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from environments.errors import InputError
from environments.recorded.recording import SEGMENT_SHARES, recording_name
from environments.recorded.trace_file import Trace
from environments.recorded.trace_world import SMOOTHING_WINDOW, TraceScenario, smooth
from environments.streams import Stream
from tests.environments.properties import quick
from tests.environments.recordings import table, trace
from tests.messages import raises_naming


@quick
@given(rows=st.integers(1, 60), arms=st.integers(1, 4), seed=st.integers(0, 99), holes=st.floats(0, 0.9))
def test_smoothing_is_the_mean_of_nearby_cells(rows: int, arms: int, seed: int, holes: float) -> None:
    rng = np.random.default_rng(seed)
    values = np.where(rng.random((rows, arms)) < holes, np.nan, rng.normal(size=(rows, arms)))
    half = SMOOTHING_WINDOW // 2
    for i in range(rows):
        for k in range(arms):
            near = values[max(0, i - half) : i + half + 1, k]
            expected = np.nan if np.isnan(values[i, k]) else near[~np.isnan(near)].mean()
            np.testing.assert_allclose(smooth(values)[i, k], expected, rtol=1e-12)


@quick
@given(rows=st.integers(10, 1000))
def test_segments_are_adjacent_and_cover_all_rows(rows: int) -> None:
    scenario = TraceScenario(trace(rows=rows), "trace:t")
    segments = [scenario.segment(stream) for stream in SEGMENT_SHARES]
    assert [segment.first for segment in segments] == [0, *(segment.last for segment in segments[:-1])]
    assert segments[-1].last == rows
    assert scenario.horizon <= min(segment.rows for segment in segments)


def test_windows_stay_in_their_segment_and_can_be_drawn_separately() -> None:
    scenario = TraceScenario(trace(rows=300), "trace:t")
    for stream in SEGMENT_SHARES:
        segment = scenario.segment(stream)
        offsets = scenario.draw(30, 7, 0, 200, stream).offsets
        assert segment.first <= offsets.min()
        assert offsets.max() + 30 <= segment.last
        assert len(set(offsets.tolist())) > 10
        np.testing.assert_array_equal(offsets[50:80], scenario.draw(30, 7, 50, 30, stream).offsets)


def test_later_segments_do_not_leak_into_the_search_segment() -> None:
    values = table(rows=300, missing=0.1)
    later = values.copy()
    later[150:] += 1.0
    first, second = (TraceScenario(Trace.from_values(list("abcd"), t), "trace:t") for t in (values, later))
    one, two = (scenario.draw(20, 1, 0, 5, Stream.SEARCH) for scenario in (first, second))
    np.testing.assert_array_equal(one.smoothed[:150], two.smoothed[:150])
    assert first.scale == second.scale


def test_costs_are_negated_rewards() -> None:
    values = table(rows=200)
    cost = TraceScenario(Trace.from_values(list("abcd"), values), "trace:t", minimize=True).draw(
        20, 1, 0, 1, Stream.SEARCH
    )
    reward = TraceScenario(Trace.from_values(list("abcd"), -values), "trace:t").draw(20, 1, 0, 1, Stream.SEARCH)
    np.testing.assert_array_equal(cost.values, reward.values)
    np.testing.assert_array_equal(cost.best, reward.best)


def test_best_fixed_arm_gets_the_mean_of_open_arms_while_closed() -> None:
    scenario = TraceScenario(trace(rows=120, missing=0.3), "trace:t")
    worlds = scenario.draw(20, 3, 0, 10, Stream.REPORT)
    for r, first in enumerate(worlds.offsets):
        part = worlds.smoothed[first : first + 20]
        sums = []
        for k in range(4):
            sums.append(sum(np.nanmean(row) if np.isnan(row[k]) else row[k] for row in part))
        np.testing.assert_allclose(scenario.best_fixed_arm(worlds)[1][r], max(sums), rtol=1e-10)


def test_windows_that_do_not_fit_are_rejected() -> None:
    scenario = TraceScenario(trace(rows=100), "trace:t")
    for horizon, names in (
        (21, [20, 100, 21]),
        (3, ["arms", 3]),
        (0, ["window"]),
    ):
        with raises_naming(InputError, *names):
            scenario.check(horizon, 4)
    with raises_naming(InputError, "arms", "4"):
        scenario.check(10, 5)
    with raises_naming(InputError, "'every'"):
        scenario.with_settings({"every": 5})


def test_the_scale_is_robust_against_outliers() -> None:
    values = table(rows=400)
    plain = TraceScenario(trace(rows=400), "trace:t").scale
    scaled = TraceScenario(Trace.from_values(list("abcd"), 50 * values), "trace:t").scale
    np.testing.assert_allclose(
        [scaled.low, scaled.high, scaled.factor], 50 * np.array([*vars(plain).values()]), rtol=1e-9
    )
    values[::50, 0] = 1e6
    assert TraceScenario(Trace.from_values(list("abcd"), values), "trace:t").scale.factor < 2 * plain.factor
    constant = Trace.from_values(list("ab"), np.ones((100, 2)))
    with pytest.raises(InputError, match="equal"):
        _ = TraceScenario(constant, "trace:t").scale


def test_names_contain_no_special_characters() -> None:
    assert recording_name("trace", "../../etc/pass wd<script>.csv") == "trace:pass-wd-script"
    assert recording_name("trace", "...csv") == "trace:unnamed"
    assert len(recording_name("trace", "x" * 500 + ".csv")) < 80
