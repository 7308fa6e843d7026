"""A PostgreSQL server for the tests: a temporary one, or the one that RAVENLAB_TEST_POSTGRES names.

Tests that stop the server always use a temporary one. It runs as an unprivileged user if the tests run as root, and
ends with the process that started it.
"""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy.engine import URL, make_url

from tests.ports import free_ports
from tests.requirements import lacking

VARIABLE = "RAVENLAB_TEST_POSTGRES"
PASSWORD = "g{ehe}im @%40/:#"
"""Characters that require quoting in a URL, a template or a configuration file."""

SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "40",
    "shared_buffers": "16MB",
    "log_min_messages": "panic",
}
FAST, IMMEDIATE = signal.SIGINT, signal.SIGQUIT
"""The signals of `pg_ctl stop -m fast` and `-m immediate`."""


class Server:
    """A server for test databases; `process` is None if the tests must not stop it."""

    def __init__(self, url: URL, start: list[str] | None = None) -> None:
        self.url, self.command = url, start
        self.process: subprocess.Popen[bytes] | None = None
        self.numbers = itertools.count()
        self.made: list[str] = []

    def new_database(self) -> str:
        """The URL of an empty database."""
        name = f"ravenlab_{os.getpid()}_{next(self.numbers)}"
        self.run(f'CREATE DATABASE "{name}"')
        self.made.append(name)
        return self.url.set(database=name).render_as_string(hide_password=False)

    def connect(self, url: str | None = None) -> psycopg.Connection[Any]:
        """A separate connection."""
        to = self.url if url is None else make_url(url)
        return psycopg.connect(
            host=to.host, port=to.port, user=to.username, password=to.password, dbname=to.database, autocommit=True
        )

    def run(self, statement: str, *values: Any, url: str | None = None) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows."""
        with self.connect(url) as connection:
            cursor = connection.execute(statement.encode(), values)
            return cursor.fetchall() if cursor.description else []

    def cut(self, url: str) -> int:
        """Terminate ravenlab's sessions in a database and return their number."""
        asked = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ravenlab'"
        return len(self.run(f"{asked} AND datname = %s", make_url(url).database))

    def start(self) -> None:
        """Start the server and wait until it responds."""
        assert self.command is not None, "not ours to start"
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 60
        while True:
            try:
                self.connect().close()
                return
            except psycopg.OperationalError:
                assert self.process.poll() is None, "PostgreSQL ended while it started"
                assert time.monotonic() < until, "PostgreSQL does not start"
                time.sleep(0.02)

    def stop(self, how: signal.Signals = FAST) -> None:
        """Stop the server and wait for it."""
        assert self.process is not None, "not ours to stop"
        self.process.send_signal(how)
        self.process.wait(timeout=60)

    def restart(self, how: signal.Signals) -> None:
        """Restart the server."""
        self.stop(how)
        self.start()


def given() -> bool:
    """Whether RAVENLAB_TEST_POSTGRES is set."""
    return bool(os.environ.get(VARIABLE))


@contextmanager
def server() -> Iterator[Server]:
    """The server for this run."""
    if not given():
        with own_server() as mine:
            yield mine
        return
    there = Server(make_url(os.environ[VARIABLE]))
    try:
        yield there
    finally:
        for name in there.made:
            there.run(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


@contextmanager
def own_server() -> Iterator[Server]:
    """A temporary server. Without PostgreSQL the test is skipped, or fails if CI is set."""
    folder = Path(tempfile.mkdtemp(prefix="ravenlab-postgres-"))
    try:
        try:
            mine = _made(_binaries(), folder)
        except (OSError, subprocess.CalledProcessError) as error:
            why = f"no PostgreSQL server can be started ({error})"
            lacking(why if given() else f"{why} and {VARIABLE} is not set")
        mine.start()
        try:
            yield mine
        finally:
            mine.stop(IMMEDIATE)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _binaries() -> Path:
    """The folder of initdb and postgres."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
    found = shutil.which("initdb")
    places = [*([Path(found).resolve().parent] if found else []), *places]
    there = [place for place in places if (place / "initdb").exists()]
    if not there:
        raise FileNotFoundError("it is not installed")
    return there[-1]


def _made(binaries: Path, folder: Path) -> Server:
    """Create a database cluster in a folder."""
    secret, data = folder / "password", folder / "data"
    secret.write_text(PASSWORD)
    dying = shutil.which("setpriv")
    words = [dying] if dying else []
    if os.getuid() == 0:
        user = next(name for name in ("postgres", "nobody") if any(entry.pw_name == name for entry in pwd.getpwall()))
        entry = pwd.getpwnam(user)
        for path in (folder, secret):
            os.chown(path, entry.pw_uid, entry.pw_gid)
        words = ["setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--clear-groups"]
    making = [*("-U", "tester", "-A", "scram-sha-256", f"--pwfile={secret}"), "--no-sync", "--locale=C", "-E", "UTF8"]
    subprocess.run([*words, binaries / "initdb", "-D", data, *making], check=True, capture_output=True, cwd=folder)
    (port,) = free_ports(1)
    settings = [f"-c{key}={value}" for key, value in {**SETTINGS, "port": str(port)}.items()]
    url = URL.create("postgresql", "tester", PASSWORD, "127.0.0.1", port, "postgres")
    ending = ["--pdeathsig=QUIT"] if dying else []
    return Server(url, [*words, *ending, str(binaries / "postgres"), "-D", str(data), *settings])
