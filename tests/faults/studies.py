"""A small study, run by the real command in a separate process, and helpers to kill and inspect it."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ravenlab.studies.spec.study import StudySpec
from tests.command import run_command
from tests.project import environment, python

TRIALS, BATCH = 40, 8
KILLS = int(os.environ.get("RAVENLAB_KILLS", "3"))
"""Number of kills and lost connections per test; 40 in `make stress`."""

SMALL = [
    *("tune", "localized-jump", "--horizon=500", "--arms=4", f"--trials={TRIALS}", f"--batch={BATCH}"),
    *("--replications=40", "--selection=800", "--report=800", "--seed=5", "--quiet"),
]

NAME = StudySpec(scenario="localized-jump", horizon=500, arms=4, seed=5, batch=BATCH, replications=40).study_name()


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "ravenlab", *words]


def run(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder and wait for it."""
    return python("-m", "ravenlab", *words, folder=folder)


def start(*words: str, folder: Path, **more: str) -> subprocess.Popen[str]:
    """Start the command in a folder, with additional environment variables."""
    return subprocess.Popen(
        command(*words), cwd=folder, env=environment(**more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


Place = Path | str
"""A folder with studies.sqlite3, or the URL of a storage."""


def storage_in(place: Place) -> str:
    return place if isinstance(place, str) else f"sqlite:///{place}/studies.sqlite3"


def count_trials(place: Place) -> int:
    """Count the trials in a storage; 0 before it exists."""
    if isinstance(place, str):
        tables_exist = query(place, "SELECT to_regclass('trials') IS NOT NULL")
        return int(query(place, "SELECT count(*) FROM trials")[0][0]) if tables_exist[0][0] else 0
    path = place / "studies.sqlite3"
    if not path.exists():
        return 0
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)) as connection:
            return int(connection.execute("SELECT count(*) FROM trials").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def query(url: str, statement: str) -> list[Any]:
    from sqlalchemy import create_engine, text
    from sqlalchemy.pool import NullPool

    with create_engine(url, poolclass=NullPool).connect() as connection:
        return [tuple(row) for row in connection.execute(text(statement))]


def trial_states(place: Place) -> dict[str, int]:
    return dict(query(storage_in(place), "SELECT state, count(*) FROM trials GROUP BY state"))


def run_in_process(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder, but in this process.

    This process keeps the storage open, so part of a study may still be in the write-ahead log.
    """
    with contextlib.chdir(folder):
        return subprocess.CompletedProcess(list(words), *run_command(list(words)))


def wait_for_trials(place: Place, count: int, process: subprocess.Popen[str], log: Callable[[], str] = str) -> None:
    """Wait until `count` trials are stored; `log` explains a process that ends before."""
    while count_trials(place) < count:
        assert process.poll() is None, (process.communicate(), log())
        time.sleep(0.002)


def kill_after(count: int, *words: str, folder: Path) -> int:
    """Start the command, kill it (SIGKILL) once `count` trials are stored, and return their number."""
    process = start(*words, folder=folder)
    wait_for_trials(folder, count, process)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return count_trials(folder)


def export_json(place: Place) -> str:
    done = run_in_process("export", f"--storage={storage_in(place)}", folder=Path())
    assert done.returncode == 0, done.stderr
    return done.stdout
