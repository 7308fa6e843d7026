"""The storage that a command works on: opening it with clear words when it fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from optuna.storages import RDBStorage


@contextmanager
def opened(given: str | None, *, create: bool = False) -> Iterator[RDBStorage]:
    """An open storage; whatever the database says in the block becomes one clear line."""
    from studies.faults import clear_faults
    from studies.storage import open_storage
    from studies.urls import storage_url

    url = storage_url(given)
    storage = open_storage(url, create=create)
    try:
        with clear_faults(url):
            yield storage
    finally:
        storage.remove_session()
        storage.engine.dispose()
