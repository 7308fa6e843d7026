"""A million rows of eight arms: time and memory to diagnose a trace and a log, and to tune on the trace."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas

from tools.benchmarks.measure import Figure

ROWS = 1_000_000
ARMS = 8
TRIALS = 50
NAME = f"{ROWS:,} rows of {ARMS} arms"


@lru_cache(maxsize=1)
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder with a trace of costs with seasons, a jump and a trend, and a log of 30 % random choices."""
    folder = tempfile.TemporaryDirectory()
    rng = np.random.default_rng(1)
    rows = np.arange(ROWS)
    means = np.linspace(40.0, 51.0, ARMS) + np.sin(2.0 * np.pi * (rows[:, None] / 10_000 + np.arange(ARMS) / ARMS))
    means[400_000:, 0] += 8.0
    means[:, 3] -= 6.0 * rows / ROWS
    costs = np.round(means * rng.gamma(60.0, 1.0 / 60.0, means.shape), 3)
    names = np.array([f"arm{k}" for k in range(ARMS)])
    pandas.DataFrame(costs, columns=list(names)).to_csv(Path(folder.name, "trace.csv"), index_label="step")
    arm = np.where(rng.random(ROWS) < 0.3, rng.integers(ARMS, size=ROWS), 1)
    log = pandas.DataFrame({"step": rows, "arm": names[arm], "reward": costs[rows, arm]})
    log.to_csv(Path(folder.name, "log.csv"), index=False)
    return folder


@lru_cache
def _run(words: tuple[str, ...]) -> tuple[float, float]:
    """Run a command once; return its seconds of CPU and the most megabytes that it used."""
    process = subprocess.Popen(
        [sys.executable, "-m", "ravenlab", *words], cwd=_folder().name, stdout=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"ravenlab {' '.join(words)} failed")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1000.0


def _figures(title: str, words: Sequence[str], seconds: float) -> list[Figure]:
    """Return the time and the memory of a command."""
    return [
        Figure(f"{title}, {NAME}", lambda: _run(tuple(words))[0], seconds, "seconds of CPU", 1),
        Figure(f"{title}, {NAME}", lambda: _run(tuple(words))[1], 2000.0, "MB", 1),
    ]


def races() -> list[Figure]:
    """Return the measurements with their upper limits."""
    tune = ["tune", "--trace", "trace.csv", "--minimize", "--trials", str(TRIALS), "--storage", "sqlite:///s.sqlite3"]
    return [
        *_figures("diagnose a trace", ["diagnose", "trace.csv", "--minimize"], 60.0),
        *_figures("diagnose a log", ["diagnose", "log.csv", "--minimize"], 60.0),
        *_figures(f"tune on a trace with {TRIALS} trials", tune, 600.0),
    ]
