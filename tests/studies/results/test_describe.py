"""Descriptions of recommendations."""

from __future__ import annotations

from environments.text import format_number
from studies.results.describe import WITHIN_NOISE, describe_edges, describe_recommendation, describe_regret
from studies.spec.parse import parse_study_spec
from studies.spec.space import Range
from studies.spec.study import StudySpec
from tests.studies.examples import make_recommendation
from tuning.cli.options import parse_range
from tuning.validation.recommend import boundary_hits


def test_a_description_states_every_number() -> None:
    text = "\n".join(describe_recommendation(make_recommendation(importance={"beta0": 0.25, "alpha0": 0.75})))
    for numbers in (
        "α₀ 0.25, β₀ 4, ε 0.0001",  # parameters
        "41.5 (95 % CI 40.25 to 42.75) on 2,000 held-out worlds",
        "38.12 (objective mean)",  # search estimate
        "α₀ 0.25 to 0.5, β₀ 3 to 4",  # indistinguishable candidates
        "18.5 higher (+45 %; 95 % CI of the difference 16 to 21)",  # paper's advice
        "0.5 lower",  # defaults
        "α₀ 75 %, β₀ 25 %",  # importance
        "range epsilon=1e-06:0.5",  # edge of the range
        "mean 0.5 and spread 0.3",  # reward scale
    ):
        assert numbers in text
    assert text.count(WITHIN_NOISE) == 1


def test_only_a_biased_search_estimate_is_called_biased() -> None:
    biased = [make_recommendation(), make_recommendation(search_estimate=40.25), make_recommendation(objective="p90")]
    assert ["biased" in describe_regret(found)[0] for found in biased] == [True, False, False]


def test_absent_parts_are_not_described() -> None:
    lines = describe_recommendation(make_recommendation(versus=[], edge=[], indistinguishable=[], box={}))
    assert len(lines) == 3


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


def test_numbers_stay_short() -> None:
    assert [format_number(value) for value in (123456.7, 0.5, 12.3456, "min")] == ["123,457", "0.5", "12.35", "min"]


def test_rates_near_one_are_not_rounded_to_one() -> None:
    """γ is searched up to 0.99999, which must not be displayed as 1."""
    near = (0.9998, 0.99998, 0.999984, 0.99999, 1 - 9.99e-6, 0.999999, 1 - 1e-12, 1.0, 1.00002)
    expected = ["0.9998", "0.99998", "0.99998", "0.99999", "0.99999", "0.999999", "1", "1", "1"]
    assert [format_number(value) for value in near] == expected
