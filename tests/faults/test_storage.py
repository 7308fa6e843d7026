"""Storages that are locked, read-only, damaged, full, removed or replaced: one line, and no trial is lost.

See also test_damage.py.
"""

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ravenlab.dashboards.optuna_dashboard import attach
from ravenlab.studies.storage import database
from ravenlab.tuning import study_run
from ravenlab.tuning.progress import StudyProgress
from tests.faults.studies import (
    NAME,
    SMALL,
    count_trials,
    export_json,
    run,
    run_in_process,
    trial_states,
)
from tests.messages import assert_names
from tests.project import python
from tests.requirements import skip_or_fail


def check_refused(done: subprocess.CompletedProcess[str], *names: object, code: int = 2) -> None:
    """Check for the exit code and a single line that contains the names."""
    assert done.returncode == code, (done.stdout, done.stderr)
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert_names(lines[0], *names)


@pytest.fixture(scope="module")
def stored_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a study of eight trials that is not open in any process; tests use copies of it."""
    folder = tmp_path_factory.mktemp("stored")
    done = run(*SMALL, "--trials=8", folder=folder)
    assert done.returncode == 0, done.stderr
    return folder / "studies.sqlite3"


def test_locked_database_is_reported(stored_study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(stored_study, tmp_path)
    blocker = sqlite3.connect(tmp_path / "studies.sqlite3", isolation_level=None)
    blocker.execute("BEGIN EXCLUSIVE")
    try:
        monkeypatch.setattr(database, "BUSY_SECONDS", 1)
        check_refused(run_in_process(*SMALL, "--trials=16", folder=tmp_path), "locked")
    finally:
        blocker.execute("ROLLBACK")
        blocker.close()
    assert run_in_process(*SMALL, "--trials=16", folder=tmp_path).returncode == 0


AS_NOBODY = """
import os, sys
from ravenlab.tuning.cli import app
warm, words = sys.argv[1], sys.argv[2:]
app.run([*words, "--trials=2", "--selection=2", "--report=2", "--storage", "sqlite:///" + warm + "/warm.sqlite3"])
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
sys.exit(app.run(words))
"""
"""Root ignores permissions, so the second run is done as nobody; the first one imports all modules."""


def test_read_only_database_as_an_ordinary_user(stored_study: Path, tmp_path: Path) -> None:
    folder, warm = tmp_path / "folder", tmp_path / "warm"
    warm.mkdir()
    shutil.copytree(stored_study.parent, folder)
    expected = export_json(folder)
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)
    for parent in tmp_path.parents:
        if parent.stat().st_uid == os.getuid() and "pytest" in parent.name:
            parent.chmod(0o755)
    tmp_path.chmod(0o755)
    done = python("-c", AS_NOBODY, warm, *SMALL, "--trials=16", folder=folder)
    check_refused(done, "studies.sqlite3", "cannot be written")
    folder.chmod(0o755)
    assert export_json(folder) == expected
    assert count_trials(folder) == 8


def test_full_disk_loses_no_trial(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        skip_or_fail(f"a small disk can be mounted by root only ({mounted.stderr.decode().strip()})")
    try:
        done = run(*SMALL, "--trials=2000", folder=disk)
        check_refused(done, "studies.sqlite3", "cannot be written", code=1)
        stored = count_trials(disk)
        assert stored > 0
        assert set(trial_states(disk)) == {"COMPLETE"}
        shutil.copytree(disk, tmp_path / "larger")
    finally:
        subprocess.run(["umount", str(disk)], check=True)
    resumed = run_in_process(*SMALL, f"--trials={stored + 8}", folder=tmp_path / "larger")
    assert resumed.returncode == 0, resumed.stderr
    assert count_trials(tmp_path / "larger") == stored + 8


def remove(path: Path) -> None:
    path.unlink()


def replace(path: Path) -> None:
    """Replace the file by an empty storage, as a backup that is restored would."""
    new = path.with_name("new")
    database.create_sqlite_file(new)
    new.replace(path)


def remove_folder(path: Path) -> None:
    shutil.rmtree(path.parent)


@pytest.mark.parametrize(
    ("change", "owner", "name"),
    [
        (remove, StudyProgress, "begin"),
        (remove, StudyProgress, "batch"),
        (remove, StudyProgress, "finish"),
        (remove, study_run, "run_stored"),
        (remove, attach, "attach"),
        (replace, StudyProgress, "batch"),
        (replace, study_run, "run_stored"),
        (replace, attach, "attach"),
        (remove_folder, StudyProgress, "batch"),
    ],
)
def test_removed_or_replaced_file_is_a_failure(
    change: Callable[[Path], None], owner: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite writes to a removed file without an error; a write-ahead log that remains would damage a new file."""
    folder, original = tmp_path / "folder", getattr(owner, name)
    path = folder / "studies.sqlite3"
    folder.mkdir()

    def call_and_change(*args: Any, **options: Any) -> Any:
        result = original(*args, **options)
        if path.exists():
            change(path)
        return result

    words = [*SMALL, "--trials=16", "--selection=20", "--report=20", "--jobs=1", f"--storage=sqlite:///{path}"]
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, call_and_change)
        check_refused(run_in_process(*words, folder=tmp_path), "studies.sqlite3", "removed or replaced", code=1)
    left = sorted(file.name for file in folder.iterdir()) if folder.exists() else []
    assert left == (["studies.sqlite3"] if change is replace else [])
    folder.mkdir(exist_ok=True)
    again = run_in_process(*words, folder=tmp_path)
    assert again.returncode == 0, again.stderr
    assert count_trials(folder) == 16


