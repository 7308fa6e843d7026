"""SQLite files: concurrent connections."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

from studies.storage import database


def test_connections_may_switch_to_the_write_ahead_log_at_the_same_time(tmp_path: Path) -> None:
    """SQLite reports a locked database at once, without waiting, if two connections switch together."""
    failures: list[Exception] = []

    def open_writer(path: Path, barrier: threading.Barrier) -> None:
        with closing(sqlite3.connect(path, timeout=60)) as connection:
            barrier.wait()
            try:
                database._configure_writer(connection, None)
            except sqlite3.Error as error:
                failures.append(error)

    for number in range(40):
        path, barrier = tmp_path / f"{number}.sqlite3", threading.Barrier(6)
        database.create_sqlite_file(path)
        threads = [threading.Thread(target=open_writer, args=(path, barrier)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []
