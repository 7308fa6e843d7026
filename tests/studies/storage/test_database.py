"""SQLite files: concurrent connections and damaged files."""

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import optuna
import pytest

from ravenlab.common.errors import InputError
from ravenlab.studies.storage import database
from ravenlab.studies.storage.database import open_storage


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


def test_reading_a_damaged_file_leaves_no_files_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite3"
    storage = open_storage(f"sqlite:///{path}", create=True)
    optuna.create_study(storage=storage)
    storage.engine.dispose()
    path.write_bytes(path.read_bytes()[:-5000])
    with pytest.raises(InputError):
        open_storage(f"sqlite:///{path}", create=False)
    assert list(tmp_path.iterdir()) == [path]
