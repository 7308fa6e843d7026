"""Logs in Parquet files: the same columns as in a CSV, read a batch of rows at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from environments.errors import InputError
from environments.log_file import Log, check_size, code_of, log_of_codes, places_of
from environments.own_file import BATCH, floats, holds_numbers, parquet_file

FLOATS = ("double", "float", "halffloat")
"""What Arrow calls numbers that are no names of arms."""


def read_parquet(path: Path) -> Log:
    """The log of a file; the size is known before anything is read."""
    codes: dict[str, int] = {}
    with parquet_file(path) as file:
        schema = file.schema_arrow
        written = {name: schema.names[place] for name, place in places_of(schema.names).items()}
        for name, column in written.items():
            kind = schema.field(column).type
            if name != "arm" and not holds_numbers(kind):
                raise InputError(f"{name} must hold numbers but holds {kind}.")
            if name == "arm" and str(kind) in FLOATS:
                raise InputError(f"arm must hold text or whole numbers but holds {kind}.")
        check_size(file.metadata.num_rows)
        parts: dict[str, list[Any]] = {name: [np.empty(0)] for name in written if name != "arm"}
        arms, first = [np.empty(0, dtype=np.int32)], 0
        for batch in file.iter_batches(BATCH, columns=list(written.values())):
            for name in parts:
                parts[name].append(floats(batch.column(written[name])))
            met = [
                code_of(codes, "" if cell is None else str(cell).strip(), f"row {first + place + 1}")
                for place, cell in enumerate(batch.column(written["arm"]).to_pylist())
            ]
            arms.append(np.array(met, dtype=np.int32))
            first += batch.num_rows
    whole = {name: np.concatenate(columns) for name, columns in parts.items()}
    arm = np.concatenate(arms)
    return log_of_codes(list(codes), arm, whole["reward"], whole.get("propensity"), whole["step"], "row")
