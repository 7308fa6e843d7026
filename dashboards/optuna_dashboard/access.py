"""Access control for the Optuna dashboard, which has no login and which any web page in a browser can reach.

All writes of optuna-dashboard are POST, PUT or DELETE requests, so a read-only dashboard allows only GET and HEAD.
"""

import ipaddress
import json
from collections.abc import Callable, Collection, Iterable
from typing import Any
from urllib.parse import parse_qs, urlsplit

Environ = dict[str, Any]
Start = Callable[..., Any]
Application = Callable[[Environ, Start], Iterable[bytes]]

READ_METHODS = ("GET", "HEAD")
MAX_DRAINED = 1_000_000  # bytes of a refused body that are read; closing with unread bytes would cut off the response

HEADERS = [("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"), ("Referrer-Policy", "no-referrer")]


def restrict_access(inner: Application, *, writable: bool, names: Collection[str] | None) -> Application:
    """Wrap a WSGI application so that it only answers allowed requests.

    Args:
        inner: The application.
        writable: Allow requests that change the storage.
        names: Allowed host names besides those of this machine; None allows all, which enables DNS rebinding.
    """

    def answer(environ: Environ, start: Start) -> Iterable[bytes]:
        refusal = _find_refusal(environ, writable, names)
        if refusal is not None:
            _drain(environ)
            return _refuse(start, environ["REQUEST_METHOD"], *refusal)
        environ.setdefault("HTTP_ACCEPT_ENCODING", "")  # the dashboard answers 500 without it

        def started(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            return start(status, [*headers, *HEADERS], *rest)

        return inner(environ, started)

    return answer


def is_loopback(host: str) -> bool:
    """Whether a host name or address only refers to this machine.

    >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("[::1]"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _find_refusal(environ: Environ, writable: bool, names: Collection[str] | None) -> tuple[str, str] | None:
    """Return the status and reason if a request is refused."""
    host = environ.get("HTTP_HOST")
    name = "localhost" if host is None else _host_name(host)
    if names is not None and not is_loopback(name) and name not in names:
        also = "".join(f", {each}" for each in names)
        return (
            "403 Forbidden",
            f"This dashboard only answers to localhost, 127.0.0.1{also}; other host names must be allowed.",
        )
    query = parse_qs(environ.get("QUERY_STRING", ""), keep_blank_values=True)
    if not all(number.isdecimal() for number in query.get("after", [])):
        return "400 Bad Request", "after must be the number of a trial."  # the dashboard would answer 500
    if environ["REQUEST_METHOD"] in READ_METHODS:
        return None
    if not writable:
        return "405 Method Not Allowed", "This dashboard is read-only; restart it as writable to edit."
    origin = environ.get("HTTP_ORIGIN")
    if origin is not None and urlsplit(origin).netloc != host:
        return "403 Forbidden", "Pages of other sites must not write to this dashboard."
    return None


def _host_name(host: str) -> str:
    """Return a Host header without its port; empty if it is malformed."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _drain(environ: Environ) -> None:
    try:
        length = int(environ.get("CONTENT_LENGTH") or 0)
    except ValueError:
        length = 0
    if length > 0:
        environ["wsgi.input"].read(min(length, MAX_DRAINED))


def _refuse(start: Start, method: str, status: str, reason: str) -> list[bytes]:
    """Respond like an error of the dashboard, so that its page shows the reason."""
    body = json.dumps({"reason": reason}).encode()
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body))), *HEADERS]
    if status.startswith("405"):
        headers.append(("Allow", ", ".join(READ_METHODS)))
    start(status, headers)
    return [] if method == "HEAD" else [body]
