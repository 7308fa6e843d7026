"""Assertions on messages: they must name fields, values and limits. Wording is compared in tests/golden only."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


def is_named(name: object, message: str) -> bool:
    """Return whether a message contains this name or number as a whole word.

    Line breaks and thousands separators are ignored.
    """
    word, text = (re.sub(r"(?<=\d),(?=\d{3})", "", " ".join(string.split())) for string in (str(name), message))
    before = r"(?<![\w.-])" if word[:1].isdigit() else r"(?<![\w.])"
    return re.search(rf"{before}{re.escape(word)}(?!\w|\.\d)", text) is not None


def assert_names(message: str, *names: object) -> None:
    """Assert that a message contains all names, such as the field, the invalid value and the allowed values."""
    missing = [name for name in names if not is_named(name, message)]
    assert not missing, f"{missing} not named in: {message}"


@contextmanager
def raises_naming(error: type[Exception], *names: object) -> Iterator[pytest.ExceptionInfo[Exception]]:
    """``pytest.raises`` for an error whose message contains all names."""
    with pytest.raises(error) as caught:
        yield caught
    assert_names(str(caught.value), *names)
