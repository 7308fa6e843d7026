"""Parameters of policies: defaults, bounds and error messages."""

import math
from typing import Any

import pytest

from ravenlab.common.errors import InputError
from ravenlab.policies import find_policy
from ravenlab.policies.engine.parameters import Param, ParamContext
from tests.messages import raises_naming
from tests.policies.online import Lottery, make


@pytest.mark.parametrize(
    ("params", "names"),
    [
        ({"alpha0": -1}, ["alpha0", "0", "-1"]),
        ({"alpha0": "1"}, ["alpha0", "'1'"]),
        ({"alpha0": math.nan}, ["alpha0", "nan"]),
        ({"alpha0": math.inf}, ["alpha0", "inf"]),
        ({"alpha0": 10**400}, ["alpha0"]),
        ({"beta0": True}, ["beta0", "True"]),
        ({"beta0": [1]}, ["beta0", "[1]"]),
        ({"variance": "biased"}, ["variance", "welford", "printed", "accumulated", "'biased'"]),
        ({"variance": 1}, ["variance", "welford", "printed", "accumulated", "1"]),
        ({"alpha": 1}, ["raven-ucb", "'alpha'", "'alpha0'"]),
        ({"seed": -1}, ["seed", "0", "-1"]),
        ({"seed": "a"}, ["seed", "'a'"]),
        ({"horizon": 0}, ["horizon", "1", "0"]),
        ({"horizon": 1.5}, ["horizon", "1.5"]),
    ],
)
def test_invalid_parameters_name_field_and_value(params: dict[str, Any], names: list[str]) -> None:
    with raises_naming(InputError, *names) as caught:
        make("raven-ucb", 3, **params)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("arms", [0, -1, 2.0, "2", None, True])
def test_arms_must_be_a_whole_number(arms: Any) -> None:
    with raises_naming(InputError, "arms"):
        make("ucb1", arms)


@pytest.mark.parametrize("params", [[1], "c", 3])
def test_params_must_be_a_mapping(params: Any) -> None:
    with raises_naming(InputError, "params"):
        find_policy("ucb1").resolve(params, 3, 100)


def test_default_that_needs_the_horizon() -> None:
    with raises_naming(InputError, "horizon"):
        Lottery(3)


def test_bounds_and_whole_numbers() -> None:
    param = Param("n", lambda s: 10.6 * s.arms, least=1, most=50, integer=True)
    context = ParamContext(None, 2, {})
    assert param.resolve(None, context) == 21.0
    assert param.resolve(7, context) == 7.0
    for value, names in (
        (0, ["n", 1, 50, 0]),
        (1.5, ["n", 1.5]),
    ):
        with raises_naming(InputError, *names):
            param.resolve(value, context)


def test_policy_that_uses_true_means_is_for_simulations_only() -> None:
    class Peeking(Lottery):
        name = "peeking"
        uses_true_means = True

    with raises_naming(InputError, "peeking"):
        Peeking(3, horizon=10)
