"""Descriptions of recommendations."""

from typing import Any

import pytest

from ravenlab.common.text import format_number
from ravenlab.studies.results.describe_recommendation import (
    describe_edges,
    describe_recommendation,
    describe_regret,
    describe_robust,
    describe_verdict,
    format_verdict,
    word_verdict,
)
from ravenlab.studies.results.describe_recorded import describe_needed_events
from ravenlab.studies.results.recommendation import Estimate, LogFacts, RequiredSample
from ravenlab.studies.results.verdict import Decision, Verdict
from ravenlab.studies.spec.parse import parse_study_spec
from ravenlab.studies.spec.space import Range
from ravenlab.studies.spec.study import StudySpec
from ravenlab.tuning.cli.options import parse_range
from ravenlab.tuning.validation.candidates import boundary_hits
from tests.dashboards.figures.test_worlds import make_robust
from tests.studies.examples import make_recommendation, make_trace_facts


def test_a_description_states_every_number() -> None:
    text = "\n".join(describe_recommendation(make_recommendation(importance={"beta0": 0.25, "alpha0": 0.75})))
    for numbers in (
        "α₀ 0.25, β₀ 4, ε 0.0001",  # parameters
        "41.5 (95 % CI 40.2 to 42.8) on 2,000 held-out worlds",
        "38.12 (objective mean)",  # search estimate
        "α₀ 0.25 to 0.5, β₀ 3 to 4",  # indistinguishable candidates
        "18.5 higher (+45 %; 95 % CI of the difference 16.0 to 21.0)",  # paper's advice
        "0.5 lower",  # defaults
        "α₀ 75 %, β₀ 25 %",  # importance
        "range epsilon=1e-06:0.5",  # edge of the range
        "mean 0.5 and spread 0.3",  # reward scale
    ):
        assert numbers in text
    assert text.count("; inconclusive") == 1


def test_only_a_biased_search_estimate_is_called_biased() -> None:
    biased = [make_recommendation(), make_recommendation(search_estimate=40.25), make_recommendation(objective="p90")]
    assert ["biased" in describe_regret(found)[0] for found in biased] == [True, False, False]


def test_absent_parts_are_not_described() -> None:
    lines = describe_recommendation(make_recommendation(versus=[], edge=[], indistinguishable=[], box={}))
    assert len(lines) == 4


def test_suggested_range_of_a_rate_is_valid_and_wider() -> None:
    """The suggestion, passed as `--range`, extends the searched range."""
    spec = StudySpec(policy="d-raven", scenario="blips", horizon=1000)
    (line,) = describe_edges(
        "d-raven", boundary_hits(spec, {"alpha0": 1.0, "beta0": 1.0, "epsilon": 0.1, "gamma": 0.7})
    )
    hint = line.split("the range ")[1].removesuffix(".")
    widened = parse_range(hint)
    space = {widened.name: widened.value}
    wider = parse_study_spec({"policy": "d-raven", "scenario": "blips", "space": space}).space["gamma"]
    assert (wider.low, round(wider.high, 9), wider.scale) == (1e-5, 0.9, "one-minus")


def test_linearly_searched_rate_gets_a_linear_range() -> None:
    plain = Range(low=0.2, high=0.3, scale="linear")
    spec = StudySpec(policy="d-raven", scenario="blips", horizon=1000, space={"gamma": plain})
    (line,) = describe_edges(
        "d-raven", boundary_hits(spec, {"alpha0": 1.0, "beta0": 1.0, "epsilon": 0.1, "gamma": 0.3})
    )
    assert "the range gamma=0.2:0.4." in line


def make_log_facts(**changes: Any) -> LogFacts:
    score = Estimate(mean=0.5, low=0.4, high=0.6, replications=300)
    fields: dict[str, Any] = {
        "file": "log.csv",
        "digest": "0" * 64,
        "events": 1000,
        "arms": {"a": 500, "b": 500},
        "minimize": False,
        "segments": {"search": (1, 500), "selection": (501, 700), "report": (701, 1000)},
        "estimator": "nearby events",
        "block": 1,
        "matched": 150,
        "effective": 200.0,
        "enough": True,
        "inconclusive": None,
        "score": score,
        "logged": score,
        "versus_logged": None,
        "versus_defaults": None,
        "scale": 1.0,
    }
    return LogFacts(**{**fields, **changes})


def test_a_log_that_nobody_can_collect_is_no_advice() -> None:
    sizes = [99_000.0, 101_000.0, None]
    needed = [RequiredSample(effective=None if size is None else 0.3 * size, events=size) for size in sizes]
    logs = [make_log_facts(versus_logged=each) for each in needed]
    texts = [describe_needed_events(make_recommendation(log=log), log)[0] for log in logs]
    assert "from the logging policy: about 30,000 effective events, that is a log of about 99,000 events" in texts[0]
    assert "more than 100 logs of this size; the difference is too small to matter or to be measured" in texts[1]
    assert "no log is large enough" in texts[2]


