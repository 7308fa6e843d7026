"""Shell completion of values: registered names, scenarios, policies, study files and stored studies.

Completion is silent and has no side effects: it creates no file, and any failure offers nothing.
"""

import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from functools import partial
from importlib import import_module

import typer

from ravenlab.studies.registry import ALL_KEYWORD, PAPER_KEYWORD, format_choices
from ravenlab.studies.storage.urls import parse_url, sqlite_file

CONNECT_TIMEOUT = 2  # seconds to wait for a database server
MAX_QUERY_STEPS = 1_000_000  # of SQLite's virtual machine; a name takes about 10
MAX_TEXT_BYTES = 100_000  # of a name, and of a statement of the schema
NAMES_QUERY = "SELECT study_name FROM studies ORDER BY study_name"


def words(*known: str) -> Callable[[str], list[str]]:
    """Complete fixed words.

    >>> words("local", "tcp://")("l")
    ['local']
    """
    return _completer(lambda: known)


def choices(registry: Mapping[str, object]) -> Callable[[str], list[str]]:
    """Complete the values of a registry, with an example where a value takes an argument.

    >>> choices({"threads": None, "loky": None})("l")
    ['loky']
    """
    return _completer(lambda: format_choices(registry))


def _completer(known: Callable[[], Iterable[str]], separator: str = "") -> Callable[[str], list[str]]:
    """Complete names; with a separator, the last one of several.

    >>> _completer(lambda: ["periodic", "blips"], "+")("blips+per")
    ['blips+periodic']
    """

    def complete(incomplete: str) -> list[str]:
        before, delimiter, last = incomplete.rpartition(separator) if separator else ("", "", incomplete)
        with suppress(Exception):
            return [f"{before}{delimiter}{name}" for name in known() if name.startswith(last)]
        return []

    return complete


def _names(module: str, function: str) -> Iterable[str]:
    """Return the names that a function lists; its module is imported only for a completion."""
    return sorted(getattr(import_module(f"ravenlab.{module}"), function)())


_scenarios = partial(_names, "environments", "scenarios")
_policies = partial(_names, "policies", "policy_names")

scenarios = _completer(_scenarios, "+")
scenario_lists = _completer(lambda: [*_scenarios(), ALL_KEYWORD], ",")
policies = _completer(_policies)
policy_lists = _completer(lambda: [*_policies(), PAPER_KEYWORD, ALL_KEYWORD], ",")
study_files = _completer(partial(_names, "studies.spec.files", "shipped_studies"))
# Where no study file matches, the shell completes files.


def join_bash_words() -> None:
    """Join --option, = and value, which bash passes as three words, into the two words that the parser expects."""
    words = os.environ.get("COMP_WORDS", "").split("\n")
    position = os.environ.get("COMP_CWORD", "")
    if not position.isdigit() or "=" not in words[1 : int(position)]:
        return
    before = [word for word in words[: int(position)] if word != "="]
    os.environ["COMP_CWORD"] = str(len(before))
    os.environ["COMP_WORDS"] = "\n".join([*before, *words[int(position) :]])


def studies(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete names of studies in the storage that the command line names."""
    with suppress(Exception):
        from ravenlab.studies.storage.urls import storage_url

        return [name for name in stored_names(storage_url(ctx.params.get("storage"))) if name.startswith(incomplete)]
    return []


def stored_names(url: str) -> list[str]:
    """Return the names of all studies in a storage, without Optuna, which takes a second to import.

    A SQLite file without a writer is opened as immutable: otherwise reading would leave files beside it.
    """
    path = sqlite_file(url)
    if path is not None:
        from ravenlab.studies.storage.database import connect_sqlite
        from ravenlab.studies.storage.hardening import has_computed_values

        has_writer = path.with_name(f"{path.name}-wal").exists()
        mode = "mode=ro" if has_writer else "mode=ro&immutable=1"
        with closing(connect_sqlite(f"{path.resolve().as_uri()}?{mode}")) as database:
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_TEXT_BYTES)
            database.set_progress_handler(lambda: 1, MAX_QUERY_STEPS)
            if has_computed_values(database):
                return []
            return [str(name) for (name,) in database.execute(NAMES_QUERY)]
    from sqlalchemy import create_engine, text

    engine = create_engine(parse_url(url), connect_args={"connect_timeout": CONNECT_TIMEOUT})
    with engine.connect() as connection:
        return [str(name) for (name,) in connection.execute(text(NAMES_QUERY))]
