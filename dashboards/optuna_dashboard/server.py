"""Optuna's own dashboard over our storage, on this machine alone unless told otherwise.

The server is the standard library's, a thread a request: a page asks for several things at once.
"""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Sequence
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from dashboards.optuna_dashboard.access import is_loopback, restrict_access
from environments.errors import InputError

if TYPE_CHECKING:
    from optuna.storages import RDBStorage


HOST, PORT = "127.0.0.1", 8080
PATIENCE = 60.0
"""Seconds after which a connection that says nothing is dropped."""


class DashboardServer(ThreadingMixIn, WSGIServer):
    """Bound and listening once made; `serve_forever` answers."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    allow_reuse_address = os.name != "nt"  # on Windows it would share a port that is in use

    def __init__(self, host: str, port: int) -> None:
        self.address_family, address = _resolve(host, port)
        self.named = host
        try:
            super().__init__(address, _Handler)
        except OSError as error:
            raise InputError(_why(error, host, port), field="port") from None

    def server_bind(self) -> None:
        """Bind without asking a name server who we are, which the standard library does and which can take long."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, int(self.allow_reuse_address))
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = self.named, int(self.server_address[1])
        self.setup_environ()

    @property
    def url(self) -> str:
        """Where to look: an address that a browser can open, also where all addresses are bound."""
        every = self.named in ("0.0.0.0", "::", "")
        host = "localhost" if every else f"[{self.named}]" if ":" in self.named else self.named
        return f"http://{host}:{self.server_port}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that hangs up early is no news."""


class _Handler(WSGIRequestHandler):
    timeout = PATIENCE

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: a page that refreshes itself would fill the terminal."""


def make_server(
    storage: RDBStorage, host: str = HOST, port: int = PORT, *, writable: bool = False, names: Sequence[str] = ()
) -> DashboardServer:
    """A dashboard of this storage, listening; port 0 takes a free one. Artifacts are off.

    It answers to names of this machine and to `names`; bound elsewhere without any, to every name.
    """
    answered = [name.lower().rstrip(".") for name in names]
    server = DashboardServer(host, port)
    try:
        from optuna_dashboard import wsgi

        server.set_app(
            restrict_access(wsgi(storage), writable=writable, names=answered if answered or is_loopback(host) else None)
        )
    except BaseException:
        server.server_close()
        raise
    return server


def describe_exposure(host: str, writable: bool) -> str | None:
    """What binding to this host means for others; None where only this machine can reach it.

    >>> describe_exposure("127.0.0.1", True) is None
    True
    >>> describe_exposure("0.0.0.0", False)
    'There is no login: everyone who can reach 0.0.0.0 can read all studies in this storage.'
    """
    if is_loopback(host):
        return None
    can = "read, change and delete" if writable else "read"
    return f"There is no login: everyone who can reach {host} can {can} all studies in this storage."


def _resolve(host: str, port: int) -> tuple[socket.AddressFamily, Any]:
    """Family and address to bind to."""
    if not 0 <= port <= 65535:
        raise InputError(f"port must be from 0 (any free one) to 65535 but got {port}.", field="port")
    try:
        if not host.strip():
            raise OSError
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise InputError(f"host must be a name or address of this machine but got {host!r}.", field="host") from None
    found.sort(key=lambda each: each[0] != socket.AF_INET)
    family, _, _, _, address = found[0]
    return family, address


def _why(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} on {host} is in use by another program; choose another port, or 0 for any free one."
    if error.errno == errno.EACCES:
        return f"port {port} on {host} requires more privileges; choose a port from 1024 up."
    if error.errno == errno.EADDRNOTAVAIL:
        return f"host must be an address of this machine but got {host!r}."
    return f"port {port} on {host} can't be used: {error.strerror or error}."
