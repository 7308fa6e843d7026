"""Parameters from stored studies: exact, interpolated and extrapolated."""

from __future__ import annotations

import pytest

from environments import InputError
from studies.results.interpolation import NoRecommendationError, RecommendationQuery, recommend_parameters
from studies.results.recommendation import Recommendation
from tests.messages import raises_naming
from tests.studies.examples import make_recommendation


def recommendation_at(horizon: int, alpha0: float, **changes: object) -> Recommendation:
    params = {"alpha0": alpha0, "beta0": 2.0, "epsilon": 0.1}
    return make_recommendation(**{"horizon": horizon, "params": params, **changes})


STORED = [recommendation_at(1000, 1.0), recommendation_at(100_000, 4.0)]


def query(horizon: int, **changes: object) -> RecommendationQuery:
    return RecommendationQuery(**{"scenario": "variance-drift", "horizon": horizon, **changes})  # type: ignore[arg-type]


def test_stored_horizon_gives_exact_parameters() -> None:
    result = recommend_parameters(query(1000), STORED)
    assert (result.kind, result.params) == ("exact", STORED[0].params)
    assert result.sources == (STORED[0],)


def test_log_parameters_are_interpolated_geometrically() -> None:
    result = recommend_parameters(query(10_000), STORED)
    assert result.kind == "interpolated"
    assert result.params["alpha0"] == pytest.approx(2.0)
    assert result.params["beta0"] == 2.0
    assert [source.horizon for source in result.sources] == [1000, 100_000]


def test_the_nearest_neighbors_are_used() -> None:
    result = recommend_parameters(
        query(5000),
        [*STORED, recommendation_at(10_000, 9.0), recommendation_at(4000, 3.0), recommendation_at(300, 8.0)],
    )
    assert [source.horizon for source in result.sources] == [4000, 10_000]


@pytest.mark.parametrize(("horizon", "alpha0"), [(200, 1.0), (10**6, 4.0)])
def test_extrapolation_uses_the_nearest_horizon(horizon: int, alpha0: float) -> None:
    result = recommend_parameters(query(horizon), STORED)
    assert (result.kind, result.params["alpha0"]) == ("extrapolated", alpha0)


def test_rates_integers_categories_and_parameters_of_one_neighbor() -> None:
    def sw(horizon: int, params: dict[str, float | str]) -> Recommendation:
        return make_recommendation(policy="f-dsw-ts", horizon=horizon, params=params)

    stored = [
        sw(100, {"gamma": 0.9, "n": 10, "g": "min"}),
        sw(10_000, {"gamma": 0.999, "n": 1000, "g": "max", "low": -4}),
    ]
    result = recommend_parameters(query(1000, policy="f-dsw-ts"), stored)
    assert result.params["gamma"] == pytest.approx(0.99)
    assert result.params["n"] == 100.0
    assert result.params["g"] == "min"
    assert result.params["low"] == pytest.approx(-2.0)
    assert recommend_parameters(query(1001, policy="f-dsw-ts"), stored).params["g"] == "max"


def test_a_parameter_at_zero_is_interpolated_linearly() -> None:
    assert recommend_parameters(query(10_000), [recommendation_at(1000, 0.0), recommendation_at(100_000, 4.0)]).params[
        "alpha0"
    ] == pytest.approx(2.0)


def test_other_settings_objectives_arms_and_policies_are_ignored() -> None:
    others = [
        recommendation_at(3000, 7.0, settings={"growth": 0.9}, study="a"),
        recommendation_at(3000, 7.0, objective="cvar:0.9", study="b"),
        recommendation_at(3000, 7.0, arms=5),
        recommendation_at(3000, 7.0, scenario="blips"),
        make_recommendation(policy="ucb1", horizon=3000, params={"c": 1.0}),
    ]
    assert recommend_parameters(query(3000), [*STORED, *others]).kind == "interpolated"
    assert recommend_parameters(query(3000, arms=5), [*STORED, *others]).params["alpha0"] == 7.0
    with raises_naming(NoRecommendationError, "7", "5 or 10"):
        recommend_parameters(query(3000, arms=7), [*STORED, *others])


def test_a_study_with_the_default_name_is_preferred() -> None:
    plain, named = recommendation_at(1000, 1.0, trials=10), recommendation_at(1000, 5.0, study="mine", trials=500)
    for stored in ([plain, named], [named, plain]):
        assert recommend_parameters(query(1000), stored).sources == (plain,)
    longer = recommendation_at(1000, 6.0, study="other", trials=600)
    assert recommend_parameters(query(1000), [named, longer]).sources == (longer,)


def test_empty_storage_is_an_error() -> None:
    with raises_naming(NoRecommendationError, "ucb1", "variance-drift", "7"):
        recommend_parameters(query(3000, policy="ucb1", arms=7), [])


def test_invalid_queries_are_rejected() -> None:
    for wrong, message in (
        (query(0), "horizon"),
        (query(100, arms=0), "arms"),
        (query(100, policy="ucb2"), "'ucb2'"),
        (query(100, scenario="blip"), "'blip'"),
    ):
        with pytest.raises(InputError, match=message):
            recommend_parameters(wrong, STORED)
