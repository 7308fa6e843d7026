"""What a user brings: objects from a Python file or an installed package that the user named, and nobody else.

Nothing here runs by itself. A file is run when a person names it (`--policy ./mine.py:MyPolicy`); a study file, an
export or a storage can only name what was brought before. Its name ends in a hash of the file, so that an edited
file is another policy or scenario, and its results never mix with those of the old one.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import FunctionType
from typing import Any, Generic, TypeVar

from environments.errors import InputError, unknown_name

T = TypeVar("T")

FILE_MARK = ".py:"
"""What tells `./mine.py:MyPolicy` from a name."""

MODULE_PREFIX = "ravenlab_own_"
"""How modules of brought files are called."""

MADE = "<string>"
"""The file of what dataclasses write themselves."""


def is_plugin(text: str) -> bool:
    """Whether a name says which file to bring it from.

    >>> is_plugin("./mine.py:MyPolicy"), is_plugin("ucb1")
    (True, False)
    """
    return isinstance(text, str) and FILE_MARK in text


@dataclass(frozen=True)
class Plugin(Generic[T]):
    """An object that was brought, and what brings it again in another process."""

    value: T
    source: str


class PluginRegistry(Generic[T]):
    """All that was brought of one kind in this process, by name."""

    def __init__(self, kind: str, group: str) -> None:
        self.kind, self.group = kind, group
        self._held: dict[str, Plugin[T]] = {}

    def register(self, name: str, value: T, source: str) -> None:
        """Keep an object under its name."""
        self._held[name] = Plugin(value, source)

    def get(self, name: str) -> T | None:
        """The object of a name, without the hash the last one that was brought; None if it was not brought."""
        found = self._match(name)
        return None if found is None else found.value

    def source(self, name: str) -> str | None:
        """What brings an object again: a path with the object's name, or the name of an entry point."""
        found = self._match(name)
        return None if found is None else found.source

    def _match(self, name: str) -> Plugin[T] | None:
        if name in self._held:
            return self._held[name]
        fits = [each for held, each in self._held.items() if held.rpartition("~")[0] == name]
        return fits[-1] if fits else None

    def names(self) -> list[str]:
        """Names of what was brought."""
        return list(self._held)

    def entry_points(self) -> dict[str, EntryPoint]:
        """What installed packages offer, by name; looking does not import them."""
        return {point.name: point for point in entry_points(group=self.group)}

    def load(self, text: str, ours: Container[str], adapted: Callable[[Any, str], T]) -> str:
        """Load what `./file.py:Name` or the name of an installed package's offer says, and give the name it goes by.

        Any other name is given back as it is, and so are those of `ours`, which nobody can take.
        """
        if is_plugin(text):
            found, name = load_plugin(text, self.kind)
        elif text in ours or text not in self.entry_points():
            return text
        else:
            found, name = self._load(text), text
        self.register(name, adapted(found, name), text)
        return name

    def _load(self, text: str) -> Any:
        try:
            return self.entry_points()[text].load()
        except Exception as error:
            raise InputError(
                f"{self.kind} {text!r} can't be loaded from its package: {describe_failure(error)}."
            ) from None

    def is_missing(self, name: str) -> bool:
        """Whether a name is of something that a user brought elsewhere and that is not at hand here."""
        return self.get(name) is None and self.missing_error(name) is not None

    def missing_error(self, name: str) -> InputError | None:
        """An error for a name that would have to be brought first; None for one that looks like none of these."""
        if FILE_MARK in name:
            return InputError(
                f"{self.kind} {name!r} comes from a Python file, which is only run when you name it: "
                f"name its path, such as ./{name.partition('~')[0].rpartition('/')[2]}."
            )
        if name in self.entry_points():
            return InputError(
                f"{self.kind} {name!r} comes from an installed package, which is only run when you name it: "
                f"load the plugin {name}.",
                field="plugin",
            )
        return None


def load_plugin(text: str, kind: str) -> tuple[Any, str]:
    """Run a file that the user named and give the object in it, with the name that it goes by.

    >>> load_plugin("mine.py:", "policy")
    Traceback (most recent call last):
    ...
    environments.errors.InputError: policy must be written ./file.py:Name but got 'mine.py:'.
    """
    place, _, wanted = text.rpartition(":")
    if not wanted.isidentifier() or not place.endswith(".py"):
        raise InputError(f"{kind} must be written ./file.py:Name but got {text!r}.")
    try:
        path = Path(place).expanduser().resolve()
        source = path.read_bytes()
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: the home of somebody who has none
        said = str(getattr(error, "strerror", None) or error).rstrip(".")
        raise InputError(f"{kind} {text!r} can't be read: {said}.") from None
    digest = hashlib.sha256(source).hexdigest()
    module = _run(path, f"{MODULE_PREFIX}{digest[:16]}", kind)
    if not hasattr(module, wanted):
        public = [name for name in vars(module) if not name.startswith("_")]
        raise unknown_name(f"name in {path.name}", wanted, public)
    return getattr(module, wanted), f"{path.name}:{wanted}~{digest[:8]}"


def _run(path: Path, name: str, kind: str) -> Any:
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise InputError(f"{kind} file {path} can't be run: {describe_failure(error, {str(path)})}.") from None
    return module


def register_for_pickling() -> None:
    """Let objects of brought files go to worker processes, which could not import what they are made of."""
    modules = [module for name, module in list(sys.modules.items()) if name.startswith(MODULE_PREFIX)]
    if modules:
        from cloudpickle import register_pickle_by_value

        for module in modules:
            register_pickle_by_value(module)


@contextmanager
def plugin_errors(kind: str, name: str, own: type[Any]) -> Iterator[None]:
    """Have whatever breaks in a class of a user's own be one line that says where; in one of ours it is a fault.

    >>> from fractions import Fraction
    >>> with plugin_errors("effect", "mine", Fraction):
    ...     1 / 0
    Traceback (most recent call last):
    ...
    environments.errors.InputError: effect 'mine' broke: ZeroDivisionError: division by zero.
    """
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        if own.__module__.startswith("environments."):
            raise
        files = {each.__code__.co_filename for each in vars(own).values() if isinstance(each, FunctionType)}
        raise InputError(f"{kind} {name!r} broke: {describe_failure(error, files - {MADE})}.") from None


def describe_failure(error: BaseException, files: Container[str] = ()) -> str:
    """What went wrong in a user's code, in a few words, with the last line of it that lies in one of some files.

    >>> describe_failure(ZeroDivisionError("division by zero"))
    'ZeroDivisionError: division by zero'
    """
    import traceback

    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename in files]
    if isinstance(error, SyntaxError) and error.lineno:
        lines.append(error.lineno)
    said = " ".join(str(error).split())[:200]
    place = f" in line {lines[-1]}" if lines else ""
    return f"{type(error).__name__}{': ' if said else ''}{said}{place}"
