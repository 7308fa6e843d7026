"""Storages that are locked, read-only, damaged or full: one line, and no trial is lost.

See also test_damage.py.
"""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
from pathlib import Path

import pytest

from studies.storage import database
from tests.faults.studies import (
    NAME,
    SMALL,
    count_trials,
    export_json,
    run,
    run_in_process,
    start,
    trial_states,
    wait_for_trials,
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


def test_second_driver_is_refused(tmp_path: Path) -> None:
    first = start(*SMALL, "--trials=400", folder=tmp_path)
    wait_for_trials(tmp_path, 3, first)
    second = run_in_process(*SMALL, "--trials=400", folder=tmp_path)
    check_refused(second, f"'{NAME}'", "another process")
    assert first.poll() is None
    first.send_signal(signal.SIGTERM)
    _, err = first.communicate(timeout=60)
    assert first.returncode == 130
    assert "interrupted" in err
    assert count_trials(tmp_path) >= 3
    assert set(trial_states(tmp_path)) == {"COMPLETE"}


@pytest.mark.parametrize("damage", ["half", "zeros"])
def test_damaged_study_is_not_resumed(damage: str, stored_study: Path, tmp_path: Path) -> None:
    path = tmp_path / "studies.sqlite3"
    content = stored_study.read_bytes()
    path.write_bytes(content[: len(content) // 2] if damage == "half" else content[:4096] + bytes(len(content) - 4096))
    before = path.read_bytes()
    check_refused(run(*SMALL, "--trials=8", folder=tmp_path), "storage")
    assert path.read_bytes() == before


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
from tuning.cli import app
warm, words = sys.argv[1], sys.argv[2:]
app.run([*words, "--storage", "sqlite:///" + warm + "/warm.sqlite3"])
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


def test_changed_settings_are_refused_with_the_difference(stored_study: Path, tmp_path: Path) -> None:
    shutil.copy(stored_study, tmp_path)
    expected = export_json(tmp_path)
    for words, names in (
        (["--replications=50"], ["replications", 40, 50]),
        (["--seed=6"], ["seed", 5, 6]),
        (["--batch=9"], ["batch", 8, 9]),
    ):
        check_refused(run_in_process(*SMALL, "--trials=8", *words, folder=tmp_path), *names)
    assert export_json(tmp_path) == expected


def test_reading_creates_no_storage(tmp_path: Path) -> None:
    check_refused(run("export", folder=tmp_path), "studies.sqlite3", "does not exist")
    assert list(tmp_path.iterdir()) == []
