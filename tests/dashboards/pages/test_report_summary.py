"""The first screen: verdicts, intervals of recommendations and baselines, and counts."""

from __future__ import annotations

import pytest

from ravenlab.common.interval import Difference
from ravenlab.dashboards.pages.html import Slugs
from ravenlab.dashboards.pages.report.data import ReportData, StudyData, Trials
from ravenlab.dashboards.pages.report.scenarios import define_trace
from ravenlab.dashboards.pages.report.studies import make_robust_sections
from ravenlab.dashboards.pages.report.summary import (
    Axis,
    VerdictRow,
    choose_axis,
    make_lanes,
    make_robust_row,
    make_verdict_row,
    summarize_all,
)
from ravenlab.studies.results.alternatives import BetterPolicy
from ravenlab.studies.results.describe import describe_better_policy, describe_verdict
from ravenlab.studies.results.recommendation import Baseline, Estimate, Recommendation
from ravenlab.studies.results.verdict import Verdict
from ravenlab.studies.spec.study import StudySpec
from tests.dashboards.figures.test_worlds import make_robust
from tests.studies.examples import make_recommendation, make_trace_facts

DEFAULTS = {"alpha0": 1.0, "beta0": 1.0, "epsilon": 0.1}


def make_row(recommendation: Recommendation | None, better: BetterPolicy | None = None) -> VerdictRow:
    """Make the row of a study with this recommendation."""
    spec = StudySpec(scenario="variance-drift", horizon=1000)
    study = StudyData("name", spec, recommendation, Trials(0, 0, 0, None), better=better)
    return make_verdict_row(study, "title", "link", {})


def test_the_row_has_the_text_of_the_verdict() -> None:
    for verdict, decision in (
        (Verdict(decision="keep the defaults", set=[]), "Keep the defaults"),
        (Verdict(decision="set one parameter", set=["alpha0"]), "Set only α₀ 1"),
        (Verdict(decision="use these values", set=["alpha0"]), "Use α₀ 1, β₀ 1, ε 0.1"),
        (Verdict(decision="inconclusive", set=[], reason="9 worlds are too few"), "Inconclusive"),
    ):
        recommendation = make_recommendation(verdict=verdict, params=DEFAULTS)
        row = make_row(recommendation)
        assert row.decision == decision
        assert row.decision + row.rest == describe_verdict(recommendation)
        assert row.kind == verdict.decision.replace(" ", "-")


def test_facts_and_warnings() -> None:
    row = make_row(make_recommendation(attainable=830.0, objective="cvar:0.9"))
    assert row.facts == "Mean regret 41.5 (95 % CI 40.25 to 42.75), 5.0 % of the attainable reward."
    assert "ε is at the edge" in row.rest
    assert ["cvar:0.9" in warning for warning in row.warnings] == [True]
    assert row.better_policy is None
    better = BetterPolicy("ucb1", {"c": 0.5}, 30.0, Difference(10.0, 9.0, 11.0), 0.25, 1e-9, "raven-ucb", "mine")
    assert make_row(make_recommendation(), better).better_policy == describe_better_policy(better)
    trace = make_row(make_recommendation(trace=make_trace_facts(["a", "b"])))
    regret, scale = trace.facts.split(". ")
    assert regret == "Mean regret 41.5 (95 % CI 40.25 to 42.75) per window of 1,000 steps"
    assert scale.startswith("The scale of the rewards is 2 times")
    missing = make_row(None)
    assert (missing.kind, missing.lanes) == ("no-result", [])
    assert "No trial has finished yet" in missing.facts


def test_lanes_show_regret_relative_to_the_recommendation() -> None:
    recommended, paper, defaults = make_lanes(make_recommendation())
    assert recommended.ratios is not None
    assert paper.ratios is not None
    assert [*recommended.ratios] == pytest.approx([1.0, 40.25 / 41.5, 42.75 / 41.5])
    assert (recommended.text, paper.text, defaults.text) == ("41.5", "+45 %", "≈ −1.2 %")
    assert [*paper.ratios] == pytest.approx([60.0 / 41.5, 57.5 / 41.5, 62.5 / 41.5])
    assert paper.detail == "+45 % (+39 % to +51 %)"
    assert defaults.detail.endswith(", inconclusive")
    same = Baseline(name="paper", params={"alpha0": 0.25}, regret=41.5, difference=0.0, low=0.0, high=0.0)
    assert make_lanes(make_recommendation(versus=[same]))[1].text == "identical"


def test_scaled_defaults_are_called_so() -> None:
    scaled = make_recommendation(unit=8.0)
    assert [lane.name for lane in make_lanes(scaled)] == ["Recommended", "Paper's advice", "Scaled defaults"]
    assert "compared with the scaled defaults in 1 study" in " ".join(summarize_all([scaled]))
    both = " ".join(summarize_all([scaled, make_recommendation()]))
    assert "compared with the defaults or scaled defaults in 2 studies" in both
    robust = make_robust(["blips", "periodic"]).model_copy(update={"unit": 8.0})
    assert "The scale of the rewards is 8 times" in make_robust_row(robust, "title", "link", {}).facts
    section = make_robust_sections(ReportData("here", [], robust=[robust]), Slugs())[0]
    assert section.table is not None
    assert "scaled defaults" in section.table.frame["setting"].tolist()


def test_the_best_fixed_arm_of_each_window_is_known_in_hindsight_only() -> None:
    facts = make_trace_facts(["a", "b"])
    text = " ".join(define_trace(make_recommendation(trace=facts), facts).formulas)
    assert "the best fixed arm of each window, in hindsight: " in text


def test_without_positive_regret_differences_are_absolute() -> None:
    paper = make_recommendation().versus[0]
    none = make_recommendation(regret=Estimate(mean=0.0, low=0.0, high=0.0, replications=5), versus=[paper])
    lanes = make_lanes(none)
    assert [lane.ratios for lane in lanes] == [None, None]
    assert lanes[1].text == "+18.5"
    assert choose_axis([make_row(none)]) is None


def test_the_axis_contains_all_intervals() -> None:
    axis = choose_axis([make_row(make_recommendation())])
    assert axis is not None
    assert axis.low <= 0.95
    assert axis.high >= 62.5 / 41.5
    positions = [position for position, _ in axis.ticks]
    assert positions == sorted(positions)
    assert (axis.position(1.0), "0") in axis.ticks
    assert Axis(0.5, 4.0).position(0.0) == 0.0


def test_baselines_are_counted_by_their_relation() -> None:
    recommendation = make_recommendation()
    lines = summarize_all([recommendation, recommendation])
    assert [line.split()[-1] for line in lines] == ["2.", "2.", "them."]
    assert "the paper's advice in 2 studies: lower regret in 2." in lines[0]
    assert "the defaults in 2 studies: inconclusive in 2." in lines[1]
