"""Tables in CSV and Parquet files, read in chunks of bounded size, with one-line errors that begin with the file name.

pandas splits CSV files into cells with its Python engine: the C engine cannot tell a row with too few cells from one
whose last cells are empty. Cells become numbers as `float` reads them, which is correctly rounded.
"""

from __future__ import annotations

import csv
import io
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from environments.errors import InputError
from environments.world import Floats, Ints

LONGEST_LINE = 1_000_000
"""Characters; a file without line ends is not read to its end."""

CHUNK_CELLS = 200_000
"""Cells that are read at a time."""

NO_ROWS = "it has names but no row below them."

OTHER_DELIMITERS = {";": "semicolons", "\t": "tabs", "|": "bars"}

FORMATS = (".csv", ".parquet")


@dataclass(frozen=True)
class Chunk:
    """Consecutive rows of a table, by column."""

    word: str
    """What a row is called in messages: line or row."""
    numbers: Ints
    """The number of each row in the file, counted from 1."""
    cells: dict[int, Any]
    """Columns by their place in the file: text in an object array (CSV), or an Arrow array (Parquet)."""

    def where(self, row: int) -> str:
        """The name of a row in messages."""
        return f"{self.word} {self.numbers[row]}"

    def shown(self, place: int, row: int, value: float) -> str:
        """A number in messages: as written in the file, if it is written as text."""
        cell = self.cells[place][row]
        return repr(cell[:60]) if isinstance(cell, str) else f"{value:g}"

    def texts(self, place: int) -> list[str]:
        """A column as text without surrounding spaces; empty where a cell is missing."""
        column = self.cells[place]
        cells = column if isinstance(column, np.ndarray) else column.to_pylist()
        return ["" if cell is None else str(cell).strip() for cell in cells]

    def floats(self, place: int, label: str, missing: Sequence[str] = (), hint: str = "") -> Floats:
        """A column as numbers, NaN where a cell is null or one of the lower-case words in `missing`.

        `label` names the column in messages, and `hint` is added to the message about the first line below the names.
        """
        column = self.cells[place]
        if not isinstance(column, np.ndarray):
            return _floats_of_arrow(column)
        try:
            return column.astype(np.float64)
        except ValueError:
            pass  # some cells are missing or wrong
        out = np.empty(len(column))
        for row, cell in enumerate(column):
            try:
                out[row] = np.nan if cell.strip().lower() in missing else float(cell)
            except ValueError:
                message = f"{self.where(row)}: {label} must be a number but got {cell[:60]!r}"
                raise InputError(f"{message}{hint if self.numbers[row] == 2 else ''}.") from None
        return out


class Table(ABC):
    """An open file."""

    names: list[str]
    """Of all columns, as written in the file."""

    @abstractmethod
    def chunks(self, places: Sequence[int], check_size: Callable[[int], None], most: int) -> Iterator[Chunk]:
        """Columns by their places, in chunks of rows.

        `check_size` is called with the number of rows so far, which never exceeds `most` by more than one in a file
        whose size is not known before.
        """

    def wrong_kind(self, place: int) -> str | None:
        """The type of a column that does not hold numbers; None for numbers, or if the file has no types."""
        return None


