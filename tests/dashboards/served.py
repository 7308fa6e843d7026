"""A dashboard served by the real command in a process of its own."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import NamedTuple

from tests.faults.studies import command
from tests.project import environment


class Served(NamedTuple):
    """Where it listens, the URL that it printed, and its process."""

    port: int
    url: str
    process: subprocess.Popen[str]


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes


@contextmanager
def listening(words: Sequence[str | Path], folder: Path) -> Iterator[Served]:
    """Start a process that prints its URL first, wait for that, and end it."""
    process = subprocess.Popen(
        words, cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    ended = threading.Timer(120, process.kill)
    ended.start()
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        line = process.stdout.readline()
        assert line.startswith("http://"), process.stderr.read()
        url = line.split()[0]
        yield Served(int(url.rstrip("/").rsplit(":", 1)[1]), url, process)
    finally:
        ended.cancel()
        process.kill()
        process.communicate()


@contextmanager
def served(storage: str, *words: str, folder: Path) -> Iterator[Served]:
    """Start `ravenlab dashboard` on a free port, wait for its URL, and end it."""
    with listening(command("dashboard", "--storage", storage, "--port", "0", *words), folder) as there:
        yield there


def ask(
    port: int,
    method: str,
    path: str,
    body: bytes | None = None,
    headers: dict[str, str] | None = None,
) -> Answer:
    """One request over a connection of its own."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
    finally:
        connection.close()


def gone(process: subprocess.Popen[str], seconds: float = 20.0) -> int:
    """The exit code, once it has ended."""
    end = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    assert process.returncode is not None, "it does not end"
    return process.returncode
