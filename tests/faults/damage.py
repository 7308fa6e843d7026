"""Damaged storages: truncated files, flipped bits, random bytes, and changed values."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Iterable
from pathlib import Path

import numpy as np

KINDS = ("cut", "bits", "text", "noise", "values")

TEXT = re.compile(rb'[{\["][\x20-\x7e]{12,}')
"""Matches attributes, names and distributions in a file."""

VALUES = [
    None,
    "",
    "x",
    "null",
    "[]",
    "{}",
    '"x"',
    "[1, null]",
    '{"a": {}}',
    "NaN",
    "1e999",
    "1",
    -1,
    2**62,
    1e300,
    b"\xff",
]
"""Values that replace a column of a row."""


def write_damaged(original: Path, place: Path, seed: int) -> str:
    """Write a damaged copy of a storage, reproducible by the seed; return a description of the damage."""
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    if kind == "values":
        shutil.copyfile(original, place)
        return f"{kind}: {_replace_values(place, rng)}"
    content = bytearray(original.read_bytes())
    if kind == "cut":
        at = int(rng.integers(1, len(content)))
        content = content[:at]
    elif kind == "bits":
        at = _flip_bits(content, rng, rng.integers(0, len(content), int(rng.integers(1, 5))))
    elif kind == "text":
        places = [int(rng.integers(*match.span())) for match in TEXT.finditer(content)]
        at = _flip_bits(content, rng, rng.choice(places, int(rng.integers(1, 4))))
    else:
        at = int(rng.integers(0, len(content) - 512))
        content[at : at + 512] = rng.bytes(512)
    place.write_bytes(content)
    return f"{kind} at {at}"


def _flip_bits(content: bytearray, rng: np.random.Generator, places: Iterable[int]) -> int:
    places = [int(place) for place in places]
    for place in places:
        content[place] ^= 1 << int(rng.integers(0, 8))
    return places[0]


def _replace_values(place: Path, rng: np.random.Generator) -> str:
    """Replace one to three random values; the file remains a valid database."""
    changes = []
    connection = sqlite3.connect(place, isolation_level=None)
    connection.execute("PRAGMA ignore_check_constraints = 1")
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    nonempty = [name for name in tables if connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]]
    for _ in range(int(rng.integers(1, 4))):
        table = nonempty[int(rng.integers(len(nonempty)))]
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        column = columns[int(rng.integers(len(columns)))]
        value = VALUES[int(rng.integers(len(VALUES)))]
        rows = [row for (row,) in connection.execute(f"SELECT rowid FROM {table}")]
        row = rows[int(rng.integers(len(rows)))]
        try:
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (value, row))
        except sqlite3.Error:  # a NOT NULL or UNIQUE constraint
            continue
        changes.append(f"{table}.{column}[{row}] = {value!r}")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return ", ".join(changes) or "nothing"
