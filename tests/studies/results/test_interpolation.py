"""Answers from stored studies: exact, between and beyond."""

from __future__ import annotations

import pytest

from environments import InputError
from studies.results.interpolation import RecommendationQuery, recommend_parameters
from studies.results.recommendation import Recommendation
from tests.messages import raises_naming
from tests.studies.made import recommendation


def at(horizon: int, alpha0: float, **changes: object) -> Recommendation:
    params = {"alpha0": alpha0, "beta0": 2.0, "epsilon": 0.1}
    return recommendation(**{"horizon": horizon, "params": params, **changes})


STORED = [at(1000, 1.0), at(100_000, 4.0)]


def ask(horizon: int, **changes: object) -> RecommendationQuery:
    return RecommendationQuery(**{"scenario": "variance-drift", "horizon": horizon, **changes})  # type: ignore[arg-type]


def test_exact() -> None:
    found = recommend_parameters(ask(1000), STORED)
    assert (found.kind, found.params, found.command) == ("exact", STORED[0].params, None)
    assert found.sources == (STORED[0],)


def test_between_two_horizons_a_log_parameter_goes_geometrically() -> None:
    found = recommend_parameters(ask(10_000), STORED)
    assert found.kind == "interpolated"
    assert found.params["alpha0"] == pytest.approx(2.0)
    assert found.params["beta0"] == 2.0
    assert [each.horizon for each in found.sources] == [1000, 100_000]
    assert found.command == "ravenlab tune variance-drift --horizon 10000"


def test_the_nearest_neighbours_are_used() -> None:
    found = recommend_parameters(ask(5000), [*STORED, at(10_000, 9.0), at(4000, 3.0), at(300, 8.0)])
    assert [each.horizon for each in found.sources] == [4000, 10_000]


@pytest.mark.parametrize(("horizon", "alpha0"), [(200, 1.0), (10**6, 4.0)])
def test_beyond_the_range_the_nearest_one_is_given(horizon: int, alpha0: float) -> None:
    found = recommend_parameters(ask(horizon), STORED)
    assert (found.kind, found.params["alpha0"]) == ("extrapolated", alpha0)
    assert found.command is not None


def test_rates_whole_numbers_words_and_what_only_one_has() -> None:
    def sw(horizon: int, params: dict[str, float | str]) -> Recommendation:
        return recommendation(policy="f-dsw-ts", horizon=horizon, params=params)

    stored = [
        sw(100, {"gamma": 0.9, "n": 10, "g": "min"}),
        sw(10_000, {"gamma": 0.999, "n": 1000, "g": "max", "low": -4}),
    ]
    found = recommend_parameters(ask(1000, policy="f-dsw-ts"), stored)
    assert found.params["gamma"] == pytest.approx(0.99)
    assert found.params["n"] == 100.0
    assert found.params["g"] == "min"
    assert found.params["low"] == pytest.approx(-2.0)
    assert recommend_parameters(ask(1001, policy="f-dsw-ts"), stored).params["g"] == "max"


def test_a_parameter_at_zero_goes_linearly() -> None:
    assert recommend_parameters(ask(10_000), [at(1000, 0.0), at(100_000, 4.0)]).params["alpha0"] == pytest.approx(2.0)


def test_other_settings_objectives_arms_and_policies_do_not_count() -> None:
    others = [
        at(3000, 7.0, settings={"growth": 0.9}, study="a"),
        at(3000, 7.0, objective="cvar:0.9", study="b"),
        at(3000, 7.0, arms=5),
        at(3000, 7.0, scenario="blips"),
        recommendation(policy="ucb1", horizon=3000, params={"c": 1.0}),
    ]
    assert recommend_parameters(ask(3000), [*STORED, *others]).kind == "interpolated"
    assert recommend_parameters(ask(3000, arms=5), [*STORED, *others]).params["alpha0"] == 7.0
    with raises_naming(InputError, "5 or 10", "--horizon 3000 --arms 7"):
        recommend_parameters(ask(3000, arms=7), [*STORED, *others])


def test_of_several_studies_the_plain_one_wins() -> None:
    plain, named = at(1000, 1.0, trials=10), at(1000, 5.0, study="mine", trials=500)
    for stored in ([plain, named], [named, plain]):
        assert recommend_parameters(ask(1000), stored).sources == (plain,)
    longer = at(1000, 6.0, study="other", trials=600)
    assert recommend_parameters(ask(1000), [named, longer]).sources == (longer,)


def test_nothing_stored() -> None:
    with pytest.raises(InputError) as caught:
        recommend_parameters(ask(3000, policy="ucb1", arms=7, storage="sqlite:///my file"), [])
    assert str(caught.value).endswith(
        "ravenlab tune variance-drift --horizon 3000 --policy ucb1 --arms 7 --storage 'sqlite:///my file'"
    )


def test_what_cannot_be_tuned_is_refused() -> None:
    for wrong, message in (
        (ask(0), "horizon"),
        (ask(100, arms=0), "arms"),
        (ask(100, policy="ucb2"), "'ucb2'"),
        (ask(100, scenario="blip"), "'blip'"),
    ):
        with pytest.raises(InputError, match=message):
            recommend_parameters(wrong, STORED)
