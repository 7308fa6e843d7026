"""PostgreSQL: opening a database of studies, and the session that alone may write one.

The lock of a study is held by the very connection that its trials are landed through. So nothing is landed by a driver
that lost its lock, and a driver that takes it again knows that its former session has ended, and with it whatever that
session was about to commit.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from environments.errors import InputError
from studies.storage.faults import LostConnection, database_message
from studies.storage.urls import mask_url, optuna_url, parse_url

if TYPE_CHECKING:
    from optuna.storages import RDBStorage
    from sqlalchemy import Connection


CONNECT: dict[str, tuple[Any, str]] = {
    "connect_timeout": (10, "PGCONNECT_TIMEOUT"),
    "application_name": ("ravenlab", "PGAPPNAME"),
    "keepalives_idle": (30, ""),
    "keepalives_interval": (10, ""),
    "keepalives_count": (3, ""),
    "tcp_user_timeout": (60_000, ""),
}
"""How we connect where neither the URL nor a variable says otherwise; a dead network shows in a minute."""

SERVER = {
    "idle_session_timeout": "0",
    "tcp_keepalives_idle": "30",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
}
"""A driver may be silent for long while it plays; a driver that is gone is missed by the server in a minute."""

SETTING_UP = "ravenlab: the tables are being made"
RELEASE_SECONDS = 20.0
"""How long a former session of ours may take to end."""


@dataclass(frozen=True)
class ServerSession:
    """One session of the server; a process number is used again, so the time belongs to it."""

    process: int
    begun: datetime


def lock_key(name: str) -> int:
    """The advisory lock of a study: 64 bits of a hash of its name, as PostgreSQL's bigint.

    >>> lock_key("raven-ucb/blips/T1000/K10")
    1621939956356936258
    """
    return int.from_bytes(hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()[:8], "big", signed=True)


def connect_args(url: str) -> dict[str, Any]:
    """What `psycopg.connect` gets besides the URL."""
    asked = parse_url(url).query
    return {key: value for key, (value, name) in CONNECT.items() if key not in asked and name not in os.environ}


def open_postgres(url: str, *, create: bool) -> RDBStorage:
    """Open a database of studies; its tables are made only when `create` says so, and by one process at a time."""
    from sqlalchemy import create_engine, text
    from sqlalchemy.pool import NullPool

    with _needing_psycopg(url):
        engine = create_engine(parse_url(url), poolclass=NullPool, connect_args=connect_args(url))
    with engine.connect() as connection:
        if not _has_tables(connection, url):
            if not create:
                raise InputError(f"storage {mask_url(url)} holds no studies yet; run ravenlab tune first.")
            connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": lock_key(SETTING_UP)})
        return _storage(url, pool_pre_ping=True)


def _storage(url: str, skip_compatibility_check: bool = False, **engine: Any) -> RDBStorage:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with _needing_psycopg(url):
        return optuna.storages.RDBStorage(
            optuna_url(parse_url(url)),
            engine_kwargs={"connect_args": connect_args(url), **engine},
            skip_compatibility_check=skip_compatibility_check,
            skip_table_creation=skip_compatibility_check,
        )


@contextmanager
def _needing_psycopg(url: str) -> Iterator[None]:
    try:
        yield
    except ImportError:
        raise InputError(f'storage {mask_url(url)} needs psycopg: pip install "ravenlab[postgres]".') from None


def _has_tables(connection: Connection, url: str) -> bool:
    """Whether Optuna's tables are there; refuses tables of something else that go by the same names."""
    from sqlalchemy import text

    names = ("studies", "trials", "version_info", "alembic_version")
    asked = ", ".join(f"to_regclass('{name}') IS NOT NULL" for name in names)
    row = connection.execute(text(f"SELECT {asked}")).one()
    there = {name for name, exists in zip(names, row, strict=True) if exists}
    if there & {"studies", "trials"} and "version_info" not in there:
        raise InputError(f"storage {mask_url(url)} is a database of something else, not of Optuna studies.")
    return there == {*names}


class LockedConnection:
    """The one connection of a driver: it takes the locks of its studies when it is made, and is never made twice."""

    def __init__(self, url: str, names: Sequence[str], former: ServerSession | None) -> None:
        self.url, self.names, self.former = url, names, former
        self.session: ServerSession | None = None

    def connected(self, connection: Any, _: Any) -> None:
        """What the pool calls with a new connection."""
        if self.session is not None:
            raise LostConnection(self.url, "it was closed")
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT set_config(name, asked.value, false) FROM pg_settings JOIN"
                " unnest(%s::text[], %s::text[]) AS asked(name, value) USING (name)",
                (list(SERVER), list(SERVER.values())),
            )
            cursor.execute("SELECT pid, backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()")
            session = ServerSession(*cursor.fetchone())
            for name in self.names:
                self._take(cursor, name)
        connection.autocommit = False
        self.session = session

    def _take(self, cursor: Any, name: str) -> None:
        """The lock of a study. What a former session of ours holds is taken from it: it may be as good as dead."""
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
        """Whether our former session has the lock, or nobody any more."""
        cursor.execute(
            "SELECT a.pid, a.backend_start FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid"
            " WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1"
            " AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
            " AND ((l.classid::bigint << 32) | l.objid::bigint) = %s",
            (lock_key(name),),
        )
        row = cursor.fetchone()
        return row is None or ServerSession(*row) == self.former

    def failed(self, context: Any) -> None:
        """What the engine calls on an error. Optuna lands a trial again after one, and it may have arrived."""
        if context.is_disconnect:
            raise LostConnection(self.url, database_message(self.url, context.original_exception))


@contextmanager
def open_locked(
    url: str, names: Sequence[str], former: ServerSession | None = None
) -> Iterator[tuple[RDBStorage, LockedConnection]]:
    """A storage with one connection, which holds the locks of these studies.

    `former` is the session that the same driver lost.
    """
    from sqlalchemy import event, text

    open_postgres(url, create=True).engine.dispose()  # its check wants a second connection
    holder = LockedConnection(url, names, former)
    storage = _storage(url, True, pool_size=1, max_overflow=0, pool_events=[(holder.connected, "connect")])
    event.listen(storage.engine, "handle_error", holder.failed)
    try:
        yield storage, holder
    finally:
        storage.remove_session()
        with suppress(Exception), storage.engine.connect() as connection:  # closing alone frees them a moment later
            connection.execute(text("SELECT pg_advisory_unlock_all()"))
        storage.engine.dispose()