def test_defaults_in_another_scale_are_called_scaled() -> None:
    needed = RequiredSample(effective=300.0, events=1000.0)
    log = make_log_facts(versus_defaults=needed, scale=0.5)
    (plain,) = describe_needed_events(make_recommendation(log=log, unit=1.0), log)  # of a policy that is not scaled
    (scaled,) = describe_needed_events(make_recommendation(log=log, unit=0.5), log)
    assert "from the defaults: " in plain
    assert "from the scaled defaults: " in scaled
    # Earlier versions stored the scale of recorded data only, and their defaults were scaled there.
    for changes in ({"unit": 8.0}, {"trace": make_trace_facts(["a", "b"])}):
        assert "The scaled defaults (α₀ 1): " in "\n".join(describe_recommendation(make_recommendation(**changes)))


def test_the_scale_is_stated_once_unless_it_is_the_usual_one() -> None:
    robust = make_robust(["blips", "periodic"])
    for plain, scaled in (
        *(
            (
                describe_recommendation(make_recommendation(unit=1.0, **data)),
                describe_recommendation(make_recommendation(unit=8.0, **data)),
            )
            for data in ({}, {"trace": make_trace_facts(["a"])}, {"log": make_log_facts()})
        ),
        (describe_robust(robust), describe_robust(robust.model_copy(update={"unit": 8.0}))),
    ):
        assert "scale" not in "\n".join(plain)
        assert sum("The scale of the rewards is 8 times that of" in line for line in scaled) == 1
    assert "Price of the scaled defaults" in "\n".join(describe_robust(robust.model_copy(update={"unit": 8.0})))


def test_widened_ranges_of_a_robust_search_are_described_and_exported() -> None:
    robust = make_robust(["blips", "periodic"])
    assert "widened" not in robust.as_object()
    widened = robust.model_copy(update={"widened": {"alpha0": (0.01, 100.0)}})
    assert widened.as_object()["widened"] == {"alpha0": [0.01, 100.0]}
    assert "Search ranges were widened" in "\n".join(describe_robust(widened))


@pytest.mark.parametrize(
    ("decision", "headline", "text"),
    [
        ("use one arm", "Always use 'b'", "Always use 'b': it has less regret than the best parameters found (α₀ 2)."),
        (
            "keep the logging policy",
            "Keep the logging policy",
            "Keep the logging policy: the best parameters found (α₀ 2) are worse.",
        ),
        (
            "use another policy",
            "Use raven-auto",
            "Use raven-auto, which has nothing to set: on the same held-out data it is better than raven-ucb with the"
            " best parameters found (α₀ 2).",
        ),
    ],
)
def test_verdicts_that_advise_against_the_policy(decision: Decision, headline: str, text: str) -> None:
    verdict = Verdict(decision=decision, set=["alpha0"], arm="b" if decision == "use one arm" else None)
    verdict = verdict.model_copy(update={"policy": "raven-auto"} if decision == "use another policy" else {})
    recommendation = make_recommendation(verdict=verdict, params={"alpha0": 2.0}, edge=[])
    assert describe_verdict(recommendation) == text
    assert word_verdict(recommendation).short == headline == format_verdict(recommendation)


DECISIONS: list[Decision] = [
    "keep the defaults",
    "set one parameter",
    "use these values",
    "use one arm",
    "keep the logging policy",
    "use another policy",
    "inconclusive",
]


@pytest.mark.parametrize("decision", DECISIONS)
def test_every_summary_states_the_edge_after_complete_sentences(decision: Decision) -> None:
    verdict = Verdict(decision=decision, set=["alpha0"], arm="b", reason="9 worlds are too few")
    recommendation = make_recommendation(verdict=verdict)
    words = word_verdict(recommendation)
    assert words.rest.endswith(". The value of ε is at the edge of the search range; better values may lie outside it.")
    assert words.headline + words.rest == describe_verdict(recommendation)
    assert format_verdict(recommendation) == f"{words.short}; at the edge of the search range: ε"


def test_numbers_stay_short() -> None:
    assert [format_number(value) for value in (123456.7, 0.5, 12.3456, "min")] == ["123,457", "0.5", "12.35", "min"]


def test_rates_near_one_are_not_rounded_to_one() -> None:
    """γ is searched up to 0.99999, which must not be displayed as 1."""
    near = (0.9998, 0.99998, 0.999984, 0.99999, 1 - 9.99e-6, 0.999999, 1 - 1e-12, 1.0, 1.00002)
    expected = ["0.9998", "0.99998", "0.99998", "0.99999", "0.99999", "0.999999", "1", "1", "1"]
    assert [format_number(value) for value in near] == expected
