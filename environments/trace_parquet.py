"""Traces in Parquet files: the same table as a CSV, read a batch of rows at a time."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from environments.errors import InputError
from environments.trace_file import COUNTING_COLUMNS, check_growing, check_names, check_size, says_when
from environments.world import Floats

BATCH = 65_536
"""Rows read at a time."""


def read_parquet(path: Path) -> tuple[list[str], Floats]:
    """Names and values [N, K] of a file; the size is known before anything is read."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise InputError("Parquet needs pyarrow, which is not installed; pip install 'ravenlab[parquet]'.") from None
    with path.open("rb"):
        pass  # what the system says about a file that can't be read is clearer than what pyarrow says
    try:
        with parquet.ParquetFile(path) as file:
            schema = file.schema_arrow
            columns = [column for column in schema.names if not column.startswith("__index_level_")]
            skip = int(bool(columns) and says_when(columns[0]) and len(columns) > 1)
            names = columns[skip:]
            check_names(names)
            for name in names:
                kind = schema.field(name).type
                if not _is_number(pyarrow.types, kind):
                    raise InputError(f"arm {name[:60]!r} must hold numbers but holds {kind}.")
            check_size(file.metadata.num_rows, len(names))
            values = np.empty((file.metadata.num_rows, len(names)))
            counts = _counts(pyarrow.types, schema, columns[0]) if skip else False
            before, first = -math.inf, 0
            for batch in file.iter_batches(BATCH, columns=columns):
                part = values[first : first + batch.num_rows]
                for place, name in enumerate(names):
                    part[:, place] = _floats(batch.column(name))
                if counts:
                    for offset, now in enumerate(_floats(batch.column(columns[0]))):
                        check_growing(columns[0], before, float(now), f"row {first + offset + 1}")
                        before = float(now)
                first += batch.num_rows
    except pyarrow.ArrowException as error:
        raise InputError(f"it is not a Parquet file: {' '.join(str(error).split())[:120].rstrip('.')}.") from None
    return names, values


def _is_number(types: Any, kind: Any) -> bool:
    tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
    return any(test(kind) for test in tests)


def _counts(types: Any, schema: Any, name: str) -> bool:
    return name.strip().lower() in COUNTING_COLUMNS and _is_number(types, schema.field(name).type)


def _floats(column: Any) -> Floats:
    """A column as float64, NaN where it is null."""
    import pyarrow
    import pyarrow.compute

    kind = column.type
    if pyarrow.types.is_boolean(kind):
        column = pyarrow.compute.cast(column, pyarrow.int8())
    cast = pyarrow.compute.cast(column, pyarrow.float64(), safe=False)
    return np.asarray(cast.to_numpy(zero_copy_only=False), dtype=np.float64)
