"""`ravenlab doctor` on a PostgreSQL database, which it only reads."""

from collections.abc import Iterator

import optuna
import pytest
from sqlalchemy.engine import make_url

from ravenlab.tuning.doctor import OK, PROBLEM, check_storage
from tests.messages import assert_names
from tests.postgres import Server


@pytest.fixture
def reader(postgres: Server, database: str) -> Iterator[str]:
    """URL of a user without permissions in the database."""
    parsed = make_url(database)
    name = f"reader_of_{parsed.database}"
    postgres.run(f"CREATE ROLE {name} LOGIN PASSWORD 'sesame'")
    yield parsed.set(username=name, password="sesame").render_as_string(hide_password=False)
    postgres.run(f"DROP OWNED BY {name}", url=database)
    postgres.run(f"DROP ROLE {name}")


def list_tables(postgres: Server, database: str) -> list[tuple[str]]:
    query = "SELECT relname FROM pg_class WHERE relkind IN ('r', 'S') AND relnamespace = 'public'::regnamespace"
    return sorted(postgres.run(query, url=database))


def test_empty_and_filled_database(postgres: Server, database: str) -> None:
    (storage,) = check_storage(database)
    assert storage.verdict == OK
    assert list_tables(postgres, database) == []
    optuna.storages.RDBStorage(database.replace("{", "{{").replace("}", "}}")).engine.dispose()
    before = list_tables(postgres, database)
    (storage,) = check_storage(database)
    assert storage.verdict == OK
    assert list_tables(postgres, database) == before != []


def test_read_only_user_is_a_problem(postgres: Server, reader: str) -> None:
    assert check_storage(reader)[0].verdict == OK
    postgres.run(f"ALTER ROLE {make_url(reader).username} SET default_transaction_read_only = on")
    (storage,) = check_storage(reader)
    assert storage.verdict == PROBLEM
    assert_names(storage.found, "read-only")
    assert "sesame" not in storage.found


def test_refused_connection(database: str) -> None:
    wrong_password = make_url(database).set(password="not-this-one").render_as_string(hide_password=False)
    closed_port = make_url(database).set(port=1).render_as_string(hide_password=False)
    for url in (wrong_password, closed_port):
        (row,) = check_storage(url)
        assert row.verdict == PROBLEM
        assert "not-this-one" not in row.found + row.advice
