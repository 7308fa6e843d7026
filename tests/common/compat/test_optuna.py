"""Versions of Optuna's tables without alembic: the same tables and versions, and the same errors."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.storages._rdb import storage as optuna_storage

from ravenlab.common.compat.optuna import avoid_alembic, find_head

avoid_alembic()
PLAIN = optuna_storage._VersionManager
OPTUNA = PLAIN.__mro__[1]


def create(path: Path, manager: type) -> tuple[list[Any], list[Any]]:
    """Create a database, and return its tables and the versions in it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(optuna_storage, "_VersionManager", manager)
        optuna.storages.RDBStorage(f"sqlite:///{path}").engine.dispose()
    with closing(sqlite3.connect(path)) as connection:
        tables = connection.execute("SELECT type, name, tbl_name FROM sqlite_master ORDER BY name").fetchall()
        columns = [connection.execute(f"PRAGMA table_info({name})").fetchall() for _, name, _ in tables]
        versions = [
            connection.execute(f"SELECT * FROM {table}").fetchall() for table in ("version_info", "alembic_version")
        ]
    return [tables, columns], versions


def test_database_is_that_of_optuna(tmp_path: Path) -> None:
    plain, expected = create(tmp_path / "plain.sqlite3", PLAIN), create(tmp_path / "optuna.sqlite3", OPTUNA)
    assert plain == expected
    for manager in (PLAIN, OPTUNA):  # each accepts what the other has created
        assert create(tmp_path / "plain.sqlite3", manager) == create(tmp_path / "optuna.sqlite3", manager) == expected


@pytest.mark.parametrize("version", ["v2.4.0.a", "v99.0.0.a"])
def test_other_versions_are_refused_as_by_optuna(version: str, tmp_path: Path) -> None:
    path = tmp_path / "studies.sqlite3"
    create(path, PLAIN)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", (version,))
        connection.commit()
    messages = []
    for manager in (PLAIN, OPTUNA):
        with pytest.raises(RuntimeError) as error:
            create(path, manager)
        messages.append(str(error.value))
    assert messages[0] == messages[1]


def test_head_is_not_guessed(tmp_path: Path) -> None:
    assert find_head(tmp_path) is None
    (tmp_path / "a.py").write_text('revision = "a"\ndown_revision = None\n')
    (tmp_path / "b.py").write_text('revision = "b"\ndown_revision = "a"\n')
    assert find_head(tmp_path) == "b"
    (tmp_path / "c.py").write_text('revision = "c"\ndown_revision = "a"\n')
    assert find_head(tmp_path) is None