@pytest.mark.parametrize("replacement", ["empty", "another study"])
def test_overwritten_file_is_noticed_or_harmless(
    replacement: str, stored_study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file overwritten in place keeps its identity; SQLite notices it, or its write-ahead log holds all pages."""
    path = tmp_path / "studies.sqlite3"
    content = database._empty_database() if replacement == "empty" else stored_study.read_bytes()
    original = StudyProgress.batch
    done: list[int] = []

    def store_and_overwrite(*args: Any) -> None:
        original(*args)
        if not done:
            done.append(path.stat().st_ino)
            with path.open("r+b") as file:
                file.write(content)
                file.truncate()

    words = [*SMALL, "--trials=16", "--seed=6", "--selection=20", "--report=20", "--jobs=1"]
    monkeypatch.setattr(StudyProgress, "batch", store_and_overwrite)
    run_done = run_in_process(*words, folder=tmp_path)
    assert done == [path.stat().st_ino]
    if run_done.returncode == 0:
        assert trial_states(tmp_path) == {"COMPLETE": 16}
    else:
        check_refused(run_done, "studies.sqlite3", code=run_done.returncode)


def test_stale_write_ahead_log_is_not_applied(stored_study: Path, tmp_path: Path) -> None:
    """After `rm studies.sqlite3` during a run that is killed, the log of the removed file remains."""
    path = tmp_path / "studies.sqlite3"
    shutil.copy(stored_study, path)
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("CREATE TABLE other (x)")
        writer.commit()
        log = path.with_name(f"{path.name}-wal").read_bytes()
    path.unlink()
    path.with_name(f"{path.name}-wal").write_bytes(log)
    database.create_sqlite_file(path)
    with closing(sqlite3.connect(path)) as reader:
        assert reader.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert reader.execute("SELECT count(*) FROM sqlite_master WHERE name = 'other'").fetchone() == (0,)
        assert reader.execute("SELECT count(*) FROM studies").fetchone() == (0,)


def test_changed_settings_are_refused_with_the_difference(stored_study: Path, tmp_path: Path) -> None:
    shutil.copy(stored_study, tmp_path)
    expected = export_json(tmp_path)
    for words, names in (
        (["--replications=50"], ["replications", 40, 50]),
        (["--seed=6", f"--name={NAME}"], ["seed", 5, 6]),
        (["--batch=9"], ["batch", 8, 9]),
    ):
        check_refused(run_in_process(*SMALL, "--trials=8", *words, folder=tmp_path), *names)
    assert export_json(tmp_path) == expected


@pytest.mark.parametrize("size", [0, 100, 60_000])
def test_truncated_file_is_one_line(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file keeps its identity, and its write-ahead log lacks the pages that are gone."""
    original = StudyProgress.batch

    def store_and_truncate(*args: Any) -> None:
        original(*args)
        os.truncate(tmp_path / "studies.sqlite3", size)

    words = [*SMALL, "--trials=16", "--selection=20", "--report=20", "--jobs=1"]
    with monkeypatch.context() as patch:
        patch.setattr(StudyProgress, "batch", store_and_truncate)
        check_refused(run_in_process(*words, folder=tmp_path), "studies.sqlite3", "is damaged")
    check_refused(run_in_process("studies", folder=tmp_path), "studies.sqlite3", "is not a readable SQLite database")
    assert [path.name for path in tmp_path.iterdir()] == ["studies.sqlite3"]
