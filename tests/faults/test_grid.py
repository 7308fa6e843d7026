"""A grid that was killed −9 goes on to the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.studies import kill_when, states, within

CELLS = 30
SMALL = [
    "grid",
    "localized-jump",
    "--horizon=500",
    "--arms=4",
    "--alpha0=0.1,0.5,1,5,10",
    "--beta0=0.1,0.5,1,2,5,10",
    "--replications=400",
    "--seed=5",
    "--quiet",
    "--csv=grid.csv",
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("whole")
    done = within(*SMALL, "--jobs=1", folder=folder)
    assert done.returncode == 0, done.stderr
    return (folder / "grid.csv").read_bytes()


def test_workers_do_not_show(whole: bytes, tmp_path: Path) -> None:
    assert within(*SMALL, "--jobs=2", folder=tmp_path).returncode == 0
    assert (tmp_path / "grid.csv").read_bytes() == whole


@pytest.mark.parametrize("count", [11, CELLS])
def test_a_killed_grid_goes_on_to_the_same_bytes(count: int, whole: bytes, tmp_path: Path) -> None:
    assert count <= kill_when(count, *SMALL, "--jobs=2", folder=tmp_path) <= CELLS
    assert set(states(tmp_path)) == {"COMPLETE"}
    assert count == CELLS or not (tmp_path / "grid.csv").exists()
    again = within(*SMALL, "--jobs=1", folder=tmp_path)
    assert again.returncode == 0, again.stderr
    assert states(tmp_path) == {"COMPLETE": CELLS}
    assert (tmp_path / "grid.csv").read_bytes() == whole
