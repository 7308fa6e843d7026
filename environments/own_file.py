"""Files of the user's own, CSV or Parquet: whatever is wrong with one is a line that begins with its name."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from environments.errors import InputError

if TYPE_CHECKING:
    from environments.world import Floats

LONGEST_LINE = 1_000_000
"""Characters: a file without line ends is not read to its end."""

BATCH = 65_536
"""Rows of a Parquet file that are read at a time."""

NO_ROWS = "it has names but no row below them."

OTHER_DELIMITERS = {";": "semicolons", "\t": "tabs", "|": "bars"}


@contextmanager
def reading(path: Path, what: str) -> Iterator[str]:
    """Read a .csv or .parquet file within; gives which of them it is.

    >>> with reading(Path("missing.csv"), "trace") as kind:
    ...     _ = Path("missing.csv").open()
    Traceback (most recent call last):
    ...
    environments.errors.InputError: trace missing.csv: there is no such file.
    """
    kind = path.suffix.lower()
    if kind not in (".csv", ".parquet"):
        raise InputError(f"{what} must be a .csv or .parquet file but got {str(path)!r}.")
    try:
        if path.exists() and not path.is_file():
            raise InputError("it is not a file.")
        yield kind
    except FileNotFoundError:
        raise InputError(f"{what} {path}: there is no such file.") from None
    except UnicodeDecodeError:
        raise InputError(f"{what} {path}: it is not text in UTF-8.") from None
    except OSError as error:
        raise InputError(f"{what} {path}: it can't be read: {error.strerror or error}.") from None
    except csv.Error as error:
        raise InputError(f"{what} {path}: it is not a CSV file: {error}.") from None
    except InputError as error:
        raise InputError(f"{what} {path}: {error}") from None
    except ValueError:
        raise InputError(f"{what} {str(path)[:60]!r} is not the name of a file.") from None


def lines_of(file: TextIO) -> Iterator[str]:
    """The lines of a file, none of them longer than is sensible."""
    while line := file.readline(LONGEST_LINE):
        if len(line) == LONGEST_LINE:
            raise InputError(f"a line is longer than {LONGEST_LINE:,} characters.")
        yield line


def header_of(reader: Any, must: str) -> list[str]:
    """The names in the first line of a CSV file; `must` says what that line has to hold."""
    header = next(reader, None)
    if not header:
        raise InputError(f"it is empty; the first line must {must}.")
    if len(header) == 1:
        for sign, word in OTHER_DELIMITERS.items():
            if sign in header[0]:
                raise InputError(f"its columns seem to be separated by {word}; write it with commas.")
    return [name.strip() for name in header]


def check_cells(row: list[str], header: list[str], where: str) -> None:
    """Raise InputError for a row with more or fewer cells than names."""
    if len(row) != len(header):
        raise InputError(f"{where} has {len(row)} cells but the first line has {len(header)}.")


def check_growing(name: str, before: float, now: float, where: str) -> None:
    """Raise InputError where a step comes twice or goes back.

    >>> check_growing("step", before=1.0, now=2.0, where="line 3")
    """
    if not now > before:
        how = "comes twice" if now == before else f"comes after {before:g}"
        raise InputError(f"{where}: {name.strip()} {now:g} {how}; steps must grow.")


@contextmanager
def parquet_file(path: Path) -> Iterator[Any]:
    """A Parquet file, open within; its size and columns are known before anything is read."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise InputError("Parquet needs pyarrow, which is not installed; pip install 'ravenlab[parquet]'.") from None
    with path.open("rb"):
        pass  # what the system says about a file that can't be read is clearer than what pyarrow says
    try:
        with parquet.ParquetFile(path) as file:
            yield file
    except pyarrow.ArrowException as error:
        raise InputError(f"it is not a Parquet file: {' '.join(str(error).split())[:120].rstrip('.')}.") from None


def holds_numbers(kind: Any) -> bool:
    """Whether a column of this Arrow type holds numbers."""
    from pyarrow import types

    tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
    return any(test(kind) for test in tests)


def floats(column: Any) -> Floats:
    """An Arrow column as float64, NaN where it is null."""
    import pyarrow
    import pyarrow.compute

    if pyarrow.types.is_boolean(column.type):
        column = pyarrow.compute.cast(column, pyarrow.int8())
    cast = pyarrow.compute.cast(column, pyarrow.float64(), safe=False)
    return np.asarray(cast.to_numpy(zero_copy_only=False), dtype=np.float64)
