"""Where studies are kept: any SQLAlchemy URL that Optuna takes, an SQLite file unless told otherwise.

One writer a study: a second one is refused by a lock. SQLite gets WAL and a busy timeout; without
them 8 of 24 concurrent writers died of "database is locked".
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from environments.errors import Fault, InputError

if TYPE_CHECKING:
    import optuna

DEFAULT_URL = "sqlite:///studies.sqlite3"
VARIABLE = "RAVENLAB_STORAGE"
BUSY_SECONDS = 60


def storage_url(given: str | None) -> str:
    """The URL to use: the one given, else RAVENLAB_STORAGE, else the SQLite file in this folder.

    >>> storage_url("sqlite:///mine.sqlite3")
    'sqlite:///mine.sqlite3'
    """
    return given or os.environ.get(VARIABLE) or DEFAULT_URL


def shown(url: str) -> str:
    """The URL for people: without a password.

    >>> shown("postgresql+psycopg://me:secret@host/db")
    'postgresql+psycopg://me:***@host/db'
    """
    from sqlalchemy.engine import make_url

    return make_url(url).render_as_string(hide_password=True)


def sqlite_file(url: str) -> Path | None:
    """The file behind an SQLite URL; None for other databases and for SQLite in memory."""
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        parsed = make_url(url)
    except ArgumentError:
        raise InputError(f"storage must be a database URL such as sqlite:///studies.sqlite3 but got {url!r}.") from None
    if not parsed.drivername.startswith("sqlite") or parsed.database in (None, "", ":memory:"):
        return None
    return Path(str(parsed.database))


def open_storage(url: str, *, create: bool) -> optuna.storages.RDBStorage:
    """Open a storage; one that is missing is made only when `create` says so."""
    path = sqlite_file(url)
    if path is not None:
        _check_file(path, create)
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with clear_faults(url):
        if path is None:
            try:
                return optuna.storages.RDBStorage(url)
            except (ImportError, ValueError) as error:
                raise InputError(f"storage {shown(url)} can't be used: {error}") from None
        if _fixed(path):
            place = quote(f"file:{quote(str(path.resolve()))}", safe="/:")  # unquoted twice: by SQLAlchemy, by SQLite
            return optuna.storages.RDBStorage(f"sqlite:///{place}?mode=ro&immutable=1&uri=true")
        return optuna.storages.RDBStorage(
            url,
            engine_kwargs={"connect_args": {"timeout": BUSY_SECONDS}, "pool_events": [(_pragmas, "connect")]},
        )


def _pragmas(connection: Any, _: Any) -> None:
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000}")


def _fixed(path: Path) -> bool:
    """Whether nothing may be written beside the file: then SQLite must be told that it won't change."""
    log = path.with_name(f"{path.name}-wal")
    return path.exists() and not os.access(path.resolve().parent, os.W_OK) and not log.exists()


def _read_only(path: Path) -> str:
    return f"file:{quote(str(path.resolve()))}?mode=ro{'&immutable=1' if _fixed(path) else ''}"


def _check_file(path: Path, create: bool) -> None:
    """Refuse what is not an Optuna database before anything is written into it."""
    if not path.exists():
        if not create:
            raise InputError(f"storage {path} does not exist; run ravenlab tune first, or say --storage.")
        if not path.resolve().parent.is_dir():
            raise InputError(f"storage {path} can't be made: there is no folder {path.resolve().parent}.")
        return
    if path.is_dir():
        raise InputError(f"storage {path} is a folder, not a database file.")
    if not os.access(path, os.R_OK):
        raise InputError(f"storage {path} can't be read: no permission.")
    if create and not (os.access(path, os.W_OK) and os.access(path.resolve().parent, os.W_OK)):
        raise InputError(f"storage {path} can't be written: no permission for it or its folder.")
    if path.stat().st_size == 0:
        return
    try:
        with sqlite3.connect(_read_only(path), uri=True, timeout=BUSY_SECONDS) as connection:
            rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            check = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        raise InputError(f"storage {path} is not a readable SQLite database: {error}.") from None
    finally:
        if "connection" in locals():
            connection.close()
    if check is None or check[0] != "ok":
        raise InputError(f"storage {path} is damaged: {check[0] if check else 'no answer'}.")
    tables = {name for (name,) in rows}
    if tables and not {"studies", "trials", "version_info"} <= tables:
        raise InputError(f"storage {path} is an SQLite database of something else, not of Optuna studies.")


@contextmanager
def clear_faults(url: str) -> Iterator[None]:
    """Turn what a database or a disk can say into one clear line."""
    import optuna
    import sqlalchemy.exc

    try:
        yield
    except (sqlalchemy.exc.SQLAlchemyError, optuna.exceptions.StorageInternalError) as error:
        cause = error.__cause__ if isinstance(error, optuna.exceptions.StorageInternalError) else error
        reason = str(getattr(cause, "orig", None) or cause or error).splitlines()[0]
        where = shown(url)
        lowered = reason.lower()
        if "disk is full" in lowered or "disk i/o error" in lowered:
            raise Fault(f"storage {where} can't be written: {reason}. What had landed is kept.") from None
        if "readonly" in lowered or "read-only" in lowered:
            raise InputError(f"storage {where} can't be written: it is read-only.") from None
        if "locked" in lowered:
            raise InputError(f"storage {where} is locked by another program.") from None
        raise InputError(f"storage {where} can't be used: {reason}.") from None
    except RuntimeError as error:
        if "compatible with the table schema" in str(error):
            raise InputError(f"storage {shown(url)} was made by another version of Optuna: {error}") from None
        raise


@contextmanager
def only_driver(url: str, study: str) -> Iterator[None]:
    """Be the one process that writes a study; a second one is refused at once, and a crash leaves nothing behind."""
    from filelock import FileLock, Timeout

    digest = hashlib.sha256(f"{study}".encode()).hexdigest()[:16]
    path = sqlite_file(url)
    if path is not None:
        _check_file(path, create=True)
        lock = path.resolve().parent / f".{path.name}.{digest}.lock"
    else:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ravenlab" / "locks"
        folder.mkdir(parents=True, exist_ok=True)
        lock = folder / f"{hashlib.sha256(url.encode()).hexdigest()[:16]}.{digest}.lock"
    try:
        with FileLock(lock, timeout=0):
            yield
    except Timeout:
        raise InputError(f"study {study!r} is being tuned by another process; wait for it or stop it.") from None
    except PermissionError:
        raise InputError(f"storage {shown(url)} can't be written: no permission beside it.") from None
