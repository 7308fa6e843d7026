"""All commands on PostgreSQL; connection errors are one line without passwords."""

import json
import sys
import threading
import time
import urllib.request
from pathlib import Path
from urllib.parse import quote

import pytest
from sqlalchemy.engine import make_url

from ravenlab.dashboards.optuna_dashboard.server import make_server
from ravenlab.studies.storage.database import use_storage
from ravenlab.studies.storage.urls import mask_url
from ravenlab.tuning.attachments import attach_to_studies
from ravenlab.tuning.cli.app import run
from tests.faults.studies import query
from tests.messages import assert_names
from tests.postgres import PASSWORD, Server
from tests.studies.examples import url

Captured = pytest.CaptureFixture[str]
TINY = ["--horizon=60", "--arms=3", "--replications=4", "--seed=1", "--quiet", "--jobs=1"]
SEARCH = ["--trials=4", "--selection=20", "--report=20"]
SECRET = "Hx7secret9Q"


def test_every_command(database: str, tmp_path: Path, capsys: Captured) -> None:
    """Studies stored in PostgreSQL give the same output there and in a SQLite copy."""
    postgres, sqlite = ["--storage", database], ["--storage", url(tmp_path / "s.sqlite3")]
    assert run(["tune", "blips", "stationary", *TINY, *SEARCH, "--robust", "--name=worlds", *postgres]) == 0
    assert run(["grid", "blips", *TINY, "--alpha0=1,5", "--beta0=1", "--name=cells", *postgres]) == 0
    folder = f"--output={tmp_path / 'comparison'}"
    assert (
        run(["compare", "blips", *TINY, "--policies=ucb1,raven-ucb", "--tune=2", "--name=fight", folder, *postgres])
        == 0
    )
    assert run(["copy", "*", "--to", sqlite[1], *postgres]) == 0
    capsys.readouterr()
    outputs = []
    for place in (postgres, sqlite):
        for words in (
            ["studies", "--json"],
            *(["show", name, "--json"] for name in ("worlds", "cells", "fight")),
            ["recommend", "blips", "--horizon=60", "--arms=3", "--json"],
            ["export"],
            ["export", "--format", "csv"],
        ):
            assert run([*words, *place]) == 0, words
        outputs.append(capsys.readouterr().out)
    assert outputs[0].replace(mask_url(database), sqlite[1]) == outputs[1]
    assert run(["report", "-o", str(tmp_path / "report.html"), *postgres]) == 0
    assert run(["studies", *postgres]) == 0
    with use_storage(database) as storage, make_server(storage, port=0, internal=True) as server:
        attach_to_studies(database)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with urllib.request.urlopen(f"{server.url}api/studies") as answer:
            assert len(json.load(answer)["study_summaries"]) == len(query(database, "SELECT * FROM studies"))
        server.shutdown()
    assert run(["delete", "*", "--yes", *postgres]) == 0
    assert query(database, "SELECT * FROM trials") == query(database, "SELECT * FROM studies") == []
    captured = capsys.readouterr()
    passwords = [PASSWORD, quote(PASSWORD, safe=""), str(make_url(database).password)]
    assert not [word for word in passwords if word in captured.out + captured.err]
    assert_in_no_file(tmp_path, passwords)


