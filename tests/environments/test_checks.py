from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ravenlab.common.checks import (
    MAX_STEPS,
    check_integer,
    check_nonnegative,
    check_number,
    parse_count,
    parse_share,
    parse_steps,
)
from ravenlab.common.errors import InputError
from tests.environments.properties import quick
from tests.messages import raises_naming


@pytest.mark.parametrize("value", ["abc", "1", None, True, [1], float("nan"), float("inf"), 1e200, 10**400, -(10**400)])
def test_non_finite_numbers_are_rejected(value: Any) -> None:
    for check in (check_number, check_nonnegative):
        with raises_naming(InputError, "drift"):
            check("drift", value)


def test_numbers_are_returned_as_floats() -> None:
    assert check_number("drift", -2) == -2.0
    assert isinstance(check_number("drift", 2), float)
    assert check_nonnegative("growth", 0) == 0.0


def test_negative_numbers_are_rejected() -> None:
    with raises_naming(InputError, "growth", "0", "-0.1"):
        check_nonnegative("growth", -0.1)


@pytest.mark.parametrize("value", ["5", 5.0, None, True, [5], float("nan")])
def test_non_integers_are_rejected(value: Any) -> None:
    with raises_naming(InputError, "arms"):
        check_integer("arms", value, least=1)


def test_bounds_of_whole_numbers() -> None:
    assert check_integer("arms", 1, least=1, most=1) == 1
    with raises_naming(InputError, "arms", "1", "0"):
        check_integer("arms", 0, least=1)
    with raises_naming(InputError, "arms", "9", "10"):
        check_integer("arms", 10, least=1, most=9)


@pytest.mark.parametrize("value", ["10000", "10_000", " 1e4 ", "1.0E+4", "10k", "10K", "0.01M", 1e4, 10_000])
def test_forms_of_a_whole_number(value: Any) -> None:
    count = parse_count(value)
    assert (count, type(count)) == (10_000, int)


@pytest.mark.parametrize("value", ["ten", "1.5", "1.5e0", "1e-3", "2G", "k", "1__0", "9" * 5000, 0.5, True, None, [5]])
def test_anything_else_is_not_a_whole_number(value: Any) -> None:
    assert parse_count(value) is value


@quick
@given(hundredths=st.integers(1, 20_000), horizon=st.integers(1, 10**9))
def test_a_share_of_the_horizon_is_floored_exactly(hundredths: int, horizon: int) -> None:
    text = f"{hundredths // 100}.{hundredths % 100:02d}%"
    assert parse_steps("every", text, horizon) == max(1, hundredths * horizon // 10_000)


@pytest.mark.parametrize(
    ("text", "horizon", "expected"),
    [("29%", 100, 29), ("10%", 50_000, 5000), ("1%", 50, 1), ("100%", 7, 7), (" 10 % ", 50, 5), ("0.1%", 10, 1)],
)
def test_common_percentages(text: str, horizon: int, expected: int) -> None:
    assert parse_steps("every", text, horizon) == expected


def test_a_number_of_steps_does_not_depend_on_the_horizon() -> None:
    assert [parse_steps("every", 500, horizon) for horizon in (10, 10_000)] == [500, 500]
    assert [parse_steps("every", value, 10) for value in ("500", "5e2", "0.5k", 500.0)] == [500] * 4


WORDS = ["0", "-3", "2.5", "abc", "abc%", "0%", "-5%", "nan%", "inf%", "", "%", "1e999999999%", "1e30%", "9" * 5000]
NUMBERS = [0, -3, 2.5, True, float("nan"), float("inf"), 10**400, MAX_STEPS + 1]


@pytest.mark.parametrize("value", [*WORDS, *NUMBERS, None, [5], {}])
def test_an_invalid_time_is_a_one_line_error_that_names_the_field(value: Any) -> None:
    with raises_naming(InputError, "every") as caught:
        parse_steps("every", value, 100)
    assert "\n" not in str(caught.value)


@quick
@given(percent=st.integers(1, 100), arms=st.integers(1, 1000))
def test_a_float_is_read_as_its_shortest_decimal(percent: int, arms: int) -> None:
    for value in (percent / 100, np.float64(percent / 100), f"{percent}%", f"{percent}/100"):
        assert parse_share("fraction", value) * arms // 1 == percent * arms // 100


def test_fractions_are_exact() -> None:
    assert parse_share("fraction", "1/3") * 99 == 33
    assert parse_share("fraction", 1) == Fraction(1)


@pytest.mark.parametrize(
    "value",
    ["x", "1/0", "", None, True, 0, 0.0, 1.1, -0.5, "-1/3", "4/3", float("nan"), float("inf"), [1], "1e-999999999"],
)
def test_an_invalid_share_is_a_one_line_error_that_names_the_field(value: Any) -> None:
    with raises_naming(InputError, "fraction"):
        parse_share("fraction", value)
