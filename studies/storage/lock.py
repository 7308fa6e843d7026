"""One driver per study: locks, and reconnection when a connection is lost.

SQLite uses a lock file, PostgreSQL an advisory lock that ends with the connection. A driver that has lost its
connection reopens the storage, takes its lock again and resumes from the stored trials, like a rerun of the command. No
trial is stored twice, even if the outcome of its commit is unknown.
"""

import hashlib
import logging
import os
import random
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

from ravenlab.common.compat.optuna import RDBStorage
from ravenlab.common.errors import ExternalError, InputError
from ravenlab.common.paths import hold_lock_file, user_cache_folder
from ravenlab.studies.storage.database import check_sqlite_file, guard_file, open_storage
from ravenlab.studies.storage.faults import LostConnection, StorageUnreachable, translate_errors
from ravenlab.studies.storage.postgres import LockedConnection, ServerSession, held_locks, lock_key, open_locked
from ravenlab.studies.storage.urls import is_postgres, mask_url, parse_url, sqlite_file

# Seconds that a driver may spend without a connection since the last stored trial.
PATIENCE = 60.0
PATIENCE_VARIABLE = "RAVENLAB_PATIENCE"
FIRST_WAIT = 0.1
LONGEST_WAIT = 5.0

# Seconds to wait for a lock file: a command that lists studies holds it for a moment.
LOCK_TIMEOUT = 0.25

Result = TypeVar("Result")

log = logging.getLogger("ravenlab")

# Storages that this process has been connected to. Only these are waited for; others have a wrong URL.
reached: set[str] = set()


@contextmanager
def lock_studies(url: str, *studies: str) -> Iterator[RDBStorage]:
    """Open a storage and lock studies for writing. Raises InputError if another process has locked one.

    Locks end with the process, also after a crash.
    """
    with _driver(url, studies, None) as (storage, _):
        yield storage


@contextmanager
def _driver(
    url: str, studies: tuple[str, ...], former: ServerSession | None
) -> Iterator[tuple[RDBStorage, LockedConnection | None]]:
    with ExitStack() as stack:
        stack.enter_context(translate_errors(url))
        if studies and is_postgres(parse_url(url)):
            yield stack.enter_context(open_locked(url, studies, former))
            return
        for study in studies:
            stack.enter_context(_locked_file(url, study))
        storage = open_storage(url, create=bool(studies))
        stack.callback(storage.engine.dispose)
        stack.callback(storage.remove_session)
        if studies:
            stack.enter_context(guard_file(url, storage))
        yield storage, None


@contextmanager
def _locked_file(url: str, study: str) -> Iterator[None]:
    """Hold the lock file of a study."""
    from filelock import Timeout

    path = sqlite_file(url)
    if path is not None:
        check_sqlite_file(path, create=True)
    lock_path = _lock_path(url, study)
    lock_path.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        try:
            stack.enter_context(hold_lock_file(lock_path))
        except Timeout:
            raise InputError(f"study {study!r} is being tuned by another process; wait for it or stop it.") from None
        except PermissionError:
            raise InputError(
                f"storage {mask_url(url)} cannot be written: permission denied in its directory."
            ) from None
        yield


