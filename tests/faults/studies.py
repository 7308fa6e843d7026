"""A small study run by the real command in its own process."""

from __future__ import annotations

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

from tests.command import said_by
from tests.project import environment, python

TRIALS, BATCH = 40, 8
KILLS = int(os.environ.get("RAVENLAB_KILLS", "3"))
"""How often something is killed, or cut off: `make stress` says 40."""

SMALL = [
    "tune",
    "localized-jump",
    "--horizon=500",
    "--arms=4",
    f"--trials={TRIALS}",
    f"--batch={BATCH}",
    "--replications=40",
    "--selection=1500",
    "--report=1500",
    "--seed=5",
    "--quiet",
]


def command(*words: str) -> list[str]:
    """The command line of `ravenlab` in this Python."""
    return [sys.executable, "-m", "ravenlab", *words]


def run(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder and wait for it."""
    return python("-m", "ravenlab", *words, folder=folder)


def start(*words: str, folder: Path, **more: str) -> subprocess.Popen[str]:
    """Start the command in a folder, with more in its environment."""
    return subprocess.Popen(
        command(*words), cwd=folder, env=environment(**more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


Place = Path | str
"""A folder with studies.sqlite3 in it, or the URL of a storage."""


def storage_in(place: Place) -> str:
    """The URL of a storage."""
    return place if isinstance(place, str) else f"sqlite:///{place}/studies.sqlite3"


def landed(place: Place) -> int:
    """How many trials stand in a storage; 0 before there is one."""
    if isinstance(place, str):
        counted = asked(place, "SELECT to_regclass('trials') IS NOT NULL")
        return int(asked(place, "SELECT count(*) FROM trials")[0][0]) if counted[0][0] else 0
    path = place / "studies.sqlite3"
    if not path.exists():
        return 0
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)) as connection:
            return int(connection.execute("SELECT count(*) FROM trials").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def asked(url: str, question: str) -> list[Any]:
    """What a database answers."""
    from sqlalchemy import create_engine, text
    from sqlalchemy.pool import NullPool

    with create_engine(url, poolclass=NullPool).connect() as connection:
        return [tuple(row) for row in connection.execute(text(question))]


def states(place: Place) -> dict[str, int]:
    """How many trials are in which state."""
    return dict(asked(storage_in(place), "SELECT state, count(*) FROM trials GROUP BY state"))


def within(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder but in this process: where its result is asked for and not its end as a process.

    Only when a process has ended are all of a study's bytes in its one file: this one keeps the storage open.
    """
    with contextlib.chdir(folder):
        return subprocess.CompletedProcess(list(words), *said_by(list(words)))


def wait_for(place: Place, count: int, process: subprocess.Popen[str], log: Callable[[], str] = str) -> None:
    """Until so many trials have landed; `log` tells more where the process ends before."""
    while landed(place) < count:
        assert process.poll() is None, (process.communicate(), log())
        time.sleep(0.002)


def kill_when(count: int, *words: str, folder: Path) -> int:
    """Start the command, kill it −9 as soon as so many trials have landed, and give how many had."""
    process = start(*words, folder=folder)
    wait_for(folder, count, process)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return landed(folder)


def exported(place: Place) -> str:
    """What `ravenlab export` prints."""
    done = within("export", f"--storage={storage_in(place)}", folder=Path())
    assert done.returncode == 0, done.stderr
    return done.stdout
