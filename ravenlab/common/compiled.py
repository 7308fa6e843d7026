"""Compilation with numba: without the GIL, cached on disk, and never stale.

numba invalidates a cached function only when its own file changes, but a loop inlines rules from other files. The cache
folder is therefore named after a hash of all sources that can be compiled.
"""

import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

from ravenlab.common.compat.numba import (
    compile_without_references,
    hold_compiler_lock_at_forks,
    refuse_calls,
    share_versions,
    store_on_disk,
)
from ravenlab.common.fingerprint import COMPILED_PACKAGES, PACKAGE, package_folder
from ravenlab.common.kernel_cache import numba_cache_folder

Compilable = Callable[..., Any]  # compiled functions have no annotations: numba infers the types


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
    return _compiled(function, internal=True, no_cpython_wrapper=True)


def inner_inlined(function: Compilable) -> Compilable:
    """Compile a short function that only compiled functions call, and inline it."""
    return _compiled(function, internal=True, no_cpython_wrapper=True, forceinline=True)


_COMPILED_FOLDERS = {folder for package in COMPILED_PACKAGES for folder in (PACKAGE / package, package_folder(package))}
"""Folders of compiled sources, through the links of a clone and without them."""


def is_built_in(function: Any) -> bool:
    """Whether a function's source is part of this project, and so of the hash that names the cache folder."""
    source = Path(getattr(function, "py_func", function).__code__.co_filename)
    return any(folder in source.parents for folder in _COMPILED_FOLDERS)


def _compiled(
    function: Compilable, cached: bool = True, awaited: bool = False, internal: bool = False, **options: bool
) -> Compilable:
    dispatcher: Any = compile_without_references(function, **options)
    if not hasattr(dispatcher, "get_call_template"):  # numba is disabled, and this is the function itself
        return function
    share_versions(dispatcher)
    if cached and is_built_in(function) and numba_cache_folder() is not None:
        store_on_disk(dispatcher, getattr(function, "py_func", function), awaited)
    if internal:
        refuse_calls(dispatcher)
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


hold_compiler_lock_at_forks()
