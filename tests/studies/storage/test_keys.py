"""Attributes of studies, including damaged ones and those of other versions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import optuna
import pytest

from environments import InputError
from studies.spec.comparison import ComparisonSpec
from studies.spec.robust import parse_robust_spec
from studies.spec.study import StudySpec
from studies.storage import keys
from tests.messages import raises_naming

Reader = Callable[[optuna.Study], Any]

READERS: dict[str, Reader] = {
    keys.SPEC: keys.read_spec,
    keys.RECOMMENDATION: keys.read_recommendation,
    keys.GRID: keys.read_grid_spec,
    keys.COMPARISON: keys.read_comparison_spec,
    keys.INDISTINGUISHABLE: keys.read_indistinguishable,
    keys.ROBUST: keys.read_robust_spec,
    keys.TUNED: keys.read_tuned,
    keys.ROBUST_RECOMMENDATION: keys.read_robust,
    keys.FRONT: keys.read_robust,
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


@pytest.mark.parametrize("key", READERS)
def test_missing_attributes_are_none(key: str) -> None:
    assert READERS[key](optuna.create_study()) is None


def test_studies_with_plugins_that_are_not_loaded() -> None:
    """Studies and robust studies are readable without the plugin, comparisons are not."""
    plugin = "their.py:Policy~12345678"
    stored = StudySpec(scenario="blips").resolved().model_dump(mode="json")
    spec = keys.read_spec(study_with(keys.SPEC, {**stored, "policy": plugin}))
    assert spec is not None
    assert (spec.policy, spec.horizon, spec.arms) == (plugin, 10_000, 10)
    robust = parse_robust_spec({"scenarios": ["blips", "periodic"]}).resolved().model_dump(mode="json")
    robust_spec = keys.read_robust_spec(study_with(keys.ROBUST, {**robust, "base": {**stored, "policy": plugin}}))
    assert robust_spec is not None
    assert robust_spec.base.policy == plugin
    for wrong in ({"space": {"a": {"low": "x"}}}, {"horizon": None}, {"trials": "many"}, {"objective": "best"}):
        damaged = {**stored, "policy": plugin, **wrong}
        with raises_naming(InputError, "'mine'"):
            keys.read_spec(study_with(keys.SPEC, damaged))
        with raises_naming(InputError, "'mine'"):
            keys.read_robust_spec(study_with(keys.ROBUST, {**robust, "base": damaged}))
    compared = ComparisonSpec(scenario="blips").resolved().model_dump(mode="json")
    assert keys.read_comparison_spec(study_with(keys.COMPARISON, {**compared, "policies": [plugin]})) is None
