from typing import Any

import pytest

from ravenlab.common.errors import InputError
from ravenlab.environments import combine, find_scenario, scenarios
from tests.messages import raises_naming

DEFAULTS: dict[str, dict[str, Any]] = {
    "stationary": {},
    "incremental-drift": {"drift": 0.25, "over": "100%", "direction": "both"},
    "variance-drift": {"growth": 1.0, "over": "100%"},
    "gradual-drift": {"start": "25%", "end": "75%"},
    "localized-jump": {"every": "10%", "fraction": "1/3", "times": "fixed"},
    "periodic": {"amplitude": 0.25, "period": "20%", "common": "nothing"},
    "blips": {"every": "10%", "lasting": "2%", "times": "fixed", "affected": 1.0, "size": 0.0},
    "arm-churn": {"opens": "33%", "closes": "67%", "closing": "best"},
    "random-walk": {"deviation": 0.25, "over": "100%", "segments": 1000},
    "delayed": {"longest": 20},
    "bernoulli": {"mean_low": 0.8, "mean_high": 0.95},
    "logistics": {"every": 5000, "fraction": "1/3", "times": "fixed"},
    **{f"published-{name}": {"every": 5000} for name in ("variance-drift", "incremental-drift", "blips", "logistics")},
}
BASE = {"mean_low": 0.3, "mean_high": 0.8, "variance_low": 0.01, "variance_high": 0.09}


def test_the_scenarios_are_the_documented_ones() -> None:
    assert set(scenarios()) == set(DEFAULTS)


@pytest.mark.parametrize("name", DEFAULTS)
def test_the_defaults_are_the_documented_ones(name: str) -> None:
    scenario = find_scenario(name)
    assert scenario.parameters() == {**BASE, **DEFAULTS[name]}
    large = name in ("logistics", "published-logistics")
    assert (scenario.arms, scenario.horizon) == ((100, 50_000) if large else (10, 10_000))
    assert scenario.noise == ("bernoulli" if name == "bernoulli" else "normal")
    scenario.check(scenario.horizon, scenario.arms)


def test_effects_combine_by_their_names() -> None:
    assert find_scenario("blips + arm-churn") == find_scenario("blips+arm-churn") == combine(["blips", "arm-churn"])


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("blip", ["scenario", "'blip'", "'blips'"]),
        ("blips+churn", ["effect", "'churn'", "'arm-churn'"]),
        ("blips+", ["effect", "''"]),
        ("blips+blips", ["effects", "blips"]),
        ("published-blips+periodic", ["effect"]),
        (3, ["scenario"]),
        (None, ["scenario"]),
    ],
)
def test_unknown_names_are_rejected(name: Any, names: list[str]) -> None:
    with raises_naming(InputError, *names):
        find_scenario(name)


def test_combinations_of_non_names_are_rejected() -> None:
    with raises_naming(InputError, "effect"):
        combine([["blips"]])  # type: ignore[list-item]
