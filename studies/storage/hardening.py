"""SQLite files of others: no SQL of the file is executed, values are limited, and damaged ones remain single.

SQLite executes views, triggers, generated columns and defaults of the file that it opens. A file may therefore contain
only what Optuna creates, which is recognized by the words of its statements. A damaged attribute would keep Optuna from
reading all other studies; it is read as `UNREADABLE` instead.
"""

import json
import re
import sqlite3
from functools import cache
from itertools import accumulate
from typing import Any

from ravenlab.common.compat.optuna import database_tables, replace_json

MAX_VALUE_BYTES = 40_000_000  # of a stored value; 1.5 million worlds of an entry of a comparison take 30 MB
MAX_ITEMS = 2_000_000  # of an attribute
MAX_DENSE = 1000  # lists and objects of an attribute; if there are more, each must take `MIN_BYTES` on average
MIN_BYTES = 8  # an empty list takes 3 bytes in a file, but 64 in memory
MAX_DEPTH = 100  # of nested lists in an attribute; Python fails from a few hundred on
SIGNAL_STEPS = 100_000  # of SQLite's virtual machine between two checks for signals: about a millisecond
UNREADABLE = "a value that cannot be read"  # no specification and no number, so each of its readers refuses it

STATEMENT = re.compile(r"CREATE\s+(?:TABLE|(?:UNIQUE\s+)?INDEX)\s+(?:\w+|\"\w+\")\s*(?=[(]|ON\b)", re.IGNORECASE)
IGNORED = re.compile(r"'\w*'|\bCONSTRAINT\s+\w+", re.IGNORECASE)  # values of an enumeration, names of constraints
GENERATED = re.compile(r"\bAS\b", re.IGNORECASE)  # the word before the expression of a generated column
PUNCTUATION = re.compile(r"[\s\d(),=\"]*")
SQL_WORDS = {
    *("on", "not", "null", "unique", "primary", "foreign", "key", "references", "check", "in"),
    *("integer", "float", "datetime", "text", "varchar", "alembic_version", "version_num"),
    *("name", "seq", "tbl", "idx", "stat"),  # columns of SQLite's own tables
}
BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"|[^]["{}]++')


def protect_connection(connection: Any, _: Any = None) -> None:
    """Limit what an SQLite connection does for the file: no functions in its schema, no huge values.

    A signal ends a query, which then raises an error with the message "interrupted".

    >>> connection = sqlite3.connect(":memory:")
    >>> protect_connection(connection)
    >>> connection.execute("SELECT zeroblob(400000000)")
    Traceback (most recent call last):
    ...
    sqlite3.DataError: string or blob too big
    """
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
    connection.set_progress_handler(_run_signal_handlers, SIGNAL_STEPS)


def _run_signal_handlers() -> int:
    """Do nothing: Python runs handlers of signals whenever Python code is called, and their exception ends a query."""
    return 0


def find_foreign_sql(connection: sqlite3.Connection) -> str | None:
    """Return the name of something in the schema of a database that Optuna does not create; None if there is none."""
    tables = database_tables().values()
    columns = {column.name for table in tables for column in table.columns}
    words = SQL_WORDS | columns | {table.name for table in tables}
    for name, statement in connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"):
        rest = IGNORED.sub("", STATEMENT.sub("", str(statement), count=1))
        known = all(word in words for word in re.findall(r"[^\W\d]\w*", rest.lower()))
        if not known or not PUNCTUATION.fullmatch(re.sub(r"[^\W\d]\w*", "", rest)):
            return str(name)[:60]
    return None


def has_computed_values(connection: sqlite3.Connection) -> bool:
    """Return whether reading a database may execute SQL of the file: views, virtual tables or generated columns.

    Unlike `find_foreign_sql` it accepts tables of other programs, and does not import Optuna, which takes a second.
    """
    statements = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
    return not all(STATEMENT.match(str(sql)) and not GENERATED.search(str(sql)) for (sql,) in statements)


@cache
def tolerate_damaged_values() -> None:
    """Make Optuna's storages read damaged attributes as `UNREADABLE`."""
    replace_json(_TolerantJson)


def parse_attribute(text: Any) -> Any:
    """Parse a stored attribute, which is JSON; `UNREADABLE` if it is damaged.

    >>> parse_attribute("[0.5]"), parse_attribute("[0.5")
    ([0.5], 'a value that cannot be read')
    """
    try:
        containers = text.count("[") + text.count("{")
        if containers > MAX_DENSE and len(text) < MIN_BYTES * containers:
            return UNREADABLE
        if containers + text.count(",") > MAX_ITEMS or (containers > MAX_DEPTH and _depth(text) > MAX_DEPTH):
            return UNREADABLE
        return json.loads(text)
    except (AttributeError, RecursionError, TypeError, ValueError):
        return UNREADABLE


class _TolerantJson:
    dumps = staticmethod(json.dumps)
    loads = staticmethod(parse_attribute)


def _depth(text: str) -> int:
    """Return how deeply lists and objects are nested in a JSON document.

    >>> _depth('[1, {"[[[": []}]')
    3
    """
    return max(accumulate(1 if bracket in "[{" else -1 for bracket in BRACKETS.sub("", text)), default=0)
