"""Resolving paths, and the cache folder of the user."""

from __future__ import annotations

import errno
import os
from pathlib import Path


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
