"""The folder of numba's cache, and processes that fill it.

Nothing here imports numba, which takes a quarter of a second.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import sys
import warnings
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

from environments.fingerprint import kernel_hash
from environments.paths import user_cache_folder


@lru_cache(maxsize=1)
def numba_cache_folder() -> str | None:
    """Return the folder of numba's cache for exactly these sources; None if it is not writable or not private.

    It is in `NUMBA_CACHE_DIR` if set, else in the user's own cache folder.
    """
    digest = hashlib.sha256(f"{metadata.version('numba')} {sys.version_info[:2]} {kernel_hash()}".encode())
    base = os.environ.get("NUMBA_CACHE_DIR") or str(user_cache_folder() / "numba")
    folder = os.path.join(base, digest.hexdigest()[:16])
    try:
        os.makedirs(base, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, mode=0o700)
        if not is_private(folder):
            warn_once(f"others may write to {folder}, or it belongs to somebody else")
            return None
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


def is_private(folder: str) -> bool:
    """Whether a folder belongs to this user and nobody else may write to it."""
    status = os.stat(folder)
    return os.name != "posix" or (status.st_uid == os.geteuid() and not status.st_mode & 0o022)


_WARNED: list[str] = []


def warn_once(problem: str) -> None:
    """Warn about a problem of the cache, once per process."""
    if not _WARNED:
        _WARNED.append(problem)
        warnings.warn(f"numba's cache: {problem}; functions are compiled again.", RuntimeWarning, stacklevel=2)


COMPILERS: list[tuple[subprocess.Popen[bytes], str]] = []
"""Processes that compile functions of a package for this process."""


def is_compiled_elsewhere(function: Any) -> bool:
    """Whether another process may be compiling a function for this one."""
    return any(
        function.__module__.startswith(f"{package}.") and process.poll() is None for process, package in COMPILERS
    )


def is_cached(name: str) -> bool:
    """Whether numba's cache holds a compiled function of a policy, so that it need not be compiled now.

    >>> is_cached("no-such-policy")
    False
    """
    folder = numba_cache_folder()
    try:
        return folder is not None and any(Path(folder).glob(f"*/*{name.replace('-', '_')}*.nbi"))
    except OSError:  # the folder is no longer readable
        return False
