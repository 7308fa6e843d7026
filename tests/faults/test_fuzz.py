"""Every command and option with drawn argument lists: exit code 0, 1 or 2, a line of why, nothing half-written."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import typer
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dashboards.server import DashboardServer
from tests.faults.argument_lists import argument_lists, names
from tests.faults.box import Box, Done
from tests.faults.template import make_template
from tuning import cli

LISTS = int(os.environ.get("RAVENLAB_FUZZ", "25"))
"""Argument lists for each command; `make stress` draws 1000."""


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Box:
    return Box(make_template(tmp_path_factory.mktemp("fuzz") / "template"))


@pytest.fixture(scope="module", autouse=True)
def _nothing_waits() -> Iterator[None]:
    """A dashboard stops as soon as it listens; options are worked out once for all lists of a command."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("RAVENLAB_STORAGE", raising=False)
        patch.setattr(DashboardServer, "serve_forever", lambda self: None)
        patch.setattr("webbrowser.open", lambda url: True)
        patch.setattr("dashboards.report.pictures._draw", lambda page, folder: None)
        whole = cli.app_for
        by_name = cache(lambda words: whole(list(words)))
        patch.setattr("typer.main.get_command", cache(typer.main.get_command))
        patch.setattr(cli, "app_for", lambda words: by_name(tuple(word for word in words if word in cli.COMMANDS)))
        yield


def whole(storage: bytes, folder: Path) -> None:
    """What stands in a storage is in order."""
    path = folder / "seen.sqlite3"
    path.write_bytes(storage)
    connection = sqlite3.connect(path)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    finally:
        connection.close()


def check(done: Done) -> None:
    """What any command line must do."""
    assert done.code in (0, 1, 2), done
    assert "Traceback" not in done.err
    assert not done.seen.elsewhere
    if done.code:
        assert done.err.splitlines()[-1].startswith("ravenlab: ")
    left = {name for name in done.changed() if not name.endswith((".lock", "-wal", "-shm"))}
    if done.code:
        assert {name for name in left if not name.endswith(".sqlite3")} == set()


@pytest.mark.parametrize("name", names())
def test_any_argument_list(name: str, box: Box) -> None:
    @settings(
        max_examples=LISTS,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(st.data())
    def try_one(data: st.DataObject) -> None:
        check(box.run(data.draw(argument_lists(name))))

    try_one()
