"""A new SQLite file of studies: made whole beside its place and put there in one move.

Several drivers may start on a storage that is not there yet. Making tables takes a moment, in which another would find
some of them, or make them a second time.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from environments.errors import InputError
from environments.paths import resolve_path
from studies.storage.faults import translate_errors
from studies.storage.postgres import open_postgres
from studies.storage.urls import is_postgres, mask_url, optuna_url, parse_url, sqlite_file, storage_url

if TYPE_CHECKING:
    import optuna


def create_sqlite_file(path: Path) -> None:
    """Put an empty storage in a place, unless another process was faster.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     create_sqlite_file(Path(folder, "studies.sqlite3"))
    ...     Path(folder, "studies.sqlite3").read_bytes()[:13]
    b'SQLite format'
    """
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".new", dir=path.resolve().parent)
    new = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_empty())
            file.flush()
            os.fsync(file.fileno())
        new.chmod(0o666 & ~_umask())
        try:
            os.link(new, path)  # fails where there is one, which a rename would overwrite
        except FileExistsError:
            _fill(path, new)
        except OSError:  # a file system without links
            if not path.exists():
                new.rename(path)
    finally:
        new.unlink(missing_ok=True)


def _fill(path: Path, new: Path) -> None:
    """Put the new file over an empty one, such as a program leaves that only looked; one process at a time."""
    from filelock import FileLock

    if path.stat().st_size == 0:
        lock = path.resolve().parent / f".{path.name}.empty.lock"
        with FileLock(lock):
            if path.stat().st_size == 0:
                new.replace(path)


@lru_cache(maxsize=1)
def _empty() -> bytes:
    """A file that Optuna made, with no study in it; the same bytes serve for all that this process makes."""
    import optuna

    with tempfile.TemporaryDirectory(prefix="ravenlab-") as folder:
        storage = optuna.storages.RDBStorage(f"sqlite:///{folder}/empty.sqlite3")
        storage.remove_session()
        storage.engine.dispose()
        return Path(folder, "empty.sqlite3").read_bytes()


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


BUSY_SECONDS = 60

NUMBERS = {
    "trial_values": "value",
    "trial_params": "param_value",
    "trial_intermediate_values": "intermediate_value",
}
"""Columns of Optuna's tables that hold numbers."""

_FITTING: set[str] = set()
"""Versions of Optuna's tables that this Optuna has said to be its own."""


def open_storage(url: str, *, create: bool) -> optuna.storages.RDBStorage:
    """Open a storage; one that is missing is made only when `create` says so."""
    path = sqlite_file(url)
    if path is not None:
        check_sqlite_file(path, create)
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    parsed = parse_url(url)
    with translate_errors(url):
        if is_postgres(parsed):
            return open_postgres(url, create=create)
        try:
            return _open_other(optuna_url(parsed)) if path is None else _open_file(path, optuna_url(parsed), create)
        except (ImportError, TypeError, ValueError) as error:  # a driver that is missing, an option that is no option
            raise InputError(f"storage {mask_url(url)} can't be used: {error}") from None


@contextmanager
def opened(storage: str | None, *, create: bool = False) -> Iterator[optuna.storages.RDBStorage]:
    """Open a storage for a block and close it afterwards; database errors in the block become one clear line.

    Args:
        storage: A database URL; RAVENLAB_STORAGE or sqlite:///studies.sqlite3 if not given.
        create: Whether a missing storage is created.
    """
    url = storage_url(storage)
    open_now = open_storage(url, create=create)
    try:
        with translate_errors(url):
            yield open_now
    finally:
        open_now.remove_session()
        open_now.engine.dispose()


def _open_other(url: str) -> optuna.storages.RDBStorage:
    import optuna

    return optuna.storages.RDBStorage(url)


def _open_file(path: Path, url: str, create: bool) -> optuna.storages.RDBStorage:
    """A file that is whole: nothing is added to it. Who only reads does not even change how it is journalled.

    Optuna asks alembic whether it knows the version, which reads all its migrations and keeps a quarter of a megabyte
    each time. So it is asked once.
    """
    import optuna

    if _fixed(path):
        place = quote(f"file:{quote(str(path.resolve()))}", safe="/:")  # unquoted twice: by SQLAlchemy, by SQLite
        return optuna.storages.RDBStorage(f"sqlite:///{place}?mode=ro&immutable=1&uri=true", skip_table_creation=True)
    if not path.exists() or path.stat().st_size == 0:
        create_sqlite_file(path)
    version = _version(path)
    storage = optuna.storages.RDBStorage(
        url,
        engine_kwargs={
            "connect_args": {"timeout": BUSY_SECONDS},
            "pool_events": [(_writing if create else _reading, "connect")],
        },
        skip_compatibility_check=version in _FITTING,
        skip_table_creation=True,
    )
    _FITTING.add(version)
    return storage


