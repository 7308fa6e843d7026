"""Study specifications: validation, names and comparability."""

import re
from typing import Any

import pytest
from pydantic import ValidationError

from ravenlab.policies import find_policy, policy_names
from ravenlab.studies.spec.space import Range
from ravenlab.studies.spec.study import StudySpec
from tests.messages import assert_names, raises_naming


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"scenario": "x" * 1000},
        {"scenario": "blips", "arms": 10**9, "horizon": 10**9},
        {"scenario": "blips", "trials": "five"},
        {"scenario": "blips", "replications": 1},
        {"scenario": "blips", "seed": -1},
        {"scenario": "blips", "name": "two\nlines"},
        {"scenario": "blips", "name": " padded"},
        {"scenario": "blips", "settings": {"every": {"steps": 5}}},
        {"scenario": "blips", "settings": {"every": float("nan")}},
        {"scenario": "blips", "settings": {"mean_low": 10**400}},
        {"scenario": "blips", "fixed": {"alpha0": True}},
        {"scenario": "blips", "fixed": {"alpha0": 10**400}},
        {"scenario": "blips", "fixed": {"alpha": 1.0}},
        {"scenario": "blips", "fixed": {"alpha0": "many"}},
        {"scenario": "blips", "fixed": {"alpha0": 1, "beta0": 1, "epsilon": 1}},
        {"scenario": "blips", "fixed": {"alpha0": 1}, "space": {"alpha0": {"low": 1, "high": 2}}},
        {"scenario": "blips", "space": {"alpha0": {"low": True, "high": 5}}},
        {"scenario": "blips", "space": {"alpha0": {"low": -1, "high": 5, "scale": "linear"}}},
        {"scenario": "blips", "space": {"alpha0": {"low": 1, "high": 1e200}}},
        {"scenario": "blips", "policy": "sw-ucb", "space": {"tau": {"low": 2.5, "high": 8}}},
        {"scenario": "blips", "policy": "d-ucb", "space": {"gamma": {"low": 0.5, "high": 1.5, "scale": "one-minus"}}},
        {"scenario": "blips", "policy": "f-dsw-ts", "fixed": {"n": 1e12}},
        {"scenario": "blips", "policy": "thompson", "space": {"high": {"low": -1, "high": 2, "scale": "linear"}}},
        {"scenario": "blips", "objective": "after:" + "9" * 5000},
    ],
)
def test_inconsistent_studies_are_rejected(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        StudySpec.model_validate(fields)


def test_every_policy_with_a_range_can_be_searched() -> None:
    for name in policy_names():
        if any(param.low is not None for param in find_policy(name).parameters):
            assert StudySpec(policy=name, scenario="blips", horizon=1000).space
        else:
            with raises_naming(ValidationError, name):
                StudySpec(policy=name, scenario="blips", horizon=1000)


def test_a_budget_is_not_part_of_the_name() -> None:
    plain = StudySpec(scenario="blips", horizon=1000)
    assert plain.study_name() == plain.study_name() == "raven-ucb/blips/T1000/K10"
    same = StudySpec(scenario="blips", horizon=1000, arms=10, trials=7, report=50, candidates=3, selection=9)
    assert same.study_name() == plain.study_name()
    assert StudySpec(scenario="logistics").study_name() == "raven-ucb/logistics/T50000/K100"


@pytest.mark.parametrize(
    ("fields", "suffix"),
    [
        ({"seed": 7}, "seed=7"),
        ({"settings": {"noise": "laplace", "every": "5%"}}, "every=5%,noise=laplace"),
        ({"fixed": {"epsilon": 0.1}}, "epsilon=0.1"),
        ({"space": {"alpha0": Range(low=1, high=2)}}, "alpha0=1:2"),
        ({"space": {"alpha0": Range(low=1, high=2, scale="linear")}}, "alpha0=1:2:linear"),
        ({"objective": "cvar:0.9", "sampler": "random", "seed": 1}, "objective=cvar:0.9,sampler=random,seed=1"),
        ({"pruner": "race"}, "pruner=race"),
        ({"horizon": 12, "settings": {"every": 6, "lasting": 2}}, "every=6,lasting=2"),
        ({"policy": "sw-ucb", "space": {"tau": Range(low=2, high=8)}}, "tau=2:8"),
        ({"policy": "thompson", "space": {"high": Range(low=1, high=8)}}, "high=1:8:log"),
        (
            {"policy": "d-ucb", "space": {"gamma": Range(low=0.001, high=0.1, scale="one-minus")}},
            "gamma=0.9:0.999",
        ),
    ],
)
def test_a_name_states_what_differs_from_the_defaults(fields: dict[str, Any], suffix: str) -> None:
    spec = StudySpec(**{"scenario": "blips", "horizon": 1000, **fields})
    name = f"{spec.policy}/blips/T{spec.horizon}/K10/{suffix}"
    assert spec.study_name() == spec.study_name() == name


def test_a_long_suffix_becomes_a_hash() -> None:
    settings = {"every": 123, "lasting": 45, "mean_low": 0.2512345, "mean_high": 0.7512345, "variance_low": 0.0112345}
    names = {
        StudySpec(scenario="blips", horizon=1000, settings={**settings, "variance_high": value}).study_name()
        for value in (0.0212345, 0.0312345)
    }
    assert len(names) == 2
    assert all(re.fullmatch(r"raven-ucb/blips/T1000/K10~[0-9a-f]{4}", name) for name in names)


def test_one_combination_has_one_name() -> None:
    assert StudySpec(scenario="periodic + blips").study_name() == StudySpec(scenario="periodic+blips").study_name()


def test_stored_specification_is_read_back_unchanged() -> None:
    spec = StudySpec(
        scenario="blips+periodic",
        settings={"every": "5%", "lasting": 3, "amplitude": 0.5, "noise": "laplace"},
        space={"alpha0": Range(low=1, high=2, scale="linear")},
        fixed={"variance": "printed", "epsilon": 1},
    )
    stored = spec.model_dump(mode="json")
    assert StudySpec.model_validate(stored) == spec
    assert StudySpec.model_validate_json(spec.model_dump_json()) == spec
    assert StudySpec.model_validate(stored).study_name() == spec.study_name()


def test_a_changed_copy_resolves_its_defaults_again() -> None:
    spec = StudySpec(scenario="stationary", policy="sw-ucb", horizon=1000)
    longer = StudySpec.model_validate({**spec.model_dump(), "horizon": 5000, "space": {}})
    assert longer == StudySpec(scenario="stationary", policy="sw-ucb", horizon=5000)
    assert longer.space != spec.space
    assert spec.model_copy() == spec


def test_differences() -> None:
    stored = StudySpec(scenario="blips", horizon=1000)
    assert StudySpec(scenario="blips", horizon=1000, trials=500, name="x").differences(stored) == []
    differences = StudySpec(scenario="blips", horizon=1000, seed=3, replications=50).differences(stored)
    assert len(differences) == 2
    assert_names(differences[0], "replications", 200, 50)
    assert_names(differences[1], "seed", 0, 3)


def test_steps_count_search_selection_and_report() -> None:
    budget: dict[str, Any] = {"horizon": 1000, "trials": 30, "replications": 10, "selection": 100, "report": 50}
    assert StudySpec(scenario="periodic", **budget).simulated_steps() == 1000 * (300 + 17 * 100 + 2 * 50)
    assert StudySpec(scenario="blips", **budget).simulated_steps() == 1000 * (300 + 18 * 100 + 3 * 50)
    assert StudySpec(scenario="blips", policy="ucb1", **budget).simulated_steps() == 1000 * (300 + 17 * 100 + 2 * 50)
