"""What stands before Optuna's dashboard: it has no login, and any page in a browser can talk to 127.0.0.1.

Every write of optuna-dashboard is a POST, PUT or DELETE; its GETs only read. So read-only means: GET and HEAD alone.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Callable, Collection, Iterable
from typing import Any
from urllib.parse import urlsplit

Environ = dict[str, Any]
Start = Callable[..., Any]
Application = Callable[[Environ, Start], Iterable[bytes]]

READING = ("GET", "HEAD")
MOST_DRAINED = 1_000_000
"""Bytes of a refused body that are read: closing on unread bytes would cut the answer off."""

HEADERS = [("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"), ("Referrer-Policy", "no-referrer")]


def restrict_access(inner: Application, *, writable: bool, names: Collection[str] | None) -> Application:
    """Let through what may pass: reading, or all with `writable`; only for names of this machine and those given.

    None lets every name pass, which a page of another site can make use of.
    """

    def answer(environ: Environ, start: Start) -> Iterable[bytes]:
        refused = _refusal(environ, writable, names)
        if refused is not None:
            _drain(environ)
            return _say(start, environ["REQUEST_METHOD"], *refused)
        environ.setdefault("HTTP_ACCEPT_ENCODING", "")  # the dashboard answers 500 without it

        def started(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            return start(status, [*headers, *HEADERS], *rest)

        return inner(environ, started)

    return answer


def is_loopback(host: str) -> bool:
    """Whether a host is this machine alone, by its name or address.

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


def _refusal(environ: Environ, writable: bool, names: Collection[str] | None) -> tuple[str, str] | None:
    """Status and reason, where a request may not pass."""
    host = environ.get("HTTP_HOST")
    name = "localhost" if host is None else _host_name(host)
    if names is not None and not is_loopback(name) and name not in names:
        also = "".join(f", {each}" for each in names)
        return (
            "403 Forbidden",
            f"This dashboard only answers to localhost, 127.0.0.1{also}; other host names must be allowed.",
        )
    if environ["REQUEST_METHOD"] in READING:
        return None
    if not writable:
        return "405 Method Not Allowed", "This dashboard is read-only; restart it as writable to edit."
    origin = environ.get("HTTP_ORIGIN")
    if origin is not None and urlsplit(origin).netloc != host:
        return "403 Forbidden", "Another site's page may not write here."
    return None


def _host_name(host: str) -> str:
    """A Host header without its port; what can't be read is no name of ours."""
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
        environ["wsgi.input"].read(min(length, MOST_DRAINED))


def _say(start: Start, method: str, status: str, reason: str) -> list[bytes]:
    """A refusal as the dashboard's own errors look, so that its page shows the reason."""
    body = json.dumps({"reason": reason}).encode()
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body))), *HEADERS]
    if status.startswith("405"):
        headers.append(("Allow", ", ".join(READING)))
    start(status, headers)
    return [] if method == "HEAD" else [body]
