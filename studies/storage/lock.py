"""One driver a study: the lock, and going on by itself when a connection is lost.

SQLite has a lock file, PostgreSQL an advisory lock that dies with the connection. A driver that lost its connection
opens the storage again, takes its lock again and goes on from what has landed, as a rerun of the command would: the
search depends on nothing else. So no trial is doubled, even one whose commit nobody heard of.
"""

from __future__ import annotations

import hashlib
import logging
import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, TypeVar

from environments.errors import ExternalError, InputError
from environments.paths import user_cache_folder
from studies.storage.database import check_sqlite_file, open_storage
from studies.storage.faults import LostConnection, StorageUnreachable, translate_errors
from studies.storage.postgres import LockedConnection, ServerSession, open_locked
from studies.storage.urls import is_postgres, mask_url, parse_url, sqlite_file

if TYPE_CHECKING:
    from optuna.storages import RDBStorage


PATIENCE = 60.0
"""Seconds that a driver may be without its connection since the last landing."""

PATIENCE_VARIABLE = "RAVENLAB_PATIENCE"
FIRST_WAIT, LONGEST_WAIT = 0.1, 5.0

Result = TypeVar("Result")

log = logging.getLogger("ravenlab")
reached: set[str] = set()
"""Storages that have answered in this process: one that does no more is waited for, others are a mistake in the URL."""


@contextmanager
def lock_studies(url: str, *studies: str) -> Iterator[RDBStorage]:
    """Be the one process that writes these studies, through the storage given; a second one is refused at once.

    A crash leaves no lock behind.
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
        yield storage, None


@contextmanager
def _locked_file(url: str, study: str) -> Iterator[None]:
    """The lock of a study as a file: beside an SQLite file, for other databases in this user's cache."""
    from filelock import FileLock, Timeout

    digest = hashlib.sha256(f"{study}".encode()).hexdigest()[:16]
    path = sqlite_file(url)
    if path is not None:
        check_sqlite_file(path, create=True)
        place = path.resolve().parent / f".{path.name}.{digest}.lock"
    else:
        folder = user_cache_folder() / "locks"
        folder.mkdir(parents=True, exist_ok=True)
        place = folder / f"{hashlib.sha256(url.encode()).hexdigest()[:16]}.{digest}.lock"
    lock = FileLock(place, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise InputError(f"study {study!r} is being tuned by another process; wait for it or stop it.") from None
    except PermissionError:
        raise InputError(f"storage {mask_url(url)} can't be written: no permission beside it.") from None
    try:
        yield
    finally:
        lock.release()


def run_as_driver(url: str, study: str | None, body: Callable[[RDBStorage], Result]) -> Result:
    """Run `body` as the one driver of a study, and again from what has landed each time its connection is lost.

    When it has been without a connection for a minute in all since the last landing, it gives up. Without a study it
    is as patient and only reads.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run_as_driver(f"sqlite:///{folder}/studies.sqlite3", "mine", lambda storage: len(storage.get_all_studies()))
    0
    """
    waiting = _Waiting(url, study)
    while True:
        waiting.begin()
        try:
            with _driver(url, () if study is None else (study,), waiting.former) as (storage, holder):
                waiting.connected(storage, holder)
                return body(storage)
        except (LostConnection, StorageUnreachable) as error:
            waiting.wait(error)


class _Waiting:
    """How long a driver still waits for its storage."""

    def __init__(self, url: str, study: str | None) -> None:
        self.url, self.study = url, study
        self.patience = reconnect_seconds()
        self.left, self.delay = self.patience, FIRST_WAIT
        self.landed = -1
        self.former: ServerSession | None = None
        self.since = 0.0
        self.now = self.said = False

    def begin(self) -> None:
        """A try begins."""
        self.since, self.now = time.monotonic(), False

    def connected(self, storage: RDBStorage, holder: LockedConnection | None) -> None:
        """The lock is ours; what landed since the last time buys new patience."""
        from sqlalchemy import text

        if holder is not None:
            with storage.engine.connect() as connection:
                counted = "SELECT count(*) FROM trials JOIN studies USING (study_id) WHERE study_name = :name"
                landed = int(connection.execute(text(counted), {"name": self.study}).scalar_one())
            if landed > self.landed:
                self.landed, self.left, self.delay = landed, self.patience, FIRST_WAIT
            self.former = holder.session
        reached.add(self.url)
        self.now, self.said = True, False

    def wait(self, error: LostConnection | StorageUnreachable) -> None:
        """Say so and sleep; give up when patience is at its end, or when there never was a connection to lose."""
        if self.url not in reached and not (isinstance(error, StorageUnreachable) and error.starting):
            raise error
        if not self.now:
            self.left -= time.monotonic() - self.since
        if self.left <= 0.0:
            raise ExternalError(
                f"storage {mask_url(self.url)} was away for {self.patience:g} s ({error.reason}); "
                "what had landed is kept, and the same command goes on from there."
            ) from None
        if not self.said:
            log.warning("ravenlab: %s Trying again for up to %.0f s.", error, self.left)
            self.said = True
        delay = min(self.delay * random.uniform(0.5, 1.0), self.left)
        self.left -= delay
        self.delay = min(2 * self.delay, LONGEST_WAIT)
        time.sleep(delay)


def reconnect_seconds() -> float:
    """Seconds to wait for a lost storage: RAVENLAB_PATIENCE, or a minute.

    >>> reconnect_seconds()
    60.0
    """
    given = os.environ.get(PATIENCE_VARIABLE)
    if given is None:
        return PATIENCE
    try:
        seconds = float(given)
    except ValueError:
        seconds = -1.0
    if not 0.0 <= seconds <= 1e6:
        raise InputError(f"{PATIENCE_VARIABLE} must be a number of seconds from 0 to 1000000 but got {given!r}.")
    return seconds
