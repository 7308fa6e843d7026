"""Attributes of studies, including damaged ones and those of other versions."""

import json
from collections.abc import Callable
from typing import Any

import optuna
import pytest

from ravenlab.environments import InputError
from ravenlab.studies.kinds import COMPARISON, GRID, ROBUST, TUNE
from ravenlab.studies.spec.comparison import ComparisonSpec
from ravenlab.studies.spec.robust import parse_robust_spec
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.storage import hardening, keys
from tests.messages import raises_naming

Reader = Callable[[optuna.Study], Any]

READERS: dict[str, Reader] = {
    keys.SPEC: TUNE.read_spec,
    keys.RECOMMENDATION: keys.read_recommendation,
    keys.GRID: GRID.read_spec,
    keys.COMPARISON: COMPARISON.read_spec,
    keys.INDISTINGUISHABLE: keys.read_indistinguishable,
    keys.ROBUST: ROBUST.read_spec,
    keys.TUNED: keys.read_tuned,
    keys.ROBUST_RECOMMENDATION: keys.read_robust,
    keys.FURTHER_WORLDS: keys.read_further_worlds,
}


def study_with(key: str, value: object) -> optuna.Study:
    study = optuna.create_study(study_name="mine")
    study.set_user_attr(key, value)
    return study


@pytest.mark.parametrize("key", READERS)
@pytest.mark.parametrize(
    "value",
    [3, "x", ["x"], {"policy": 3}, {"scenario": ["blips"]}, {"policies": 3}, {"base": {}, "scenarios": ["a", "b"]}],
    ids=str,
)
def test_unreadable_attributes_are_errors_of_one_line(key: str, value: object) -> None:
    with raises_naming(InputError, "'mine'"):
        READERS[key](study_with(key, value))


@pytest.mark.parametrize(("key", "value"), [(keys.FRONT, {"members": []}), (keys.ROBUST, {"pareto": True})])
def test_pareto_fronts_of_earlier_versions_are_refused(key: str, value: object) -> None:
    study = study_with(key, value)
    assert keys.is_front(study)
    for read in (keys.read_robust, ROBUST.read_spec):
        with raises_naming(InputError, "'mine'", "Pareto", "no longer supported"):
            read(study)


def test_robust_studies_of_earlier_versions_are_read() -> None:
    spec = parse_robust_spec({"scenarios": ["blips", "periodic"]})
    stored = {**spec.model_dump(mode="json"), "pareto": False}
    assert ROBUST.read_spec(study_with(keys.ROBUST, stored)) == spec


@pytest.mark.parametrize("key", READERS)
def test_missing_attributes_are_none(key: str) -> None:
    assert READERS[key](optuna.create_study()) is None


def test_studies_with_plugins_that_are_not_loaded() -> None:
    """Studies and robust studies are readable without the plugin, comparisons are not."""
    plugin = "their.py:Policy~12345678"
    stored = StudySpec(scenario="blips").model_dump(mode="json")
    spec = TUNE.read_spec(study_with(keys.SPEC, {**stored, "policy": plugin}))
    assert spec is not None
    assert (spec.policy, spec.horizon, spec.arms) == (plugin, 10_000, 10)
    robust = parse_robust_spec({"scenarios": ["blips", "periodic"]}).model_dump(mode="json")
    robust_spec = ROBUST.read_spec(study_with(keys.ROBUST, {**robust, "base": {**stored, "policy": plugin}}))
    assert robust_spec is not None
    assert robust_spec.base.policy == plugin
    for wrong in ({"space": {"a": {"low": "x"}}}, {"horizon": None}, {"trials": "many"}, {"objective": "best"}):
        damaged = {**stored, "policy": plugin, **wrong}
        with raises_naming(InputError, "'mine'"):
            TUNE.read_spec(study_with(keys.SPEC, damaged))
        with raises_naming(InputError, "'mine'"):
            ROBUST.read_spec(study_with(keys.ROBUST, {**robust, "base": damaged}))
    compared = ComparisonSpec(scenario="blips").model_dump(mode="json")
    assert COMPARISON.read_spec(study_with(keys.COMPARISON, {**compared, "policies": [plugin]})) is None


def test_further_worlds_are_stored_in_values_of_limited_size() -> None:
    """The largest comparison has 1.5 million further worlds for each entry; a single value would have gigabytes."""
    study = optuna.create_study()
    results = [{"regret": [-1.2345678901234567e-100] * 1_500_000, "mean": [0.5]}, {"regret": [2.0], "mean": [1.5]}]
    keys.write_further_worlds(study, results)
    texts = [json.dumps(value) for value in study.user_attrs.values()]
    assert max(map(len, texts)) < hardening.MAX_VALUE_BYTES
    assert hardening.UNREADABLE not in [hardening.parse_attribute(text) for text in texts]
    assert keys.read_further_worlds(study) == results


def test_further_worlds_of_earlier_versions_are_read() -> None:
    results = [{"regret": [1.0], "mean": [0.5]}]
    assert keys.read_further_worlds(study_with(keys.FURTHER_WORLDS, results)) == results


@pytest.mark.parametrize("item", ["[]", "{}", "0", "[1]", "[1.25, 2.5]"])
def test_attributes_of_too_many_items_are_not_parsed(item: str) -> None:
    assert hardening.parse_attribute(f"[{','.join([item] * 999)}]") == [json.loads(item)] * 999
    assert hardening.parse_attribute(f"[{','.join([item] * 2_000_001)}]") == hardening.UNREADABLE


@pytest.mark.parametrize("item", ["[]", "{}", "[1]", "[[]]", "[{}, []]"])
def test_dense_attributes_are_not_parsed(item: str) -> None:
    """A file of 43 MB with such attributes, each below the other limits, took 1.4 GB."""
    assert hardening.parse_attribute(f"[{','.join([item] * 2000)}]") == hardening.UNREADABLE
    assert hardening.parse_attribute(json.dumps([[1.5, 2.5]] * 2000)) == [[1.5, 2.5]] * 2000
