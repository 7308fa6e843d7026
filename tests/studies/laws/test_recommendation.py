"""Recommended parameters: a stored study of the same problem, or the law if it has less regret."""

from dataclasses import replace

import pytest

from ravenlab.common.errors import InputError
from ravenlab.studies.export import FORMATS, export
from ravenlab.studies.laws.recommendation import RecommendationQuery, recommend_parameters
from ravenlab.studies.results.expected import ExpectedParameters
from ravenlab.studies.results.recommendation import Estimate
from tests.messages import raises_naming
from tests.studies.examples import make_recommendation

LOW_REGRET = Estimate(mean=15.5, low=15.25, high=15.75, replications=2000)  # the law expects 17
STORED = make_recommendation(  # variance-drift, T 1,000, K 10
    params={"alpha0": 7.0, "beta0": 2.0, "epsilon": 0.1}, regret=LOW_REGRET
)


def query(**changes: object) -> RecommendationQuery:
    return RecommendationQuery(**{"scenario": "variance-drift", "horizon": 1000, **changes})  # type: ignore[arg-type]


def test_a_stored_study_of_the_problem_is_used() -> None:
    result = recommend_parameters(query(), [STORED])
    assert (result.kind, result.params, result.study) == ("stored", STORED.params, STORED)
    assert result.regret == LOW_REGRET
    assert "expects more regret" in result.reason


@pytest.mark.parametrize(
    "changes", [{"horizon": 2000}, {"arms": 5}, {"settings": {"growth": 0.5}}, {"policy": "d-raven"}]
)
def test_studies_of_other_problems_are_not_used(changes: dict[str, object]) -> None:
    result = recommend_parameters(query(**changes), [STORED, make_recommendation(objective="p95")])
    assert (result.kind, result.study) == ("interpolated", None)


def test_settings_are_compared_by_meaning() -> None:
    regret = Estimate(mean=1.0, low=0.9, high=1.1, replications=2000)
    stored = [make_recommendation(settings={"growth": 0.5}, regret=regret)]
    assert recommend_parameters(query(settings={"growth": 0.5, "over": "100%"}), stored).kind == "stored"


def test_several_stored_studies_are_compared_on_the_same_worlds() -> None:
    """The study whose own report worlds were kind is not preferred: its parameters explore far too much."""
    lucky = make_recommendation(
        study="a",
        params={"alpha0": 10.0, "beta0": 5.0, "epsilon": 0.1},
        regret=replace(LOW_REGRET, high=15.6),
    )
    result = recommend_parameters(query(), [lucky, STORED])
    assert result.study == STORED
    assert result.reason.startswith("Of 2 stored studies it has the lowest regret on the same 2,000 worlds.")
    assert recommend_parameters(query(), [lucky]).study == lucky


def test_a_law_that_is_better_on_the_same_worlds_is_preferred() -> None:
    """The stored parameters explore far too much, as if the search had stopped at the edge of a wrong range."""
    regret = Estimate(mean=60.0, low=58.0, high=62.0, replications=2000)
    worse = make_recommendation(params={"alpha0": 10.0, "beta0": 5.0, "epsilon": 0.1}, regret=regret)
    result = recommend_parameters(query(), [worse])
    assert (result.kind, result.study) == ("interpolated", None)
    assert worse.study in result.reason
    assert result.reason in result.describe()
    assert result.as_object()["reason"] == result.reason


def test_a_study_as_good_as_the_law_is_kept_with_the_reason() -> None:
    params = recommend_parameters(query(), []).params
    unlucky = make_recommendation(params=params, regret=Estimate(mean=30.0, low=29.0, high=31.0, replications=100))
    result = recommend_parameters(query(), [unlucky])
    assert (result.kind, result.study) == ("stored", unlucky)
    assert "not have significantly less regret" in result.reason


@pytest.mark.parametrize("form", FORMATS)
def test_the_answer_of_the_law_can_be_exported(form: str) -> None:
    result = recommend_parameters(query(arms=20), [])
    assert "variance" in export([result.as_recommendation()], form)


def test_the_exported_recommendation_is_valid_and_has_the_expected_regret() -> None:
    result = recommend_parameters(query(arms=20), [])
    recommendation = ExpectedParameters.model_validate(result.as_recommendation().as_object())
    assert [*recommendation.regret] == [*result.regret]
    assert recommendation.params == result.params


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"policy": "nothing"}, "nothing"),
        ({"scenario": "nothing"}, "nothing"),
        ({"horizon": -5}, "horizon"),
        ({"arms": 1}, "arms"),
        ({"settings": {"growth": -1.0}}, "growth"),
        ({"settings": {"rate": 1.0}}, "rate"),
    ],
)
def test_invalid_queries_are_rejected(changes: dict[str, object], name: str) -> None:
    with raises_naming(InputError, name):
        recommend_parameters(query(**changes), [])


def test_a_policy_without_parameters_has_nothing_to_set() -> None:
    result = recommend_parameters(query(policy="raven-auto"), [])
    assert (result.kind, result.params) == ("nothing to set", {})
    assert "nothing to set" in repr(result).splitlines()[0]
    assert result.regret.low < result.regret.mean < result.regret.high
    assert result.as_recommendation().policy == "raven-auto"
