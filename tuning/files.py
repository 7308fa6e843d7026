"""Checking output paths, and writing files atomically."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ravenlab.common.errors import InputError
from ravenlab.common.paths import open_new_file, resolve_path

MAX_NAME_BYTES = 255  # longest name of a file or folder that common file systems accept


def check_file_writable(path: Path) -> None:
    """Raise InputError if a file cannot be written, before long work. The file is not created."""
    try:
        folder = resolve_path(path).parent
        if path.exists() and not path.is_file() and not path.is_dir():
            return
    except (OSError, RuntimeError, ValueError):
        raise InputError(f"{str(path)[:200]!r} can't be written: it is not a valid file name.") from None
    if not folder.is_dir():
        raise InputError(f"{path} can't be written: folder {folder} does not exist.")
    if path.is_dir():
        raise InputError(f"{path} can't be written: it is a folder.")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{path} can't be written: no permission in {folder}.")


def check_folder(folder: Path, field: str = "output") -> None:
    """Raise InputError if a folder cannot be created or written, before long work. It is not created."""
    try:
        is_file = folder.exists() and not folder.is_dir()
        absolute = resolve_path(folder)
        nearest = next(path for path in (absolute, *absolute.parents) if os.path.lexists(path))
        if any(len(os.fsencode(part)) > MAX_NAME_BYTES for part in absolute.relative_to(nearest).parts):
            raise ValueError("too long; the file system only reports this once the parent exists")
    except (OSError, RuntimeError, ValueError):
        raise InputError(f"{field} {str(folder)[:200]!r} is not a valid folder name.", field=field) from None
    if is_file:
        raise InputError(f"{field} {folder} is a file, not a folder.", field=field)
    if not nearest.is_dir():
        raise InputError(f"{field} {folder} can't be created: {nearest} is not a folder.", field=field)
    if not os.access(nearest, os.W_OK):
        raise InputError(f"{field} {folder} can't be written: no permission in {nearest}.", field=field)


def make_folder(folder: Path) -> None:
    """Create a folder and its missing parents."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"output {folder} can't be created: {error.strerror}.", field="output") from None


@contextmanager
def atomic_write(path: Path) -> Iterator[IO[str]]:
    """Open a temporary text file that replaces `path` when the block succeeds, and is deleted when it fails.

    A device or pipe, such as /dev/stdout, is written directly instead of being replaced.
    """
    check_file_writable(path)
    if path.exists() and not path.is_file():
        try:
            with _open_device(path) as file:
                yield file
        except OSError as error:
            error.filename = error.filename or str(path)
            raise
        return
    target = path.resolve()  # a link is kept, and the file that it refers to is replaced
    with noting_interrupts(path):
        try:
            with open_new_file(target) as file:
                yield file
        except PermissionError as error:
            if error.filename != str(target):
                raise
            raise InputError(f"{path} can't be written: no permission in {target.parent}.") from None


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    with atomic_write(path) as file:
        file.write(text)


@contextmanager
def noting_interrupts(path: Path) -> Iterator[None]:
    """Add to an interrupt of the block that a file is unchanged or was not written."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        interrupt.add_note(f"{path} is unchanged" if path.exists() else f"{path} was not written")
        raise


def _open_device(path: Path) -> IO[str]:
    """Open a device or pipe for writing; a pipe without a reader is refused, because opening it would block."""
    try:
        handle = os.open(path, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        reason = "the pipe has no reader" if error.errno == errno.ENXIO else error.strerror
        raise InputError(f"{path} can't be written: {reason}.") from None
    os.set_blocking(handle, True)
    return os.fdopen(handle, "w", encoding="utf-8", newline="")
