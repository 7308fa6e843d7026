"""Storage for the tests of this folder."""

from pathlib import Path

import pytest


@pytest.fixture
def url(tmp_path: Path) -> str:
    """The URL of a storage that does not exist yet."""
    return f"sqlite:///{tmp_path}/studies.sqlite3"
