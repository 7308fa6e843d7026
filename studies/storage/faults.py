"""Database errors as one-line messages, and the errors after which a driver reconnects."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from ravenlab.common.errors import ExternalError, InputError
from ravenlab.studies.storage.urls import list_secrets, mask_passwords, mask_url, parse_url


class LostConnection(ExternalError):
    """An open connection was lost; whether the last write was committed is unknown."""

    def __init__(self, url: str, reason: str) -> None:
        self.reason = reason
        super().__init__(f"the connection to storage {mask_url(url)} was lost: {reason}. Completed trials are saved.")


class StorageUnreachable(InputError):
    """No connection can be opened; `starting` is set if the server is starting up."""

    def __init__(self, url: str, reason: str) -> None:
        self.reason = reason
        self.starting = any(word in reason.lower() for word in STARTING)
        super().__init__(f"storage {mask_url(url)} cannot be reached: {reason}.")


class StorageReplaced(ExternalError):
    """The file of a storage was removed or replaced by another one while a driver was writing to it."""

    def __init__(self, url: str) -> None:
        super().__init__(
            f"storage {mask_url(url)} was removed or replaced during the run, so results are lost; "
            "rerun the same command to compute them again."
        )


STARTING = ("starting up", "shutting down", "not yet accepting connections", "recovery mode")


@contextmanager
def translate_errors(url: str) -> Iterator[None]:
    """Convert errors of the database and the file system to InputError or ExternalError with one line."""
    import optuna
    import sqlalchemy.exc

    try:
        yield
    except (sqlalchemy.exc.SQLAlchemyError, optuna.exceptions.StorageInternalError) as error:
        cause = error.__cause__ if isinstance(error, optuna.exceptions.StorageInternalError) else error
        if str(getattr(cause, "orig", "")) == "interrupted":  # a signal ended the query
            raise KeyboardInterrupt from None
        raise _translate(url, cause or error) from None
    except optuna.exceptions.DuplicatedStudyError:  # rows of a study that is missing have the number of the new one
        raise InputError(f"storage {mask_url(url)} is damaged: no new study can be created in it.") from None
    except RuntimeError as error:
        if "compatible with the table schema" in str(error):
            raise InputError(f"storage {mask_url(url)} was created by another version of Optuna: {error}") from None
        raise
    except (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError) as error:
        if isinstance(error, InputError) or not _is_unreadable_value(error):
            raise
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200].rstrip(".")
        raise InputError(f"storage {mask_url(url)} is damaged: a stored value cannot be read ({reason}).") from None


@contextmanager
def reading_study(name: str) -> Iterator[None]:
    """Convert errors that stored values cause while a study is displayed to an InputError that names the study.

    >>> with reading_study("mine"):
    ...     float("text")
    Traceback (most recent call last):
    ...
    ravenlab.common.errors.InputError: study 'mine' holds a value that cannot be read (could not convert string to \
float: 'text').
    """
    try:
        yield
    except InputError:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200].rstrip(".")
        raise InputError(f"study {name!r} holds a value that cannot be read ({reason}).") from None


def _is_unreadable_value(error: BaseException) -> bool:
    """Return whether Optuna's storage failed to read a stored value, such as damaged JSON.

    Failed writes and missing studies, which Optuna reports as KeyError, do not count.
    """
    if isinstance(error, KeyError) and "does not exist" in str(error):
        return False
    modules = {frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(error.__traceback__)}
    read = any(name.startswith(("optuna.storages", "optuna.distributions", "sqlalchemy", "json.")) for name in modules)
    return read and "json.encoder" not in modules


def _translate(url: str, error: BaseException) -> Exception:
    where = mask_url(url)
    reason = database_message(url, error)
    lowered = reason.lower()
    if getattr(error, "connection_invalidated", False):
        return LostConnection(url, reason)
    if _never_connected(error):
        return StorageUnreachable(url, reason)
    if "disk is full" in lowered or "disk i/o error" in lowered or "no space left" in lowered:
        return ExternalError(f"storage {where} cannot be written: {reason}. Completed trials are saved.")
    if "readonly" in lowered or "read-only" in lowered:
        return InputError(f"storage {where} cannot be written: it is read-only.")
    if "malformed" in lowered or "not a database" in lowered:
        return InputError(f"storage {where} is damaged: {reason}.")
    if "locked" in lowered:
        return InputError(f"storage {where} is locked by another program.")
    return InputError(f"storage {where} cannot be used: {reason}.")


def _never_connected(error: BaseException) -> bool:
    """Return whether psycopg failed to connect: the error then has neither a statement nor a server code."""
    import sqlalchemy.exc

    if not isinstance(error, sqlalchemy.exc.OperationalError) or error.statement is not None:
        return False
    return getattr(error.orig, "sqlstate", "not PostgreSQL") is None


def database_message(url: str, error: BaseException) -> str:
    """Return the first line of the database's message, with all secrets of the URL masked."""
    text = str(getattr(error, "orig", None) or error).strip() or type(error).__name__
    line = text.splitlines()[0].removeprefix("connection failed: ").rstrip(" .")
    for secret in list_secrets(parse_url(url)):
        line = line.replace(secret, "***")
    return mask_passwords(line)
