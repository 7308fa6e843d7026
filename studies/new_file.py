"""A new SQLite file of studies: made whole beside its place and put there in one move.

Several drivers may start on a storage that is not there yet. Making tables takes a moment, in which another would find
some of them, or make them a second time.
"""

from __future__ import annotations

import os
import tempfile
from functools import lru_cache
from pathlib import Path


def make_storage(path: Path) -> None:
    """Put an empty storage in a place, unless another process was faster.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     make_storage(Path(folder, "studies.sqlite3"))
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
