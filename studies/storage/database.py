"""Opening and creating storages."""

import os
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ravenlab.common.compat.optuna import BaseStorage, RDBStorage, avoid_alembic
from ravenlab.common.errors import InputError
from ravenlab.common.paths import allow_usual_access, hold_lock_file, new_file, resolve_path
from ravenlab.studies.storage.faults import StorageReplaced, translate_errors
from ravenlab.studies.storage.hardening import find_foreign_sql, protect_connection, tolerate_damaged_values
from ravenlab.studies.storage.postgres import open_postgres
from ravenlab.studies.storage.urls import is_postgres, mask_url, optuna_url, parse_url, sqlite_file, storage_url

BUSY_SECONDS = 60

# Numeric columns of Optuna's tables.
NUMERIC_COLUMNS = {
    "trial_values": "value",
    "trial_params": "param_value",
    "trial_intermediate_values": "intermediate_value",
}

# Columns that hold one of a few words, and columns of text.
WORD_COLUMNS = {
    ("study_directions", "direction"): ("NOT_SET", "MINIMIZE", "MAXIMIZE"),
    ("trials", "state"): ("RUNNING", "COMPLETE", "PRUNED", "FAIL", "WAITING"),
    ("trial_values", "value_type"): ("FINITE", "INF_POS", "INF_NEG"),
    ("trial_intermediate_values", "intermediate_value_type"): ("FINITE", "INF_POS", "INF_NEG", "NAN"),
}
TEXT_COLUMNS = {"studies": "study_name", "trial_params": "param_name"}

# Versions of the tables that the installed Optuna has confirmed as compatible.
_COMPATIBLE: set[str] = set()


def open_storage(url: str, *, create: bool) -> RDBStorage:
    """Open a storage, and create it if it is missing and `create` is set."""
    path = sqlite_file(url)
    if path is not None:
        check_sqlite_file(path, create)
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    avoid_alembic()
    tolerate_damaged_values()
    parsed = parse_url(url)
    with translate_errors(url):
        if is_postgres(parsed):
            return open_postgres(url, create=create)
        try:
            if path is None:
                return optuna.storages.RDBStorage(optuna_url(parsed))
            return _open_file(path, optuna_url(parsed), create)
        except (ImportError, TypeError, ValueError) as error:  # a missing driver, an unknown option
            raise InputError(f"storage {mask_url(url)} cannot be used: {error}") from None


@contextmanager
def use_storage(storage: str | None, *, create: bool = False) -> Iterator[RDBStorage]:
    """Open a storage for a block and close it afterwards; database errors in the block get one-line messages.

    Args:
        storage: A database URL; RAVENLAB_STORAGE or sqlite:///studies.sqlite3 if not given.
        create: Whether a missing storage is created.
    """
    url = storage_url(storage)
    opened_storage = open_storage(url, create=create)
    try:
        with translate_errors(url), guard_file(url, opened_storage) if create else nullcontext():
            yield opened_storage
    finally:
        opened_storage.remove_session()
        opened_storage.engine.dispose()


@contextmanager
def guard_file(url: str, storage: RDBStorage) -> Iterator[None]:
    """Raise StorageReplaced if an SQLite file is removed or replaced while a block writes to it.

    SQLite reports no error: it continues to write to the removed file. The identity of the file is therefore checked
    before every commit and at the end of the block. The write-ahead log of the removed file is deleted, because SQLite
    would apply it to the new file and damage it.
    """
    path = sqlite_file(url)
    if path is None:
        yield
        return
    from sqlalchemy import event

    identity = _file_identity(path)
    log_path = _log_path(path)
    log_identity = _file_identity(log_path)

    def check(*_: Any) -> None:
        nonlocal log_identity
        if _file_identity(path) != identity:
            raise StorageReplaced(url)
        log_identity = _file_identity(log_path)

    event.listen(storage.engine, "commit", check)
    try:
        yield
        check()
    except Exception:
        check()  # takes precedence over an error that the replacement caused
        raise
    finally:
        event.remove(storage.engine, "commit", check)
        if _file_identity(path) != identity and log_identity == _file_identity(log_path):
            _remove_log(log_path)


def _file_identity(path: Path) -> tuple[int, int] | None:
    """Return device and inode of a file; None if it does not exist."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_dev, stat.st_ino


def _log_path(path: Path) -> Path:
    """Return the path of SQLite's write-ahead log, which is next to the file that a link refers to."""
    return path.resolve().with_name(f"{path.resolve().name}-wal")


