"""Resolving paths, lock files, and the cache folder of the user."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

BRIEFLY = 0.2  # seconds to wait for a lock, in which its former owner may still be removing its file


def resolve_path(path: Path) -> Path:
    """Resolve all links of a path; raise OSError or RuntimeError for a link to itself.

    `Path.resolve` raises for such a link only up to Python 3.12.

    >>> resolve_path(Path("/.."))
    PosixPath('/')
    """
    resolved = path.resolve()
    if os.path.islink(resolved):  # False, not an error, without permission
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return resolved


def user_cache_folder() -> Path:
    """Return the folder for files cached for this user: `XDG_CACHE_HOME` if set, else the system's usual place.

    >>> user_cache_folder().name
    'ravenlab'
    """
    folder = os.environ.get("XDG_CACHE_HOME")
    if folder:
        return Path(folder, "ravenlab")
    import platformdirs

    return platformdirs.user_cache_path("ravenlab", appauthor=False)


@contextmanager
def hold_lock_file(path: Path, seconds: float = BRIEFLY) -> Iterator[None]:
    """Hold a lock file during a block, and remove it afterwards; a negative number of seconds waits without limit.

    The file is removed while it is locked. A process that has opened it before and then locks it notices that it was
    removed, and locks a new file.

    Raises:
        filelock.Timeout: Another process holds the lock.
    """
    from filelock import FileLock

    with FileLock(path, timeout=seconds):
        try:
            yield
        finally:
            with suppress(OSError):  # Windows does not remove open files
                path.unlink()
