"""Files are written whole or not at all."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from environments.errors import InputError
from environments.paths import resolve_path

LONGEST_NAME = 255
"""Bytes of a file's or folder's name that any file system of today takes."""


def check_file_writable(path: Path) -> None:
    """Refuse a place where no file can be, before long work that would end in it."""
    try:
        folder = resolve_path(path).parent
        if path.exists() and not path.is_file() and not path.is_dir():
            return
    except (OSError, RuntimeError, ValueError):
        raise InputError(f"{str(path)[:200]!r} can't be written: it is not the name of a file.") from None
    if not folder.is_dir():
        raise InputError(f"{path} can't be written: there is no folder {folder}.")
    if path.is_dir():
        raise InputError(f"{path} can't be written: it is a folder.")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{path} can't be written: no permission in {folder}.")


def check_folder(folder: Path, field: str = "output") -> None:
    """Refuse a folder that cannot be created or written, before long work. It is not created yet."""
    try:
        a_file = folder.exists() and not folder.is_dir()
        whole = resolve_path(folder)
        nearest = next(place for place in (whole, *whole.parents) if os.path.lexists(place))
        if any(len(os.fsencode(part)) > LONGEST_NAME for part in whole.relative_to(nearest).parts):
            raise ValueError("too long, which a folder above it that is not there hides from the file system")
    except (OSError, RuntimeError, ValueError):
        raise InputError(f"{field} {str(folder)[:200]!r} is not a valid folder name.", field=field) from None
    if a_file:
        raise InputError(f"{field} {folder} is a file, not a folder.", field=field)
    if not nearest.is_dir():
        raise InputError(f"{field} {folder} can't be created: {nearest} is not a folder.", field=field)
    if not os.access(nearest, os.W_OK):
        raise InputError(f"{field} {folder} can't be written: no permission in {nearest}.", field=field)


def make_folder(folder: Path) -> None:
    """Create a folder and its parents where they are missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"output {folder} can't be created: {error.strerror}.", field="output") from None


@contextmanager
def atomic_write(path: Path) -> Iterator[IO[str]]:
    """A text file that takes the place of `path` when the block ends well, and leaves no trace when not.

    A device or a pipe (/dev/null, /dev/stdout) is written into: putting a file in its place would break the machine.
    """
    check_file_writable(path)
    if path.exists() and not path.is_file():
        with _into(path) as file:
            yield file
        return
    folder = path.resolve().parent
    try:
        handle, name = tempfile.mkstemp(dir=folder, prefix=f".{path.name}.", text=True)
    except PermissionError:
        raise InputError(f"{path} can't be written: no permission in {folder}.") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            yield file
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException as error:
        Path(name).unlink(missing_ok=True)
        if isinstance(error, KeyboardInterrupt):
            error.add_note(f"{path} is as it was" if path.exists() else f"{path} was not written")
        raise


def _into(path: Path) -> IO[str]:
    """A device or a pipe, open. A pipe that nobody reads is refused: opening it would wait for ever."""
    try:
        handle = os.open(path, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        why = "nobody reads from it" if error.errno == errno.ENXIO else error.strerror
        raise InputError(f"{path} can't be written: {why}.") from None
    os.set_blocking(handle, True)
    return os.fdopen(handle, "w", encoding="utf-8", newline="")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
