"""numba's cache on disk, made robust by means of its private classes.

numba unpickles the files of its cache. They are read only from a folder that nobody else can enter or replace, and
only if their content matches a hash at their end. Any failure of the cache, such as a full disk or a damaged file, is a
cache miss: the function is compiled in memory, and one warning is issued.

Another process may compile kernels while this one does something else (`policies.engine.ahead`). A kernel that is
called before that process has stored it is waited for.
"""

import contextlib
import hashlib
import importlib
import io
import os
import sys
import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from numba.core import caching
from numba.core.runtime.nrt import rtsys

from ravenlab.common.kernel_cache import is_compiled_elsewhere, numba_cache_folder, warn_once
from ravenlab.common.paths import find_shared_level, hold_lock_file

PRIVATE = (
    "numba.core.caching.InTreeCacheLocator.get_suitable_cache_subpath",
    "numba.core.caching.CompileResultCacheImpl._locator_classes",
    "numba.core.caching.IndexDataCacheFile._open_for_write",
    "numba.core.caching.IndexDataCacheFile._load_index",
    "numba.core.caching.IndexDataCacheFile._load_data",
    "numba.core.caching.IndexDataCacheFile._data_path",
    "numba.core.caching.FunctionCache._impl_class",
    "numba.core.caching.FunctionCache._load_overload",
    "numba.core.caching.FunctionCache.save_overload",
    "numba.core.runtime.nrt.rtsys.initialize",
    "numba.np.arraymath",
)
"""Names of modules and classes."""

PRIVATE_ATTRIBUTES = ("_cache_file", "_cache_path", "_impl", "_index_path", "_py_func")
"""Attributes of caches, which only their instances have."""

POLL_SECONDS = 0.02
SAVE_SECONDS = 10.0  # to wait for another process that saves a function

_caching: Any = caching  # has no annotations


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


class Cache(_caching.FunctionCache):  # type: ignore[misc]
    """numba's cache of a function; a failure is a cache miss.

    Args:
        py_func: The function.
        awaited: Whether another process that compiles it is waited for.
    """

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
