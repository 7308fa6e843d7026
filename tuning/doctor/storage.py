"""Whether studies can be kept where the URL says; nothing is made or changed to find out."""

from __future__ import annotations

from studies.storage import shown, sqlite_file
from tuning.doctor.rows import NOTE, Check


def storage_checks(url: str) -> list[Check]:
    """Rows on a storage: reachable, writable, and on what it stands."""
    from sqlalchemy.engine import make_url

    from tuning.doctor.postgres import postgres_checks
    from tuning.doctor.sqlite import sqlite_checks

    backend = make_url(url).get_backend_name()
    path = sqlite_file(url)
    if path is not None:
        return sqlite_checks(path, shown(url))
    if backend == "sqlite":
        return [Check("storage", shown(url), NOTE, "in memory: nothing is kept when a command ends")]
    if backend == "postgresql":
        return postgres_checks(url)
    return [Check("storage", shown(url), NOTE, "known to work are SQLite and PostgreSQL; not looked at")]
