"""Parameters of policies: defaults, bounds, and one clear line for what they may not be."""

from __future__ import annotations

import math
from typing import Any

import pytest

from environments.errors import InputError
from policies import find_policy
from policies.base import Param, Setting
from tests.policies.online import Lottery, made


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"alpha0": -1}, "alpha0 must be at least 0 but got -1"),
        ({"alpha0": "1"}, "alpha0 must be a finite number but got '1'"),
        ({"alpha0": math.nan}, "alpha0 must be a finite number but got nan"),
        ({"alpha0": math.inf}, "alpha0 must be a finite number but got inf"),
        ({"alpha0": 10**400}, "alpha0 must be a finite number but got 1000"),
        ({"beta0": True}, "beta0 must be a finite number but got True"),
        ({"beta0": [1]}, r"beta0 must be a finite number but got \[1\]"),
        ({"variance": "biased"}, "variance must be one of welford, printed, accumulated but got 'biased'"),
        ({"variance": 1}, "variance must be one of welford, printed, accumulated but got 1"),
        ({"alpha": 1}, "unknown parameter of raven-ucb 'alpha'; did you mean 'alpha0'"),
        ({"seed": -1}, "seed must be at least 0 but got -1"),
        ({"seed": "a"}, "seed must be a whole number but got 'a'"),
        ({"horizon": 0}, "horizon must be at least 1 but got 0"),
        ({"horizon": 1.5}, "horizon must be a whole number but got 1.5"),
    ],
)
def test_bad_ones_give_one_clear_line(params: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}") as caught:
        made("raven-ucb", 3, **params)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("arms", [0, -1, 2.0, "2", None, True])
def test_arms_are_a_whole_number(arms: Any) -> None:
    with pytest.raises(InputError, match=r"^arms must be"):
        made("ucb1", arms)


@pytest.mark.parametrize("params", [[1], "c", 3])
def test_parameters_have_names(params: Any) -> None:
    with pytest.raises(InputError, match=r"^params must be names with values but got"):
        find_policy("ucb1").resolve(params, 3, 100)


def test_a_default_that_needs_the_horizon_says_so() -> None:
    with pytest.raises(InputError, match=r"^horizon must be given"):
        Lottery(3)


def test_bounds_and_whole_numbers() -> None:
    param = Param("n", lambda s: 10.6 * s.arms, least=1, most=50, integer=True)
    setting = Setting(None, 2, {})
    assert param.resolve(None, setting) == 21.0
    assert param.resolve(7, setting) == 7.0
    for value, message in (
        (0, "n must be in \\[1, 50\\] but got 0"),
        (1.5, "n must be a whole number but got 1.5"),
    ):
        with pytest.raises(InputError, match=message):
            param.resolve(value, setting)


def test_a_policy_that_reads_the_true_means_is_for_simulation_only() -> None:
    class Peeking(Lottery):
        name = "peeking"
        peeks = True

    with pytest.raises(InputError, match="peeking reads the true means"):
        Peeking(3, horizon=10)
