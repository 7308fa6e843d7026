"""Command lines in a closed box: a folder of their own, and every write and connection seen.

The hook of `sys.addaudithook` is told of each file that is opened for writing, made, renamed or removed and of each
process and connection, whoever asks. It can't be taken back, so it listens only while a box is open.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from environments.compiled import numba_cache_folder
from environments.paths import user_cache_folder
from tests.command import said_by

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
ELSEWHERE = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "socket.connect", "pty.spawn")
CHANGING = {
    "os.mkdir": 1,
    "os.rename": 2,
    "os.remove": 1,
    "os.rmdir": 1,
    "os.link": 2,
    "os.symlink": 2,
    "os.truncate": 1,
}
"""How many of an event's first arguments are places that change."""


LOCKS = user_cache_folder() / "locks"
"""Where locks of databases are that are no files."""


@dataclass
class Seen:
    """What was told while a box was open."""

    written: set[str] = field(default_factory=set)
    elsewhere: list[str] = field(default_factory=list)


_open_box: list[Seen] = []
_hooked = False


def _listen(event: str, given: tuple[Any, ...]) -> None:
    if not _open_box:
        return
    if event == "open" and isinstance(given[0], str | bytes) and given[2] & WRITING:
        _open_box[-1].written.add(os.path.abspath(os.fsdecode(given[0])))
    elif event in CHANGING:
        places = [each for each in given[: CHANGING[event]] if isinstance(each, str | bytes)]
        _open_box[-1].written.update(os.path.abspath(os.fsdecode(each)) for each in places)
    elif event in ELSEWHERE:
        _open_box[-1].elsewhere.append(f"{event} {given!r}"[:200])


@contextlib.contextmanager
def watching() -> Iterator[Seen]:
    """Note all that is written within, but for the bytecode that Python itself keeps of what is imported."""
    global _hooked
    if not _hooked:
        sys.addaudithook(_listen)
        _hooked = True
    seen, kept = Seen(), sys.dont_write_bytecode
    _open_box.append(seen)
    sys.dont_write_bytecode = True
    try:
        yield seen
    finally:
        sys.dont_write_bytecode = kept
        _open_box.remove(seen)


@dataclass(frozen=True)
class Done:
    """What came of one command line."""

    code: int
    out: str
    err: str
    seen: Seen
    before: dict[str, bytes]
    after: dict[str, bytes]

    def changed(self) -> set[str]:
        """Places that were made, changed or removed."""
        return {name for name in {*self.before, *self.after} if self.before.get(name) != self.after.get(name)}


def contents(folder: Path) -> dict[str, bytes]:
    """All files, folders and links below a folder with what they hold."""
    held: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            held[name] = b"link to " + os.fsencode(os.readlink(path))
        elif path.is_file():
            held[name] = path.read_bytes()
        else:
            held[name] = b"no file"
    return held


class Box:
    """A copy of a folder, `box/here`, in which command lines run one after the other, each in a fresh one."""

    def __init__(self, template: Path) -> None:
        self.template, self.place = template, Path(tempfile.mkdtemp(dir=template.parent))
        self.before: dict[str, bytes] = {}

    def run(self, words: list[str]) -> Done:
        """Run a command line, and tell what it did to the box."""
        if not self.before:
            self._fill()
        before, self.before = self.before, {}
        with contextlib.chdir(self.place / "here"), watching() as seen:
            code, out, err = said_by(words)
        done = Done(code, out, err, seen, before, contents(self.place))
        if not done.changed():
            self.before = before
        allowed = (f"{self.place}/", f"{numba_cache_folder()}/", f"{LOCKS}/", "/dev/")
        seen.elsewhere += [place for place in sorted(seen.written) if not f"{place}/".startswith(allowed)]
        return done

    def _fill(self) -> None:
        shutil.rmtree(self.place)
        here = self.place / "here"
        shutil.copytree(self.template, here, symlinks=True)
        os.mkfifo(here / "pipe")
        self.before = contents(self.place)
