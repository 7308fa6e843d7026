"""Resolved paths, and the folder for this user's cached files."""

from __future__ import annotations

import errno
import os
from pathlib import Path


def resolve_path(path: Path) -> Path:
    """The path without links; OSError or RuntimeError where it leads nowhere, as a link to itself does.

    Python's own says so up to 3.12 only.

    >>> resolve_path(Path("/.."))
    PosixPath('/')
    """
    whole = path.resolve()
    if os.path.islink(whole):  # False, not an error, where one may not look
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return whole


def user_cache_folder() -> Path:
    """The folder for files that ravenlab caches for this user: `XDG_CACHE_HOME` if set, else the system's usual place.

    >>> user_cache_folder().name
    'ravenlab'
    """
    folder = os.environ.get("XDG_CACHE_HOME")
    if folder:
        return Path(folder, "ravenlab")
    import platformdirs

    return platformdirs.user_cache_path("ravenlab", appauthor=False)
