"""Plugins: objects from a Python file or an installed package that the user named explicitly.

A file is only run when a user names it (`./mine.py:MyPolicy`); a study file, an export or a storage can only refer to a
plugin that was loaded before. The name of a plugin from a file ends in a hash of the file, so that an edited file is
another policy or scenario and results never mix.
"""

import hashlib
import importlib.util
import sys
import traceback
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Generic, TypeVar

from ravenlab.common.errors import InputError, unknown_name

T = TypeVar("T")

FILE_MARK = ".py:"  # distinguishes `./mine.py:MyPolicy` from a name
MODULE_PREFIX = "ravenlab_plugin_"  # of the names of modules that are run from files
GENERATED_FILE = "<string>"  # file name of methods that dataclasses generate


def is_plugin(text: str) -> bool:
    """Whether a name refers to an object in a Python file.

    >>> is_plugin("./mine.py:MyPolicy"), is_plugin("ucb1")
    (True, False)
    """
    return isinstance(text, str) and FILE_MARK in text


@dataclass(frozen=True)
class Plugin(Generic[T]):
    """A loaded object, and the text that loads it again in another process."""

    value: T
    source: str


class PluginRegistry(Generic[T]):
    """All plugins of one kind that are loaded in this process, by name."""

    def __init__(self, kind: str, group: str) -> None:
        self.kind = kind
        self.group = group
        self._plugins: dict[str, Plugin[T]] = {}

    def get(self, name: str) -> T | None:
        """Return the plugin of a name, or None; a name without the hash means the last one loaded."""
        plugin = self._find(name)
        return None if plugin is None else plugin.value

    def source(self, name: str) -> str | None:
        """Return the text that loads a plugin again: a path with the object's name, or the name of an entry point."""
        plugin = self._find(name)
        return None if plugin is None else plugin.source

    def _find(self, name: str) -> Plugin[T] | None:
        if name in self._plugins:
            return self._plugins[name]
        matches = [plugin for known, plugin in self._plugins.items() if known.rpartition("~")[0] == name]
        return matches[-1] if matches else None

    def names(self) -> list[str]:
        """Return the names of all loaded plugins."""
        return list(self._plugins)

    def entry_points(self) -> dict[str, EntryPoint]:
        """Return the entry points of installed packages by name, without importing them."""
        return {point.name: point for point in entry_points(group=self.group)}

    def load(self, text: str, builtin: Container[str], adapt: Callable[[Any, str], T]) -> str:
        """Load `./file.py:Name` or an entry point and return the name of the plugin.

        Any other name is returned unchanged, and so are names in `builtin`, which a plugin cannot take.
        """
        if is_plugin(text):
            value, name = load_plugin(text, self.kind)
        elif text in builtin or text not in self.entry_points():
            return text
        else:
            value = self._load_entry_point(text)
            name = text
        self._plugins[name] = Plugin(adapt(value, name), text)
        return name

    def _load_entry_point(self, name: str) -> Any:
        try:
            return self.entry_points()[name].load()
        except Exception as error:
            raise InputError(
                f"{self.kind} {name!r} cannot be loaded from its package: {describe_failure(error)}."
            ) from None

    def is_missing(self, name: str) -> bool:
        """Whether a name belongs to a plugin that is not loaded."""
        return self.get(name) is None and self.missing_error(name) is not None

    def missing_error(self, name: str) -> InputError | None:
        """Return an error for the name of a plugin that must be loaded first; None for any other name."""
        if FILE_MARK in name:
            return InputError(
                f"{self.kind} {name!r} is defined in a Python file, which is only run when you name it: "
                f"use its path, such as ./{name.partition('~')[0].rpartition('/')[2]}."
            )
        if name in self.entry_points():
            return InputError(
                f"{self.kind} {name!r} is defined in an installed package, which is only run when you name it: "
                f"load the plugin {name}.",
                field="plugin",
            )
        return None


def load_plugin(text: str, kind: str) -> tuple[Any, str]:
    """Run the Python file of `./file.py:Name` and return the object with the name of the plugin.

    >>> load_plugin("mine.py:", "policy")
    Traceback (most recent call last):
    ...
    ravenlab.common.errors.InputError: policy must be written ./file.py:Name but got 'mine.py:'.
    """
    file, _, attribute = text.rpartition(":")
    if not attribute.isidentifier() or not file.endswith(".py"):
        raise InputError(f"{kind} must be written ./file.py:Name but got {text!r}.")
    try:
        path = Path(file).expanduser().resolve()
        source = path.read_bytes()
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: no home folder for ~
        reason = str(getattr(error, "strerror", None) or error).rstrip(".")
        raise InputError(f"{kind} {text!r} cannot be read: {reason}.") from None
    digest = hashlib.sha256(source).hexdigest()
    module = _run_file(path, f"{MODULE_PREFIX}{digest[:16]}", kind)
    if not hasattr(module, attribute):
        public = [name for name in vars(module) if not name.startswith("_")]
        raise unknown_name(f"name in {path.name}", attribute, public)
    return getattr(module, attribute), f"{path.name}:{attribute}~{digest[:8]}"


def _run_file(path: Path, name: str, kind: str) -> ModuleType:
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{kind} file {path} cannot be run as Python.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise InputError(f"{kind} file {path} cannot be run: {describe_failure(error, {str(path)})}.") from None
    return module


def register_for_pickling() -> None:
    """Pickle objects of plugin files by value: worker processes cannot import their modules."""
    modules = [module for name, module in list(sys.modules.items()) if name.startswith(MODULE_PREFIX)]
    if modules:
        from cloudpickle import register_pickle_by_value

        for module in modules:
            register_pickle_by_value(module)


@contextmanager
def plugin_errors(kind: str, name: str, class_: type[Any]) -> Iterator[None]:
    """Convert any exception in a plugin class to a one-line error; those of built-in classes pass unchanged.

    >>> from fractions import Fraction
    >>> with plugin_errors("effect", "mine", Fraction):
    ...     1 / 0
    Traceback (most recent call last):
    ...
    ravenlab.common.errors.InputError: effect 'mine' failed: ZeroDivisionError: division by zero.
    """
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        if class_.__module__.startswith("ravenlab."):
            raise
        methods = [member for member in vars(class_).values() if isinstance(member, FunctionType)]
        files = {method.__code__.co_filename for method in methods} - {GENERATED_FILE}
        raise InputError(f"{kind} {name!r} failed: {describe_failure(error, files)}.") from None


def describe_failure(error: BaseException, files: Container[str] = ()) -> str:
    """Describe an exception in a plugin on one line, with the last line number in one of `files`.

    >>> describe_failure(ZeroDivisionError("division by zero"))
    'ZeroDivisionError: division by zero'
    """
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename in files]
    if isinstance(error, SyntaxError) and error.lineno:
        lines.append(error.lineno)
    text = " ".join(str(error).split())[:200]
    place = f" in line {lines[-1]}" if lines else ""
    return f"{type(error).__name__}{': ' if text else ''}{text}{place}"
