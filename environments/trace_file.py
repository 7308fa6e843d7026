"""Traces: one row a step, one column an arm, each cell what that arm would have paid.

A file may come from anywhere, so it is read row by row, and whatever is wrong with it is one line that
says where. What is read is bounded (`MOST_CELLS`), so that no file can fill the memory.
"""

from __future__ import annotations

import csv
import hashlib
import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

import numpy as np

from environments.checks import LARGEST
from environments.errors import InputError
from environments.own_file import NO_ROWS, check_cells, check_growing, header_of, lines_of, reading
from environments.world import Floats

MOST_CELLS = 10_000_000
"""Rows × arms; 80 MB, and twice that with the smoothed table."""

TIME_COLUMNS = ("", "step", "t", "index", "time", "date", "datetime", "timestamp")
"""A first column of such a name says when and is left out; one without a name is what pandas calls its index."""

FEWEST_COUNTED = 10
"""Rows from which a column that grows by one each time is no accident."""

COUNTING_COLUMNS = ("step", "t", "index")
"""Of these the numbers must grow: a step that is there twice is a mistake."""

MISSING = ("", "na", "n/a", "nan", "null", "none")
"""How a cell that is missing may be written, in any case: the arm is closed at that row."""


@dataclass(frozen=True)
class Trace:
    """What a file holds. Two traces are the same when names and values are, wherever they came from.

    >>> trace = Trace.of(("a", "b"), np.array([[1.0, 2.0], [np.nan, 3.0]]))
    >>> trace.rows, trace.arms, trace.missing
    (2, 2, (1, 0))
    """

    names: tuple[str, ...]
    values: Floats = field(compare=False, repr=False)
    """[N, K], NaN where a cell is missing."""
    digest: str
    """SHA-256 of names and values."""
    empty_rows: int = 0
    """Rows without any value, which were left out: nothing could have been pulled there."""

    @staticmethod
    def of(names: Sequence[str], values: Floats) -> Trace:
        """A trace of a table, checked; rows without any value are left out."""
        values = np.ascontiguousarray(values, dtype=np.float64)
        if values.ndim != 2 or values.shape[1] != len(names):
            raise InputError(f"a trace must be a table of {len(names)} columns but got shape {values.shape}.")
        check_names(names)
        check_size(values.shape[0], len(names))
        for row, place in np.argwhere(np.abs(values) > LARGEST)[:1]:
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
    """Read a .csv or .parquet file; anything wrong is one line that begins with the file's name.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "rtt.csv").write_text("step,paris,oslo\\n1,0.2,0.4\\n2,,0.5\\n")
    ...     read_trace(Path(folder, "rtt.csv")).missing
    (1, 0)
    """
    path = Path(path)
    with reading(path, "trace") as kind:
        if kind == ".parquet":
            from environments.trace_parquet import read_parquet

            return Trace.of(*read_parquet(path))
        with path.open(encoding="utf-8-sig", newline="") as file:
            return Trace.of(*_read_csv(file))


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
    if rows * arms > MOST_CELLS:
        raise InputError(
            f"it has more than {MOST_CELLS // arms:,} rows of {arms} arms; at most {MOST_CELLS:,} cells are read, so"
            " cut it or keep every n-th row."
        )


def _counts_rows(column: Floats) -> bool:
    """Whether whole numbers grow by one from row to row, as no reward does but every index.

    >>> _counts_rows(np.arange(20.0)), _counts_rows(np.arange(5.0)), _counts_rows(0.5 + np.arange(20.0))
    (True, False, False)
    """
    return bool(column.size >= FEWEST_COUNTED and column[0] == np.floor(column[0]) and (np.diff(column) == 1.0).all())


def says_when(name: str) -> bool:
    """Whether a first column of this name is a clock rather than an arm."""
    return name.strip().lower() in TIME_COLUMNS


def counts(name: str) -> bool:
    """Whether the numbers of a first column of this name must grow."""
    return name.strip().lower() in COUNTING_COLUMNS


def _read_csv(file: TextIO) -> tuple[list[str], Floats]:
    reader = csv.reader(lines_of(file), strict=True)
    header = header_of(reader, "name the arms")
    skip = int(says_when(header[0]) and len(header) > 1)
    names = header[skip:]
    if names and all(_is_number(name) for name in names) and not all(name.isdecimal() for name in names):
        raise InputError("its first line holds numbers; it must name the arms.")
    check_names(names)
    cells, before = array("d"), -math.inf
    for row in reader:
        if not row:
            continue
        where = f"line {reader.line_num}"
        check_cells(row, header, where)
        try:
            cells.extend([float(cell) for cell in row[skip:]])
        except ValueError:
            cells.extend([_number(cell, name, where) for cell, name in zip(row[skip:], names, strict=True)])
        if skip and counts(header[0]):
            now = _number(row[0], header[0], where)
            check_growing(header[0], before, now, where)
            before = now
        if len(cells) > MOST_CELLS:
            check_size(len(cells) // len(names), len(names))
    if not cells:
        raise InputError(NO_ROWS)
    return names, np.frombuffer(cells, dtype=np.float64).reshape(-1, len(names))


def _number(cell: str, name: str, where: str) -> float:
    if cell.strip().lower() in MISSING:
        return math.nan
    try:
        return float(cell)
    except ValueError:
        hint = " (a column that says when comes first and is called step, time or date)" if where == "line 2" else ""
        raise InputError(f"{where}: {name[:60]!r} must be a number but got {cell[:60]!r}{hint}.") from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
