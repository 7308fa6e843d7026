from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from environments.checks import MAX_STEPS, parse_share, parse_steps
from environments.errors import InputError
from tests.environments.properties import quick
from tests.messages import raises_naming


@quick
@given(hundredths=st.integers(1, 20_000), horizon=st.integers(1, 10**9))
def test_a_share_of_the_horizon_is_floored_exactly(hundredths: int, horizon: int) -> None:
    text = f"{hundredths // 100}.{hundredths % 100:02d}%"
    assert parse_steps("every", text, horizon) == max(1, hundredths * horizon // 10_000)


@pytest.mark.parametrize(
    ("text", "horizon", "expected"),
    [("29%", 100, 29), ("10%", 50_000, 5000), ("1%", 50, 1), ("100%", 7, 7), (" 10 % ", 50, 5), ("0.1%", 10, 1)],
)
def test_shares_that_people_write(text: str, horizon: int, expected: int) -> None:
    assert parse_steps("every", text, horizon) == expected


def test_a_count_of_steps_is_itself_whatever_the_horizon() -> None:
    assert [parse_steps("every", 500, horizon) for horizon in (10, 10_000)] == [500, 500]
    assert parse_steps("every", "500", 10) == 500


WORDS = ["0", "-3", "2.5", "abc", "abc%", "0%", "-5%", "nan%", "inf%", "", "%", "1e999999999%", "1e30%", "9" * 5000]
NUMBERS = [0, -3, 2.5, True, float("nan"), float("inf"), 10**400, MAX_STEPS + 1]


@pytest.mark.parametrize("value", [*WORDS, *NUMBERS, None, [5], {}])
def test_what_is_no_time_gives_one_line_that_names_the_field(value: Any) -> None:
    with raises_naming(InputError, "every") as caught:
        parse_steps("every", value, 100)
    assert "\n" not in str(caught.value)


@quick
@given(percent=st.integers(1, 100), arms=st.integers(1, 1000))
def test_a_float_is_read_as_its_shortest_decimal(percent: int, arms: int) -> None:
    for value in (percent / 100, np.float64(percent / 100), f"{percent}%", f"{percent}/100"):
        assert parse_share("fraction", value) * arms // 1 == percent * arms // 100


def test_thirds_are_thirds() -> None:
    assert parse_share("fraction", "1/3") * 99 == 33
    assert parse_share("fraction", 1) == Fraction(1)


@pytest.mark.parametrize(
    "value",
    ["x", "1/0", "", None, True, 0, 0.0, 1.1, -0.5, "-1/3", "4/3", float("nan"), float("inf"), [1], "1e-999999999"],
)
def test_what_is_no_share_gives_one_line_that_names_the_field(value: Any) -> None:
    with raises_naming(InputError, "fraction"):
        parse_share("fraction", value)
