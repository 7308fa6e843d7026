"""A sandbox for command lines: a temporary folder, with all writes, processes and connections recorded.

An audit hook reports every file that is opened for writing, created, renamed or removed, and every process and
connection. Hooks can't be removed, so this one records only while a sandbox is active.
"""

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from ravenlab.common.kernel_cache import numba_cache_folder
from ravenlab.common.paths import user_cache_folder
from tests.command import run_command

WRITE_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
EXTERNAL_EVENTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "socket.connect", "pty.spawn")
PATH_ARGUMENTS = {
    "os.mkdir": 1,
    "os.rename": 2,
    "os.remove": 1,
    "os.rmdir": 1,
    "os.link": 2,
    "os.symlink": 2,
    "os.truncate": 1,
}
"""Number of leading arguments of an event that are changed paths."""


LOCK_FOLDER = user_cache_folder() / "locks"
"""Folder with the locks of databases that are not files."""


@dataclass
class Activity:
    """Files written, and processes, connections and files outside the sandbox, while a sandbox was active."""

    written: set[str] = field(default_factory=set)
    external: list[str] = field(default_factory=list)


_active: list[Activity] = []
_hook_added = False


def _record(event: str, args: tuple[Any, ...]) -> None:
    if not _active:
        return
    if event == "open" and isinstance(args[0], str | bytes) and args[2] & WRITE_FLAGS:
        _active[-1].written.add(os.path.abspath(os.fsdecode(args[0])))
    elif event in PATH_ARGUMENTS:
        paths = [path for path in args[: PATH_ARGUMENTS[event]] if isinstance(path, str | bytes)]
        _active[-1].written.update(os.path.abspath(os.fsdecode(path)) for path in paths)
    elif event in EXTERNAL_EVENTS:
        _active[-1].external.append(f"{event} {args!r}"[:200])


@contextlib.contextmanager
def watch_activity() -> Iterator[Activity]:
    """Record the activity of a block; Python writes no bytecode meanwhile."""
    global _hook_added
    if not _hook_added:
        sys.addaudithook(_record)
        _hook_added = True
    activity, previous = Activity(), sys.dont_write_bytecode
    _active.append(activity)
    sys.dont_write_bytecode = True
    try:
        yield activity
    finally:
        sys.dont_write_bytecode = previous
        _active.remove(activity)


@dataclass(frozen=True)
class CommandResult:
    """Exit code, output and side effects of a command line."""

    code: int
    out: str
    err: str
    activity: Activity
    before: dict[str, bytes]
    after: dict[str, bytes]

    def changed(self) -> set[str]:
        return {name for name in {*self.before, *self.after} if self.before.get(name) != self.after.get(name)}


def read_contents(folder: Path) -> dict[str, bytes]:
    """Return the content of all files, folders and links below a folder."""
    contents: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            contents[name] = b"link to " + os.fsencode(os.readlink(path))
        elif path.is_file():
            contents[name] = path.read_bytes()
        else:
            contents[name] = b"no file"
    return contents


class Sandbox:
    """A folder in which command lines run one after the other, each in a new copy of a template."""

    def __init__(self, template: Path) -> None:
        self.template, self.place = template, Path(tempfile.mkdtemp(dir=template.parent))
        self.before: dict[str, bytes] = {}

    def run(self, words: list[str]) -> CommandResult:
        """Run a command line and return its result and side effects."""
        if not self.before:
            self._fill()
        before, self.before = self.before, {}
        temporary = mock.patch.object(tempfile, "tempdir", str(self.place))
        with contextlib.chdir(self.place / "here"), temporary, watch_activity() as activity:
            code, out, err = run_command(words)
        result = CommandResult(code, out, err, activity, before, read_contents(self.place))
        if not result.changed():
            self.before = before
        allowed = (f"{self.place}/", f"{numba_cache_folder()}/", f"{LOCK_FOLDER}/", "/dev/")
        activity.external += [path for path in sorted(activity.written) if not f"{path}/".startswith(allowed)]
        return result

    def _fill(self) -> None:
        shutil.rmtree(self.place)
        here = self.place / "here"
        shutil.copytree(self.template, here, symlinks=True)
        os.mkfifo(here / "pipe")
        self.before = read_contents(self.place)
