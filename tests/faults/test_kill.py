"""Kill −9 at drawn moments; after a rerun the export is byte-identical to an undisturbed run's."""

from __future__ import annotations

import signal
from pathlib import Path

import numpy as np
import pytest

from tests.faults.studies import (
    BATCH,
    KILLS,
    SMALL,
    TRIALS,
    exported,
    kill_when,
    run,
    start,
    states,
    wait_for,
    within,
)


def moments() -> list[int]:
    """After how many landed trials to kill: the first, inside a batch, in the validation, and drawn ones."""
    rng = np.random.default_rng(7)
    return [1, BATCH + 3, TRIALS, *(int(n) for n in rng.integers(2, TRIALS, KILLS - 3))]


@pytest.mark.parametrize(("i", "count"), list(enumerate(moments())))
def test_a_killed_study_goes_on_to_the_same_bytes(i: int, count: int, undisturbed: str, tmp_path: Path) -> None:
    seen = kill_when(count, *SMALL, "--jobs=2", folder=tmp_path)
    assert count <= seen <= TRIALS
    assert i != 1 or seen % BATCH, "this kill should fall inside a batch"
    assert set(states(tmp_path)) <= {"COMPLETE"}
    if count == TRIALS:
        assert within("export", folder=tmp_path).returncode == 2, "already validated"
    again = within(*SMALL, "--jobs=2", folder=tmp_path)
    assert again.returncode == 0, again.stderr
    assert states(tmp_path) == {"COMPLETE": TRIALS}
    assert exported(tmp_path) == undisturbed


def test_three_interrupted_pieces_give_the_same_bytes(undisturbed: str, tmp_path: Path) -> None:
    for count in (5, 17):
        process = start(*SMALL, "--jobs=2", folder=tmp_path)
        wait_for(tmp_path, count, process)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "interrupted" in err
        assert "Traceback" not in err
    last = within(*SMALL, "--jobs=2", folder=tmp_path)
    assert last.returncode == 0, last.stderr
    assert exported(tmp_path) == undisturbed


@pytest.mark.parametrize("words", [["--jobs=2"], ["--jobs=2", "--backend=loky"], ["--jobs=3"]])
def test_workers_do_not_show(words: list[str], undisturbed: str, tmp_path: Path) -> None:
    done = within(*SMALL, *words, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert exported(tmp_path) == undisturbed


def test_a_complete_study_says_so_and_does_nothing(tmp_path: Path, undisturbed: str) -> None:
    assert run(*SMALL, folder=tmp_path).returncode == 0
    before = (tmp_path / "studies.sqlite3").stat().st_mtime_ns
    again = run(*SMALL, folder=tmp_path)
    assert again.returncode == 0
    assert exported(tmp_path) == undisturbed
    assert (tmp_path / "studies.sqlite3").stat().st_mtime_ns == before


def test_an_extended_study_equals_one_in_one_go(tmp_path: Path, undisturbed: str) -> None:
    fewer = [word if not word.startswith("--trials") else "--trials=19" for word in SMALL]
    assert within(*fewer, folder=tmp_path).returncode == 0
    assert exported(tmp_path) != undisturbed
    assert within(*SMALL, folder=tmp_path).returncode == 0
    assert exported(tmp_path) == undisturbed