def _remove_log(log_path: Path) -> None:
    """Remove the write-ahead log of a removed database, and its index."""
    for path in (log_path, log_path.with_name(f"{log_path.name.removesuffix('-wal')}-shm")):
        path.unlink(missing_ok=True)


def _open_file(path: Path, url: str, create: bool) -> RDBStorage:
    """Open an SQLite file. Its journal mode is changed only for writing.

    Each version of the tables is checked once per process.
    """
    import optuna

    if _is_immutable(path):
        escaped = quote(f"file:{quote(str(path.resolve()))}", safe="/:")  # unquoted twice: by SQLAlchemy, by SQLite
        return optuna.storages.RDBStorage(
            f"sqlite:///{escaped}?mode=ro&immutable=1&uri=true",
            engine_kwargs={"pool_events": [(protect_connection, "connect")]},
            skip_table_creation=True,
        )
    if not path.exists() or path.stat().st_size == 0:
        create_sqlite_file(path)
    with closing(connect_sqlite(_read_only(path))) as connection:
        version = str(connection.execute("SELECT version_num FROM alembic_version").fetchone()[0])
    storage = optuna.storages.RDBStorage(
        url,
        engine_kwargs={
            "connect_args": {"timeout": BUSY_SECONDS},
            "pool_events": [(_configure_writer if create else _configure_reader, "connect")],
        },
        skip_compatibility_check=version in _COMPATIBLE,
        skip_table_creation=True,
    )
    _COMPATIBLE.add(version)
    return storage


def has_study(storage: BaseStorage, name: str) -> bool:
    """Return whether a study exists, without loading all studies as Optuna's list of names does.

    >>> import optuna
    >>> has_study(optuna.storages.InMemoryStorage(), "mine")
    False
    """
    try:
        storage.get_study_id_from_name(name)
    except KeyError:
        return False
    return True


def connect_sqlite(uri: str, seconds: float = BUSY_SECONDS) -> sqlite3.Connection:
    """Connect to a file without Optuna, protected from what the file contains; transactions are explicit."""
    connection = sqlite3.connect(uri, uri=True, timeout=seconds, isolation_level=None)
    protect_connection(connection)
    return connection


def _configure_reader(connection: Any, _: Any) -> None:
    protect_connection(connection)
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000}")


