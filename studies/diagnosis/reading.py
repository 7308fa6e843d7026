"""Rewards from a file, be it a trace (a column an arm) or a log (columns step, arm, reward)."""

from __future__ import annotations

import csv
import math
from pathlib import Path

from environments.errors import InputError
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
    arms: list[str] = []
    rewards: list[float] = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            header = [name.strip().lower() for name in next(reader)]
            of_arm, of_reward = header.index("arm"), header.index("reward")
            for row in filter(None, reader):
                where = f"log {path}: line {reader.line_num}"
                if len(row) != len(header):
                    raise InputError(f"{where} has {len(row)} cells but the first line has {len(header)}.")
                arms.append(row[of_arm].strip())
                rewards.append(_number(row[of_reward], where))
                if not arms[-1]:
                    raise InputError(f"{where}: arm has no name.")
                if len(arms) > MOST_CELLS:
                    raise InputError(f"log {path}: it has more than {MOST_CELLS:,} rows.")
    except csv.Error as error:
        raise InputError(f"log {path}: it is not a CSV file: {error}.") from None
    except UnicodeDecodeError:
        raise InputError(f"log {path}: it is not text in UTF-8.") from None
    number = len(set(arms))
    if number < 2:
        raise InputError(f"log {path}: it must have at least 2 arms but got {number}.")
    if number * len(arms) > MOST_CELLS:
        raise InputError(f"log {path}: {len(arms):,} rows of {number} arms are more than {MOST_CELLS:,} cells.")
    return log_table(arms, rewards)


def _number(cell: str, where: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{where}: reward must be a finite number but got {cell[:60]!r}.")
    return value
