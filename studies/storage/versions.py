"""The version of Optuna's tables, read and written without alembic.

Optuna imports alembic and loads all migrations whenever it opens a database. This takes as long as opening the database
and storing a study in it. Only a migration needs it, and ravenlab does not migrate.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

VERSION_TABLE = "alembic_version"


@cache
def avoid_alembic() -> None:
    """Make Optuna's storages read and write the version of their tables as alembic does, with plain statements."""
    from optuna.storages._rdb import storage

    class VersionManager(storage._VersionManager):
        """Optuna's class with four methods that do not need alembic."""

        def _init_alembic(self) -> None:
            versions = self._read_versions()
            if not versions and self._is_alembic_supported():
                self._set_alembic_revision(self.get_head_version())
            elif len(versions) != 1:
                super()._init_alembic()

        def _set_alembic_revision(self, revision: str) -> None:
            from sqlalchemy import Column, MetaData, PrimaryKeyConstraint, String, Table, insert

            table = Table(
                VERSION_TABLE,
                MetaData(),
                Column("version_num", String(32), nullable=False),
                PrimaryKeyConstraint("version_num", name=f"{VERSION_TABLE}_pkc"),
            )
            with self.engine.begin() as connection:
                table.create(connection, checkfirst=True)
                connection.execute(insert(table), {"version_num": revision})

        def get_current_version(self) -> str:
            versions = self._read_versions()
            return versions[0] if len(versions) == 1 else super().get_current_version()

        def get_head_version(self) -> str:
            head = find_head(Path(storage.__file__).parent / "alembic" / "versions")
            return super().get_head_version() if head is None else head

        def _read_versions(self) -> list[str]:
            from sqlalchemy import inspect, text

            with self.engine.connect() as connection:
                if not inspect(connection).has_table(VERSION_TABLE):
                    return []
                return list(connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalars())

    module: Any = storage
    module._VersionManager = VersionManager


def find_head(folder: Path) -> str | None:
    """Return the newest of the migrations in a folder, which no other one follows; None if it cannot be determined."""
    files = [path.read_text(encoding="utf-8") for path in folder.glob("*.py")]
    own, earlier = (set(_find_all(name, files)) for name in ("revision", "down_revision"))
    heads = own - earlier
    return heads.pop() if len(own) == len(files) and len(heads) == 1 else None


def _find_all(name: str, files: list[str]) -> list[str]:
    return [match for text in files for match in re.findall(rf'^{name} = "([^"]+)"$', text, re.MULTILINE)]