def _configure_writer(connection: Any, _: Any) -> None:
    """Switch to the write-ahead log; SQLite does not wait if another connection is switching, so this is repeated."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            break
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
    _configure_reader(connection, _)


def _is_immutable(path: Path) -> bool:
    """Return whether the directory is read-only, so that SQLite has to open the file as immutable."""
    return path.exists() and not os.access(path.resolve().parent, os.W_OK) and not _log_path(path).exists()


def _read_only(path: Path) -> str:
    return f"file:{quote(str(path.resolve()))}?mode=ro{'&immutable=1' if _is_immutable(path) else ''}"


def create_sqlite_file(path: Path) -> None:
    """Create an empty storage, unless another process has just created it.

    The file is completed under a temporary name and then renamed, because creating Optuna's tables takes a moment in
    which another process would see some of them.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     create_sqlite_file(Path(folder, "studies.sqlite3"))
    ...     Path(folder, "studies.sqlite3").read_bytes()[:13]
    b'SQLite format'
    """
    folder = path.resolve().parent
    with new_file(folder / path.name) as (handle, new):
        with os.fdopen(handle, "wb") as file:
            file.write(_empty_database())
            file.flush()
            os.fsync(file.fileno())
        allow_usual_access(new)
        with hold_lock_file(folder / f".{path.name}.new.lock", seconds=-1.0):
            if not path.exists() or path.stat().st_size == 0:  # some programs leave an empty file behind
                _remove_log(_log_path(path))  # of a removed database: SQLite would apply it to the new one
                new.replace(path.resolve())


@lru_cache(maxsize=1)
def _empty_database() -> bytes:
    """Return the bytes of a database that Optuna created, without studies."""
    import optuna

    avoid_alembic()
    with tempfile.TemporaryDirectory(prefix="ravenlab-") as folder:
        storage = optuna.storages.RDBStorage(
            f"sqlite:///{folder}/empty.sqlite3", engine_kwargs={"pool_events": [(_do_not_sync, "connect")]}
        )
        storage.remove_session()
        storage.engine.dispose()
        return Path(folder, "empty.sqlite3").read_bytes()


def _do_not_sync(connection: Any, _: Any) -> None:
    connection.execute("PRAGMA synchronous=OFF")  # the file is temporary


def check_sqlite_file(path: Path, create: bool) -> None:
    """Raise InputError, before anything is written, if the file is not a database of Optuna studies."""
    try:
        exists = path.exists()
        resolve_path(path)
    except (OSError, RuntimeError, ValueError):  # the name is too long, is a link to itself, or contains a zero byte
        raise InputError(f"storage {str(path)[:200]!r} is not a valid file name.") from None
    if not exists:
        if not create:
            raise InputError(f"storage {path} does not exist; create it with ravenlab tune.", field="storage")
        if not path.resolve().parent.is_dir():
            raise InputError(f"storage {path} cannot be created: {path.resolve().parent} does not exist.")
        return
    if path.is_dir():
        raise InputError(f"storage {path} is a directory, not a database file.")
    if not path.is_file():
        raise InputError(f"storage {path} is a device or a pipe, not a database file.")
    if not os.access(path, os.R_OK):
        raise InputError(f"storage {path} cannot be read: permission denied.")
    if create and not (os.access(path, os.W_OK) and os.access(path.resolve().parent, os.W_OK)):
        raise InputError(f"storage {path} cannot be written: permission denied for the file or its directory.")
    if path.stat().st_size == 0:
        if not create:
            raise InputError(f"storage {path} is empty; create studies with ravenlab tune.", field="storage")
        return
    had_log = _log_path(path).exists()
    try:
        with closing(connect_sqlite(_read_only(path))) as connection:
            defect = _find_defect(connection)
            if defect is None and not _ends_with_a_page(path, connection):
                defect = "is damaged: its end is missing"
    except (sqlite3.Error, UnicodeDecodeError) as error:
        if str(error) == "interrupted":
            raise KeyboardInterrupt from None
        defect = f"is not a readable SQLite database: {error}"
    if defect is not None:
        if not had_log:
            _remove_log(_log_path(path))  # a reader of a damaged file creates an empty log and does not remove it
        raise InputError(f"storage {path} {defect}.")


def _ends_with_a_page(path: Path, connection: sqlite3.Connection) -> bool:
    """Whether the last page of a file is complete. SQLite reads zeros where it is not.

    A process that is killed while it writes may leave part of a page, which SQLite restores from its log.
    """
    page_size = connection.execute("PRAGMA page_size").fetchone()[0]
    logs = (_log_path(path), path.resolve().with_name(f"{path.resolve().name}-journal"))
    return path.stat().st_size % page_size == 0 or any(log.exists() and log.stat().st_size > 0 for log in logs)


def _find_defect(connection: sqlite3.Connection) -> str | None:
    """Describe why a database cannot be used; None if it can.

    SQLite accepts text in numeric columns, and damaged files contain it.
    """
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables >= {"studies", "trials", "version_info"}:
        return "is an SQLite database without Optuna studies"
    foreign = find_foreign_sql(connection)
    if foreign is not None:
        return f"contains {foreign!r}, which is not a table or index of Optuna, and is not opened"
    check = connection.execute("PRAGMA quick_check(1)").fetchone()
    if check is None or check[0] != "ok":
        return f"is damaged: {check[0] if check else 'no result'}"
    for table in ("version_info", "alembic_version"):
        if table not in tables or connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] != 1:
            return "has no version of Optuna's tables; it may be incomplete"
    rules = [
        *(
            (table, column, f"typeof({column}) IN ('real', 'integer', 'null')")
            for table, column in NUMERIC_COLUMNS.items()
        ),
        *((table, column, f"typeof({column}) = 'text'") for table, column in TEXT_COLUMNS.items()),
        *((table, column, f"{column} IN {words}") for (table, column), words in WORD_COLUMNS.items()),
    ]
    for table, column, rule in rules:
        if table in tables and connection.execute(f"SELECT 1 FROM {table} WHERE NOT {rule} LIMIT 1").fetchone():
            return f"is damaged: {table}.{column} contains a value that is not allowed"
    query = "SELECT study_name FROM studies WHERE study_id NOT IN (SELECT study_id FROM study_directions) LIMIT 1"
    study = connection.execute(query).fetchone() if "study_directions" in tables else None
    return f"is damaged: study {study[0]!r} has no direction" if study else None
