"""What a database or a disk can say, as one clear line; and which of it a driver may wait out."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from environments.errors import ExternalError, InputError
from studies.storage.urls import mask_passwords, mask_url, parse_url


class LostConnection(ExternalError):
    """A connection that was there is gone: whoever wrote through it can't know whether the last word arrived."""

    def __init__(self, url: str, reason: str) -> None:
        self.reason = reason
        super().__init__(f"the connection to storage {mask_url(url)} was lost: {reason}. What had landed is kept.")


class StorageUnreachable(InputError):
    """There is no connection to be had; `starting` says that the server is there and will be ready soon."""

    def __init__(self, url: str, reason: str) -> None:
        self.reason = reason
        self.starting = any(word in reason.lower() for word in STARTING)
        super().__init__(f"storage {mask_url(url)} can't be reached: {reason}.")


STARTING = ("starting up", "shutting down", "not yet accepting connections", "recovery mode")


@contextmanager
def translate_errors(url: str) -> Iterator[None]:
    """Turn what a database or a disk can say into one clear line."""
    import optuna
    import sqlalchemy.exc

    try:
        yield
    except (sqlalchemy.exc.SQLAlchemyError, optuna.exceptions.StorageInternalError) as error:
        cause = error.__cause__ if isinstance(error, optuna.exceptions.StorageInternalError) else error
        raise _clear(url, cause or error) from None
    except RuntimeError as error:
        if "compatible with the table schema" in str(error):
            raise InputError(f"storage {mask_url(url)} was made by another version of Optuna: {error}") from None
        raise
    except (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError) as error:
        if isinstance(error, InputError) or not _in_what_is_stored(error):
            raise
        said = " ".join(f"{type(error).__name__}: {error}".split())[:200].rstrip(".")
        raise InputError(f"storage {mask_url(url)} is damaged: it holds what can't be read ({said}).") from None


def _in_what_is_stored(error: BaseException) -> bool:
    """Whether Optuna's storage could not read a value, such as JSON with a letter turned over.

    Not where it could not write one of ours, nor where a study is gone, which it says with a KeyError.
    """
    if isinstance(error, KeyError) and "does not exist" in str(error):
        return False
    modules = {frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(error.__traceback__)}
    read = any(name.startswith(("optuna.storages", "optuna.distributions", "sqlalchemy", "json.")) for name in modules)
    return read and "json.encoder" not in modules


def _clear(url: str, error: BaseException) -> Exception:
    where, reason = mask_url(url), database_message(url, error)
    lowered = reason.lower()
    if getattr(error, "connection_invalidated", False):
        return LostConnection(url, reason)
    if _never_connected(error):
        return StorageUnreachable(url, reason)
    if "disk is full" in lowered or "disk i/o error" in lowered or "no space left" in lowered:
        return ExternalError(f"storage {where} can't be written: {reason}. What had landed is kept.")
    if "readonly" in lowered or "read-only" in lowered:
        return InputError(f"storage {where} can't be written: it is read-only.")
    if "locked" in lowered:
        return InputError(f"storage {where} is locked by another program.")
    return InputError(f"storage {where} can't be used: {reason}.")


def _never_connected(error: BaseException) -> bool:
    """Whether psycopg could not connect: it then has no statement and no code of the server's."""
    import sqlalchemy.exc

    if not isinstance(error, sqlalchemy.exc.OperationalError) or error.statement is not None:
        return False
    return getattr(error.orig, "sqlstate", "none of PostgreSQL") is None


def database_message(url: str, error: BaseException) -> str:
    """The database's own words: their first line, without the URL's password wherever it may stand in them."""
    text = str(getattr(error, "orig", None) or error).strip() or type(error).__name__
    line = text.splitlines()[0].removeprefix("connection failed: ").rstrip(" .")
    parsed = parse_url(url)
    secrets = [parsed.password, *(parsed.query.get(key) for key in parsed.query if "pass" in key.lower())]
    for secret in secrets:
        if isinstance(secret, str) and secret:
            line = line.replace(secret, "***")
    return mask_passwords(line)
