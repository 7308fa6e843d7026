"""Columns of CSV and Parquet files, read in chunks of bounded size, with one-line errors that name line and column."""

from __future__ import annotations

import csv
import io
import re
import sys
import threading
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from ravenlab.common.arrays import Floats, Ints
from ravenlab.common.errors import InputError
from ravenlab.common.text import format_bytes

if TYPE_CHECKING:
    import pandas

FORMATS = (".csv", ".tsv", ".txt", ".parquet")
CHUNK_CELLS = 200_000  # cells that are read at a time
MAX_LINE_LETTERS = 1_000_000  # protects against files without line ends
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
SAMPLE_LINES = 20  # from which the separator of the columns and the decimal sign are recognized
MAX_DECODED_BYTES = 500_000_000  # of the columns of a Parquet file that are read; a compressed file may be tiny
MAX_READ_BYTES = 1_000_000_000  # that a process may add while it reads a Parquet file, whose stated sizes may be false
MAX_TEXT_LETTERS = 100_000  # of a text in a Parquet file, which may be compressed to a few bytes
LONG_LINE = f"a line is longer than {MAX_LINE_LETTERS:,} characters."
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")
DECIMAL_POINT = re.compile(r"\s*[+-]?\d*\.\d+\s*")
TEXT_BATCH_ROWS = 1000  # of a Parquet file with texts, whose lengths are unknown before they are read
NO_ROWS = "it has column names but no row below them."

RowName = Callable[[int], str]  # names a row in messages by its index, such as "line 3"
Converter = Callable[[Any, RowName], Any]
"""Converts a column to an array. A column is an array of numbers or a tuple of text (CSV), or an Arrow array."""

TRUTH_VALUES = {"true": 1.0, "false": 0.0}  # spellings of 1 and 0, in any case


def to_texts(column: Any) -> list[str]:
    """Convert a column to text without surrounding spaces; missing cells are empty.

    Equal cells of a Parquet file share one string, so that long texts do not multiply.
    """
    if isinstance(column, tuple):
        return [str(cell).strip() for cell in column]
    encoded = column if hasattr(column, "dictionary") else column.dictionary_encode()
    texts = ["" if cell is None else str(cell).strip() for cell in encoded.dictionary.to_pylist()]
    if any(len(text) > MAX_TEXT_LETTERS for text in texts):
        raise InputError(f"a text is longer than {MAX_TEXT_LETTERS:,} characters.")
    return ["" if code is None else texts[code] for code in encoded.indices.to_pylist()]


def to_floats(column: Any, row_name: RowName, label: str, missing: tuple[str, ...] = (), hint: str = "") -> Floats:
    """Convert a column to numbers, NaN where a cell is null or one of the lower-case words in `missing`.

    `label` names the column in messages; `hint` is added to a message about the first row.
    """
    if isinstance(column, np.ndarray):
        return column
    if not isinstance(column, tuple):
        return _arrow_to_floats(column)
    empty = "nan" if "" in missing else ""
    try:
        return np.array([_parse_float(cell or empty) for cell in column])
    except ValueError:
        pass  # some cells are invalid, or missing in another spelling
    numbers = np.empty(len(column))
    for row, cell in enumerate(column):
        try:
            word = cell.strip().lower()
            numbers[row] = (
                np.nan if word in missing else TRUTH_VALUES[word] if word in TRUTH_VALUES else _parse_float(cell)
            )
        except ValueError:
            where = row_name(row)
            message = f"{where}: {label} must be a number but got {cell[:60]!r}"
            raise InputError(f"{message}{hint if where == 'line 2' else ''}.") from None
    return numbers


def _parse_float(cell: str) -> float:
    """Convert a cell to a number, without the underscores that Python allows: 1_0 may be a typing error."""
    if "_" in cell:
        raise ValueError
    return float(cell)


def _arrow_to_floats(column: Any) -> Floats:
    import pyarrow
    import pyarrow.compute

    if pyarrow.types.is_boolean(column.type):
        column = pyarrow.compute.cast(column, pyarrow.int8())
    cast = pyarrow.compute.cast(column, pyarrow.float64(), safe=False)
    return np.asarray(cast.to_numpy(zero_copy_only=False), dtype=np.float64)


def to_cells(column: Any, row_name: RowName) -> Any:
    """Convert a column to an array of numbers, times or text, as which it is understood later."""
    if isinstance(column, np.ndarray):
        return column
    if isinstance(column, tuple):
        return np.array(to_texts(column), dtype=object)
    from pyarrow import types

    if types.is_temporal(column.type) or types.is_integer(column.type) or types.is_floating(column.type):
        return column.to_pandas().to_numpy()
    return np.array(to_texts(column), dtype=object)


