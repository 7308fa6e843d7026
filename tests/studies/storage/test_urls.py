"""Parsing and masking of database URLs."""

import pytest

from ravenlab.environments import InputError
from ravenlab.studies.storage.faults import database_message
from ravenlab.studies.storage.urls import is_postgres, mask_passwords, mask_url, optuna_url, parse_url, sqlite_file
from tests.messages import raises_naming


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_postgres_schemes(scheme: str) -> None:
    parsed = parse_url(f"{scheme}://me:pa%40ss@host:5433/db?sslmode=require")
    assert is_postgres(parsed)
    assert (parsed.username, parsed.password, parsed.host, parsed.port) == ("me", "pa@ss", "host", 5433)
    assert sqlite_file(f"{scheme}://me@host/db") is None


@pytest.mark.parametrize(
    ("url", "masked"),
    [
        ("postgresql://me:s3cret@host/db", "postgresql+psycopg://me:***@host/db"),
        ("postgresql://host/db?password=s3cret", "postgresql+psycopg://host/db?password=***"),
        ("postgresql:///db?host=/run&sslpassword=s3cret", "postgresql+psycopg:///db?host=%2Frun&sslpassword=***"),
        ("postgresql://host/db?pwd=s3cret", "postgresql+psycopg://host/db?pwd=***"),
        ("postgresql://host/db?pasword=s3&sslmode=require", "postgresql+psycopg://host/db?pasword=***&sslmode=require"),
        ("sqlite:///a.sqlite3?key=s3cret", "sqlite:///a.sqlite3?key=***"),
        ("mysql+pymysql://me:s3cret@host/db", "mysql+pymysql://me:***@host/db"),
        ("sqlite:////tmp/a@b.sqlite3", "sqlite:////tmp/a@b.sqlite3"),
    ],
)
def test_mask_url(url: str, masked: str) -> None:
    assert mask_url(url) == masked
    if not url.startswith("sqlite"):
        assert mask_passwords(f"storage {url} is unavailable.").startswith(f"storage {masked}".rstrip("/"))


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:s3@cret@host/db",
        "postgresql://me:s3/c@ret@host/db",
        "postgresql://me:s3cret/db",
        "postgresql://me:s3cret@host:abc/db",
        "postgresql://me:99999/db",
        "postgresql//me:s3cret@host",
        "me:s3cret@host",
    ],
)
def test_invalid_urls_are_not_repeated(url: str) -> None:
    with raises_naming(InputError, "storage") as caught:
        parse_url(url)
    assert "s3" not in str(caught.value)
    assert "cret" not in str(caught.value)
    assert "99999" not in str(caught.value)


def test_hint_for_passwords_is_not_masked() -> None:
    """Messages are masked when they are printed; an example of a URL before an @ would be taken for one."""
    with pytest.raises(InputError) as raised:
        parse_url("postgresql://me:pa@ss@host/db")
    assert mask_passwords(str(raised.value)) == str(raised.value)


def test_braces_are_escaped() -> None:
    url = optuna_url(parse_url("sqlite:///a{b}.sqlite3"))
    assert parse_url(url.format()).database == "a{b}.sqlite3"


def test_two_urls_in_one_line() -> None:
    line = "copied postgresql://me:one@a/x to postgresql://me:t w'o@b/y."
    hidden = mask_passwords(line)
    assert "one" not in hidden
    assert "t w" not in hidden
    assert "'o" not in hidden
    kept = "postgresql+psycopg://me:***@a/x and postgresql+psycopg://me:***@b/y, http://127.0.0.1:8080/"
    assert mask_passwords(kept) == kept


def test_secrets_are_masked_in_messages_of_the_database() -> None:
    url = "postgresql://me:s3cret@host/db?pwd=other1&connect_timeout=other2&x=on"
    message = database_message(url, RuntimeError("connection on host with s3cret, other1 and other2 failed"))
    assert message == "connection on host with ***, *** and other2 failed"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://host/studies;password=s3cret",
        "postgresql://me%3As3cret@host/db",
        "postgresql://host;password=s3cret/db",
        "host=h password=s3cret dbname=d",
        "dbname=d password = 's3 cret'",
        "host=h pwd=s3cret dbname=d",
        "host=h;Passwd = s3cret",
        "PGPASSWORD=s3cret",
    ],
)
def test_passwords_in_other_places_are_masked(url: str) -> None:
    with raises_naming(InputError, "storage") as caught:
        parse_url(url)
    assert "cret" not in str(caught.value)
    assert "cret" not in mask_passwords(f"unknown scenario '{url}'.")


def test_port_that_is_not_a_number_is_refused() -> None:
    with raises_naming(InputError, "storage"):
        parse_url("postgresql://me@host/db?port=abc")
    assert parse_url("postgresql://me@/db?host=a&host=b&port=1&port=2").query["port"] == ("1", "2")
