"""Result of an uninterrupted run, which interrupted runs must reproduce."""

import pytest

from tests.faults.studies import SMALL, export_json, run_in_process


@pytest.fixture(scope="session")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Export of the small study, run without interruption by one worker."""
    folder = tmp_path_factory.mktemp("uninterrupted")
    done = run_in_process(*SMALL, "--jobs=1", folder=folder)
    assert done.returncode == 0, done.stderr
    return export_json(folder)
