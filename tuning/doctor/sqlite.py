"""An SQLite file: a write that is rolled back, its journal, the disk below it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from environments.errors import InputError
from environments.text import format_bytes
from studies.storage import check_file
from tuning.doctor.mounts import mount_check
from tuning.doctor.rows import NOTE, PROBLEM, Check, reason

BUSY_SECONDS = 5.0
"""How long another writer is waited for: a landing takes some milliseconds."""

LITTLE, NONE_LEFT = 1_000_000_000, 50_000_000
"""Bytes of free disk below which a note or a problem is made of it. A study of 1000 trials takes some 5 MB."""


def sqlite_checks(path: Path, name: str) -> list[Check]:
    """Rows on a file of studies, or on the folder that it would be made in."""
    try:
        check_file(path, create=True)
    except InputError as error:
        return [Check("storage", reason(error), PROBLEM, "give another --storage, or make it usable")]
    folder = path.resolve().parent
    rows = [*_existing(path, name)] if path.exists() else [_absent(folder, name)]
    return [*rows, mount_check(folder), _space(folder)]


def _absent(folder: Path, name: str) -> Check:
    if not os.access(folder, os.W_OK | os.X_OK):
        return Check("storage", f"{name}: its folder can't be written", PROBLEM, "give another --storage")
    return Check("storage", f"{name}: not there yet, its folder can be written")


def _existing(path: Path, name: str) -> Iterator[Check]:
    """A table is made and taken back in one transaction: no other program ever sees it."""
    begin = time.perf_counter()
    try:
        with _opened(path) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("CREATE TABLE ravenlab_doctor (x INTEGER)")
            connection.execute("ROLLBACK")
            spent = time.perf_counter() - begin
            (journal,) = connection.execute("PRAGMA journal_mode").fetchone()
    except sqlite3.Error as error:
        if "locked" in str(error):
            advice = "find out which program holds it"
            yield Check("storage", f"{name}: locked for {BUSY_SECONDS:g} s by another program", NOTE, advice)
        else:
            yield Check("storage", f"{name}: {reason(error)}", PROBLEM, "give another --storage, or make it writable")
        return
    used = path.stat().st_size
    yield Check("storage", f"{name}: {format_bytes(used)}, can be written ({spent * 1e3:.1f} ms)")
    if journal == "wal":
        yield Check("journal", "WAL: readers don't wait for the writer")
    else:
        yield Check("journal", f"{journal}: the next command that writes turns WAL on", NOTE)


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that never makes the file and starts no transaction by itself."""
    place = f"file:{quote(str(path.resolve()))}?mode=rw"
    connection = sqlite3.connect(place, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        yield connection
    finally:
        connection.close()


def _space(folder: Path) -> Check:
    free = shutil.disk_usage(folder).free
    found = f"{format_bytes(free)} free"
    if free < NONE_LEFT:
        return Check("disk", found, PROBLEM, "make room: a study that can't land its trials stops")
    if free < LITTLE:
        return Check("disk", found, NOTE, "1000 trials take some 5 MB")
    return Check("disk", found)
