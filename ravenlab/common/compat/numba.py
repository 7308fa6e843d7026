"""Private parts of numba: options and attributes of compiled functions, its lock, and tables of random numbers.

What is missing in a release of numba is done without, except the tables.
"""

import os
from collections.abc import Callable
from typing import Any

import numba

from ravenlab.common.kernel_cache import warn_once

PRIVATE = (
    "numba.core.compiler_lock.global_compiler_lock.acquire",
    "numba.core.dispatcher.Dispatcher._compile_for_args",
    "numba.core.dispatcher.Dispatcher._insert",
    "numba.core.dispatcher.Dispatcher.get_call_template",
    "numba.core.options.DefaultOptions.no_cfunc_wrapper",
    "numba.core.options.DefaultOptions.no_cpython_wrapper",
    "numba.core.options.DefaultOptions._nrt",
    "numba.np.random._constants.fi_double",
    "numba.np.random._constants.ki_double",
    "numba.np.random._constants.wi_double",
    "numba.np.random._constants.ziggurat_nor_inv_r",
    "numba.np.random._constants.ziggurat_nor_r",
)
"""Names of modules and classes."""

PRIVATE_ATTRIBUTES = ("_cache",)
"""Attributes of compiled functions, which only their instances have."""


def compile_without_references(function: Callable[..., Any], **options: bool) -> Any:
    """Compile a function without the GIL and without counting references.

    Nothing uses the entry point for C.
    """
    njit: Any = numba.njit
    return njit(nogil=True, error_model="numpy", _nrt=False, no_cfunc_wrapper=True, **options)(function)


def share_versions(dispatcher: Any) -> None:
    """Compile one version of a function for all constants that callers pass to it.

    Short functions are inlined, and then LLVM knows the constants.
    """
    find_version = dispatcher.get_call_template
    dispatcher.get_call_template = lambda args, kws: find_version(tuple(map(numba.types.unliteral, args)), kws)


def refuse_calls(dispatcher: Any) -> None:
    """Make a compiled function refuse calls from Python, which would end the process."""

    def refuse(*_: Any, **__: Any) -> None:
        raise TypeError(f"{dispatcher.__name__} can only be called by compiled functions")

    if hasattr(dispatcher, "_insert"):
        dispatcher._insert = lambda *_, **__: None
        dispatcher._compile_for_args = refuse


def store_on_disk(dispatcher: Any, function: Callable[..., Any], awaited: bool) -> None:
    """Keep the compiled versions of a function on disk; without numba's classes they stay in memory.

    Args:
        dispatcher: The compiled function.
        function: The function.
        awaited: Whether another process that compiles it is waited for.
    """
    try:
        from ravenlab.common.compat.numba_cache import Cache

        dispatcher._cache = Cache(function, awaited)
    except (AttributeError, ImportError, OSError, RuntimeError) as error:  # RuntimeError: the folder is not writable
        warn_once(f"{type(error).__name__}: {error}")


def hold_compiler_lock_at_forks() -> None:
    """Let no process be forked while another thread compiles: it would wait for numba's lock forever."""
    try:
        from numba.core.compiler_lock import global_compiler_lock
    except ImportError:
        return
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=global_compiler_lock.acquire,
            after_in_parent=global_compiler_lock.release,
            after_in_child=global_compiler_lock.release,
        )


def ziggurat_tables() -> tuple[Any, Any, Any]:
    """Return the tables of NumPy's ziggurat method for normal numbers: limits, widths and heights of its layers.

    >>> [table.size for table in ziggurat_tables()]
    [256, 256, 256]
    """
    from numba.np.random import _constants

    return _constants.ki_double, _constants.wi_double, _constants.fi_double


def ziggurat_tail() -> tuple[float, float]:
    """Return where the tail of NumPy's ziggurat method begins, and its inverse.

    >>> tail, inverse = ziggurat_tail()
    >>> bool(abs(tail * inverse - 1.0) < 1e-12)
    True
    """
    from numba.np.random import _constants

    return _constants.ziggurat_nor_r, _constants.ziggurat_nor_inv_r