class CsvTable(Table):
    """A CSV file with names in its first line."""

    def __init__(self, file: TextIO, must: str) -> None:
        import pandas

        options = {"dtype": object, "keep_default_na": False, "skip_blank_lines": False}
        with _parsing():
            try:
                self.reader = pandas.read_csv(_Lines(file), header=None, engine="python", iterator=True, **options)
                header = self.reader.get_chunk(1).iloc[0].tolist()
            except (pandas.errors.EmptyDataError, StopIteration, IndexError):
                header = []
        if not any(isinstance(name, str) for name in header):
            raise InputError(f"it is empty; the first line must {must}.")
        if len(header) == 1:
            for sign, word in OTHER_DELIMITERS.items():
                if sign in header[0]:
                    raise InputError(f"its columns seem to be separated by {word}; write it with commas.")
        self.names = [name.strip() for name in header]

    def chunks(self, places: Sequence[int], check_size: Callable[[int], None], most: int) -> Iterator[Chunk]:
        rows = 0
        while True:
            try:
                with _parsing():
                    frame = self.reader.get_chunk(min(max(1, CHUNK_CELLS // len(self.names)), most - rows + 1))
            except StopIteration:
                return
            absent = frame.isna().to_numpy()
            blank = absent.all(axis=1)
            frame, absent = frame[~blank], absent[~blank]
            lines = np.asarray(frame.index, dtype=np.int64) + 1
            for row in np.flatnonzero(absent.any(axis=1))[:1]:
                count = int((~absent[row]).sum())
                raise InputError(f"line {lines[row]} has {count} cells but the first line has {len(self.names)}.")
            rows += len(frame)
            check_size(rows)
            yield Chunk("line", lines, {place: frame.iloc[:, place].to_numpy() for place in places})


class ParquetTable(Table):
    """A Parquet file; its size and its types are known before anything is read."""

    def __init__(self, file: Any) -> None:
        self.file = file
        self.names = [name for name in file.schema_arrow.names if not name.startswith("__index_level_")]

    def chunks(self, places: Sequence[int], check_size: Callable[[int], None], most: int) -> Iterator[Chunk]:
        check_size(self.file.metadata.num_rows)
        names, first = [self.names[place] for place in places], 1
        for batch in self.file.iter_batches(max(1, CHUNK_CELLS // len(names)), columns=names):
            numbers = np.arange(first, first + batch.num_rows)
            yield Chunk("row", numbers, {place: batch.column(self.names[place]) for place in places})
            first += batch.num_rows

    def wrong_kind(self, place: int) -> str | None:
        from pyarrow import types

        kind = self.file.schema_arrow.field(self.names[place]).type
        tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
        return None if any(test(kind) for test in tests) else str(kind)


class _Lines(io.TextIOBase):
    """The lines of a file, none of them longer than `LONGEST_LINE`."""

    def __init__(self, file: TextIO) -> None:
        self.file = file

    def readable(self) -> bool:
        return True

    def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]
        line = self.file.readline(LONGEST_LINE)
        if len(line) == LONGEST_LINE:
            raise InputError(f"a line is longer than {LONGEST_LINE:,} characters.")
        return line


@contextmanager
def _parsing() -> Iterator[None]:
    """Turn errors of the CSV parser into `InputError`."""
    from pandas.errors import ParserError

    try:
        yield
    except (ParserError, csv.Error) as error:
        if found := re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error)):
            expected, line, cells = found.groups()
            raise InputError(f"line {line} has {cells} cells but the first line has {expected}.") from None
        raise InputError(f"it is not a CSV file: {' '.join(str(error).split())[:120].rstrip('.')}.") from None


@contextmanager
def open_table(path: Path, what: str, must: str) -> Iterator[Table]:
    """Open a .csv or .parquet file; `must` tells what the first line of a CSV file has to do.

    >>> with open_table(Path("missing.csv"), "trace", "name the arms") as table:
    ...     pass
    Traceback (most recent call last):
    ...
    environments.errors.InputError: trace missing.csv: there is no such file.
    """
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"{what} must be a .csv or .parquet file but got {str(path)!r}.")
    try:
        if path.exists() and not path.is_file():
            raise InputError("it is not a file.")
        with ExitStack() as stack:
            if path.suffix.lower() == ".parquet":
                yield ParquetTable(stack.enter_context(parquet_file(path)))
            else:
                yield CsvTable(stack.enter_context(path.open(encoding="utf-8-sig", newline="")), must)
    except FileNotFoundError:
        raise InputError(f"{what} {path}: there is no such file.") from None
    except UnicodeDecodeError:
        raise InputError(f"{what} {path}: it is not text in UTF-8.") from None
    except OSError as error:
        raise InputError(f"{what} {path}: it can't be read: {error.strerror or error}.") from None
    except InputError as error:
        raise InputError(f"{what} {path}: {error}") from None
    except ValueError:
        raise InputError(f"{what} {str(path)[:60]!r} is not the name of a file.") from None


@contextmanager
def parquet_file(path: Path) -> Iterator[Any]:
    """Open a Parquet file."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise InputError("Parquet needs pyarrow, which is not installed; pip install 'ravenlab[parquet]'.") from None
    with path.open("rb"):
        pass  # the operating system's message about an unreadable file is clearer than pyarrow's
    try:
        with parquet.ParquetFile(path) as file:
            yield file
    except pyarrow.ArrowException as error:
        raise InputError(f"it is not a Parquet file: {' '.join(str(error).split())[:120].rstrip('.')}.") from None


def check_growing(name: str, steps: Floats, where: Callable[[int], str]) -> None:
    """Raise InputError if a step is repeated or smaller than the one before; `where` names a row in messages.

    >>> check_growing("step", np.array([1.0, 2.0, 5.0]), where="event {}".format)
    """
    before = np.concatenate([[-np.inf], steps[:-1]])
    for row in np.flatnonzero(~(steps > before))[:1]:
        how = "comes twice" if steps[row] == before[row] else f"comes after {before[row]:g}"
        raise InputError(f"{where(row)}: {name.strip()} {steps[row]:g} {how}; steps must grow.")


def _floats_of_arrow(column: Any) -> Floats:
    """An Arrow column as float64, NaN where it is null."""
    import pyarrow
    import pyarrow.compute

    if pyarrow.types.is_boolean(column.type):
        column = pyarrow.compute.cast(column, pyarrow.int8())
    cast = pyarrow.compute.cast(column, pyarrow.float64(), safe=False)
    return np.asarray(cast.to_numpy(zero_copy_only=False), dtype=np.float64)
