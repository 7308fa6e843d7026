from __future__ import annotations

from typing import Any

import pytest

from environments.errors import InputError, unknown_name
from tests.messages import assert_names


def test_input_error_is_a_value_error() -> None:
    assert issubclass(InputError, ValueError)


def test_the_closest_name_is_suggested() -> None:
    assert_names(str(unknown_name("scenario", "blip", ["blips", "stationary"])), "'blips'")
    assert "?" not in str(unknown_name("scenario", "zzz", ["blips", "stationary"]))


@pytest.mark.parametrize("name", [3, None, ["blips"], "two\nlines"])
def test_any_name_gives_one_line(name: Any) -> None:
    assert "\n" not in str(unknown_name("scenario", name, ["blips"]))
