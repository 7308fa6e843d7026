import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ravenlab.common.errors import InputError
from ravenlab.environments.recorded.recording import SEGMENT_SHARES, recording_name
from ravenlab.environments.recorded.trace_file import Trace
from ravenlab.environments.recorded.trace_world import MAX_HISTORY, NearbyMeans, TraceScenario, choose_nearby_rows
from ravenlab.environments.streams import Stream
from ravenlab.policies.engine.simulation import simulate
from tests.environments.properties import quick
from tests.environments.recordings import table, trace
from tests.messages import raises_naming


@quick
@given(
    rows=st.integers(1, 60),
    reach=st.integers(1, 70),
    gap=st.integers(0, 3),
    seed=st.integers(0, 99),
    holes=st.floats(0, 0.9),
)
def test_nearby_means_use_the_other_fold(rows: int, reach: int, gap: int, seed: int, holes: float) -> None:
    rng = np.random.default_rng(seed)
    values = np.where(rng.random((rows, 2)) < holes, np.nan, 5.0 + rng.normal(size=(rows, 2)))
    means = NearbyMeans(values, gap).at(np.arange(rows), reach)
    for i in range(rows):
        distance = np.abs(np.arange(rows) - i)
        other = np.arange(rows) // (gap + 1) % 2 != i // (gap + 1) % 2
        near = values[other & (distance > gap) & (distance <= gap + reach)]
        for k in range(2):
            cells = near[~np.isnan(near[:, k]), k]
            np.testing.assert_allclose(means[i, k], cells.mean() if cells.size else np.nan, rtol=1e-9)


def test_nearby_rows_are_wide_for_constant_means_and_narrow_for_fast_changes() -> None:
    rng = np.random.default_rng(1)
    noise = rng.normal(size=(1000, 3))
    assert choose_nearby_rows(noise).reach >= 384
    steps = np.repeat(rng.normal(size=(50, 3)), 20, axis=0)
    assert choose_nearby_rows(steps + 0.1 * noise).reach == 6


def test_correlated_noise_is_left_out_of_the_nearby_rows() -> None:
    noise = np.random.default_rng(1).normal(size=(1002, 3))
    assert choose_nearby_rows(noise[2:] + noise[1:-1] + noise[:-2]).gap == 2


def test_regret_of_identical_arms_is_zero_in_expectation() -> None:
    """Rewards of five identical arms: the former regret, a maximum of centered means, was 0.03 to 0.05 per step."""
    rng = np.random.default_rng(3)
    regrets, fixed = [], []
    for _ in range(60):
        values = 0.5 + 0.1 * rng.normal(size=(400, 5))
        result = simulate("ucb1", trace=Trace.from_values(list("abcde"), values), horizon=60, replications=20, seed=1)
        assert result.regret_fixed is not None
        regrets.append(result.regret.mean() / 60)
        fixed.append(result.regret_fixed.mean() / 60)
    for sample in (regrets, fixed):
        assert abs(np.mean(sample)) < 3 * np.std(sample) / np.sqrt(len(sample))
        assert np.std(sample) / np.sqrt(len(sample)) < 0.002


def test_regret_is_unbiased_for_the_means_of_the_chosen_arms() -> None:
    """On traces with known means, regret estimates the mean of the benchmark arm minus that of the pulled arm."""
    rng = np.random.default_rng(4)
    errors, deficits = [], []
    for _ in range(40):
        means = np.repeat(rng.random((4, 5)), 200, axis=0)
        made = Trace.from_values(list("abcde"), means + 0.5 * rng.normal(size=means.shape))
        scenario = TraceScenario(made, "trace:t")
        worlds = scenario.draw(100, 1, 0, 20, Stream.SIMULATE)
        result = simulate("raven-ucb", scenario, horizon=100, replications=20, seed=1, pulls=True)
        assert result.pulls is not None
        rows = worlds.offsets[:, None] + np.arange(100)
        benchmark = means[rows, worlds.best_arm[rows]]
        errors.append(float((result.regret - (benchmark - means[rows, result.pulls]).sum(axis=1)).mean()) / 100)
        deficits.append(float((means[rows].max(axis=2) - benchmark).mean()))
    assert abs(np.mean(errors)) < 3 * np.std(errors) / np.sqrt(len(errors))
    assert np.mean(deficits) < 0.04


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
    np.testing.assert_array_equal(first.means[:150], second.means[:150])
    np.testing.assert_array_equal(one.best[:150], two.best[:150])
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
    values = scenario.rewards
    filled = np.where(np.isnan(values), np.nanmean(values, axis=1)[:, None], values)
    played = scenario.play_fixed_arm(worlds)
    for r, first in enumerate(worlds.offsets):
        rows = np.arange(first, first + 20)
        fold = rows // (scenario.nearby.gap + 1) % 2
        reward = sum(filled[rows[fold == k], filled[rows[fold != k]].sum(axis=0).argmax()].sum() for k in (0, 1))
        np.testing.assert_allclose(played.reward[r], reward, rtol=1e-10)
    total = worlds.best[worlds.offsets[:, None] + np.arange(20)].sum() - played.reward.sum()
    np.testing.assert_allclose([played.regret_by_row.sum(), played.regret_by_step.sum()], total, atol=1e-9)


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


@pytest.mark.parametrize(("stream", "last"), [(Stream.SELECTION, 280), (Stream.REPORT, 400)])
def test_history_has_windows_in_all_rows_up_to_the_end_of_the_segment(stream: Stream, last: int) -> None:
    scenario = TraceScenario(trace(rows=400), "trace:t")
    worlds = scenario.draw_history(20, 30, stream)
    assert (worlds.offsets[0], worlds.offsets[-1]) == (0, last - 20)
    assert np.ptp(np.diff(worlds.offsets)) <= 1
    density = 30 / (scenario.segment(stream).rows - 19)
    np.testing.assert_allclose(worlds.offsets.size, min(density * (last - 19), MAX_HISTORY * 30), rtol=0.01)
