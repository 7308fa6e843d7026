"""Compilation with numba: without the GIL, cached on disk, and never stale.

numba invalidates a cached function only when its own file changes, but a loop inlines rules from other files. The cache
folder is therefore named after a hash of all sources that can be compiled.

numba unpickles the files of its cache. They are read only from a folder that nobody else can enter or replace, and
only if their content matches a hash at their end. Any failure of the cache, such as a full disk or a damaged file, is a
cache miss: the function is compiled in memory, and one warning is issued.

Another process may compile kernels while this one does something else (`policies.engine.ahead`). A kernel that is
called before that process has stored it is waited for.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import io
import os
import sys
import time
import types
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numba
from numba.core import caching
from numba.core.compiler_lock import global_compiler_lock
from numba.core.runtime.nrt import rtsys

from ravenlab.common.fingerprint import COMPILED_PACKAGES, PACKAGE, package_folder
from ravenlab.common.kernel_cache import is_compiled_elsewhere, numba_cache_folder, warn_once
from ravenlab.common.paths import find_shared_level, hold_lock_file

_caching: Any = caching  # has no annotations

Compilable = Callable[..., Any]  # compiled functions have no annotations: numba infers the types


class _Locator(_caching.InTreeCacheLocator):  # type: ignore[misc]
    """Places the cached files of a source file in a subfolder of `numba_cache_folder`."""

    def __init__(self, py_func: Any, py_file: str) -> None:
        super().__init__(py_func, py_file)
        self._cache_path = os.path.join(numba_cache_folder() or "", self.get_suitable_cache_subpath(py_file))


class _CacheContent(_caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Locator,)


class _CacheFile(_caching.IndexDataCacheFile):  # type: ignore[misc]
    """Index and data files that end with a hash of their content; pickle ignores bytes after its end."""

    @contextlib.contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[io.BytesIO]:
        with super()._open_for_write(filepath) as file:
            content = io.BytesIO()
            yield content
            file.write(content.getvalue() + hashlib.sha256(content.getvalue()).digest())

    def _load_index(self) -> Any:
        return super()._load_index() if _is_intact(self._index_path) else {}

    def _load_data(self, name: str) -> Any:
        path = self._data_path(name)
        if not _is_intact(path):
            raise OSError(f"{path} is missing or damaged")  # the caller treats it as a cache miss
        return super()._load_data(name)


def _is_intact(path: str) -> bool:
    """Whether a file exists and ends with the hash of its content; a damaged file is deleted."""
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        return False
    if content[-32:] == hashlib.sha256(content[:-32]).digest():
        return True
    warn_once(f"{path} is damaged")
    os.unlink(path)
    return False


class _Cache(_caching.FunctionCache):  # type: ignore[misc]
    """numba's cache of a function; a failure is a cache miss."""

    _impl_class = _CacheContent

    def __init__(self, py_func: Any, awaited: bool) -> None:
        super().__init__(py_func)
        self.awaited = awaited
        self._cache_file = _CacheFile(self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load a compiled function.

        numba's own method first imports all that compilation needs. A compiled function only needs numba's runtime.
        """
        rtsys.initialize(target_context)
        while True:
            # asked first, because the last file of a process precedes its end
            expected = self.awaited and is_compiled_elsewhere(self._py_func)
            try:
                if find_shared_level(Path(numba_cache_folder() or "")) is None:
                    loaded = self._load_overload(sig, target_context)
                    if loaded is not None:
                        return loaded
            except Exception as error:  # unpickling and LLVM may raise anything; compiling again is always right
                warn_once(f"{type(error).__name__}: {error}")
                expected = False
            if not expected:
                _import_without_scipy()
                return None
            time.sleep(POLL_SECONDS)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save a compiled function, one process at a time: numba reads the index, adds an entry and writes it again."""
        try:
            with hold_lock_file(Path(numba_cache_folder() or "", "lock"), SAVE_SECONDS):
                super().save_overload(sig, data)
        except Exception as error:  # pickling may raise anything; the function is compiled and works without a cache
            warn_once(f"{type(error).__name__}: {error}")


@lru_cache(maxsize=1)
def _import_without_scipy() -> None:
    """Import the part of numba that imports SciPy, without SciPy.

    That would take 0.2 s, and only a kernel with np.cov or np.corrcoef needs it.
    """
    library = "scipy.linalg.cython_blas"
    if library not in sys.modules:
        sys.modules[library] = None  # type: ignore[assignment]
        try:
            importlib.import_module("numba.np.arraymath")
        finally:
            del sys.modules[library]


POLL_SECONDS = 0.02
SAVE_SECONDS = 10.0  # to wait for another process that saves a function


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
    return _compiled(function, awaited=True)


def compiled_on_demand(function: Compilable) -> Compilable:
    """Compile a short function, which takes less time than to wait for the process that compiles kernels."""
    return _compiled(function)


def inlined(function: Compilable) -> Compilable:
    """Compile a short function that loops call at every step, and inline it."""
    return _compiled(function, forceinline=True)


def inner(function: Compilable) -> Compilable:
    """Compile a function that only compiled functions call, which takes less time."""
    return _only_for_compiled(_compiled(function, no_cpython_wrapper=True))


def inner_inlined(function: Compilable) -> Compilable:
    """Compile a short function that only compiled functions call, and inline it."""
    return _only_for_compiled(_compiled(function, no_cpython_wrapper=True, forceinline=True))


def _only_for_compiled(dispatcher: Any) -> Compilable:
    """Make a compiled function refuse calls from Python, which would end the process."""

    def refuse(*_: Any, **__: Any) -> None:
        raise TypeError(f"{dispatcher.__name__} can only be called by compiled functions")

    if hasattr(dispatcher, "_insert"):
        dispatcher._insert, dispatcher._compile_for_args = lambda *_, **__: None, refuse
    result: Compilable = dispatcher
    return result


_COMPILED_FOLDERS = {folder for package in COMPILED_PACKAGES for folder in (PACKAGE / package, package_folder(package))}
"""Folders of compiled sources, through the links of a clone and without them."""


def is_built_in(function: Any) -> bool:
    """Whether a function's source is part of this project, and so of the hash that names the cache folder."""
    source = Path(getattr(function, "py_func", function).__code__.co_filename)
    return any(folder in source.parents for folder in _COMPILED_FOLDERS)


def _compiled(function: Compilable, cached: bool = True, awaited: bool = False, **options: bool) -> Compilable:
    njit: Any = numba.njit
    # Nothing uses the entry point for C. One version of a function serves all constants that callers pass to it: short
    # functions are inlined, and then LLVM knows the constants.
    dispatcher: Any = njit(nogil=True, error_model="numpy", _nrt=False, no_cfunc_wrapper=True, **options)(function)
    if not hasattr(dispatcher, "get_call_template"):  # numba is disabled, and this is the function itself
        return function
    find_version = dispatcher.get_call_template
    dispatcher.get_call_template = lambda args, kws: find_version(tuple(map(numba.types.unliteral, args)), kws)
    if cached and is_built_in(function) and numba_cache_folder() is not None:
        try:
            dispatcher._cache = _Cache(getattr(function, "py_func", function), awaited)
        except (OSError, RuntimeError) as error:  # RuntimeError: numba cannot write to the folder
            warn_once(f"{type(error).__name__}: {error}")
    result: Compilable = dispatcher
    return result


def specialize(template: Callable[..., Any], name: str, inline: bool = False, **rules: Any) -> Callable[..., Any]:
    """Copy a loop or rule with a policy's rules in place of the global names that it calls, and compile the copy.

    numba never caches a loop that gets its rules as arguments, but it does if they are globals of a concrete function.
    Rules from elsewhere (a notebook, a plugin file) are compiled every time, since a change would not be noticed.
    """
    scope = {**template.__globals__, **rules}
    copy = types.FunctionType(template.__code__, scope, name)
    copy.__qualname__ = f"{template.__name__}_{name}"
    copy.__module__ = template.__module__
    cached = all(is_built_in(rule) for rule in rules.values() if callable(rule))
    return _compiled(copy, cached, awaited=not inline, forceinline=inline)


def compile_for(function: Any, *arguments: Any) -> None:
    """Compile a function for the types of these arguments without calling it; ignore a plain Python function."""
    if hasattr(function, "overloads"):
        function.compile(tuple(numba.typeof(argument) for argument in arguments))


if hasattr(os, "register_at_fork"):
    # A process forked while another thread compiles would wait for numba's lock forever.
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )
