"""`ravenlab delete`: confirmation, and studies that are being run."""

import io
from pathlib import Path

import pytest

from ravenlab.studies.storage.database import open_storage
from ravenlab.studies.storage.lock import lock_studies
from ravenlab.tuning.cli.app import run
from tests.command import printed, refused
from tests.messages import assert_names
from tests.studies.examples import WILD, make_recommendation, store_recommendations

FIRST = "raven-ucb/variance-drift/T1000/K10"
SECOND = "raven-ucb/variance-drift/T2000/K10"


@pytest.fixture
def storage(tmp_path: Path) -> str:
    return store_recommendations(
        tmp_path / "s.sqlite3",
        make_recommendation(),
        make_recommendation(horizon=2000),
        make_recommendation(study=WILD, arms=3),
    )


def stored_names(storage: str) -> set[str]:
    opened = open_storage(storage, create=False)
    try:
        return {study.study_name for study in opened.get_all_studies()}
    finally:
        opened.engine.dispose()


def test_deletes_with_yes(storage: str, tmp_path: Path) -> None:
    assert_names(printed("delete", FIRST, WILD, "--yes", "--storage", storage), FIRST)
    assert stored_names(storage) == {SECOND}
    assert all(path.name.startswith(("s.sqlite3", ".s.sqlite3.")) for path in tmp_path.iterdir())


def test_patterns_match_but_prefixes_do_not(storage: str) -> None:
    assert_names(refused("delete", "raven-ucb/variance-drift/T1000", "--yes", "--storage", storage), f"'{FIRST}'")
    assert run(["delete", "raven-ucb/*", "--yes", "--storage", storage]) == 0
    assert stored_names(storage) == {WILD}


def test_without_a_terminal_yes_is_required(storage: str) -> None:
    assert_names(refused("delete", FIRST, "--storage", storage), "--yes", "1")
    assert len(stored_names(storage)) == 3


@pytest.mark.parametrize(("reply", "remaining"), [("y\n", 2), ("n\n", 3), ("\n", 3)])
def test_terminal_is_asked_for_confirmation(
    reply: str, remaining: int, storage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stdin", Terminal(reply))
    assert run(["delete", FIRST, "--storage", storage]) == 0
    assert len(stored_names(storage)) == remaining


def test_nothing_is_deleted_if_one_study_is_running(storage: str) -> None:
    with lock_studies(storage, SECOND):
        assert_names(refused("delete", FIRST, SECOND, "--yes", "--storage", storage), SECOND)
    assert len(stored_names(storage)) == 3
