"""Traces: one row per step, one column per arm, each cell the reward that this arm would have paid at that step.

A file may come from anywhere: every mistake in it is reported in one line that says where it is, and at most
`MOST_CELLS` cells are read, so that no file can fill the memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from environments.checks import LARGEST_NUMBER
from environments.errors import InputError
from environments.recorded.table_file import NO_ROWS, CsvTable, Table, check_growing, open_table
from environments.world import Floats

MAX_CELLS = 10_000_000
"""Rows × arms; 80 MB, and twice that with the smoothed table."""

TIME_COLUMNS = ("", "step", "t", "index", "time", "date", "datetime", "timestamp")
"""A first column of such a name holds the time and is left out; pandas writes its index without a name."""

CLOCK_HINT = " (a column that says when comes first and is called step, time or date)"

FEWEST_COUNTED = 10
"""Number of rows from which a column that grows by one in each row is taken for a row index."""

COUNTING_COLUMNS = ("step", "t", "index")
"""Time columns whose numbers must grow: a repeated step is a mistake."""

MISSING = ("", "na", "n/a", "nan", "null", "none")
"""How a missing cell may be written, in any case: the arm is closed at that row."""


@dataclass(frozen=True)
class Trace:
    """The contents of a trace file. Two traces are equal if their names and values are, whatever the files.

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

    @staticmethod
    def from_values(names: Sequence[str], values: Floats) -> Trace:
        """A trace of a table, checked; rows without any value are left out."""
        values = np.ascontiguousarray(values, dtype=np.float64)
        if values.ndim != 2 or values.shape[1] != len(names):
            raise InputError(f"a trace must be a table of {len(names)} columns but got shape {values.shape}.")
        check_names(names)
        check_size(values.shape[0], len(names))
        for row, place in np.argwhere(np.abs(values) > LARGEST_NUMBER)[:1]:
            got = values[row, place]
            raise InputError(f"row {row + 1}: arm {names[place]!r} must be a finite number but got {got:g}.")
        there = ~np.isnan(values)
        full, tried = np.asarray(there.any(axis=1)), np.asarray(there.any(axis=0))
        if not full.any():
            raise InputError("it has no row with a value in it.")
        for name, some in zip(names, tried, strict=True):
            if not some:
                raise InputError(f"arm {name!r} has no value in any row.")
        if _counts_rows(values[:, 0]):
            raise InputError(
                f"arm {names[0][:60]!r} counts the rows and pays nothing: leave it out, or call that column step."
            )
        kept = np.ascontiguousarray(values[full])  # a copy: nobody can change what the digest is of
        kept.flags.writeable = False
        digest = hashlib.sha256("\x1f".join(names).encode("utf-8", "surrogatepass"))
        digest.update(repr(kept.shape).encode())
        # One NaN is as good as another, and so is a zero: the digest is of values, not of bits.
        digest.update((np.where(np.isnan(kept), np.nan, kept) + 0.0).astype("<f8").tobytes())
        return Trace(tuple(names), kept, digest.hexdigest(), int((~full).sum()))

    @property
    def rows(self) -> int:
        """Steps N."""
        return int(self.values.shape[0])

    @property
    def arms(self) -> int:
        """Arms K."""
        return len(self.names)

    @property
    def missing(self) -> tuple[int, ...]:
        """Cells that are missing, arm by arm."""
        return tuple(int(count) for count in np.isnan(self.values).sum(axis=0))


def read_trace(path: str | Path) -> Trace:
    """Read a .csv or .parquet file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "rtt.csv").write_text("step,paris,oslo\\n1,0.2,0.4\\n2,,0.5\\n")
    ...     read_trace(Path(folder, "rtt.csv")).missing
    (1, 0)

    Raises:
        InputError: The file cannot be read or is no trace; the message begins with its name.
    """
    with open_table(Path(path), "trace", must="name the arms") as table:
        return _trace_of(table)


def _trace_of(table: Table) -> Trace:
    columns = table.names
    clock = bool(columns) and columns[0].strip().lower() in TIME_COLUMNS and len(columns) > 1
    counts = clock and columns[0].strip().lower() in COUNTING_COLUMNS and table.wrong_kind(0) is None
    places = range(int(clock), len(columns))
    names = [columns[place] for place in places]
    in_csv = isinstance(table, CsvTable)
    if in_csv and all(_is_number(name) for name in names) and not all(name.isdecimal() for name in names):
        raise InputError("its first line holds numbers; it must name the arms.")
    check_names(names)
    for place, name in zip(places, names, strict=True):
        if kind := table.wrong_kind(place):
            raise InputError(f"arm {name[:60]!r} must hold numbers but holds {kind}.")
    values, steps, numbers, word = [], [], [], ""
    chunks = table.chunks(
        [0, *places] if counts else places, lambda rows: check_size(rows, len(names)), MAX_CELLS // len(names)
    )
    for chunk in chunks:
        word = chunk.word
        arms = [chunk.floats(place, repr(columns[place][:60]), MISSING, CLOCK_HINT) for place in places]
        values.append(np.stack(arms, axis=1))
        if counts:
            steps.append(chunk.floats(0, repr(columns[0][:60]), MISSING))
            numbers.append(chunk.numbers)
    if not values:
        raise InputError(NO_ROWS)
    if counts:
        places_of_rows = np.concatenate(numbers)
        check_growing(columns[0], np.concatenate(steps), lambda row: f"{word} {places_of_rows[row]}")
    return Trace.from_values(names, np.concatenate(values))


def check_names(names: Sequence[str]) -> None:
    """Raise InputError for names that can't be those of arms."""
    if len(names) < 2:
        got = f"got only {names[0][:60]!r}" if names else "got none"
        raise InputError(f"it must have at least 2 columns, one an arm, but {got}.")
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"arm {name[:60]!r} is named twice.")
        if not name.strip():
            raise InputError("a column has no name; the first line must name the arms.")
        seen.add(name)
    if {"arm", "reward"} <= {name.strip().lower() for name in names}:
        raise InputError("it looks like a log (arm, reward), not like a trace with one column an arm.")


def check_size(rows: int, arms: int) -> None:
    """Raise InputError for more cells than are read."""
    if rows * arms > MAX_CELLS:
        raise InputError(
            f"it has more than {MAX_CELLS // arms:,} rows of {arms} arms; at most {MAX_CELLS:,} cells are read, so"
            " cut it or keep every n-th row."
        )


def _counts_rows(column: Floats) -> bool:
    """Whether whole numbers grow by one from row to row, as no reward does but every index.

    >>> _counts_rows(np.arange(20.0)), _counts_rows(np.arange(5.0)), _counts_rows(0.5 + np.arange(20.0))
    (True, False, False)
    """
    return bool(column.size >= FEWEST_COUNTED and column[0] == np.floor(column[0]) and (np.diff(column) == 1.0).all())


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