class Table(ABC):
    """An open file."""

    names: list[str]
    """All columns, as written in the file; the index of a data frame is the first one."""
    notes: list[str]
    """What was recognized about the format."""
    row_word: str
    """The word for a row in messages."""

    @abstractmethod
    def chunks(self, positions: list[int], max_rows: int, too_long: str) -> Iterator[tuple[Ints, dict[int, Any]]]:
        """Yield row numbers, counted from 1, and columns by position.

        Raises:
            InputError: The table has more than `max_rows` rows; the message is `too_long`.
        """

    def non_numeric_type(self, position: int) -> str | None:
        """Return the type of a column if it is known and not numeric."""
        return None

    def read(
        self,
        converters: Mapping[int, Converter],
        max_rows: int,
        too_long: str,
        texts: Collection[int] = (),
        missing: Collection[str] = (),
    ) -> tuple[dict[int, Any], RowName]:
        """Read and convert columns by position; the second result names rows in messages.

        Columns contain numbers, or one of the lower-case words in `missing`, unless their position is in `texts`.
        """
        numbers: list[Ints] = []
        parts: dict[int, list[Any]] = {position: [] for position in converters}
        for chunk_numbers, cells in self.chunks(list(converters), max_rows, too_long):
            for position, convert in converters.items():
                parts[position].append(convert(cells[position], self._row_name(chunk_numbers)))
            numbers.append(chunk_numbers)
        if not numbers:
            raise InputError(NO_ROWS)
        columns = {position: np.concatenate(arrays) for position, arrays in parts.items()}
        return columns, self._row_name(np.concatenate(numbers))

    def _row_name(self, numbers: Ints) -> RowName:
        return lambda row: f"{self.row_word} {numbers[row]}"


