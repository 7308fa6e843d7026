"""PostgreSQL: opening a database of studies, and connections that hold the locks of studies.

The connection that stores the trials of a study also holds its lock. A driver that has lost its lock therefore cannot
store anything. A driver that takes the lock again knows that its former session has ended, with all its transactions.
"""

import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ravenlab.common.compat.optuna import Connection, RDBStorage
from ravenlab.common.errors import InputError
from ravenlab.studies.storage.faults import LostConnection, database_message
from ravenlab.studies.storage.urls import mask_url, optuna_url, parse_url

# Connection parameters, unless the URL or an environment variable sets them; a dead network is noticed in a minute.
CONNECT_DEFAULTS: dict[str, tuple[Any, str]] = {
    "connect_timeout": (10, "PGCONNECT_TIMEOUT"),
    "application_name": ("ravenlab", "PGAPPNAME"),
    "keepalives_idle": (30, ""),
    "keepalives_interval": (10, ""),
    "keepalives_count": (3, ""),
    "tcp_user_timeout": (60_000, ""),
}

# Session settings: no timeout while a driver simulates; the server notices a lost driver in a minute.
SESSION_SETTINGS = {
    "idle_session_timeout": "0",
    "tcp_keepalives_idle": "30",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
}

CREATION_LOCK = "ravenlab: the tables are being made"

# Time limit for the end of a former session of this process.
RELEASE_SECONDS = 20.0


@dataclass(frozen=True)
class ServerSession:
    """A session of the server. Process numbers are reused, so the start time belongs to its identity."""

    process: int
    start: datetime


def lock_key(name: str) -> int:
    """Return the advisory lock of a study: 64 bits of a hash of its name.

    >>> lock_key("raven-ucb/blips/T1000/K10")
    1621939956356936258
    """
    return int.from_bytes(hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()[:8], "big", signed=True)


def held_locks(connection: Connection) -> set[int]:
    """Return the advisory locks that sessions of this database hold."""
    from sqlalchemy import text

    query = (
        "SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND granted"
        " AND objsubid = 1 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    return {int(key) for (key,) in connection.execute(text(query))}


def connect_args(url: str) -> dict[str, Any]:
    """Return the arguments of `psycopg.connect` besides the URL."""
    query = parse_url(url).query
    return {
        key: value for key, (value, name) in CONNECT_DEFAULTS.items() if key not in query and name not in os.environ
    }


def open_postgres(url: str, *, create: bool) -> RDBStorage:
    """Open a database of studies. If `create` is set, missing tables are created, by one process at a time."""
    from sqlalchemy import create_engine, text
    from sqlalchemy.pool import NullPool

    with _require_psycopg(url):
        engine = create_engine(parse_url(url), poolclass=NullPool, connect_args=connect_args(url))
    with engine.connect() as connection:
        if not _has_tables(connection, url):
            if not create:
                raise InputError(f"storage {mask_url(url)} has no studies yet; create some with ravenlab tune.")
            connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": lock_key(CREATION_LOCK)})
        return _make_storage(url, pool_pre_ping=True)


def _make_storage(url: str, skip_compatibility_check: bool = False, **engine: Any) -> RDBStorage:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with _require_psycopg(url):
        return optuna.storages.RDBStorage(
            optuna_url(parse_url(url)),
            engine_kwargs={"connect_args": connect_args(url), **engine},
            skip_compatibility_check=skip_compatibility_check,
            skip_table_creation=skip_compatibility_check,
        )


@contextmanager
def _require_psycopg(url: str) -> Iterator[None]:
    try:
        yield
    except ImportError:
        raise InputError(f'storage {mask_url(url)} requires psycopg: pip install "ravenlab[postgres]".') from None


def _has_tables(connection: Connection, url: str) -> bool:
    """Return whether Optuna's tables exist. Raises InputError for other tables with the same names."""
    from sqlalchemy import text

    names = ("studies", "trials", "version_info", "alembic_version")
    columns = ", ".join(f"to_regclass('{name}') IS NOT NULL" for name in names)
    row = connection.execute(text(f"SELECT {columns}")).one()
    tables = {name for name, exists in zip(names, row, strict=True) if exists}
    if tables & {"studies", "trials"} and "version_info" not in tables:
        raise InputError(f"storage {mask_url(url)} is a database without Optuna studies.")
    return tables == {*names}


class LockedConnection:
    """The only connection of a driver. It takes the locks of its studies and is never reopened."""

    def __init__(self, url: str, names: Sequence[str], former: ServerSession | None) -> None:
        self.url = url
        self.names = names
        self.former = former
        self.session: ServerSession | None = None

    def on_connect(self, connection: Any, _: Any) -> None:
        """Configure a new connection of the pool and take the locks."""
        if self.session is not None:
            raise LostConnection(self.url, "it was closed")
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT set_config(name, wanted.value, false) FROM pg_settings JOIN"
                " unnest(%s::text[], %s::text[]) AS wanted(name, value) USING (name)",
                (list(SESSION_SETTINGS), list(SESSION_SETTINGS.values())),
            )
            cursor.execute("SELECT pid, backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()")
            session = ServerSession(*cursor.fetchone())
            for name in self.names:
                self._take(cursor, name)
        connection.autocommit = False
        self.session = session

    def _take(self, cursor: Any, name: str) -> None:
        """Take the lock of a study, if necessary from a former session of this process, which is terminated."""
        until = time.monotonic() + RELEASE_SECONDS
        while True:
            cursor.execute("SELECT pg_try_advisory_lock(%s)", (lock_key(name),))
            if cursor.fetchone()[0]:
                return
            if self.former is None or not self._held_by_former(cursor, name) or time.monotonic() > until:
                raise InputError(f"study {name!r} is being tuned by another process; wait for it or stop it.")
            cursor.execute("SELECT pg_terminate_backend(%s)", (self.former.process,))
            time.sleep(0.02)

    def _held_by_former(self, cursor: Any, name: str) -> bool:
        """Return whether the former session of this process holds the lock, or no session."""
        cursor.execute(
            "SELECT a.pid, a.backend_start FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid"
            " WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1"
            " AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
            " AND ((l.classid::bigint << 32) | l.objid::bigint) = %s",
            (lock_key(name),),
        )
        row = cursor.fetchone()
        return row is None or ServerSession(*row) == self.former

    def on_error(self, context: Any) -> None:
        """Stop Optuna from repeating a write after a lost connection: the first one may have been committed."""
        if context.is_disconnect:
            raise LostConnection(self.url, database_message(self.url, context.original_exception))


@contextmanager
def open_locked(
    url: str, names: Sequence[str], former: ServerSession | None = None
) -> Iterator[tuple[RDBStorage, LockedConnection]]:
    """Open a storage with one connection that holds the locks of studies.

    `former` is the session that the same driver has lost.
    """
    from sqlalchemy import event, text

    open_postgres(url, create=True).engine.dispose()  # checks and creates the tables, on a second connection
    locked = LockedConnection(url, names, former)
    storage = _make_storage(url, True, pool_size=1, max_overflow=0, pool_events=[(locked.on_connect, "connect")])
    event.listen(storage.engine, "handle_error", locked.on_error)
    try:
        yield storage, locked
    finally:
        storage.remove_session()
        with suppress(Exception), storage.engine.connect() as connection:  # closing releases them only after a moment
            connection.execute(text("SELECT pg_advisory_unlock_all()"))
        storage.engine.dispose()
