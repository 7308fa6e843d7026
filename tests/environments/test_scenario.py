from typing import Any

import pytest

from ravenlab.common.errors import InputError
from ravenlab.environments import find_scenario, scenarios
from ravenlab.environments.scenario import Scenario
from tests.messages import assert_names, raises_naming

INVALID_NUMBERS: list[Any] = ["abc", None, True, [1], {"a": 1}, float("nan"), float("inf"), -0.5, 10**400, 1e308]
INVALID_TIMES: list[Any] = ["abc", "x%", "0%", None, True, [1], 2.5, 0, -1, float("nan"), 10**400]
INVALID_SHARES: list[Any] = ["x", None, True, [1], 0, -1, 1.5, "3/2", "1/0", float("nan")]

FIELDS = [
    *(("incremental-drift", "drift", value) for value in INVALID_NUMBERS),
    *(("variance-drift", "growth", value) for value in INVALID_NUMBERS),
    *(("periodic", "amplitude", value) for value in INVALID_NUMBERS),
    *(
        (name, field, value)
        for name, field in [
            ("incremental-drift", "over"),
            ("variance-drift", "over"),
            ("gradual-drift", "start"),
            ("gradual-drift", "end"),
            ("localized-jump", "every"),
            ("periodic", "period"),
            ("blips", "every"),
            ("blips", "lasting"),
            ("arm-churn", "opens"),
            ("arm-churn", "closes"),
            ("logistics", "every"),
            ("published-blips", "every"),
        ]
        for value in INVALID_TIMES
    ),
    *(("localized-jump", "fraction", value) for value in INVALID_SHARES),
    *(("arm-churn", "closing", value) for value in ["worst", 3, None, True, ["best"], float("nan")]),
    *(("delayed", "longest", value) for value in ["5", None, True, 2.5, -1, float("nan"), 10**400]),
    *(("stationary", "mean_low", value) for value in INVALID_NUMBERS if value != -0.5),
    *(("stationary", "variance_low", value) for value in INVALID_NUMBERS),
    *(("stationary", "noise", value) for value in ["gauss", 3, None, True, ["normal"], float("nan")]),
    ("stationary", "mean_low", 0.9),
    ("stationary", "variance_high", 0.001),
]


@pytest.mark.parametrize(("name", "field", "value"), FIELDS)
def test_an_invalid_setting_is_a_one_line_error_that_names_it(name: str, field: str, value: Any) -> None:
    with pytest.raises(InputError) as caught:
        find_scenario(name, {field: value}).check(1000, 5)
    message = str(caught.value)
    assert field.split("_")[0] in message
    assert "\n" not in message
    assert message.endswith(".")


@pytest.mark.parametrize(
    ("horizon", "arms", "field"),
    [
        (0, 1, "horizon"),
        (3, 4, "horizon"),
        ("10", 2, "horizon"),
        (True, 1, "horizon"),
        (10**400, 2, "horizon"),
        (10, 0, "arms"),
        (10, 2.0, "arms"),
        (10**9, 10**8, "arms"),
    ],
)
def test_invalid_numbers_of_arms_and_steps_are_rejected(horizon: Any, arms: Any, field: str) -> None:
    with raises_naming(InputError, field):
        find_scenario("stationary").check(horizon, arms)


@pytest.mark.parametrize("name", ["variance-drift", "published-variance-drift", "variance-drift+blips"])
def test_variance_drift_with_bernoulli_arms_is_rejected(name: str) -> None:
    with raises_naming(InputError, "noise", "bernoulli", "variance-drift"):
        find_scenario(name, {"noise": "bernoulli"}).check(1000, 5)


def test_too_many_changes_are_rejected_before_allocation() -> None:
    with pytest.raises(InputError, match="every"):
        find_scenario("localized-jump", {"every": 1}).check(10**6, 100)


def test_settings_apply_to_their_owner() -> None:
    scenario = find_scenario("localized-jump+blips", {"localized-jump.every": 7, "lasting": 2, "mean_low": 0})
    assert scenario.parameters() == {
        "localized-jump.every": 7,
        "fraction": "1/3",
        "localized-jump.times": "fixed",
        "blips.every": "10%",
        "lasting": 2,
        "affected": 1.0,
        "size": 0.0,
        "blips.times": "fixed",
        "mean_low": 0.0,
        "mean_high": 0.8,
        "variance_low": 0.01,
        "variance_high": 0.09,
    }
    assert find_scenario("localized-jump+blips").parameters()["localized-jump.every"] == "10%"


def test_parameters_are_valid_settings() -> None:
    scenario = find_scenario("periodic+blips+arm-churn", {"every": 9, "closing": "random"})
    assert scenario.with_settings(scenario.parameters()) == scenario


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({"every": 5}, ["blips.every", "localized-jump.every"]),
        ({"lastin": 5}, ["'lasting'"]),
        ({3: 5}, ["setting", "3"]),
        ([("every", 5)], ["settings"]),
        ("every", ["settings"]),
    ],
)
def test_unknown_settings_are_rejected(settings: Any, names: list[str]) -> None:
    with raises_naming(InputError, *names):
        find_scenario("localized-jump+blips", settings)


def test_arm_churn_adds_one_arm() -> None:
    assert [find_scenario(name).extra_arms for name in ("blips", "arm-churn", "arm-churn+blips")] == [0, 1, 1]


def test_a_repeated_effect_is_rejected() -> None:
    blips = find_scenario("blips").effects
    with raises_naming(InputError, "effects", "blips"):
        Scenario("mine", "", blips * 2).check(100, 3)


@pytest.mark.parametrize(
    ("name", "settings", "arms", "names"),
    [
        ("stationary", {}, 1, ["1 arm"]),
        ("blips", {"every": 200, "lasting": 5}, 3, ["every", 200, 100]),
        ("periodic", {"period": 101}, 3, ["period", 101, 100]),
        ("gradual-drift", {"start": 150, "end": 160}, 3, ["start", 150]),
        ("arm-churn", {"opens": 200}, 3, ["opens", 200]),
    ],
)
def test_warnings(name: str, settings: dict[str, Any], arms: int, names: list[Any]) -> None:
    (warning,) = find_scenario(name, settings).warnings(100, arms)
    assert_names(warning, name, *names)


@pytest.mark.parametrize("name", list(scenarios()))
def test_default_settings_give_no_warnings(name: str) -> None:
    scenario = find_scenario(name)
    assert scenario.warnings(scenario.horizon, scenario.arms) == []
