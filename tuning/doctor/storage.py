"""Whether studies can be kept where the URL says; nothing is made or changed to find out."""

from __future__ import annotations

from studies.urls import is_postgres, is_sqlite, parse, shown, sqlite_file
from tuning.doctor.rows import NOTE, Check


def storage_checks(url: str) -> list[Check]:
    """Rows on a storage: reachable, writable, and on what it stands."""
    from tuning.doctor.postgres import postgres_checks
    from tuning.doctor.sqlite import sqlite_checks

    path, parsed = sqlite_file(url), parse(url)
    if path is not None:
        return sqlite_checks(path, shown(url))
    if is_sqlite(parsed):
        return [Check("storage", shown(url), NOTE, "in memory: nothing is kept when a command ends")]
    if is_postgres(parsed):
        return postgres_checks(url)
    return [Check("storage", shown(url), NOTE, "known to work are SQLite and PostgreSQL; not looked at")]
