"""Traces in Parquet files: the same table as a CSV, read a batch of rows at a time."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from environments.errors import InputError
from environments.own_file import BATCH, check_growing, floats, holds_numbers, parquet_file
from environments.trace_file import check_names, check_size, counts, says_when
from environments.world import Floats


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
        growing = bool(skip) and counts(columns[0]) and holds_numbers(schema.field(columns[0]).type)
        before, first = -math.inf, 0
        for batch in file.iter_batches(BATCH, columns=columns):
            part = values[first : first + batch.num_rows]
            for place, name in enumerate(names):
                part[:, place] = floats(batch.column(name))
            if growing:
                for offset, now in enumerate(floats(batch.column(columns[0]))):
                    check_growing(columns[0], before, float(now), f"row {first + offset + 1}")
                    before = float(now)
            first += batch.num_rows
    return names, values
