"""Traces in Parquet files: the same table as a CSV, read a batch of rows at a time."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from environments.errors import InputError
from environments.own_file import floats, holds_numbers, parquet_file
from environments.trace_file import COUNTING_COLUMNS, check_growing, check_names, check_size, says_when
from environments.world import Floats

BATCH = 65_536
"""Rows read at a time."""


def read_parquet(path: Path) -> tuple[list[str], Floats]:
    """Names and values [N, K] of a file; the size is known before anything is read."""
    with parquet_file(path) as file:
        schema = file.schema_arrow
        columns = [column for column in schema.names if not column.startswith("__index_level_")]
        skip = int(bool(columns) and says_when(columns[0]) and len(columns) > 1)
        names = columns[skip:]
        check_names(names)
        for name in names:
            kind = schema.field(name).type
            if not holds_numbers(kind):
                raise InputError(f"arm {name[:60]!r} must hold numbers but holds {kind}.")
        check_size(file.metadata.num_rows, len(names))
        values = np.empty((file.metadata.num_rows, len(names)))
        counts = _counts(schema, columns[0]) if skip else False
        before, first = -math.inf, 0
        for batch in file.iter_batches(BATCH, columns=columns):
            part = values[first : first + batch.num_rows]
            for place, name in enumerate(names):
                part[:, place] = floats(batch.column(name))
            if counts:
                for offset, now in enumerate(floats(batch.column(columns[0]))):
                    check_growing(columns[0], before, float(now), f"row {first + offset + 1}")
                    before = float(now)
            first += batch.num_rows
    return names, values


def _counts(schema: Any, name: str) -> bool:
    return name.strip().lower() in COUNTING_COLUMNS and holds_numbers(schema.field(name).type)