def _lock_path(url: str, study: str) -> Path:
    """Return the lock file of a study: next to an SQLite file; for other databases in the user's cache directory."""
    digest = hashlib.sha256(study.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    path = sqlite_file(url)
    if path is not None:
        return path.resolve().parent / f".{path.name}.{digest}.lock"
    return user_cache_folder() / "locks" / f"{hashlib.sha256(url.encode()).hexdigest()[:16]}.{digest}.lock"


def find_running(storage: RDBStorage, studies: Iterable[str]) -> set[str]:
    """Return the studies that a driver has locked.

    >>> import optuna
    >>> find_running(optuna.storages.RDBStorage("sqlite:///:memory:"), ["mine"])
    set()
    """
    url = storage.engine.url
    if url.get_backend_name() == "postgresql":
        with storage.engine.connect() as connection:
            held = held_locks(connection)
        return {study for study in studies if lock_key(study) in held}
    text = url.render_as_string(hide_password=False)
    return {study for study in studies if _is_locked(_lock_path(text, study))}


def _is_locked(path: Path) -> bool:
    """Whether a process holds a lock file; False if it can't be opened."""
    from filelock import FileLock, Timeout

    if not path.exists():
        return False
    try:
        with FileLock(path, timeout=0):
            return False
    except Timeout:
        return True
    except OSError:
        return False


def run_as_driver(url: str, study: str | None, body: Callable[[RDBStorage], Result]) -> Result:
    """Run `body` as the only driver of a study; run it again whenever the connection is lost.

    `body` must resume from the stored trials. Raises ExternalError when the driver has been without a connection for
    `reconnect_seconds()` since the last stored trial. Without a study, the storage is only read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run_as_driver(f"sqlite:///{folder}/studies.sqlite3", "mine", lambda storage: len(storage.get_all_studies()))
    0
    """
    reconnection = _Reconnection(url, study)
    while True:
        reconnection.begin()
        try:
            with _driver(url, () if study is None else (study,), reconnection.former) as (storage, locked):
                reconnection.connected(storage, locked)
                return body(storage)
        except (LostConnection, StorageUnreachable) as error:
            reconnection.wait(error)


class _Reconnection:
    """The time that a driver still waits for its storage."""

    def __init__(self, url: str, study: str | None) -> None:
        self.url = url
        self.study = study
        self.patience = reconnect_seconds()
        self.left = self.patience
        self.delay = FIRST_WAIT
        self.stored = -1
        self.former: ServerSession | None = None
        self.attempt_start = 0.0
        self.is_connected = self.warned = False

    def begin(self) -> None:
        """Start an attempt."""
        self.attempt_start = time.monotonic()
        self.is_connected = False

    def connected(self, storage: RDBStorage, locked: LockedConnection | None) -> None:
        """Note a connection; new trials since the last one reset the time that is left."""
        from sqlalchemy import text

        if locked is not None:
            with storage.engine.connect() as connection:
                query = "SELECT count(*) FROM trials JOIN studies USING (study_id) WHERE study_name = :name"
                stored = int(connection.execute(text(query), {"name": self.study}).scalar_one())
            if stored > self.stored:
                self.stored, self.left, self.delay = stored, self.patience, FIRST_WAIT
            self.former = locked.session
        reached.add(self.url)
        self.is_connected = True
        self.warned = False

    def wait(self, error: LostConnection | StorageUnreachable) -> None:
        """Warn and sleep. Raises an error if no time is left, or if the storage has never been reached."""
        if self.url not in reached and not (isinstance(error, StorageUnreachable) and error.starting):
            raise error
        if not self.is_connected:
            self.left -= time.monotonic() - self.attempt_start
        if self.left <= 0.0:
            raise ExternalError(
                f"storage {mask_url(self.url)} was unreachable for {self.patience:g} s ({error.reason}); "
                "completed trials are saved; rerun the same command to resume."
            ) from None
        if not self.warned:
            log.warning("ravenlab: %s Reconnecting for up to %.0f s.", error, self.left)
            self.warned = True
        delay = min(self.delay * random.uniform(0.5, 1.0), self.left)
        self.left -= delay
        self.delay = min(2 * self.delay, LONGEST_WAIT)
        time.sleep(delay)


def reconnect_seconds() -> float:
    """Return the seconds to wait for a lost storage: RAVENLAB_PATIENCE, or 60.

    >>> reconnect_seconds()
    60.0
    """
    value = os.environ.get(PATIENCE_VARIABLE)
    if value is None:
        return PATIENCE
    try:
        seconds = float(value)
    except ValueError:
        seconds = -1.0
    if not 0.0 <= seconds <= 1e6:
        raise InputError(f"{PATIENCE_VARIABLE} must be a number of seconds from 0 to 1,000,000 but got {value!r}.")
    return seconds
