"""Resolving paths, private folders, new files that replace others, lock files, and the cache folder of the user."""

import errno
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from ravenlab.common.errors import InputError

NEW_SUFFIX = ".new"
STALE_SECONDS = 3600.0  # after which nobody writes to a new file any more
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


def make_private_folder(path: Path) -> None:
    """Create a folder and all missing folders above it, which only this user can enter, whatever the umask is."""
    for level in (*reversed(path.parents), path):
        if not level.is_dir():
            with suppress(FileExistsError):  # another process has just created it
                level.mkdir(mode=0o700)


def find_shared_level(folder: Path) -> Path | None:
    """Return the folder through which other users can reach or replace the content of a folder; None if there is none.

    This is the folder itself if it belongs to somebody else or others can enter it. It is a folder above if others can
    rename entries there: the owner, unless it is this user or the system, and everybody with write permission, unless
    the sticky bit is set. The path must have no links, which others might change.

    >>> with private_temporary_folder() as folder:
    ...     find_shared_level(folder)
    """
    if os.name != "posix":
        return None
    status = folder.stat()
    if status.st_uid != os.geteuid() or status.st_mode & 0o077:
        return folder
    trusted = {os.geteuid(), 0, os.stat("/").st_uid}  # in a container, the system's user may have another number
    for level in folder.parents:
        status = level.stat()
        if status.st_uid not in trusted or (status.st_mode & 0o022 and not status.st_mode & stat.S_ISVTX):
            return level
    return None


@contextmanager
def private_temporary_folder() -> Iterator[Path]:
    """Create a temporary folder for files that are executed, and remove it afterwards.

    Raises:
        InputError: Other users could replace it.
    """
    with tempfile.TemporaryDirectory(prefix="ravenlab-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        shared = find_shared_level(folder)
        if shared is not None:
            raise InputError(f"TMPDIR must be a folder that only you can write to, but others can write to {shared}.")
        yield folder


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
def new_file(target: Path) -> Iterator[tuple[int, Path]]:
    """Create a file that is to replace `target`, as an open descriptor and a path; it is removed unless it was renamed.

    Files that killed processes have left for the same target are removed. An OSError names the target.
    """
    name = None
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=NEW_SUFFIX, dir=target.parent)
        _remove_stale_files(target, os.fstat(handle).st_mtime)
        yield handle, Path(name)
    except OSError as error:
        if error.errno is None or (name is not None and error.filename not in (None, name)):
            raise
        raise OSError(error.errno, error.strerror, str(target)) from None
    finally:
        if name is not None:
            Path(name).unlink(missing_ok=True)


@contextmanager
def open_new_file(target: Path) -> Iterator[IO[str]]:
    """Open a text file that replaces `target` when the block succeeds, and is removed when it fails."""
    with new_file(target) as (handle, new):
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            yield file
        allow_usual_access(new)
        new.replace(target)


def allow_usual_access(path: Path) -> None:
    """Give a file of `new_file`, which is private, the mode that the umask gives to other new files."""
    mask = os.umask(0o022)
    os.umask(mask)
    path.chmod(0o666 & ~mask)


def _remove_stale_files(target: Path, now: float) -> None:
    """Remove files of `new_file` for a target that belong to this user and have not been written for an hour.

    The present time is that of a file written just now: the clock of a file server may differ from this machine's.
    """
    pattern = re.compile(rf"\.{re.escape(target.name)}\.\w{{8}}{re.escape(NEW_SUFFIX)}")
    with suppress(OSError):
        for entry in os.scandir(target.parent):
            if pattern.fullmatch(entry.name):
                status = entry.stat(follow_symlinks=False)
                old = status.st_mtime < now - STALE_SECONDS
                if old and stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid():
                    os.unlink(entry.path)


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
