"""A killed grid resumes to the same bytes."""

from pathlib import Path

import pytest

from tests.faults.studies import kill_after, run_in_process, trial_states

CELLS = 30
SMALL = [
    *("grid", "localized-jump", "--horizon=500", "--arms=4", "--alpha0=0.1,0.5,1,5,10", "--beta0=0.1,0.5,1,2,5,10"),
    *("--replications=400", "--seed=5", "--quiet", "--csv=grid.csv"),
]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """CSV file of a grid that was not interrupted."""
    folder = tmp_path_factory.mktemp("whole")
    done = run_in_process(*SMALL, "--jobs=1", folder=folder)
    assert done.returncode == 0, done.stderr
    return (folder / "grid.csv").read_bytes()


def test_results_do_not_depend_on_workers(uninterrupted: bytes, tmp_path: Path) -> None:
    assert run_in_process(*SMALL, "--jobs=2", folder=tmp_path).returncode == 0
    assert (tmp_path / "grid.csv").read_bytes() == uninterrupted


@pytest.mark.parametrize("count", [11, CELLS])
def test_killed_grid_resumes_to_the_same_bytes(count: int, uninterrupted: bytes, tmp_path: Path) -> None:
    assert count <= kill_after(count, *SMALL, "--jobs=2", folder=tmp_path) <= CELLS
    assert set(trial_states(tmp_path)) == {"COMPLETE"}
    assert count == CELLS or not (tmp_path / "grid.csv").exists()
    resumed = run_in_process(*SMALL, "--jobs=1", folder=tmp_path)
    assert resumed.returncode == 0, resumed.stderr
    assert trial_states(tmp_path) == {"COMPLETE": CELLS}
    assert (tmp_path / "grid.csv").read_bytes() == uninterrupted