class CsvTable(Table):
    """A CSV file with names in its first line. pandas reads regular files, the csv module all others."""

    row_word = "line"

    def __init__(self, file: TextIO, must: str) -> None:
        self.path = file.name
        lines = _bounded_lines(file)
        sample = list(islice(lines, SAMPLE_LINES))
        self.delimiter = _find_delimiter(sample)
        self.rows = csv.reader(chain(sample, lines), delimiter=self.delimiter, strict=True)
        header = next(self.rows, [])
        if not any(header):
            raise InputError(f"it is empty; the first line must {must}.")
        self.names = [name.strip() for name in header]
        self.notes = []
        self.decimal = "."
        if self.delimiter != ",":
            cells = [cell for row in csv.reader(sample[1:], delimiter=self.delimiter) for cell in row]
            if any(map(DECIMAL_COMMA.fullmatch, cells)) and not any(map(DECIMAL_POINT.fullmatch, cells)):
                self.decimal = ","
            signs = " and decimals by commas" if self.decimal == "," else ""
            self.notes = [f"columns are separated by {DELIMITERS[self.delimiter]}{signs}"]

    def chunks(self, positions: list[int], max_rows: int, too_long: str) -> Iterator[tuple[Ints, dict[int, Any]]]:
        count = 0
        line = 2
        while chunk := list(islice(self.rows, max(1, CHUNK_CELLS // len(self.names)))):
            widths = np.array([len(row) for row in chunk])
            numbers = np.arange(line, line + len(chunk))
            line += len(chunk)
            rows = [row for row in chunk if row]  # without blank lines
            count += len(rows)
            if count > max_rows:
                raise InputError(too_long)
            for i in np.flatnonzero((widths > 0) & (widths != len(self.names)))[:1]:
                raise InputError(f"line {numbers[i]} has {widths[i]} cells but the first line has {len(self.names)}.")
            if rows:
                if self.decimal == ",":
                    rows = [[_with_point(cell) for cell in row] for row in rows]
                columns = list(zip(*rows, strict=True))
                yield numbers[widths > 0], {position: columns[position] for position in positions}

    def read(
        self,
        converters: Mapping[int, Converter],
        max_rows: int,
        too_long: str,
        texts: Collection[int] = (),
        missing: Collection[str] = (),
    ) -> tuple[dict[int, Any], RowName]:
        frame = self._read_frame({*converters} - {*texts}, texts, max_rows, missing)
        if frame is None:
            return super().read(converters, max_rows, too_long)

        def row_name(row: int) -> str:
            return f"line {row + 2}"

        columns = {
            position: convert(
                tuple(frame[position]) if position in texts else frame[position].to_numpy(dtype=np.float64), row_name
            )
            for position, convert in converters.items()
        }
        return columns, row_name

    def _read_frame(
        self, numbers: Collection[int], texts: Collection[int], max_rows: int, missing: Collection[str]
    ) -> pandas.DataFrame | None:
        """Read the columns with pandas, whose columns are named by their positions.

        Returns None for a file that the csv module must read, in order to skip blank lines or to name a line with an
        error: pandas neither reports the line of an invalid cell nor distinguishes short rows from missing cells.
        """
        import pandas

        old = tuple(int(part) for part in pandas.__version__.split(".")[:2]) < (3, 1)
        options = {"float_precision": "round_trip"} if old else {}  # newer versions always round correctly
        words = [spelled for word in missing for spelled in {word, word.upper(), word.title()}]
        width = len(self.names)
        try:
            with open_csv(self.path) as file:
                frame = pandas.read_csv(
                    _BoundedLines(file, self.delimiter),
                    engine="c",
                    sep=self.delimiter,
                    decimal=self.decimal,
                    header=0,
                    names=range(width),
                    dtype={i: np.float64 if i in numbers else object for i in range(width)},
                    keep_default_na=False,
                    na_values=dict.fromkeys(numbers, words),
                    skip_blank_lines=False,
                    nrows=max_rows + 1,
                    **options,
                )
        except ValueError:
            return None
        last = frame[width - 1]
        irregular = last.isna().any() or (last == "").any() or not isinstance(frame.index, pandas.RangeIndex)
        return None if irregular or not 0 < len(frame) <= max_rows else frame


class ParquetTable(Table):
    """A Parquet file; its size and its types are known before anything is read."""

    row_word = "row"

    def __init__(self, path: Path, file: Any) -> None:
        self.path = path
        self.file = file
        self.schema = file.schema_arrow  # pyarrow creates it again at every access
        stored = (self.schema.pandas_metadata or {}).get("index_columns", [])
        index = [name for name in stored if isinstance(name, str) and name in self.schema.names]
        self.fields = [*index, *(name for name in self.schema.names if name not in index)]
        self.names = ["" if name.startswith("__index_level_") else name for name in self.fields]
        self.notes = []
        for name, count in Counter(self.names).items():
            if count > 1:
                raise InputError(f"column {name[:60]!r} occurs {count} times.")

    def chunks(self, positions: list[int], max_rows: int, too_long: str) -> Iterator[tuple[Ints, dict[int, Any]]]:
        from pyarrow.types import is_dictionary

        if self.file.metadata.num_rows > max_rows:
            raise InputError(too_long)
        names = [self.fields[position] for position in positions]
        first = 1
        self._check_size(names)
        texts = [
            self.fields[i] for i in positions if self.non_numeric_type(i) and not is_dictionary(self.column_type(i))
        ]
        with open_parquet(self.path, texts) as file:
            rows = max(1, CHUNK_CELLS // len(names))
            rows = min(rows, TEXT_BATCH_ROWS) if texts else rows
            size = 0
            dictionaries: dict[int, Any] = {}
            # Without threads, because pyarrow crashes if it lacks the memory to start one.
            for batch in file.iter_batches(rows, columns=names, use_threads=False):
                for index, column in enumerate(batch.columns):
                    size += getattr(column, "indices", column).nbytes
                    dictionary = getattr(column, "dictionary", None)
                    if dictionary is not None and dictionary != dictionaries.get(index):
                        dictionaries[index] = dictionary  # batches of a row group share one
                        size += dictionary.nbytes
                _check_decoded(size)
                batch.validate(full=True)  # indices of texts in a damaged file may be out of range
                numbers = np.arange(first, first + batch.num_rows)
                yield numbers, {position: batch.column(self.fields[position]) for position in positions}
                first += batch.num_rows

    def _check_size(self, names: Collection[str]) -> None:
        """Raise InputError if columns are too large when they are decompressed.

        The sizes of single columns are read only if those of all columns are too large together: pyarrow ends the
        process if they are damaged.
        """
        metadata = self.file.metadata
        size = 0
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        if sum(max(0, group.total_byte_size) for group in groups) <= MAX_DECODED_BYTES:
            return
        for group in groups:
            for column in map(group.column, range(group.num_columns)):
                if column.path_in_schema in names or column.path_in_schema.split(".")[0] in names:
                    size += column.total_uncompressed_size
        _check_decoded(size)

    def column_type(self, position: int) -> Any:
        """Return the Arrow type of a column."""
        return self.schema.field(self.fields[position]).type

    def non_numeric_type(self, position: int) -> str | None:
        from pyarrow import types

        kind = self.column_type(position)
        tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
        return None if any(test(kind) for test in tests) else str(kind)


def _check_decoded(size: int) -> None:
    """Raise InputError for columns that are too large; the sizes that a file states may be false."""
    if size > MAX_DECODED_BYTES:
        limit = format_bytes(MAX_DECODED_BYTES)
        raise InputError(f"its columns have {format_bytes(size)} when decompressed, more than the maximum of {limit}.")


@contextmanager
def _limit_memory() -> Iterator[None]:
    """Limit the memory that this process adds in a block; a lack of memory is an InputError.

    The limit holds for the whole process, so only the main thread sets it: two threads might restore it out of order.
    """
    if sys.platform != "linux" or threading.current_thread() is not threading.main_thread():
        yield
        return
    import resource

    (used,) = re.findall(r"VmData:\s*(\d+) kB", Path("/proc/self/status").read_text())
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = 1024 * int(used) + MAX_READ_BYTES
    resource.setrlimit(resource.RLIMIT_DATA, (limit if soft < 0 else min(soft, limit), hard))
    try:
        yield
    except MemoryError:
        size = format_bytes(MAX_READ_BYTES)
        raise InputError(f"its columns take more than {size} of memory when decompressed.") from None
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def open_csv(path: Path | str) -> TextIO:
    """Open a CSV file; a byte order mark is skipped."""
    return Path(path).open(encoding="utf-8-sig", newline="")


class _BoundedLines(io.TextIOBase):
    """A text file for pandas that refuses lines longer than `MAX_LINE_LETTERS`."""

    def __init__(self, file: TextIO, delimiter: str) -> None:
        self.file = file
        cell = rf"[^{re.escape(delimiter)}\r\n]"
        self.misplaced_quote = re.compile(f'{cell}"{cell}')  # which pandas leaves out: "1"5 would be 15
        self.line_letters = 0
        self.end = ""

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> str:
        text = self.file.read(-1 if size is None else size)
        end = max(text.rfind("\n"), text.rfind("\r"))
        self.line_letters = len(text) - end - 1 + (self.line_letters if end < 0 else 0)
        if self.line_letters > MAX_LINE_LETTERS:
            raise InputError(LONG_LINE)
        if self.misplaced_quote.search(self.end + text):
            raise ValueError("the csv module decides what such a quote means")
        self.end = (self.end + text)[-2:]
        return text


def _bounded_lines(file: TextIO) -> Iterator[str]:
    """Yield the lines of a file; refuse lines longer than `MAX_LINE_LETTERS`."""
    while line := file.readline(MAX_LINE_LETTERS + 1):
        if len(line) > MAX_LINE_LETTERS:
            raise InputError(LONG_LINE)
        yield line


def _find_delimiter(sample: list[str]) -> str:
    """Return the separator that divides all lines into the same number of columns, by preference a comma."""
    for delimiter in DELIMITERS:
        widths = {len(row) for row in csv.reader(sample, delimiter=delimiter) if row}
        if len(widths) == 1 and widths != {1}:
            return delimiter
    return max(DELIMITERS, key=sample[0].count) if sample else ","


def _with_point(cell: str) -> str:
    return cell.replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) else cell


def _shorten(error: Exception) -> str:
    return " ".join(str(error).split())[:120].rstrip(".")


@contextmanager
def open_table(path: Path, kind: str, must: str) -> Iterator[Table]:
    """Open a .csv or .parquet file; `must` completes the message that a CSV file is empty.

    >>> with open_table(Path("missing.csv"), "trace", "name the arms") as table:
    ...     pass
    Traceback (most recent call last):
    ...
    ravenlab.common.errors.InputError: trace missing.csv: there is no such file.
    """
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"{kind} must be a .csv, .tsv, .txt or .parquet file but got {str(path)!r}.")
    try:
        if path.exists() and not path.is_file():
            raise InputError("it is not a file.")
        with ExitStack() as stack:
            if path.suffix.lower() == ".parquet":
                stack.enter_context(_limit_memory())
                yield ParquetTable(path, stack.enter_context(open_parquet(path)))
            else:
                yield CsvTable(stack.enter_context(open_csv(path)), must)
    except FileNotFoundError:
        raise InputError(f"{kind} {path}: there is no such file.") from None
    except UnicodeDecodeError:
        raise InputError(f"{kind} {path}: it is not text in UTF-8.") from None
    except OSError as error:
        raise InputError(f"{kind} {path}: it cannot be read: {error.strerror or _shorten(error)}.") from None
    except csv.Error as error:
        raise InputError(f"{kind} {path}: it is not a CSV file: {_shorten(error)}.") from None
    except InputError as error:
        raise InputError(f"{kind} {path}: {error}") from None
    except ValueError:
        raise InputError(f"{kind} {str(path)[:60]!r} is not the name of a file.") from None


@contextmanager
def open_parquet(path: Path, texts: Collection[str] = ()) -> Iterator[Any]:
    """Open a Parquet file. In the columns `texts`, equal texts are stored once instead of once per row."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise InputError("Parquet needs pyarrow, which is not installed; pip install 'ravenlab[parquet]'.") from None
    with path.open("rb"):
        pass  # the operating system's message about an unreadable file is clearer than pyarrow's
    try:
        with parquet.ParquetFile(path, read_dictionary=list(texts)) as file:
            yield file
    except MemoryError:  # of Python or of pyarrow
        raise
    except pyarrow.ArrowException as error:
        raise InputError(f"it is not a Parquet file: {_shorten(error)}.") from None
