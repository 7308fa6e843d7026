"""Damaged and foreign storages: commands print one line and leave the file unchanged.

A flipped bit in free space or in a number goes unnoticed, and a changed value may be valid, so a command may succeed.
The tests assert: no exception; exit code 0, 1 or 2, and one line if it is not 0; a command that only reads, or that is
refused, does not change the file. The exception are bytes of the header, since a driver first turns on SQLite's
write-ahead log.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import optuna
import pytest

from dashboards.optuna_dashboard.server import DashboardServer
from tests.command import run_command
from tests.faults.damage import write_damaged
from tests.faults.template import SMALL_TUNE, make_storage
from tests.messages import assert_names

CASES = int(os.environ.get("RAVENLAB_DAMAGED", "20"))
COMMANDS_PER_CASE = 14 if CASES >= 200 else 3
"""Commands run on each damaged file: all, or a few in rotation."""

READ_COMMANDS = [
    ["studies"],
    ["show", "tuned"],
    ["show", "cells", "--json"],
    ["export"],
    ["show", "worlds"],
    ["show", "compared"],
    ["studies", "--json"],
    ["recommend", "blips", "--horizon=20", "--arms=3"],
    ["report"],
    ["doctor"],
]
TUNE = [*SMALL_TUNE, "--name=tuned"]
WRITE_COMMANDS = [
    ["copy", "*", "--to=sqlite:///copied.sqlite3"],  # locks its source, which sets the journal mode
    TUNE,
    ["delete", "tuned", "--yes"],
    ["dashboard", "--port=0"],
]
COMMANDS = [*READ_COMMANDS, *WRITE_COMMANDS]


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("intact") / "studies.sqlite3"
    make_storage(path)
    return path


@pytest.fixture(autouse=True)
def _no_blocking_calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(DashboardServer, "serve_forever", lambda self: None)
    monkeypatch.delenv("RAVENLAB_STORAGE", raising=False)
    monkeypatch.chdir(tmp_path)


JOURNAL_BYTES = (slice(18, 20), slice(24, 28), slice(92, 100))
"""Bytes of the SQLite header with the journal mode and the change counter, which a driver sets first."""


def storage_bytes(path: Path, words: list[str]) -> bytes:
    """Return the bytes of a storage; for commands that write, without its journal mode."""
    content = bytearray(path.read_bytes())
    if words in WRITE_COMMANDS:
        for part in JOURNAL_BYTES:
            content[part] = bytes(len(content[part]))
    return bytes(content)


def run_and_check(words: list[str], path: Path) -> tuple[int, str]:
    """Run a command on a storage, and check that it fails with one line and without changing the file."""
    before = storage_bytes(path, words)
    code, _, err = run_command(words)
    if code and words[0] != "doctor":  # its exit code 1 means that its table lists problems
        assert err.splitlines()[-1].startswith("ravenlab: "), (words, err)
    assert "Traceback" not in err
    log = path.with_name(f"{path.name}-wal")
    if code or words in READ_COMMANDS:
        assert storage_bytes(path, words) == before, (words, err)
        assert not log.exists() or log.stat().st_size == 0
    return code, err


@pytest.mark.parametrize("seed", range(CASES))
def test_damaged_storage(seed: int, intact: Path, tmp_path: Path) -> None:
    path = tmp_path / "studies.sqlite3"
    for turn in range(COMMANDS_PER_CASE):
        for old in tmp_path.glob("*.sqlite3*"):
            old.unlink()
        damage = write_damaged(intact, path, seed)
        words = COMMANDS[(seed * COMMANDS_PER_CASE + turn) % len(COMMANDS)]
        code, err = run_and_check(words, path)
        failure = 1 if words[0] == "doctor" else 2
        assert code in ((failure,) if damage.startswith("cut") else (0, 1, 2)), (words, damage, err)


def _another_application(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()


def _half_of_the_tables(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        for name in ("studies", "trials", "version_info"):
            connection.execute(f"CREATE TABLE {name} (name TEXT)")
    connection.close()


def _no_version(path: Path) -> None:
    optuna.storages.RDBStorage(f"sqlite:///{path}").engine.dispose()
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM version_info")
        connection.execute("DELETE FROM alembic_version")
    connection.close()


def _a_new_version(path: Path) -> None:
    optuna.storages.RDBStorage(f"sqlite:///{path}").engine.dispose()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = 'v99.0.0.a'")
    connection.close()


FOREIGN: dict[str, Callable[[Path], object]] = {
    "another application": _another_application,
    "half of the tables": _half_of_the_tables,
    "no version": _no_version,
    "a new version": _a_new_version,
    "zip": lambda path: path.write_bytes(b"PK\x03\x04" + bytes(500)),
    "png": lambda path: path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(500)),
    "text": lambda path: path.write_text("studies " * 100),
    "header alone": lambda path: path.write_bytes(b"SQLite format 3\x00"),
    "zeros": lambda path: path.write_bytes(bytes(8192)),
}


REASONS = {
    "another application": "without Optuna studies",
    "half of the tables": "no version of Optuna's tables",
    "no version": "no version of Optuna's tables",
    "a new version": "another version of Optuna",
}
"""Reasons in the message, if the file is an SQLite database."""


@pytest.mark.parametrize("kind", FOREIGN)
def test_file_of_another_program(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "studies.sqlite3"
    FOREIGN[kind](path)
    for words in COMMANDS if CASES >= 200 else [*COMMANDS[::3], TUNE]:
        code, err = run_and_check(words, path)
        if words[0] == "doctor":  # it does not check the version of Optuna's tables
            assert code == 1 or kind == "a new version"
            continue
        assert code == 2, (words, err)
        assert_names(err, "storage", "studies.sqlite3", REASONS.get(kind, "is not a readable SQLite database"))
        assert len(err.splitlines()) == 1


@pytest.mark.parametrize("kind", ["folder", "pipe", "loop", "device", "empty"])
def test_path_that_is_not_a_regular_file(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "studies.sqlite3"
    make: dict[str, Callable[[], object]] = {
        "folder": path.mkdir,
        "pipe": lambda: os.mkfifo(path),
        "loop": lambda: path.symlink_to(path.name),
        "device": lambda: path.symlink_to("/dev/null"),
        "empty": path.touch,
    }
    make[kind]()
    for words in COMMANDS:
        if words[0] == "doctor" or (kind == "empty" and words in WRITE_COMMANDS):
            continue
        if kind == "loop" and words[0] in ("report", "recommend"):  # a missing storage is no error for them
            continue
        code, _, err = run_command(words)
        assert (code, len(err.splitlines())) == (2, 1), (words, err)
    assert kind != "empty" or path.stat().st_size == 0
    assert not list(tmp_path.glob("*-journal"))


def test_study_created_by_other_software(tmp_path: Path) -> None:
    """A foreign study is listed, shown, copied and deleted on request, but never resumed."""
    path = tmp_path / "studies.sqlite3"
    storage = optuna.storages.RDBStorage(f"sqlite:///{path}")
    foreign = optuna.create_study(study_name="tuned", storage=storage)
    foreign.optimize(lambda trial: trial.suggest_categorical("x", ["a", "b"]) == "a", n_trials=2)
    foreign.ask()
    storage.remove_session()
    storage.engine.dispose()
    for words in READ_COMMANDS:
        succeeds = words[0] in ("studies", "report", "doctor") or words == ["show", "tuned"]
        assert run_and_check(words, path)[0] == (0 if succeeds else 2), words
    code, err = run_and_check(TUNE, path)
    assert code == 2
    assert_names(err, "'tuned'", "was not created by ravenlab")
    shutil.copyfile(path, tmp_path / "kept.sqlite3")
    assert run_and_check(["delete", "tuned", "--yes"], path)[0] == 0
