"""The folder of numba's cache, and processes that fill it.

Nothing here imports numba, which takes a quarter of a second.
"""

import hashlib
import os
import subprocess
import sys
import warnings
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

from ravenlab.common.fingerprint import kernel_hash
from ravenlab.common.paths import find_shared_level, make_private_folder, user_cache_folder


@lru_cache(maxsize=1)
def numba_cache_folder() -> str | None:
    """Return the folder of numba's cache for exactly these sources; None if there is no private, writable folder.

    It is in `NUMBA_CACHE_DIR` if that is set and private, else in the user's own cache folder.
    """
    digest = hashlib.sha256(f"{metadata.version('numba')} {sys.version_info[:2]} {kernel_hash()}".encode())
    requested = os.environ.get("NUMBA_CACHE_DIR")
    bases = [user_cache_folder() / "numba"]
    if requested:
        bases.insert(0, Path(requested))
    for base in bases:
        folder = base.absolute() / digest.hexdigest()[:16]
        try:
            make_private_folder(folder)
            folder = folder.resolve()
            shared = find_shared_level(folder)
        except (OSError, RuntimeError):  # RuntimeError: a link to itself
            continue
        if shared is not None:
            warn_once(f"{folder} is not used, because others may write to {shared}")
        elif os.access(folder, os.W_OK):
            return str(folder)
    return None


_WARNED: list[str] = []


def warn_once(problem: str) -> None:
    """Warn about a problem of the cache, once; worker processes have the same problem and do not repeat it."""
    import multiprocessing  # takes 4 ms

    if not _WARNED and multiprocessing.parent_process() is None:
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
