"""The order of the tests: what asks for every compiled kernel comes last, when the others have compiled them."""

from __future__ import annotations

import pytest

LAST = "tests/test_kernels.py"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Move them behind all others; the rest stays as it is."""
    items.sort(key=lambda item: item.nodeid.startswith(LAST))