def has_study(storage: optuna.storages.BaseStorage, name: str) -> bool:
    """Whether there is a study of this name. Optuna's own list of names loads all that all studies hold.

    >>> import optuna
    >>> has_study(optuna.storages.InMemoryStorage(), "mine")
    False
    """
    try:
        storage.get_study_id_from_name(name)
    except KeyError:
        return False
    return True


def _version(path: Path) -> str:
    with closing(sqlite3.connect(_read_only(path), uri=True, timeout=BUSY_SECONDS)) as connection:
        return str(connection.execute("SELECT version_num FROM alembic_version").fetchone()[0])


def _reading(connection: Any, _: Any) -> None:
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000}")


def _writing(connection: Any, _: Any) -> None:
    connection.execute("PRAGMA journal_mode=WAL")
    _reading(connection, _)


def _fixed(path: Path) -> bool:
    """Whether nothing may be written beside the file: then SQLite must be told that it won't change."""
    log = path.with_name(f"{path.name}-wal")
    return path.exists() and not os.access(path.resolve().parent, os.W_OK) and not log.exists()


def _read_only(path: Path) -> str:
    return f"file:{quote(str(path.resolve()))}?mode=ro{'&immutable=1' if _fixed(path) else ''}"


def check_sqlite_file(path: Path, create: bool) -> None:
    """Refuse what is not an Optuna database before anything is written into it."""
    try:
        there = path.exists()
        resolve_path(path)
    except (OSError, RuntimeError, ValueError):  # a name too long, a link to itself, a zero byte
        raise InputError(f"storage {str(path)[:200]!r} is not the name of a file.") from None
    if not there:
        if not create:
            raise InputError(
                f"storage {path} does not exist; run ravenlab tune first, or choose another.", field="storage"
            )
        if not path.resolve().parent.is_dir():
            raise InputError(f"storage {path} can't be made: there is no folder {path.resolve().parent}.")
        return
    if path.is_dir():
        raise InputError(f"storage {path} is a folder, not a database file.")
    if not path.is_file():
        raise InputError(f"storage {path} is a device or a pipe, not a database file.")
    if not os.access(path, os.R_OK):
        raise InputError(f"storage {path} can't be read: no permission.")
    if create and not (os.access(path, os.W_OK) and os.access(path.resolve().parent, os.W_OK)):
        raise InputError(f"storage {path} can't be written: no permission for it or its folder.")
    if path.stat().st_size == 0:
        if not create:
            raise InputError(
                f"storage {path} is an empty file; run ravenlab tune first, or choose another.", field="storage"
            )
        return
    try:
        with closing(sqlite3.connect(_read_only(path), uri=True, timeout=BUSY_SECONDS)) as connection:
            wrong = _wrong_inside(connection)
    except sqlite3.Error as error:
        raise InputError(f"storage {path} is not a readable SQLite database: {error}.") from None
    if wrong is not None:
        raise InputError(f"storage {path} {wrong}.")


def _wrong_inside(connection: sqlite3.Connection) -> str | None:
    """What makes a database one that Optuna would stumble over or write into; None where nothing does.

    SQLite keeps a text in a column of numbers where it is told to, or where a bit was turned over.
    """
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    check = connection.execute("PRAGMA quick_check(1)").fetchone()
    if check is None or check[0] != "ok":
        return f"is damaged: {check[0] if check else 'no answer'}"
    if not {"studies", "trials", "version_info"} <= tables:
        return "is an SQLite database of something else, not of Optuna studies"
    for table in ("version_info", "alembic_version"):
        if table not in tables or connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] != 1:
            return "does not say which version of Optuna made it; it may be half of a storage"
    for table, column in NUMBERS.items():
        asked = f"SELECT 1 FROM {table} WHERE typeof({column}) NOT IN ('real', 'integer', 'null') LIMIT 1"
        if table in tables and connection.execute(asked).fetchone():
            return f"is damaged: {table} holds a {column} that is no number"
    without = "SELECT study_name FROM studies WHERE study_id NOT IN (SELECT study_id FROM study_directions) LIMIT 1"
    found = connection.execute(without).fetchone() if "study_directions" in tables else None
    return f"is damaged: study {found[0]!r} does not say whether it minimises" if found else None
