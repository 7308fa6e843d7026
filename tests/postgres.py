"""A PostgreSQL server for the tests: a temporary one, or the one that RAVENLAB_TEST_POSTGRES names.

Tests that stop the server always use a temporary one. It runs as an unprivileged user if the tests run as root, and
ends with the process that started it.
"""

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
from tests.requirements import skip_or_fail

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
        self.databases: list[str] = []

    def new_database(self) -> str:
        """Create an empty database and return its URL."""
        name = f"ravenlab_{os.getpid()}_{next(self.numbers)}"
        self.run(f'CREATE DATABASE "{name}"')
        self.databases.append(name)
        return self.url.set(database=name).render_as_string(hide_password=False)

    def connect(self, url: str | None = None) -> psycopg.Connection[Any]:
        """Open a separate connection."""
        target = self.url if url is None else make_url(url)
        return psycopg.connect(
            host=target.host,
            port=target.port,
            user=target.username,
            password=target.password,
            dbname=target.database,
            autocommit=True,
        )

    def run(self, statement: str, *values: Any, url: str | None = None) -> list[tuple[Any, ...]]:
        with self.connect(url) as connection:
            cursor = connection.execute(statement.encode(), values)
            return cursor.fetchall() if cursor.description else []

    def cut(self, url: str) -> int:
        """Terminate ravenlab's sessions in a database and return their number."""
        statement = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ravenlab'"
        return len(self.run(f"{statement} AND datname = %s", make_url(url).database))

    def start(self) -> None:
        """Start the server and wait until it responds."""
        assert self.command is not None, "the tests must not start"
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while True:
            try:
                self.connect().close()
                return
            except psycopg.OperationalError:
                assert self.process.poll() is None, "PostgreSQL exited during startup"
                assert time.monotonic() < deadline, "PostgreSQL does not start"
                time.sleep(0.02)

    def stop(self, how: signal.Signals = FAST) -> None:
        assert self.process is not None, "the tests must not stop"
        self.process.send_signal(how)
        self.process.wait(timeout=60)

    def restart(self, how: signal.Signals) -> None:
        self.stop(how)
        self.start()


def is_external() -> bool:
    """Return whether RAVENLAB_TEST_POSTGRES is set."""
    return bool(os.environ.get(VARIABLE))


@contextmanager
def server() -> Iterator[Server]:
    if not is_external():
        with own_server() as temporary:
            yield temporary
        return
    external = Server(make_url(os.environ[VARIABLE]))
    try:
        yield external
    finally:
        for name in external.databases:
            external.run(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


@contextmanager
def own_server() -> Iterator[Server]:
    """Start a temporary server; without PostgreSQL skip the test, or fail it in CI."""
    folder = Path(tempfile.mkdtemp(prefix="ravenlab-postgres-"))
    try:
        try:
            temporary = _create_server(_binaries(), folder)
        except (OSError, subprocess.CalledProcessError) as error:
            reason = f"no PostgreSQL server can be started ({error})"
            skip_or_fail(reason if is_external() else f"{reason} and {VARIABLE} is not set")
        temporary.start()
        try:
            yield temporary
        finally:
            temporary.stop(IMMEDIATE)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _binaries() -> Path:
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
    found = shutil.which("initdb")
    places = [*([Path(found).resolve().parent] if found else []), *places]
    complete = [place for place in places if (place / "initdb").exists()]
    if not complete:
        raise FileNotFoundError("PostgreSQL is not installed")
    return complete[-1]


def _create_server(binaries: Path, folder: Path) -> Server:
    """Create a database cluster in a folder."""
    secret, data = folder / "password", folder / "data"
    secret.write_text(PASSWORD)
    setpriv = shutil.which("setpriv")
    words = [setpriv] if setpriv else []
    if os.getuid() == 0:
        user = next(name for name in ("postgres", "nobody") if any(entry.pw_name == name for entry in pwd.getpwall()))
        entry = pwd.getpwnam(user)
        for path in (folder, secret):
            os.chown(path, entry.pw_uid, entry.pw_gid)
        words = ["setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--clear-groups"]
    options = [*("-U", "tester", "-A", "scram-sha-256", f"--pwfile={secret}"), "--no-sync", "--locale=C", "-E", "UTF8"]
    subprocess.run([*words, binaries / "initdb", "-D", data, *options], check=True, capture_output=True, cwd=folder)
    (port,) = free_ports(1)
    settings = [f"-c{key}={value}" for key, value in {**SETTINGS, "port": str(port)}.items()]
    url = URL.create("postgresql", "tester", PASSWORD, "127.0.0.1", port, "postgres")
    exit_with_parent = ["--pdeathsig=QUIT"] if setpriv else []
    return Server(url, [*words, *exit_with_parent, str(binaries / "postgres"), "-D", str(data), *settings])
