"""Parquet files of a few kilobytes that decode to gigabytes, although their footers state small sizes."""

import resource
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from ravenlab.common.errors import InputError
from ravenlab.environments.recorded import table_file
from ravenlab.environments.recorded.log_file import read_log
from tests.messages import assert_names, raises_naming
from tests.project import python

LETTERS = 3_000_000  # of each text
MAX_KILOBYTES = 1_300_000  # of a process that reads such a file

READ = """
import re, resource, sys
from pathlib import Path
from ravenlab.common.errors import InputError
from ravenlab.environments.recorded.log_file import read_log
try:
    print(read_log(sys.argv[1]).events)
except InputError as error:
    print(error)
status = Path("/proc/self/status").read_text()
print(re.search(r"VmHWM:\\s*(\\d+)", status)[1], resource.getrlimit(resource.RLIMIT_DATA))
"""


def texts(first: int, count: int) -> list[str]:
    """Return distinct long texts that compress well."""
    return [f"{number:0{LETTERS}}" for number in range(first, first + count)]


def encode_size(number: int) -> bytes:
    """Return a size as the footer contains it: a variable number of bytes with 7 bits each, for twice the number."""
    digits = []
    number *= 2
    while number:
        digits.append(number & 127 | 128)
        number >>= 7
    digits[-1] &= 127
    return bytes(digits)


def forge_sizes(path: Path) -> None:
    """Replace all large sizes in the footer of a file by 50, written with the same number of bytes."""
    content = path.read_bytes()
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    footer = content[start:]
    metadata = parquet.read_metadata(path)
    groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
    sizes = {group.total_byte_size for group in groups}
    sizes |= {group.column(index).total_uncompressed_size for group in groups for index in range(group.num_columns)}
    for size in sorted(sizes, reverse=True):
        if size > LETTERS:
            true = encode_size(size)
            footer = footer.replace(true, bytes([100 | 128, *[128] * (len(true) - 2), 0]))
    path.write_bytes(content[:start] + footer)
    metadata = parquet.read_metadata(path)
    assert sum(metadata.row_group(index).total_byte_size for index in range(metadata.num_row_groups)) < 10**6


def write_forged(path: Path, kind: Any, groups: int, arms: Callable[[int], list[Any]], **options: Any) -> None:
    """Write a log with one row group after another, and forge its sizes."""
    schema = pyarrow.schema({"step": pyarrow.int64(), "arm": kind, "reward": pyarrow.float64()})
    with parquet.ParquetWriter(path, schema, compression="zstd", write_statistics=False, **options) as writer:
        for group in range(groups):
            names = pyarrow.array(arms(group), kind)
            step = np.arange(len(names)) + group * len(names)
            writer.write_table(pyarrow.table([step, names, np.zeros(len(names))], schema=schema))
    forge_sizes(path)


def write_long_texts(path: Path) -> None:
    write_forged(path, pyarrow.string(), 18, lambda group: texts(20 * group, 20), use_dictionary=False)


def write_dictionaries(path: Path) -> None:
    options = {"use_dictionary": ["arm"], "dictionary_pagesize_limit": 10**9}
    write_forged(path, pyarrow.string(), 40, lambda group: texts(10 * group, 10), **options)


def write_fixed_width(path: Path) -> None:
    write_forged(path, pyarrow.binary(LETTERS), 22, lambda _: [b"0" * LETTERS] * 20, use_dictionary=False)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux")
@pytest.mark.parametrize("write", [write_long_texts, write_dictionaries, write_fixed_width])
def test_forged_sizes_do_not_exhaust_the_memory(write: Callable[[Path], None], tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    write(path)
    assert path.stat().st_size < 10**6
    done = python("-c", READ, path)
    assert done.returncode == 0, done.stderr
    message, figures = done.stdout.splitlines()
    assert_names(message, path, "decompressed")
    kilobytes, limit = figures.split(maxsplit=1)
    assert int(kilobytes) < MAX_KILOBYTES
    assert limit == str(resource.getrlimit(resource.RLIMIT_DATA))


def write_names(path: Path, names: list[str]) -> None:
    count = len(names)
    parquet.write_table(pyarrow.table({"step": range(count), "arm": names, "reward": [0.0] * count}), path)


def test_long_names_are_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_file, "MAX_TEXT_LETTERS", 1000)
    write_names(tmp_path / "log.parquet", ["a", "b" * 1000])
    assert read_log(tmp_path / "log.parquet").arms == 2
    write_names(tmp_path / "log.parquet", ["a", "b" * 1001])
    with raises_naming(InputError, "log.parquet", "1,000"):
        read_log(tmp_path / "log.parquet")


def test_other_threads_read_without_changing_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit holds for the whole process, so it is only set by the main thread."""
    write_names(tmp_path / "log.parquet", ["a", "b"])
    monkeypatch.setattr(resource, "setrlimit", lambda *_: pytest.fail("the limit was changed"))
    arms: list[int] = []
    thread = threading.Thread(target=lambda: arms.append(read_log(tmp_path / "log.parquet").arms))
    thread.start()
    thread.join()
    assert arms == [2]
