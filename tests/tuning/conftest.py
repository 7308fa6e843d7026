"""Where most tests of this folder keep their studies."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def url(tmp_path: Path) -> str:
    """The URL of a storage that is not there yet."""
    return f"sqlite:///{tmp_path}/studies.sqlite3"
