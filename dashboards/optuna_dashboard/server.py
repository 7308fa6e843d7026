"""Server of the Optuna dashboard, reachable from this machine only by default. It uses one thread per request.

A client that sends its request slowly keeps its connection. If there are too many connections, the oldest is closed, so
that such clients cannot use up the files and threads of the process.
"""

from __future__ import annotations

import errno
import io
import logging
import os
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from ravenlab.common.errors import MAX_NAME_LETTERS, InputError
from ravenlab.dashboards.optuna_dashboard.access import is_loopback, restrict_access
from ravenlab.dashboards.optuna_dashboard.page import change_pages, make_style, summarize_studies
from ravenlab.studies.storage.library import is_internal

if TYPE_CHECKING:
    from optuna.storages import RDBStorage

    from ravenlab.common.compat.optuna import FrozenStudy


HOST = "127.0.0.1"
PORT = 8080
IDLE_TIMEOUT = 60.0  # seconds after which an idle connection is closed
LOGGER = logging.getLogger("optuna_dashboard")
MAX_CONNECTIONS = 100  # at the same time, far below the usual limit of 1,024 open files per process


class DashboardServer(ThreadingMixIn, WSGIServer):
    """Threading WSGI server; it listens after construction and answers in `serve_forever`."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    allow_reuse_address = os.name != "nt"  # on Windows it would share a port that is in use

    def __init__(self, host: str, port: int) -> None:
        self.address_family, address = _resolve(host, port)
        self.host = host
        self.lock = threading.Lock()
        self.connections: dict[Any, None] = {}  # from the oldest to the newest
        try:
            super().__init__(address, _Handler)
        except OSError as error:
            raise InputError(_explain_bind_error(error, host, port), field="port") from None

    def server_bind(self) -> None:
        """Bind without the reverse DNS lookup of the standard library, which can be slow."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, int(self.allow_reuse_address))
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = self.host, int(self.server_address[1])
        self.setup_environ()

    @property
    def url(self) -> str:
        """URL that a browser on this machine can open, also if the server is bound to all addresses."""
        all_addresses = self.host in ("0.0.0.0", "::", "")
        host = "localhost" if all_addresses else f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.server_port}/"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a new thread; close the oldest connection if there are too many."""
        with self.lock:
            self.connections[request] = None
            if len(self.connections) > MAX_CONNECTIONS:
                oldest = next(iter(self.connections))
                del self.connections[oldest]
                with suppress(OSError):  # the client has just closed it
                    oldest.shutdown(socket.SHUT_RDWR)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection."""
        with self.lock:
            self.connections.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect early."""


class _Errors(io.StringIO):
    """The file for the traceback of a failed request, of which the last line is logged: it has the error."""

    def flush(self) -> None:
        """Log what was written; this happens before the client gets its response."""
        lines = self.getvalue().strip().splitlines()
        self.seek(0)
        self.truncate()
        for line in lines[-1:]:
            LOGGER.error(line)


class _Handler(WSGIRequestHandler):
    timeout = IDLE_TIMEOUT

    def get_stderr(self) -> _Errors:
        """Return the file for the traceback of a failed request."""
        return _Errors()

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: pages that refresh themselves would fill the terminal."""


class _FirstLine(logging.Handler):
    """Prints the first line of a message of the dashboard, which has the error; the others are a traceback."""

    def emit(self, record: logging.LogRecord) -> None:
        problem = repr(record.getMessage().partition("\n")[0][:MAX_NAME_LETTERS])
        print(f"ravenlab: warning: a request to the dashboard failed: {problem}.", file=sys.stderr)


def make_server(
    storage: RDBStorage,
    host: str = HOST,
    port: int = PORT,
    *,
    writable: bool = False,
    names: Sequence[str] = (),
    internal: bool = False,
) -> DashboardServer:
    """Start listening for a dashboard of a storage, without artifacts. Port 0 chooses a free port.

    Without `internal`, searches of comparisons are not shown.

    Requests must use a host name of this machine or one of `names`. Without `names`, a server that is bound to another
    address accepts every host name.
    """
    allowed = [name.lower().rstrip(".") for name in names]
    server = DashboardServer(host, port)
    try:
        from optuna_dashboard import wsgi

        LOGGER.handlers = [_FirstLine()]
        LOGGER.propagate = False
        if not internal:
            # the dashboard takes its list of studies from this method
            storage.get_all_studies = partial(_list_visible, storage.get_all_studies)  # type: ignore[method-assign]
        page = change_pages(wsgi(storage), make_style(writable), partial(summarize_studies, storage))
        server.set_app(
            restrict_access(page, writable=writable, names=allowed if allowed or is_loopback(host) else None)
        )
    except BaseException:
        server.server_close()
        raise
    return server


def _list_visible(get_all_studies: Callable[[], list[FrozenStudy]]) -> list[FrozenStudy]:
    return [study for study in get_all_studies() if not is_internal(study)]


def describe_exposure(host: str, writable: bool) -> str | None:
    """Warn who can reach the dashboard on this host; None if only this machine can.

    >>> describe_exposure("127.0.0.1", True) is None
    True
    >>> describe_exposure("0.0.0.0", False)
    'The dashboard has no login: everyone who can reach 0.0.0.0 can read all studies in this storage.'
    """
    if is_loopback(host):
        return None
    actions = "read, change and delete" if writable else "read"
    return f"The dashboard has no login: everyone who can reach {host} can {actions} all studies in this storage."


def _resolve(host: str, port: int) -> tuple[socket.AddressFamily, Any]:
    """Resolve the address family and address to bind to."""
    if not 0 <= port <= 65535:
        raise InputError(f"port must be from 0 (any free one) to 65535 but got {port}.", field="port")
    try:
        if not host.strip():
            raise OSError
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise InputError(f"host must be a name or address of this machine but got {host!r}.", field="host") from None
    addresses.sort(key=lambda entry: entry[0] != socket.AF_INET)
    family, _, _, _, address = addresses[0]
    return family, address


def _explain_bind_error(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} on {host} is in use by another program; choose another port, or 0 for any free one."
    if error.errno == errno.EACCES:
        return f"port {port} on {host} requires more privileges; choose a port from 1024 up."
    if error.errno == errno.EADDRNOTAVAIL:
        return f"host must be an address of this machine but got {host!r}."
    return f"port {port} on {host} can't be used: {error.strerror or error}."
