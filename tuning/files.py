"""Files are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from environments.errors import InputError


def check_place(path: Path) -> None:
    """Refuse a place where no file can be, before long work that would end in it."""
    folder = path.resolve().parent
    if not folder.is_dir():
        raise InputError(f"{path} can't be written: there is no folder {folder}.")
    if path.is_dir():
        raise InputError(f"{path} can't be written: it is a folder.")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{path} can't be written: no permission in {folder}.")


@contextmanager
def replacing(path: Path) -> Iterator[IO[str]]:
    """A text file that takes the place of `path` when the block ends well, and leaves no trace when not."""
    check_place(path)
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


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
