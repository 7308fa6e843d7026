"""How rules are compiled: numba, no GIL, cached on disk, and never served stale.

numba keys its cache by the file that holds a function, but a loop inlines rules that live in other
files: edit such a rule and the cached loop would go on with the old one. So the cache's folder is
named after a hash of all sources that can be compiled.
"""

from __future__ import annotations

import hashlib
import os
import sys
import threading
import types
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numba

from environments.fingerprint import COMPILED_PACKAGES, ROOT, kernel_hash
from environments.paths import user_cache_folder

Compilable = Callable[..., Any]
"""Rules carry no annotations: numba works out the types."""


@lru_cache(maxsize=1)
def numba_cache_folder() -> str | None:
    """The folder of numba's cache for exactly these sources; None if it cannot be written.

    It is in `NUMBA_CACHE_DIR` if set, else in the user's own cache folder, and never in a shared folder such as /tmp:
    numba unpickles the files that it finds there.
    """
    digest = hashlib.sha256(f"{numba.__version__} {sys.version_info[:2]} {kernel_hash()}".encode())
    base = os.environ.get("NUMBA_CACHE_DIR") or str(user_cache_folder() / "numba")
    folder = os.path.join(base, digest.hexdigest()[:16])
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


def compiled(function: Compilable) -> Compilable:
    """Compile a function with numba: cached, without the GIL, in strict IEEE arithmetic.

    Reference counting is off (`_nrt`): counting the arrays that a rule is handed cost 20 times the
    rule itself. So compiled code makes no arrays; it writes into those that it is given.

    >>> @compiled
    ... def double(x):
    ...     return 2 * x
    >>> double(4)
    8
    """
    return _compiled(function)


def inlined(function: Compilable) -> Compilable:
    """Like `compiled`, for a few lines that loops call at every step: written into each of them."""
    return _compiled(function, forceinline=True)


def _hashed(function: Any) -> bool:
    """Whether a function's source is among those that name the cache's folder."""
    source = Path(getattr(function, "py_func", function).__code__.co_filename)
    return any(ROOT / package in source.parents for package in COMPILED_PACKAGES)


_ONE_AT_A_TIME = threading.Lock()
"""numba reads its cache folder from a global while it decorates; threads must not swap it under each other."""


def _compiled(function: Compilable, cached: bool = True, **options: bool) -> Compilable:
    njit: Any = numba.njit
    config: Any = numba.config
    folder = numba_cache_folder()
    with _ONE_AT_A_TIME:
        before = config.CACHE_DIR
        config.CACHE_DIR = folder or before
        try:
            cached = cached and folder is not None and _hashed(function)
            decorate = njit(cache=cached, nogil=True, error_model="numpy", _nrt=False, **options)
            result: Compilable = decorate(function)
            return result
        finally:
            config.CACHE_DIR = before


def specialize(template: Callable[..., Any], name: str, **rules: Any) -> Callable[..., Any]:
    """A copy of a loop with a policy's rules in place of the names it calls, compiled under its own name.

    A rule that is passed as an argument is never found in numba's cache; one that is a global of a
    concrete function is. Rules from elsewhere (a notebook, a user's own file) are compiled afresh each time:
    nothing would tell that they have changed.
    """
    scope = {**template.__globals__, **rules}
    copy = types.FunctionType(template.__code__, scope, name)
    copy.__qualname__ = f"{template.__name__}_{name}"
    copy.__module__ = template.__module__
    return _compiled(copy, cached=all(_hashed(rule) for rule in rules.values() if callable(rule)))
