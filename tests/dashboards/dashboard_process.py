"""The dashboard, served by `ravenlab dashboard` in a separate process."""

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


class RunningServer(NamedTuple):
    """Port, printed URL and process of a server."""

    port: int
    url: str
    process: subprocess.Popen[str]


class Response(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


@contextmanager
def start_server(words: Sequence[str | Path], folder: Path) -> Iterator[RunningServer]:
    """Start a process, wait until it prints its URL, and end it."""
    process = subprocess.Popen(
        words, cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    timer = threading.Timer(120, process.kill)
    timer.start()
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        line = process.stdout.readline()
        assert line.startswith("http://"), process.stderr.read()
        timer.cancel()
        url = line.split()[0]
        yield RunningServer(int(url.rstrip("/").rsplit(":", 1)[1]), url, process)
    finally:
        timer.cancel()
        process.kill()
        process.communicate()


@contextmanager
def start_dashboard(storage: str, *words: str, folder: Path) -> Iterator[RunningServer]:
    """Start `ravenlab dashboard` on a free port, and end it."""
    with start_server(command("dashboard", "--storage", storage, "--port", "0", *words), folder) as server:
        yield server


def send_request(
    port: int,
    method: str,
    path: str,
    body: bytes | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    """Send one request over a new connection."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        return Response(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
    finally:
        connection.close()


def wait_for_exit(process: subprocess.Popen[str], seconds: float = 20.0) -> int:
    """Wait until a process ends and return its exit code."""
    end = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    assert process.returncode is not None, "the process did not end"
    return process.returncode
