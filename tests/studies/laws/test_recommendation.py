"""Recommended parameters: a stored study of the same problem has precedence over the law."""

from __future__ import annotations

import pytest

from environments.errors import InputError
from studies.export import FORMATS, export
from studies.laws.recommendation import RecommendationQuery, recommend_parameters
from studies.results.recommendation import Recommendation
from tests.messages import raises_naming
from tests.studies.examples import make_recommendation

STORED = make_recommendation(params={"alpha0": 7.0, "beta0": 2.0, "epsilon": 0.1})  # variance-drift, T 1,000, K 10


def query(**changes: object) -> RecommendationQuery:
    return RecommendationQuery(**{"scenario": "variance-drift", "horizon": 1000, **changes})  # type: ignore[arg-type]


def test_a_stored_study_of_the_problem_is_used() -> None:
    result = recommend_parameters(query(), [STORED])
    assert (result.kind, result.params, result.study) == ("stored", STORED.params, STORED)
    assert result.regret == (41.5, 40.25, 42.75)


@pytest.mark.parametrize(
    "changes", [{"horizon": 2000}, {"arms": 5}, {"settings": {"growth": 0.5}}, {"policy": "d-raven"}]
)
def test_studies_of_other_problems_are_not_used(changes: dict[str, object]) -> None:
    result = recommend_parameters(query(**changes), [STORED, make_recommendation(objective="p95")])
    assert (result.kind, result.study) == ("interpolated", None)


def test_settings_are_compared_by_meaning() -> None:
    stored = [make_recommendation(settings={"growth": 0.5})]
    assert recommend_parameters(query(settings={"growth": 0.5, "over": "100%"}), stored).kind == "stored"


def test_default_names_and_long_searches_have_precedence() -> None:
    named = make_recommendation(study="a", trials=900)
    seeded = make_recommendation(study=f"{STORED.study}/seed=3", trials=50)
    assert recommend_parameters(query(), [named, seeded, STORED]).study == STORED
    assert recommend_parameters(query(), [named, seeded]).study == seeded
    assert recommend_parameters(query(), [make_recommendation(study="b", trials=5), named]).study == named


@pytest.mark.parametrize("form", FORMATS)
def test_the_answer_of_the_law_can_be_exported(form: str) -> None:
    result = recommend_parameters(query(arms=20), [])
    assert "variance" in export([result.as_recommendation()], form)


def test_the_exported_recommendation_is_valid_and_has_the_expected_regret() -> None:
    result = recommend_parameters(query(arms=20), [])
    recommendation = Recommendation.model_validate(result.as_recommendation().as_object())
    assert (recommendation.regret.mean, recommendation.regret.low, recommendation.regret.high) == result.regret
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
