"""Studies on recorded data in the report: lines in the units of the file, gains instead of regrets, file names."""

from pathlib import Path

import pytest

from ravenlab.common.interval import Interval
from ravenlab.dashboards.pages.report.data import StudyData, Trials
from ravenlab.dashboards.pages.report.lanes import ValueAxis, describe_recorded, make_recorded_lanes
from ravenlab.dashboards.pages.report.summary import choose_axis, make_verdict_row
from ravenlab.dashboards.pages.report.table import make_recommendation_tables
from ravenlab.studies.results.recommendation import Alternative, Baseline, Estimate, Recommendation
from ravenlab.studies.spec.study import StudySpec
from ravenlab.tuning.api import report, tune
from tests.dashboards.outline import Outline
from tests.environments.recordings import table, write_csv
from tests.studies.examples import make_recommendation, make_trace_facts
from tests.studies.results.test_describe_recommendation import make_log_facts


def recommend_for_log(minimize: bool = False, gain: float = 0.05) -> Recommendation:
    """Make a recommendation for a log with mean 0.5 of the logging policy; the defaults lose 0.02 per step."""
    sign = -1.0 if minimize else 1.0
    score = Estimate(mean=0.5 + sign * gain, low=0.4, high=0.7, replications=100)
    logged = Estimate(mean=0.5, low=0.45, high=0.55, replications=100)
    return make_recommendation(
        log=make_log_facts(minimize=minimize, score=score, logged=logged),
        regret=Estimate(mean=-gain, low=-gain - 0.02, high=0.02 - gain, replications=100),
        versus=[Baseline(name="defaults", params={"alpha0": 1.0}, regret=0.0, difference=0.02, low=0.01, high=0.03)],
        alternatives=[
            Alternative(name="logging policy", difference=gain, low=gain - 0.03, high=gain + 0.03, decidable=True),
            Alternative(name="raven-auto", difference=0.0, low=-0.1, high=0.1, decidable=False),
        ],
    )


@pytest.mark.parametrize(
    ("minimize", "gain", "sentence"),
    [
        (False, 0.05, "0.050 more reward per step"),
        (False, -0.05, "0.050 less reward per step"),
        (True, 0.05, "0.050 less cost per step"),
        (True, -0.05, "0.050 more cost per step"),
    ],
)
def test_a_log_has_a_gain_with_unit_interval_and_percentage(minimize: bool, gain: float, sentence: str) -> None:
    interval = "than the logging policy (simultaneous 95 % CI 0.020 to 0.080; 10 %)."
    assert describe_recorded(recommend_for_log(minimize, gain))[0] == f"{sentence} {interval}"


def test_lines_of_a_log_are_gains_over_the_logging_policy() -> None:
    lanes, axis = make_recorded_lanes(recommend_for_log())
    recommended, defaults = lanes
    assert recommended.values is not None
    assert defaults.values is not None
    assert [*recommended.values] == pytest.approx([0.05, 0.02, 0.08])
    assert [*defaults.values] == pytest.approx([0.03, 0.02, 0.04])
    assert (recommended.text, defaults.text) == ("+10 %", "+6.0 %")
    assert axis.title == "reward gained per step over the logging policy"
    assert axis.low < 0.0 < 0.08 < axis.high
    assert (axis.position(0.0), "0") in axis.ticks


def test_lines_of_a_trace_are_regrets_per_window() -> None:
    recommendation = make_recommendation(trace=make_trace_facts(["a", "b"]))
    lanes, axis = make_recorded_lanes(recommendation)
    assert [lane.text for lane in lanes] == ["41.5", "60.0", "≈ 41.0"]
    assert axis.title == "regret per window of 1,000 steps"
    (facts,) = describe_recorded(recommendation)
    assert facts == "Mean regret 41.5 (95 % CI 40.2 to 42.8) per window of 1,000 steps."
    better = make_recommendation(
        trace=make_trace_facts(["a"]), regret=Estimate(mean=-2.0, low=-3.0, high=-1.0, replications=9)
    )
    (facts,) = describe_recorded(better)
    assert facts == "Gain over the best arm of nearby rows 2.0 (95 % CI 1.0 to 3.0) per window of 1,000 steps."


def test_recorded_data_do_not_share_the_axis_of_simulated_studies() -> None:
    spec = StudySpec(scenario="variance-drift", horizon=1000)
    rows = [
        make_verdict_row(StudyData(each.study, spec, each, Trials(0, 0, 0, None)), "title", "link", {})
        for each in (recommend_for_log(), make_recommendation(trace=make_trace_facts(["a"])))
    ]
    assert choose_axis(rows) is None
    assert [row.axis is None for row in rows] == [False, False]
    assert rows[0].result.startswith("0.050 more reward")


def test_totals_values_per_window_and_per_step_have_tables_of_their_own() -> None:
    trace = make_recommendation(trace=make_trace_facts(["a"]))
    found = [recommend_for_log(), make_recommendation(), trace]
    simulated, windows, steps = make_recommendation_tables(found, ["a", "b", "c"], ["log.csv", "blips", "trace.csv"])
    assert [len(each.rows) for each in (simulated, windows, steps)] == [1, 1, 1]
    titles = [[title for title, _ in each.columns] for each in (simulated, windows, steps)]
    assert [each[1] for each in titles] == ["T", "Window", "Events"]
    assert "Regret (95 %)" in titles[0]
    assert "Regret per window (95 %)" in titles[1]
    assert "Gain per step (95 %)" in titles[2]
    cell = next(cell for cell in steps.rows[0].cells if cell.field == "gain")
    assert (cell.text, cell.detail) == ("+0.050", "(+0.020 to +0.080; +10 %)")
    assert steps.rows[0].cells[-1].text == "−0.02", "the defaults have less reward"
    assert "Paper's advice" not in titles[2], "no log has it"


def test_ticks_are_round_and_within_the_axis() -> None:
    for low, high in ((-3.0, 0.5), (0.0, 1e-6), (-1234.0, 98765.0)):
        axis = ValueAxis("", low, high)
        assert 2 <= len(axis.ticks) <= 6
        assert all(0.0 <= position <= 100.0 for position, _ in axis.ticks)
    assert Interval(0.0, 0.0, 0.0).is_zero


def test_files_are_named_as_they_are(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "Delays (2016).csv", table(rows=200, arms=3))
    storage = f"sqlite:///{tmp_path}/s.sqlite3"
    tune(
        None,
        20,
        trace=str(path),
        storage=storage,
        jobs=1,
        progress=False,
        trials=3,
        replications=4,
        selection=8,
        report=8,
    )
    page = Outline(report(output=tmp_path / "report.html", storage=storage).read_text(encoding="utf-8"))
    assert "Parameters of raven-ucb in Delays (2016).csv" in page.words
    assert "Delays (2016).csv, window 20" in page.words
    assert "trace:Delays" not in page.words.replace("raven-ucb/trace:Delays", "")
