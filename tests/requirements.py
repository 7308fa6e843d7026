"""Skipping what a machine can't do, where that may be: not where CI is set, which is to test everything."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def lacking(reason: str) -> NoReturn:
    """Skip the test that asks, or fail it where nothing may be skipped."""
    if os.environ.get("CI"):
        pytest.fail(f"{reason}; CI skips nothing")
    pytest.skip(reason)
