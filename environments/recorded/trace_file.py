"""Traces: one row per step, one column per arm, each cell the reward that this arm would have paid at that step.

At most `MAX_CELLS` cells are read, so that no file can exhaust the memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ravenlab.common.arrays import Floats, Ints
from ravenlab.common.checks import LARGEST_NUMBER, number_rule
from ravenlab.common.errors import InputError
from ravenlab.environments.recorded.log_file import MISSING
from ravenlab.environments.recorded.order import find_arms, note_rows, read_times, sort_rows
from ravenlab.environments.recorded.table_file import (
    Converter,
    CsvTable,
    Table,
    open_table,
    to_cells,
    to_floats,
)

MAX_CELLS = 10_000_000  # rows × arms: 80 MB, and four times that with sums and means of neighbouring rows
MIN_INDEX_ROWS = 10  # rows from which a column 1, 2, 3, … counts as a row index

TIME_COLUMNS = ("", "step", "t", "index", "time", "date", "datetime", "timestamp")
"""Names of first columns that hold the time, by which rows are sorted; pandas writes its index without a name."""

INDEX_COLUMNS = ("", "index")  # time columns that may be followed by another one
PLAIN_TIMES = ("step", "time", "date", "datetime", "timestamp")  # of which one may be anywhere
TIME_COLUMN_HINT = " (a column of times must be called step, time or date)"


@dataclass(frozen=True)
class Trace:
    """The contents of a trace file. Two traces are equal if their names and values are.

    >>> trace = Trace.from_values(("a", "b"), np.array([[1.0, 2.0], [np.nan, 3.0]]))
    >>> trace.rows, trace.arms, trace.missing
    (2, 2, (1, 0))
    """

    names: tuple[str, ...]
    values: Floats = field(compare=False, repr=False)
    """[N, K], NaN where a cell is missing."""
    digest: str
    """SHA-256 of names and values."""
    empty_rows: int = 0
    """Number of rows without any value, which were left out."""
    notes: tuple[str, ...] = field(default=(), compare=False)
    """What was recognized, sorted or dropped while reading, and what looks wrong."""

    @staticmethod
    def from_values(names: Sequence[str], values: Floats) -> Trace:
        """Check and copy a table; rows without any value are left out."""
        values = np.ascontiguousarray(values, dtype=np.float64)
        if values.ndim != 2 or values.shape[1] != len(names):
            raise InputError(f"a trace must be a table of {len(names)} columns but got shape {values.shape}.")
        check_names(names)
        if values.size > MAX_CELLS:
            raise InputError(_too_long(len(names)))
        for row, column in np.argwhere(np.abs(values) > LARGEST_NUMBER)[:1]:
            value = values[row, column]
            rule = number_rule(float(value))
            raise InputError(f"row {row + 1}: arm {names[column]!r} must {rule} but got {value:g}.")
        present = ~np.isnan(values)
        nonempty = np.asarray(present.any(axis=1))
        if not nonempty.any():
            raise InputError("it has no row with a value.")
        for name, some in zip(names, np.asarray(present.any(axis=0)), strict=True):
            if not some:
                raise InputError(f"arm {name!r} has no value in any row.")
        if _is_row_index(values[:, 0]):
            raise InputError(f"column {names[0][:60]!r} looks like a row index; drop it or name it step.")
        kept = np.ascontiguousarray(values[nonempty])  # a copy, so that the digest stays correct
        kept.flags.writeable = False
        digest = hashlib.sha256("\x1f".join(names).encode("utf-8", "surrogatepass"))
        digest.update(repr(kept.shape).encode())
        # The digest depends on values, not on bits: NaNs and zeros have several representations.
        digest.update((np.where(np.isnan(kept), np.nan, kept) + 0.0).astype("<f8").tobytes())
        return Trace(tuple(names), kept, digest.hexdigest(), int((~nonempty).sum()))

    @property
    def rows(self) -> int:
        """Number of rows N."""
        return int(self.values.shape[0])

    @property
    def arms(self) -> int:
        """Number of arms K."""
        return len(self.names)

    @property
    def missing(self) -> tuple[int, ...]:
        """Number of missing cells of each arm."""
        return tuple(int(count) for count in np.isnan(self.values).sum(axis=0))


def read_trace(path: str | Path) -> Trace:
    """Read a .csv or .parquet file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "rtt.csv").write_text("step,paris,oslo\\n1,0.2,0.4\\n2,,0.5\\n")
    ...     read_trace(Path(folder, "rtt.csv")).missing
    (1, 0)

    Raises:
        InputError: The file cannot be read or is not a trace; the message begins with its name.
    """
    with open_table(Path(path), "trace", must="name the arms") as table:
        return _build_trace(table)


def _find_time(columns: Sequence[str]) -> tuple[int | None, list[int]]:
    """Return the position of the time, and those of the arms: all others but an index in front of a time.

    >>> _find_time(["", "date", "a", "b"]), _find_time(["a", "timestamp", "b"]), _find_time(["a", "t"])
    ((1, [2, 3]), (1, [0, 2]), (None, [0, 1]))
    """
    names = [name.strip().lower() for name in columns]
    elsewhere = [position for position, name in enumerate(names) if name in PLAIN_TIMES]
    if len(names) < 2 or (names[0] not in TIME_COLUMNS and len(elsewhere) != 1):
        return None, list(range(len(names)))
    if names[0] in INDEX_COLUMNS and len(names) > 2 and names[1] in TIME_COLUMNS[1:]:
        return 1, list(range(2, len(names)))
    time = 0 if names[0] in TIME_COLUMNS else elsewhere[0]
    return time, [position for position in range(len(names)) if position != time]


def _build_trace(table: Table) -> Trace:
    (trace,) = build_traces(table).values()
    return trace


def build_traces(table: Table, series: int | None = None) -> dict[str, Trace]:
    """Return the trace of each value of a column, or of the whole table; rows are sorted by their time."""
    columns = table.names
    others = [position for position in range(len(columns)) if position != series]
    found, arms = _find_time([columns[position] for position in others])
    time = None if found is None else others[found]
    positions = [others[k] for k in arms]
    names = [columns[position] for position in positions]
    if (
        isinstance(table, CsvTable)
        and all(_is_number(name) for name in names)
        and not all(name.isdecimal() for name in names)
    ):
        raise InputError("its first line contains numbers; it must name the arms.")
    check_names(names)
    for position, name in zip(positions, names, strict=True):
        if kind := table.non_numeric_type(position):
            raise InputError(f"arm {name[:60]!r} must contain numbers but contains {kind}.")

    converters: dict[int, Converter] = {
        position: partial(to_floats, label=repr(columns[position][:60]), missing=MISSING, hint=TIME_COLUMN_HINT)
        for position in positions
    }
    texts = [position for position in (time, series) if position is not None]
    converters.update(dict.fromkeys(texts, to_cells))
    values, row_name = table.read(
        converters, MAX_CELLS // len(names), _too_long(len(names)), texts=texts, missing=MISSING
    )
    cells = np.stack([values[position] for position in positions], axis=1)
    notes = list(table.notes)
    groups = {"": np.arange(len(cells))} if series is None else _group_rows(values[series])
    times = None if time is None else read_times(columns[time], values[time], row_name)
    if time is not None and times is None:
        label = repr(columns[time]) if columns[time] else "the first column"
        notes.append(f"{label} has labels that are no times; rows are in the order of the file")
    elif time is not None and times is not None:
        for name, rows in groups.items():
            order, sorting = sort_rows(
                columns[time],
                times[rows],
                values[time][rows],
                row_name=lambda row, rows=rows: row_name(int(rows[row])),  # type: ignore[misc]
                repeated=False,
            )
            notes += sorting
            groups[name] = rows if order is None else rows[order]
    kept, odd_columns = find_arms(names, cells[np.concatenate(list(groups.values()))])
    chosen = [names[k] for k in kept]
    traces = {name: Trace.from_values(chosen, cells[rows][:, kept]) for name, rows in groups.items()}
    notes += note_rows(sum(trace.empty_rows for trace in traces.values()), "without any value dropped")
    stated = tuple(dict.fromkeys([*notes, *odd_columns]))
    return {name: replace(trace, notes=stated) for name, trace in traces.items()}


def _group_rows(labels: Any) -> dict[str, Ints]:
    """Return the rows of each label, in the order of their first row."""
    import pandas

    codes, names = pandas.factorize(labels)
    order = np.argsort(codes, kind="stable")
    return dict(zip(map(str, names), np.split(order, np.cumsum(np.bincount(codes))[:-1]), strict=True))


def check_names(names: Sequence[str]) -> None:
    """Raise InputError for names that cannot be those of arms."""
    if len(names) < 2:
        found = f"got only {names[0][:60]!r}" if names else "got none"
        raise InputError(f"it must have at least 2 columns, one per arm, but {found}.")
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"arm {name[:60]!r} is named twice.")
        if not name.strip():
            raise InputError("a column has no name; the first line must name the arms.")
        seen.add(name)
    if {"arm", "reward"} <= {name.strip().lower() for name in names}:
        raise InputError("it looks like a log (arm, reward), not like a trace with one column per arm.")


def _too_long(arms: int) -> str:
    return (
        f"it has more than {MAX_CELLS // arms:,} rows of {arms} arms; at most {MAX_CELLS:,} cells are read:"
        " shorten it or keep every n-th row."
    )


def _is_row_index(column: Floats) -> bool:
    """Whether whole numbers increase by one from row to row.

    >>> _is_row_index(np.arange(20.0)), _is_row_index(np.arange(5.0)), _is_row_index(0.5 + np.arange(20.0))
    (True, False, False)
    """
    return bool(column.size >= MIN_INDEX_ROWS and column[0] == np.floor(column[0]) and (np.diff(column) == 1.0).all())


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
