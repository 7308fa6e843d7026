"""Compilation with numba: without the GIL, cached on disk, and never stale.

numba invalidates a cached function only when its own file changes, but a loop inlines rules from other files. The cache
folder is therefore named after a hash of all sources that can be compiled.
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

Compilable = Callable[..., Any]  # compiled functions have no annotations: numba infers the types


@lru_cache(maxsize=1)
def numba_cache_folder() -> str | None:
    """Return the folder of numba's cache for exactly these sources; None if it is not writable.

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

    Reference counting is off (`_nrt`): counting references to the arrays passed to a rule took 20 times as long as the
    rule itself. Compiled code must therefore not create arrays, only write to those passed to it.

    >>> @compiled
    ... def double(x):
    ...     return 2 * x
    >>> double(4)
    8
    """
    return _compiled(function)


def inlined(function: Compilable) -> Compilable:
    """Compile a short function that loops call at every step, and inline it."""
    return _compiled(function, forceinline=True)


def _hashed(function: Any) -> bool:
    """Whether a function's source is included in the hash that names the cache folder."""
    source = Path(getattr(function, "py_func", function).__code__.co_filename)
    return any(ROOT / package in source.parents for package in COMPILED_PACKAGES)


_CONFIG_LOCK = threading.Lock()
"""numba reads its cache folder from a global variable; threads must not change it at the same time."""


def _compiled(function: Compilable, cached: bool = True, **options: bool) -> Compilable:
    njit: Any = numba.njit
    config: Any = numba.config
    folder = numba_cache_folder()
    with _CONFIG_LOCK:
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
    """Copy a loop with a policy's rules in place of the global names that it calls, and compile the copy.

    numba never caches a loop that gets its rules as arguments, but it does if they are globals of a concrete function.
    Rules from elsewhere (a notebook, a plugin file) are compiled every time, since a change would not be noticed.
    """
    scope = {**template.__globals__, **rules}
    copy = types.FunctionType(template.__code__, scope, name)
    copy.__qualname__ = f"{template.__name__}_{name}"
    copy.__module__ = template.__module__
    return _compiled(copy, cached=all(_hashed(rule) for rule in rules.values() if callable(rule)))
