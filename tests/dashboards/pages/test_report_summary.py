"""The summary: verdicts on baselines, and the numbers in the sentences."""

from __future__ import annotations

from dashboards.pages.report.summary import Sentence, judge_baseline, summarize, summarize_all
from studies.results.describe import WITHIN_NOISE
from studies.results.recommendation import Baseline, Estimate
from tests.studies.examples import make_recommendation


def fields(sentence: Sentence) -> dict[str, str]:
    """Return the displayed text of each number with a field name."""
    return {piece.field: piece.text for piece in sentence.pieces if piece.field}


def test_sentence_contains_all_numbers() -> None:
    recommendation = make_recommendation()
    shown = fields(summarize(recommendation, usual_arms=10))
    assert shown == {
        "horizon": "1,000",
        "params.alpha0": "0.25",
        "params.beta0": "4",
        "params.epsilon": "0.0001",
        "regret.mean": "41.5",
        "regret.low": "40.25",
        "regret.high": "42.75",
        "versus.paper.percent": "45 %",
    }
    text = str(summarize(recommendation))
    assert f"{WITHIN_NOISE} (−4.8 % to +2.4 %)" in text
    assert "ε is at the edge of the search range" in text


def test_baselines_are_judged_by_their_interval() -> None:
    recommendation = make_recommendation()
    paper, defaults = recommendation.versus
    better = defaults.model_copy(update={"high": -0.1})
    same = Baseline(name="paper", params=recommendation.params, regret=41.5, difference=0.0, low=0.0, high=0.0)
    verdicts = [judge_baseline(recommendation, rival) for rival in (paper, defaults, better, same)]
    assert verdicts == ["worse", "unclear", "better", "same"]
    assert fields(summarize(make_recommendation(versus=[better])))["versus.defaults.percent"] == "1.2 %"
    assert "identical to the paper's advice" in str(summarize(make_recommendation(versus=[same])))
    assert [line.split()[-1] for line in summarize_all([recommendation, recommendation])] == ["2.", "2.", "them."]


def test_without_regret_differences_are_absolute() -> None:
    paper = make_recommendation().versus[0]
    none = make_recommendation(regret=Estimate(mean=0.0, low=0.0, high=0.0, replications=5), versus=[paper])
    assert fields(summarize(none))["versus.paper.difference"] == "18.5"


def test_unusual_settings_are_named() -> None:
    recommendation = make_recommendation(objective="cvar:0.9", policy="sw-raven", settings={"every": "5%"}, arms=3)
    text = str(summarize(recommendation, usual_arms=10))
    assert "K = 3 (every = 5%), sw-raven" in text
    assert "cvar:0.9" in text