def assert_in_no_file(folder: Path, words: list[str]) -> None:
    """Assert that no file in the folder contains any of the words."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert not [(path, word) for path in files for word in words if word.encode() in path.read_bytes()]


def refused(words: list[str], capsys: Captured, *fragments: str, code: int = 2) -> None:
    """Run a command that must be refused with one line within 15 seconds."""
    begin = time.monotonic()
    assert run(words) == code
    err = capsys.readouterr().err
    assert len(err.strip().splitlines()) == 1
    for fragment in fragments:
        assert fragment in err
    assert time.monotonic() - begin < 15


def test_connection_errors_are_one_line(database: str, postgres: Server, capsys: Captured) -> None:
    tune = ["tune", "blips", *TINY, *SEARCH, "--storage"]
    good = make_url(database)
    wrong = {
        good.set(password=SECRET): "password authentication failed",
        good.set(database="nowhere"): '"nowhere" does not exist',
        good.set(port=1): "Connection refused",
        good.set(query={"sslmode": "nonsense"}): "sslmode",
    }
    for bad, fragment in wrong.items():
        text = bad.render_as_string(hide_password=False)
        refused([*tune, text], capsys, fragment)
        refused(["studies", "--storage", text], capsys, fragment)
    refused(["studies", "--storage", database], capsys, "has no studies yet", "ravenlab tune")
    refused([*tune, "postgresql+psycopg2://me@host/db"], capsys, "must use the driver postgresql+psycopg://")
    postgres.run("CREATE TABLE studies (name text)", url=database)
    refused([*tune, database], capsys, "without Optuna studies")
    assert postgres.run("SELECT * FROM studies", url=database) == []


URLS_WITH_SECRET = [
    f"postgresql://me:{SECRET}@127.0.0.1:1/db",
    f"postgresql+psycopg://me:{SECRET}@127.0.0.1:1/db?connect_timeout=abc",
    f"postgresql://me@127.0.0.1:1/db?password={SECRET}&sslpassword={SECRET}",
    f"postgresql://me:{SECRET}/127.0.0.1/db",
    f"postgresql://me:{SECRET}@127.0.0.1:port/db",
    f"postgresql://me:x@{SECRET}@127.0.0.1:1/db",
    f"postgresql://me:{{{SECRET}}}@127.0.0.1:1/db",
    f"postgresql//me:{SECRET}@127.0.0.1/db",
    f"postgres:me:{SECRET}@127.0.0.1",
    f"postgresql+psycopg2://me:{SECRET}@127.0.0.1/db",
    f"mysql://me:{SECRET}@127.0.0.1:1/db",
    f"nothing://me:{SECRET}@127.0.0.1:1/db",
]


@pytest.mark.parametrize("storage_url", URLS_WITH_SECRET)
def test_passwords_are_never_printed(
    storage_url: str, here: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A password is never printed, logged or stored, even if it is passed in the wrong place."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(here / "cache"))
    monkeypatch.setenv("RAVENLAB_PATIENCE", "0")
    tune = ["tune", "blips", *TINY, *SEARCH]
    for words in (
        [*tune, "--dry-run", "--storage", storage_url],
        [*tune, "--storage", storage_url],
        [*tune, "--robust", "--storage", storage_url],
        ["grid", "blips", *TINY, "--storage", storage_url],
        ["compare", "blips", *TINY, "--policies=ucb1,ccb", "--tune=0", "--storage", storage_url],
        *([word, "--storage", storage_url] for word in ("studies", "export", "report", "dashboard")),
        ["show", "x", "--storage", storage_url],
        ["recommend", "blips", "--horizon=60", "--storage", storage_url],
        ["delete", "x", "--yes", "--storage", storage_url],
        ["copy", "x", "--to", storage_url, "--storage", storage_url],
        # the URL in the wrong place
        *([word, storage_url] for word in ("studies", "export", "show", "tune", "grid", "report", "simulate")),
        ["copy", "x", "--to", "sqlite:///x", "--as", storage_url],
        ["studies", f"--storge={storage_url}"],
        ["tune", "blips", "--horizon", storage_url],
    ):
        assert run(words) in (0, 2), words
    monkeypatch.setenv("RAVENLAB_STORAGE", storage_url)
    assert run(["studies"]) == 2
    captured = capfd.readouterr()
    assert SECRET not in captured.out + captured.err
    assert_in_no_file(here, [SECRET])


def test_missing_psycopg_is_reported(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert run(["studies", "--storage", f"postgresql://me:{SECRET}@127.0.0.1/db"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert_names(line, "postgresql+psycopg://me:***@127.0.0.1/db", 'pip install "ravenlab[postgres]"')
