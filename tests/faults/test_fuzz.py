"""Random argument lists for every command: exit code 0, 1 or 2, one line of explanation, no partial files."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path

import pytest
import typer
from hypothesis import HealthCheck, Phase, given, settings

from ravenlab.dashboards.optuna_dashboard.server import DashboardServer
from ravenlab.tuning.cli import app
from tests.faults.argument_lists import argument_lists, names
from tests.faults.sandbox import CommandResult, Sandbox
from tests.faults.template import make_template

LISTS = int(os.environ.get("RAVENLAB_FUZZ", "25"))
"""Argument lists per command; 1,000 in `make stress`."""

SLOW = {"tune", "grid", "compare", "report", "reproduce", "copy", "delete", "dashboard", "export", "doctor"}
"""Commands that take more than a few milliseconds; `make test` runs a sixth of their lists."""

SETTINGS = settings(
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],  # argument lists are short enough without shrinking
)


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    return Sandbox(make_template(tmp_path_factory.mktemp("fuzz") / "template"))


@pytest.fixture(scope="module", autouse=True)
def _no_blocking_calls() -> Iterator[None]:
    """Make dashboards return immediately, and build the parser of each command only once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DashboardServer, "serve_forever", lambda self: None)
        patch.setattr("webbrowser.open", lambda url: True)
        patch.setattr("ravenlab.dashboards.pages.report.page._write_images", lambda page, folder: None)
        app_for = app.app_for
        by_name = cache(lambda words: app_for(list(words)))
        patch.setattr("typer.main.get_command", cache(typer.main.get_command))
        patch.setattr(app, "app_for", lambda words: by_name(tuple(word for word in words if word in app.COMMANDS)))
        yield


def check_side_effects(done: CommandResult, words: list[str], folder: Path) -> None:
    """Check the messages of a command line and the files that it changed."""
    lines = done.err.splitlines()
    assert not [line for line in lines if "Traceback" in line or "Warning" in line], (words, lines)
    ours = [line for line in lines if line.startswith("ravenlab: ")]
    kept = {name for name in done.changed() if not name.endswith(("-wal", "-shm"))}
    assert not [name for name in kept if Path(name).name.startswith(".")], (words, kept)
    for name in kept:
        if done.after.get(name, b"").startswith(b"SQLite format 3"):  # -o and --force may write other files there
            check_storage(done.after[name], folder)
    if done.code and "doctor" not in words:  # doctor prints a table of problems
        assert lines[-1:] == ours[-1:] or "--show-completion" in words, (words, lines)
        assert len(ours) <= 1 or "export" in words, (words, lines)
        assert not [name for name in kept if not name.endswith(".sqlite3")] or "reproduce" in words, (words, kept)


def check_storage(storage: bytes, folder: Path) -> None:
    """Check that a storage is intact and has no unfinished trial."""
    path = folder / "left.sqlite3"
    path.write_bytes(storage)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        running = "SELECT count(*) FROM trials JOIN studies USING (study_id) WHERE state = 'RUNNING'"
        assert connection.execute(f"{running} AND study_name NOT IN ('running', 'mine', 'tuned')").fetchone() == (0,)


@pytest.mark.parametrize("name", names())
def test_random_argument_lists(name: str, sandbox: Sandbox, tmp_path: Path) -> None:
    count = LISTS if LISTS >= 1000 or name not in SLOW else LISTS // 6

    @settings(SETTINGS, max_examples=count)
    @given(argument_lists(name))
    def try_one(words: list[str]) -> None:
        done = sandbox.run(words)
        assert done.code in (0, 1, 2), (words, done.err)
        assert done.activity.external == [], words
        check_side_effects(done, words, tmp_path)

    try_one()
