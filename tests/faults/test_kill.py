"""Studies killed at random moments: after a rerun the export is identical to that of an uninterrupted run."""

import random
import signal
import time
from pathlib import Path

import numpy as np
import optuna
import pytest
from optuna_dashboard import get_note

from ravenlab.dashboards.optuna_dashboard.attach import is_attached, load_figure
from ravenlab.tuning.attachments import attach_to_studies
from tests.faults.studies import (
    BATCH,
    KILLS,
    NAME,
    SMALL,
    TRIALS,
    export_json,
    kill_after,
    run_in_process,
    start,
    storage_in,
    trial_states,
    wait_for_trials,
)
from tests.messages import assert_names
from tests.project import python


def kill_points() -> list[int]:
    """Numbers of stored trials after which to kill: in the first batch, a later one, validation, and random ones."""
    rng = np.random.default_rng(7)
    return [1, BATCH + 3, TRIALS, *(int(n) for n in rng.integers(2, TRIALS, KILLS - 3))]


@pytest.mark.parametrize("count", kill_points())
def test_killed_study_resumes_to_the_same_bytes(count: int, uninterrupted: str, tmp_path: Path) -> None:
    seen = kill_after(count, *SMALL, "--jobs=2", folder=tmp_path)
    assert count <= seen <= TRIALS
    assert seen % BATCH == 0, "a batch is stored completely or not at all"
    assert set(trial_states(tmp_path)) <= {"COMPLETE"}
    if count == TRIALS:
        assert run_in_process("export", folder=tmp_path).returncode == 2, "the kill came after validation"
    resumed = run_in_process(*SMALL, "--jobs=2", folder=tmp_path)
    assert resumed.returncode == 0, resumed.stderr
    assert trial_states(tmp_path) == {"COMPLETE": TRIALS}
    assert export_json(tmp_path) == uninterrupted


def test_twice_interrupted_study_gives_the_same_bytes(uninterrupted: str, tmp_path: Path) -> None:
    for count in (5, 17):
        process = start(*SMALL, "--jobs=2", folder=tmp_path)
        wait_for_trials(tmp_path, count, process)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "interrupted" in err
        assert "Traceback" not in err
    last = run_in_process(*SMALL, "--jobs=2", folder=tmp_path)
    assert last.returncode == 0, last.stderr
    assert export_json(tmp_path) == uninterrupted


@pytest.mark.parametrize("words", [["--jobs=3"], ["--jobs=2", "--backend=loky"]])
def test_results_do_not_depend_on_workers(words: list[str], uninterrupted: str, tmp_path: Path) -> None:
    done = run_in_process(*SMALL, *words, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert export_json(tmp_path) == uninterrupted


def test_rerun_of_a_complete_study_changes_nothing(tmp_path: Path, uninterrupted: str) -> None:
    assert run_in_process(*SMALL, folder=tmp_path).returncode == 0
    before = (tmp_path / "studies.sqlite3").stat().st_mtime_ns
    again = run_in_process(*SMALL, folder=tmp_path)
    assert again.returncode == 0
    assert_names(again.stderr, NAME, "already complete")
    assert export_json(tmp_path) == uninterrupted
    assert (tmp_path / "studies.sqlite3").stat().st_mtime_ns == before


def test_extended_study_equals_a_single_run(tmp_path: Path, uninterrupted: str) -> None:
    fewer = [word if not word.startswith("--trials") else "--trials=19" for word in SMALL]
    assert run_in_process(*fewer, folder=tmp_path).returncode == 0
    assert export_json(tmp_path) != uninterrupted
    assert run_in_process(*SMALL, folder=tmp_path).returncode == 0
    assert export_json(tmp_path) == uninterrupted


KILL_WHILE_ATTACHING = """
import os, signal, sys
from optuna.storages import RDBStorage
from ravenlab.tuning.attachments import attach_to_studies
original, rows = RDBStorage.set_study_system_attr, []
def set_or_kill(self, study, key, value):
    rows.append(key)
    if sum("plot_data" in key for key in rows) > 3:
        os.kill(os.getpid(), signal.SIGKILL)
    original(self, study, key, value)
RDBStorage.set_study_system_attr = set_or_kill
attach_to_studies(sys.argv[1])
"""


def test_killed_while_figures_are_attached(tmp_path: Path) -> None:
    """`ravenlab dashboard` attaches them when it starts; the next start attaches them again."""
    words = [*SMALL, "--trials=8", "--selection=20", "--report=20", "--jobs=1"]
    assert run_in_process(*words, folder=tmp_path).returncode == 0
    before, place = export_json(tmp_path), storage_in(tmp_path)
    study = optuna.load_study(study_name=NAME, storage=place)
    assert get_note(study)
    assert load_figure(study, "ravenlab-card") is None
    killed = python("-c", KILL_WHILE_ATTACHING, place, folder=tmp_path)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert not is_attached(study)
    attach_to_studies(place)
    assert export_json(tmp_path) == before
    assert is_attached(study)
    for name in ("card", "world"):
        assert load_figure(study, f"ravenlab-{name}") is not None


def test_results_do_not_depend_on_the_clock(
    tmp_path: Path, uninterrupted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock jumps by up to a day in both directions at every call."""
    rng, now = random.Random(1), time.time()
    monkeypatch.setattr(time, "time", lambda: now + rng.uniform(-86_400, 86_400))
    done = run_in_process(*SMALL, "--jobs=2", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert export_json(tmp_path) == uninterrupted
