from typing import Any

import pytest

from ravenlab.common.errors import InputError
from ravenlab.environments import combine, find_scenario
from tests.messages import raises_naming


def test_effects_combine_by_their_names() -> None:
    assert find_scenario("blips + arm-churn") == find_scenario("blips+arm-churn") == combine(["blips", "arm-churn"])
    assert find_scenario("blips+delayed+arm-churn+periodic").category == "TF+PC"


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
