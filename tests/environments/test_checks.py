from __future__ import annotations

from typing import Any

import pytest

from environments.checks import check_integer, check_nonnegative, check_number
from environments.errors import InputError
from tests.messages import raises_naming


@pytest.mark.parametrize("value", ["abc", "1", None, True, [1], float("nan"), float("inf"), 1e200, 10**400, -(10**400)])
def test_what_is_no_finite_number_is_refused(value: Any) -> None:
    for check in (check_number, check_nonnegative):
        with raises_naming(InputError, "drift"):
            check("drift", value)


def test_numbers_come_back_as_floats() -> None:
    assert check_number("drift", -2) == -2.0
    assert isinstance(check_number("drift", 2), float)
    assert check_nonnegative("growth", 0) == 0.0


def test_negative_numbers_are_refused_where_they_make_no_sense() -> None:
    with raises_naming(InputError, "growth", "0", "-0.1"):
        check_nonnegative("growth", -0.1)


@pytest.mark.parametrize("value", ["5", 5.0, None, True, [5], float("nan")])
def test_what_is_no_whole_number_is_refused(value: Any) -> None:
    with raises_naming(InputError, "arms"):
        check_integer("arms", value, least=1)


def test_bounds_of_whole_numbers() -> None:
    assert check_integer("arms", 1, least=1, most=1) == 1
    with raises_naming(InputError, "arms", "1", "0"):
        check_integer("arms", 0, least=1)
    with raises_naming(InputError, "arms", "9", "10"):
        check_integer("arms", 10, least=1, most=9)
