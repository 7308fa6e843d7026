"""What an undisturbed run gives, which every disturbed one must give as well."""

from __future__ import annotations

import pytest

from tests.faults.studies import SMALL, exported, within


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The export of the small study, run in one go by one worker."""
    folder = tmp_path_factory.mktemp("undisturbed")
    done = within(*SMALL, "--jobs=1", folder=folder)
    assert done.returncode == 0, done.stderr
    return exported(folder)
