"""A small study run by the real command in its own process."""

from __future__ import annotations

import contextlib
import io
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

from tuning import cli

ROOT = Path(__file__).resolve().parent.parent.parent
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


def environment(**more: str) -> dict[str, str]:
    """This one's, with the project found first."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def command(*words: str) -> list[str]:
    """The command line of `ravenlab` in this Python."""
    return [sys.executable, "-m", "ravenlab", *words]


def run(*words: str, folder: Path, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder and wait for it."""
    return subprocess.run(
        command(*words), cwd=folder, env=environment(), capture_output=True, text=True, check=False, **more
    )


def start(*words: str, folder: Path) -> subprocess.Popen[str]:
    """Start the command in a folder."""
    return subprocess.Popen(
        command(*words), cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def landed(folder: Path) -> int:
    """How many trials stand in the folder's storage; 0 before there is one."""
    path = folder / "studies.sqlite3"
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


def states(folder: Path) -> dict[str, int]:
    """How many trials are in which state."""
    connection = sqlite3.connect(folder / "studies.sqlite3")
    try:
        return dict(connection.execute("SELECT state, count(*) FROM trials GROUP BY state").fetchall())
    finally:
        connection.close()


def within(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder but in this process: where its result is asked for and not its end as a process.

    A process of its own costs a second or two before it does anything.
    """
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = cli.run(list(words))
    said, complained = (each.buffer.getvalue().decode() for each in (out, err))  # type: ignore[attr-defined]
    return subprocess.CompletedProcess(list(words), code, said, complained)


def exported(folder: Path) -> str:
    """What `ravenlab export` prints."""
    done = within("export", folder=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout
