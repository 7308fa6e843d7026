"""A small study run by the real command in its own process."""

from __future__ import annotations

import contextlib
import io
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.project import environment, python
from tuning import cli

TRIALS, BATCH = 40, 8

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
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10) as connection:
            return int(connection.execute("SELECT count(*) FROM trials").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
    finally:
        if "connection" in locals():
            connection.close()


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

    A process of its own costs a second or two before it does anything. But only when a process has ended are all of a
    study's bytes in its one file: this one keeps the storage open.
    """
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = cli.run(list(words))
    said, complained = (each.buffer.getvalue().decode() for each in (out, err))
    return subprocess.CompletedProcess(list(words), code, said, complained)


def wait_for(place: Place, count: int, process: subprocess.Popen[str]) -> None:
    """Until so many trials have landed."""
    while landed(place) < count:
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)


def exported(place: Place) -> str:
    """What `ravenlab export` prints."""
    done = within("export", f"--storage={storage_in(place)}", folder=Path())
    assert done.returncode == 0, done.stderr
    return done.stdout
