"""Parameters of policies: defaults, bounds, and one clear line for what they may not be."""

from __future__ import annotations

import math
from typing import Any

import pytest

from environments.errors import InputError
from policies import find_policy
from policies.engine.base import Param, ParamContext
from tests.messages import raises_naming
from tests.policies.online import Lottery, made


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
def test_bad_ones_give_one_clear_line(params: dict[str, Any], names: list[str]) -> None:
    with raises_naming(InputError, *names) as caught:
        made("raven-ucb", 3, **params)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("arms", [0, -1, 2.0, "2", None, True])
def test_arms_are_a_whole_number(arms: Any) -> None:
    with raises_naming(InputError, "arms"):
        made("ucb1", arms)


@pytest.mark.parametrize("params", [[1], "c", 3])
def test_parameters_have_names(params: Any) -> None:
    with raises_naming(InputError, "params"):
        find_policy("ucb1").resolve(params, 3, 100)


def test_a_default_that_needs_the_horizon_says_so() -> None:
    with raises_naming(InputError, "horizon"):
        Lottery(3)


def test_bounds_and_whole_numbers() -> None:
    param = Param("n", lambda s: 10.6 * s.arms, least=1, most=50, integer=True)
    setting = ParamContext(None, 2, {})
    assert param.resolve(None, setting) == 21.0
    assert param.resolve(7, setting) == 7.0
    for value, names in (
        (0, ["n", 1, 50, 0]),
        (1.5, ["n", 1.5]),
    ):
        with raises_naming(InputError, *names):
            param.resolve(value, setting)


def test_a_policy_that_reads_the_true_means_is_for_simulation_only() -> None:
    class Peeking(Lottery):
        name = "peeking"
        uses_true_means = True

    with raises_naming(InputError, "peeking"):
        Peeking(3, horizon=10)
