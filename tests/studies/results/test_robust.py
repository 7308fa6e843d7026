"""Specifications and measures of searches over several scenarios."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ravenlab.environments import InputError
from ravenlab.studies.spec.files import load_robust_studies
from ravenlab.studies.spec.robust import Measure, RobustSpec, parse_measure, parse_robust_spec
from tests.messages import assert_names, raises_naming

TWO_SCENARIOS: dict[str, Any] = {"scenarios": ["blips", "periodic"], "horizon": 1000}


@pytest.mark.parametrize(("text", "counted"), [("worst", 1), ("mean", 4), ("cvar:0.5", 2), ("cvar:0.9", 1)])
def test_a_measure_is_the_mean_of_the_worst(text: str, counted: int) -> None:
    relative = np.random.default_rng(3).gamma(2.0, size=(5, 30, 4))
    measure = parse_measure(text)
    means = relative.mean(axis=1)
    plain = [np.mean(sorted(row)[-counted:]) for row in means]
    np.testing.assert_allclose(measure.value(means), plain)
    sample = measure.sample(relative)
    assert sample.shape == (5, 30)
    np.testing.assert_allclose(sample.mean(axis=1), plain)


@pytest.mark.parametrize("text", ["best", "cvar", "cvar:1", "cvar:x", "worst:2", "mean:0.5"])
def test_unknown_measures_are_rejected(text: str) -> None:
    with raises_naming(InputError, "measure"):
        parse_measure(text)


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"scenarios": ["blips"]}, ["2", "scenarios", "1"]),
        ({"scenarios": ["blips", "periodic", "blips"]}, ["blips"]),
        ({"scenarios": "blips"}, ["scenarios"]),
        ({"scenarios": ["blips", "perodic"]}, ["'periodic'"]),
        ({"measure": "best"}, ["measure", "worst", "mean", "cvar:0.5"]),
        ({"pareto": True}, ["'pareto'"]),
        ({"objective": "cvar:0.9"}, ["objective", "mean", "robust"]),
        ({"pruner": "race"}, ["pruner", "none", "robust"]),
        ({"sampler": "cmaes"}, ["sampler", "tpe", "random", "qmc", "robust"]),
        ({"scenarios": ["blips", "logistics"], "horizon": None}, ["horizon", "scenarios"]),
        ({"name": None, "horizn": 3}, ["'horizn'"]),
    ],
)
def test_errors_name_field_and_value_on_one_line(fields: dict[str, Any], names: list[str]) -> None:
    with pytest.raises(InputError) as error:
        parse_robust_spec({key: value for key, value in {**TWO_SCENARIOS, **fields}.items() if value is not None})
    assert_names(str(error.value), *names)
    assert "\n" not in str(error.value)


def test_study_names_and_single_scenario_studies() -> None:
    assert parse_robust_spec(TWO_SCENARIOS).study_name() == "robust/raven-ucb/blips,periodic/T1000/K10"
    others: dict[str, dict[str, Any]] = {
        "measure=mean": {"measure": "mean"},
        "epsilon=0.1": {"fixed": {"epsilon": 0.1}},
        "noise=laplace,seed=2": {"noise": "laplace", "seed": 2},
    }
    for suffix, fields in others.items():
        name = parse_robust_spec({**TWO_SCENARIOS, **fields}).study_name()
        assert name == f"robust/raven-ucb/blips,periodic/T1000/K10/{suffix}"
    named = parse_robust_spec({**TWO_SCENARIOS, "name": "mine", "fixed": {"epsilon": 0.1}})
    assert [each_spec.study_name() for each_spec in named.scenario_specs()] == ["mine/blips", "mine/periodic"]
    assert all(
        each_spec.fixed == {"epsilon": 0.1} and each_spec.horizon == 1000 for each_spec in named.scenario_specs()
    )


def test_a_list_of_horizons_gives_several_specifications(tmp_path: Path) -> None:
    path = tmp_path / "studies.toml"
    table = "[[robust]]\nscenarios = ['blips', 'periodic']\n"
    path.write_text(f"{table}horizon = [500, 1000]\n{table}horizon = 2000\n")
    assert [spec.base.horizon for spec in load_robust_studies(path)] == [500, 1000, 2000]
    for wrong, names in (
        (f"{table}horizon = []", ["robust 1", "horizon", "1 to 1000", "0"]),
        (f"{table}horizon = [500, 500]", ["robust 1", "'robust/raven-ucb/blips,periodic/T500/K10'"]),
        ("robust = [1]", ["robust 1", "1"]),
    ):
        path.write_text(wrong)
        with raises_naming(InputError, f"{path}:", *names):
            load_robust_studies(path)


def test_a_stored_specification_is_read_back_and_compared() -> None:
    spec = parse_robust_spec({**TWO_SCENARIOS, "measure": "mean"})
    assert RobustSpec.model_validate(spec.model_dump(mode="json")) == spec
    other = parse_robust_spec({**TWO_SCENARIOS, "seed": 4})
    measure, seed = other.differences(spec)
    assert_names(measure, "measure", "mean", "worst")
    assert_names(seed, "seed", 0, 4)
    assert spec.differences(spec) == []


def test_cvar_counts_at_least_one_scenario() -> None:
    assert Measure("cvar", 0.99).worst_count(3) == 1
