from typing import Any

import pytest

from ravenlab.common.errors import ExternalError, InputError, closest_name, unknown_name
from tests.messages import assert_names


def test_input_error_is_a_value_error() -> None:
    assert issubclass(InputError, ValueError)


def test_the_closest_name_is_suggested() -> None:
    assert_names(str(unknown_name("scenario", "blip", ["blips", "stationary"])), "'blips'")
    assert "?" not in str(unknown_name("scenario", "zzz", ["blips", "stationary"]))


@pytest.mark.parametrize(
    ("name", "expected"),
    [("raven", "raven-ucb"), ("RAVEN-UCB", "raven-ucb"), ("ucb", "ucb1"), ("thomson", "thompson"), ("r", None)],
)
def test_names_that_begin_alike_are_preferred(name: str, expected: str | None) -> None:
    assert closest_name(name, ["d-raven", "raven-ucb", "sw-raven", "thompson", "ucb1", "ucb-v"]) == expected


@pytest.mark.parametrize("name", [3, None, ["blips"], "two\nlines"])
def test_any_name_gives_one_line(name: Any) -> None:
    assert "\n" not in str(unknown_name("scenario", name, ["blips"]))


@pytest.mark.parametrize("kind", [InputError, ExternalError])
def test_messages_are_one_line_without_control_sequences(kind: type[Exception]) -> None:
    assert str(kind("trace \x1b[31mred\x07\n.csv is missing.")) == r"trace \x1b[31mred\x07 .csv is missing."
