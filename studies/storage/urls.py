"""Database URLs: which one is meant, how it is spelled for the engine, and how for people.

A URL may hold a password. What is shown never does: not even a URL that can't be read is repeated.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from environments.errors import InputError

if TYPE_CHECKING:
    from sqlalchemy.engine import URL


DEFAULT_URL = "sqlite:///studies.sqlite3"
STORAGE_VARIABLE = "RAVENLAB_STORAGE"
POSTGRES = "postgresql+psycopg"
"""The one driver that we use for PostgreSQL; `postgresql://` and `postgres://` mean it."""

SECRET = re.compile(r"pass|secret|token", re.IGNORECASE)
"""Parameters behind a URL's question mark that are not shown."""

LIKE_A_URL = re.compile(
    r"((?:postgres|mysql|mariadb|mssql|oracle)[\w+]{0,40}[:/]+|(?<![\w+])[\w+]{1,60}://(?=[^\s/]*@))"
    r"(?:[^\s:@]*:\*\*\*@|.*@)?[^\s'\"]*",
    re.IGNORECASE | re.DOTALL,
)
"""To the last @ of the line, as a password may hold spaces and quotes; unless it is hidden already."""


def storage_url(given: str | None) -> str:
    """The URL to use: the one given, else RAVENLAB_STORAGE, else the SQLite file in this folder.

    >>> storage_url("sqlite:///mine.sqlite3")
    'sqlite:///mine.sqlite3'
    """
    return given or os.environ.get(STORAGE_VARIABLE) or DEFAULT_URL


def parse_url(url: str) -> URL:
    """The parts of a URL. One that can't be read is refused without a word of it: it may hold a password.

    >>> parse_url("postgres://me@host/studies").drivername
    'postgresql+psycopg'
    """
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        url.encode()  # a name that is no text can't be rendered again
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise _unreadable(url) from None
    if parsed.drivername in ("postgres", "postgresql"):
        parsed = parsed.set(drivername=POSTGRES)
    if is_sqlite(parsed):
        return parsed
    misread = f"{parsed.username or ''}{parsed.host or ''}{parsed.database or ''}"
    if "@" in misread or not 0 < (parsed.port or 1) < 65536:  # a password with an @ in it ends at that @
        raise _unreadable(url)
    if parsed.get_backend_name() == "postgresql" and parsed.drivername != POSTGRES:
        raise InputError(f"storage must begin with {POSTGRES}:// but got {parsed.drivername}://.")
    return parsed


def _unreadable(url: str) -> InputError:
    plain = url.startswith("sqlite") or not re.search(r"[@:=%?]", url)
    got = f"but got {url!r}" if plain else "and this one can't be read (in a password @ is %40, : is %3A, / is %2F)"
    return InputError(f"storage must be a database URL such as {DEFAULT_URL} or {POSTGRES}://user@host/database {got}.")


def is_sqlite(parsed: URL) -> bool:
    """Whether it is an SQLite database."""
    return parsed.get_backend_name() == "sqlite"


def is_postgres(parsed: URL) -> bool:
    """Whether it is a PostgreSQL database."""
    return parsed.drivername == POSTGRES


def sqlite_file(url: str) -> Path | None:
    """The file behind an SQLite URL; None for other databases and for SQLite in memory."""
    parsed = parse_url(url)
    if not is_sqlite(parsed) or parsed.database in (None, "", ":memory:"):
        return None
    if parsed.query:
        option = next(iter(parsed.query))
        raise InputError(f"storage {parsed.database} takes no options behind a ? but got {option[:50]!r}.")
    return Path(str(parsed.database))


def optuna_url(parsed: URL) -> str:
    """The URL as Optuna's storage takes it, which reads it as a template: braces are doubled."""
    return parsed.render_as_string(hide_password=False).replace("{", "{{").replace("}", "}}")


def mask_url(url: str) -> str:
    """The URL for people: without a password.

    >>> mask_url("postgresql+psycopg://me:secret@host/db?sslpassword=secret")
    'postgresql+psycopg://me:***@host/db?sslpassword=***'
    """
    parsed = parse_url(url)
    if is_sqlite(parsed) and parsed.password is None:
        return url
    hidden = {key: "***" if SECRET.search(key) else value for key, value in parsed.query.items()}
    return parsed.set(query=hidden).render_as_string(hide_password=True).replace("%2A%2A%2A", "***")


def mask_passwords(text: str) -> str:
    """A line for people in which whatever looks like a database URL shows no password.

    >>> mask_passwords("unknown study 'postgresql://me:secret@host/db'.")
    "unknown study 'postgresql+psycopg://me:***@host/db'."
    """
    return LIKE_A_URL.sub(lambda found: _masked(found[0]), text)


def _masked(url: str) -> str:
    if re.fullmatch(r"[^\s@]*:\*\*\*@[^@]*", url):
        return url
    whole = url.rstrip(".,;:)")
    try:
        return mask_url(whole) + url[len(whole) :]
    except InputError:
        return f"{re.split('[:/]', url)[0]}://***"
