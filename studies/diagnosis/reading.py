"""Rewards from a file, be it a trace (a column an arm) or a log (columns step, arm, reward)."""

from __future__ import annotations

from pathlib import Path

from environments.errors import InputError
from environments.log_file import read_log
from environments.trace_file import MOST_CELLS, read_trace
from environments.world import Floats
from studies.diagnosis.log_table import log_table


def read_rewards(path: Path) -> tuple[tuple[str, ...], Floats]:
    """Names of the arms and rewards [N, K], NaN where nothing was seen."""
    if path.suffix.lower() == ".csv" and _is_log(path):
        return _read_log(path)
    trace = read_trace(path)
    return trace.names, trace.values


def _is_log(path: Path) -> bool:
    """Whether the first line names an arm and a reward; whatever can't be read is left to the trace's reader."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            header = file.readline(10_000)
    except (OSError, ValueError):
        return False
    return {"arm", "reward"} <= {name.strip().strip('"').lower() for name in header.split(",")}


def _read_log(path: Path) -> tuple[tuple[str, ...], Floats]:
    log = read_log(path)
    if len(log.names) * log.arm.size > MOST_CELLS:
        raise InputError(
            f"log {path}: {log.arm.size:,} rows of {len(log.names)} arms are more than {MOST_CELLS:,} cells."
        )
    return log_table([log.names[k] for k in log.arm], list(log.reward))
