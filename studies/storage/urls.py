"""Database URLs: the default, parsing, and display without passwords.

Messages never repeat a URL that cannot be parsed, because it may contain a password.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from ravenlab.common.errors import InputError

if TYPE_CHECKING:
    from sqlalchemy.engine import URL


DEFAULT_URL = "sqlite:///studies.sqlite3"
STORAGE_VARIABLE = "RAVENLAB_STORAGE"
POSTGRES = "postgresql+psycopg"  # the driver for `postgresql://` and `postgres://`

# Options of a URL whose values are shown; all others are masked, because a misspelled or unknown one may be a password.
HARMLESS_OPTIONS = {
    *("host", "hostaddr", "port", "dbname", "user", "unix_socket", "application_name", "fallback_application_name"),
    *("client_encoding", "charset", "collation", "connect_timeout", "connection_timeout", "timeout", "read_timeout"),
    *("write_timeout", "tcp_user_timeout", "keepalives", "keepalives_count", "keepalives_idle", "keepalives_interval"),
    *("sslmode", "sslcert", "sslcrl", "sslrootcert", "channel_binding", "gssencmode", "load_balance_hosts"),
    *("target_session_attrs", "mode", "uri"),
}

# Matches up to the last @ of the line, because a password may contain spaces and quotes, unless it is already masked.
URL_PATTERN = re.compile(
    r"((?:postgres|mysql|mariadb|mssql|oracle)[\w+]{0,40}[:/]+|(?<![\w+])[\w+]{1,60}://(?=[^\s/]*@))"
    r"(?:[^\s:@]*:\*\*\*@|.*@)?[^\s'\"]*",
    re.IGNORECASE | re.DOTALL,
)

# A password in a connection string of libpq, such as "host=db password=secret", which is not a URL.
ASSIGNMENT = re.compile(r"(?<![?&\w])((?:(?:ssl|pg)?password|passwd|pwd)\s*=\s*)(?:'(?:\\.|[^'])*'|\S+)", re.IGNORECASE)


def storage_url(url: str | None) -> str:
    """Return the given URL, or RAVENLAB_STORAGE, or the default SQLite file in the working directory.

    >>> storage_url("sqlite:///mine.sqlite3")
    'sqlite:///mine.sqlite3'
    """
    return url or os.environ.get(STORAGE_VARIABLE) or DEFAULT_URL


def parse_url(url: str) -> URL:
    """Parse a URL. Raises InputError, which does not repeat the URL, if it is invalid.

    >>> parse_url("postgres://me@host/studies").drivername
    'postgresql+psycopg'
    """
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        url.encode()  # lone surrogates cannot be rendered again
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise _invalid_url(url) from None
    if parsed.drivername in ("postgres", "postgresql"):
        parsed = parsed.set(drivername=POSTGRES)
    if is_sqlite(parsed):
        return parsed
    # A password in another place: behind an unescaped @, in the name of the user or as an option of the database.
    misread = re.search("[@:]", parsed.username or "") or re.search("[@;=]", f"{parsed.host} {parsed.database}")
    ports = ",".join(parsed.normalized_query.get("port", ())).split(",")
    if misread or not 0 < (parsed.port or 1) < 65536 or not all(port.isdecimal() for port in ports if port):
        raise _invalid_url(url)
    if parsed.get_backend_name() == "postgresql" and parsed.drivername != POSTGRES:
        raise InputError(f"storage must use the driver {POSTGRES}:// but got {parsed.drivername}://.")
    return parsed


def _invalid_url(url: str) -> InputError:
    plain = url.startswith("sqlite") or not re.search(r"[@:=%?]", url)
    hint = "" if plain else ", with @ in a password written as %40, : as %3A and / as %2F,"
    got = f" but got {url!r}" if plain else ""
    return InputError(
        f"storage must be a database URL{hint} such as {DEFAULT_URL} or {POSTGRES}://user@host/database{got}."
    )


def is_sqlite(parsed: URL) -> bool:
    """Return whether the URL names an SQLite database."""
    return parsed.get_backend_name() == "sqlite"


def is_postgres(parsed: URL) -> bool:
    """Return whether the URL names a PostgreSQL database."""
    return parsed.drivername == POSTGRES


def sqlite_file(url: str) -> Path | None:
    """Return the file of an SQLite URL; None for other databases and for SQLite in memory."""
    parsed = parse_url(url)
    if not is_sqlite(parsed) or parsed.database in (None, "", ":memory:"):
        return None
    if parsed.query:
        option = next(iter(parsed.query))
        raise InputError(f"storage {parsed.database} must not have options after a ? but got {option[:50]!r}.")
    return Path(str(parsed.database))


def optuna_url(parsed: URL) -> str:
    """Return the URL for Optuna's storage, which uses it as a template: braces are doubled."""
    return parsed.render_as_string(hide_password=False).replace("{", "{{").replace("}", "}}")


def mask_url(url: str) -> str:
    """Return the URL with masked passwords and options.

    >>> mask_url("postgresql+psycopg://me:secret@host/db?sslpassword=secret")
    'postgresql+psycopg://me:***@host/db?sslpassword=***'
    """
    parsed = parse_url(url)
    if is_sqlite(parsed) and parsed.password is None and not parsed.query:
        return url
    hidden = {key: value if key in HARMLESS_OPTIONS else "***" for key, value in parsed.query.items()}
    return parsed.set(query=hidden).render_as_string(hide_password=True).replace("%2A%2A%2A", "***")


def list_secrets(parsed: URL) -> list[str]:
    """Return the password and the values of options that `mask_url` masks, the longest first.

    Values of fewer than 4 letters, such as "on", also occur in other words and are not listed.

    >>> list_secrets(parse_url("postgresql://me:secret@host/db?sslmode=require&pwd=other"))
    ['secret', 'other']
    """
    secrets = {str(parsed.password)} if parsed.password else set()
    for key, value in parsed.query.items():
        if key not in HARMLESS_OPTIONS:
            secrets.update(text for text in ([value] if isinstance(value, str) else value) if len(text) >= 4)
    return sorted(secrets, key=lambda secret: (-len(secret), secret))


def mask_passwords(text: str) -> str:
    """Mask the passwords of all database URLs and connection strings in a text.

    >>> mask_passwords("unknown study 'postgresql://me:secret@host/db'.")
    "unknown study 'postgresql+psycopg://me:***@host/db'."
    """
    return ASSIGNMENT.sub(r"\1***", URL_PATTERN.sub(lambda match: _mask_match(match[0]), text))


def _mask_match(url: str) -> str:
    if re.fullmatch(r"[^\s@]*:\*\*\*@[^@]*", url):
        return url
    stripped = url.rstrip(".,;:)")
    try:
        return mask_url(stripped) + url[len(stripped) :]
    except InputError:
        return f"{re.split('[:/]', url)[0]}://***"
