"""Rewards from a file, be it a trace (a column an arm) or a log (columns step, arm, reward)."""

from __future__ import annotations

from pathlib import Path

from environments.errors import InputError
from environments.log_file import read_log
from environments.own_file import parquet_file
from environments.trace_file import MOST_CELLS, read_trace
from environments.world import Floats
from studies.diagnosis.log_table import log_table


def read_rewards(path: Path) -> tuple[tuple[str, ...], Floats]:
    """Names of the arms and rewards [N, K], NaN where nothing was seen."""
    if {"arm", "reward"} <= {name.strip().strip('"').lower() for name in _columns(path)}:
        return _read_log(path)
    trace = read_trace(path)
    return trace.names, trace.values


def _columns(path: Path) -> list[str]:
    """Names of a file's columns; none where it can't be read, which the trace's reader then says."""
    try:
        if not path.is_file():
            return []
        if path.suffix.lower() == ".parquet":
            with parquet_file(path) as file:
                return list(file.schema_arrow.names)
        with path.open(encoding="utf-8-sig", newline="") as file:
            return file.readline(10_000).split(",")
    except (OSError, ValueError):
        return []


def _read_log(path: Path) -> tuple[tuple[str, ...], Floats]:
    log = read_log(path)
    if len(log.names) * log.arm.size > MOST_CELLS:
        raise InputError(
            f"log {path}: {log.arm.size:,} rows of {len(log.names)} arms are more than {MOST_CELLS:,} cells."
        )
    return log_table([log.names[k] for k in log.arm], list(log.reward))
