"""Positions of marks in the overview of a report."""

from ravenlab.dashboards.pages.report.overview import Overview, make_overview
from ravenlab.dashboards.pages.report.summary import VerdictRow
from ravenlab.studies.results.recommendation import Baseline, Parameters, Recommendation
from tests.studies.examples import make_recommendation

DEFAULTS: Parameters = {"alpha0": 1.0, "beta0": 1.0, "epsilon": 0.1}
DIFFERENCE = {"difference": 1.0, "low": 0.0, "high": 2.0}
PAPER: Parameters = {"alpha0": 10.0, "beta0": 1.0}


def recommend(horizon: int, values: Parameters, scenario: str = "blips") -> Recommendation:
    others: list[tuple[str, Parameters]] = [("paper", PAPER), ("defaults", DEFAULTS)]
    versus = [
        Baseline.model_validate({"name": name, "params": params, "regret": 50.0, **DIFFERENCE})
        for name, params in others
    ]
    return make_recommendation(
        scenario=scenario, horizon=horizon, params=values, box={"alpha0": (0.1, 2.0)}, versus=versus
    )


def arrange(*recommendations: Recommendation) -> Overview:
    rows = [
        VerdictRow(each.study, "", f"{each.scenario}, T = {each.horizon:,}", "", "", "", "", [], {})
        for each in recommendations
    ]
    overview = make_overview(recommendations, rows)
    assert overview is not None
    return overview


def test_marks_are_on_one_logarithmic_axis_per_parameter() -> None:
    overview = arrange(
        recommend(500, {"alpha0": 1.0, "beta0": 2.0, "epsilon": 0.1}),
        recommend(5000, {"alpha0": 0.5, "beta0": 1.0, "epsilon": 0.1}),
        recommend(500, {"alpha0": 0.5, "beta0": 1.0, "epsilon": 0.1}, "periodic"),
    )
    assert [column.symbol for column in overview.columns] == ["α₀", "β₀", "ε"]
    assert (overview.columns[0].low, overview.columns[0].high) == (0.1, 10.0)
    assert {name: [study.label for study in studies] for name, studies in overview.groups.items()} == {
        "blips": ["T = 500", "T = 5,000"],
        "periodic": ["T = 500"],
    }
    first, second, third = overview.groups["blips"][0].marks
    assert first is not None
    assert second is not None
    assert third is not None
    assert (first.value, first.low, first.defaults) == (50.0, 6.0, None), "the defaults have the recommended value"
    assert first.paper == 94.0
    assert first.high > first.value
    assert second.defaults is not None
    assert second.paper is None, "the paper's advice is where the defaults are"
    assert third.value == 50.0, "all values are the same"
    assert [label for _, label in overview.columns[0].ticks] == ["0.1", "1", "10"]


def test_a_parameter_that_is_not_a_positive_number_has_no_column() -> None:
    overview = arrange(
        recommend(500, {"alpha0": 1.0, "beta0": "auto", "epsilon": 0.0}),
        recommend(1000, {"alpha0": 1.0, "beta0": 1.0, "epsilon": 0.1}),
    )
    assert [column.symbol for column in overview.columns] == ["α₀", "β₀"]
    assert overview.groups["blips"][0].marks[1] is None
