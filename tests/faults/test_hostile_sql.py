"""SQLite files with SQL of their own: it is not executed, and the file is not opened.

Connections execute no functions of the file and read no huge values, and a signal ends a long query.
"""

import os
import signal
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from ravenlab.studies.storage import hardening
from ravenlab.studies.storage.database import connect_sqlite, create_sqlite_file, open_storage, use_storage
from ravenlab.studies.storage.hardening import find_foreign_sql
from ravenlab.tuning.cli.completion import stored_names
from ravenlab.tuning.interrupts import handle_interrupts
from tests.command import run_command
from tests.faults.damage import ENDLESS, SCHEMAS, add_sql
from tests.faults.template import SMALL_TUNE
from tests.messages import assert_names

COMMANDS = [["studies"], SMALL_TUNE, ["export"], ["show", "kept"], ["report"], ["copy", "*", "--to=sqlite:///to.db"]]


@pytest.fixture
def storage(here: Path) -> Path:
    path = here / "studies.sqlite3"
    create_sqlite_file(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO studies (study_name) VALUES ('kept')")
        connection.execute("INSERT INTO study_directions (study_id, direction, objective) VALUES (1, 'MINIMIZE', 0)")
    return path


@pytest.mark.parametrize("kind", SCHEMAS)
def test_sql_of_the_file_is_refused(kind: str, storage: Path) -> None:
    add_sql(storage, SCHEMAS[kind])
    before = storage.read_bytes()
    turn = 2 * list(SCHEMAS).index(kind) % len(COMMANDS)
    for words in COMMANDS[turn : turn + 2]:
        code, out, err = run_command(words)
        assert (code, out) == (2, ""), (words, err)
        (line,) = err.splitlines()
        reason = "without Optuna studies" if kind == "view of the names" else "not a table or index of Optuna"
        assert_names(line, "storage", "studies.sqlite3", reason)
    assert storage.read_bytes() == before
    computed = kind in ("endless view", "view of the names", "generated column", "trigger", "virtual table")
    assert stored_names("sqlite:///studies.sqlite3") == ([] if computed else ["kept"])


def test_statement_under_another_name_is_refused(storage: Path) -> None:
    """SQLite executes the statement of a row of its schema, whatever name and type the row states."""
    trigger = "CREATE TRIGGER value AFTER INSERT ON trials BEGIN DELETE FROM studies; END"
    row = ("table", "sqlite_stat1", "sqlite_stat1", 0, trigger)
    with closing(sqlite3.connect(storage)) as connection, connection:
        connection.execute("PRAGMA writable_schema=ON")
        connection.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", row)
    code, _, err = run_command(["studies"])
    assert (code, len(err.splitlines())) == (2, 1)


HUGE = "hex(zeroblob(90000000))"  # in a view or a generated column it takes memory, but few steps


@pytest.mark.parametrize(
    "script",
    [
        f"DROP TABLE studies; CREATE VIEW studies AS SELECT 1 study_id, {HUGE} study_name",
        "DROP TABLE studies; CREATE TABLE studies (study_id INTEGER, "
        f"study_name TEXT GENERATED ALWAYS /**/as/**/({HUGE})); INSERT INTO studies (study_id) VALUES (1)",
        f"PRAGMA writable_schema=ON; UPDATE sqlite_master SET sql = 'CREATE VIEW studies AS SELECT {HUGE} study_name',"
        " rootpage = 0 WHERE name = 'studies'",
    ],
)
def test_completion_executes_no_sql_of_the_file(script: str, storage: Path) -> None:
    add_sql(storage, script)
    queries: list[str] = []
    url = "sqlite:///studies.sqlite3"
    before = hardening.protect_connection
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "ravenlab.studies.storage.database.protect_connection",
            lambda connection: (before(connection), connection.set_trace_callback(queries.append)),
        )
        with suppress(sqlite3.DatabaseError):  # a schema that cannot be read
            assert stored_names(url) == []
    assert not any("FROM studies" in query for query in queries)


def test_completion_reads_no_long_names(storage: Path) -> None:
    with closing(sqlite3.connect(storage)) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = 1")
        connection.execute("UPDATE studies SET study_name = hex(zeroblob(1000000))")
    with pytest.raises(sqlite3.DataError, match="too big"):
        stored_names("sqlite:///studies.sqlite3")


def test_what_optuna_and_sqlite_create_is_accepted(storage: Path) -> None:
    """Tables of earlier versions of SQLAlchemy list the values of an enumeration; ANALYZE adds a table."""
    add_sql(
        storage,
        "ANALYZE; CREATE INDEX mine ON trials (study_id, state); DROP TABLE trial_heartbeats; CREATE TABLE"
        " \"trial_heartbeats\" (state VARCHAR(8), CONSTRAINT trialstate CHECK (state IN ('RUNNING', 'FAIL')))",
    )
    with closing(connect_sqlite(f"file:{storage}")) as connection:
        assert find_foreign_sql(connection) is None
    assert run_command(["studies"])[0] == 0


def test_migrated_tables_are_accepted(tmp_path: Path) -> None:
    """Tables that Optuna's migrations have created differ from new ones."""
    import alembic.command
    import alembic.config
    import optuna.storages._rdb as rdb

    folder = Path(rdb.__file__).parent
    config = alembic.config.Config()
    config.set_main_option("script_location", str(folder / "alembic"))
    config.set_main_option("sqlalchemy.url", f"sqlite:///{tmp_path}/old.sqlite3")
    alembic.command.upgrade(config, "head")
    with closing(connect_sqlite(f"file:{tmp_path}/old.sqlite3")) as connection:
        assert find_foreign_sql(connection) is None


def _direct(path: Path) -> Callable[[str], object]:
    connection = connect_sqlite(f"file:{path}")
    return connection.execute


def _through_optuna(path: Path) -> Callable[[str], object]:
    return open_storage(f"sqlite:///{path}", create=False).engine.connect().exec_driver_sql


@pytest.mark.parametrize("connect", [_direct, _through_optuna])
def test_connections_are_limited(connect: Callable[[Path], Callable[[str], object]], storage: Path) -> None:
    execute = connect(storage)
    with pytest.raises(Exception, match="too big"):
        execute("SELECT hex(zeroblob(400000000))")
    assert execute("PRAGMA trusted_schema").fetchone()[0] == 0  # type: ignore[attr-defined]


def test_signal_ends_a_query(storage: Path) -> None:
    def query() -> None:
        with handle_interrupts(), use_storage(f"sqlite:///{storage}") as opened, opened.engine.connect() as connection:
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGTERM)).start()
            connection.exec_driver_sql(f"{ENDLESS} count(*) FROM n")

    with pytest.raises(KeyboardInterrupt):
        query()


def test_value_that_is_too_long_is_one_line(storage: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hardening, "MAX_VALUE_BYTES", 1_000_000)
    with closing(sqlite3.connect(storage)) as connection, connection:
        query = "INSERT INTO study_user_attributes (study_id, key, value_json) VALUES (1, 'k', zeroblob(2000000))"
        connection.execute(query)
    code, _, err = run_command(["studies"])
    assert (code, len(err.splitlines())) == (2, 1), err
