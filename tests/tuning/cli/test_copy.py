"""`ravenlab copy`: complete copies, and refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import optuna
import pytest

from studies.storage.database import open_storage
from studies.storage.keys import read_recommendation, read_spec, write_race
from studies.storage.lock import lock_studies
from tests.command import refused
from tests.messages import assert_names
from tests.studies.examples import WILD, make_recommendation, snapshot, store_recommendations, url
from tuning.cli.app import run

Captured = pytest.CaptureFixture[str]
FIRST = "raven-ucb/variance-drift/T1000/K10"


@pytest.fixture
def storage(tmp_path: Path) -> str:
    place = store_recommendations(
        tmp_path / "s.sqlite3", make_recommendation(), make_recommendation(study=WILD, arms=3)
    )
    opened = open_storage(place, create=False)
    study = optuna.load_study(study_name=FIRST, storage=opened)
    write_race(study, 1, 2, 3)
    opened.set_study_system_attr(study._study_id, "dashboard:note_ver", 1)
    opened.engine.dispose()
    return place


def both(storage: str, target: str, name: str, there: str | None = None) -> tuple[Any, Any]:
    opened = [open_storage(place, create=False) for place in (storage, target)]
    studies = [
        optuna.load_study(study_name=each, storage=place)
        for each, place in zip((name, there or name), opened, strict=True)
    ]
    return studies[0], studies[1]


def test_copy_is_complete(storage: str, tmp_path: Path, capsys: Captured) -> None:
    target = url(tmp_path / "archive.sqlite3")
    assert run(["copy", "*", "--to", target, "--storage", storage]) == 0
    assert f"Copied {FIRST} to {target}: 4 trials." in capsys.readouterr().out
    for name in (FIRST, WILD):
        here, there = both(storage, target, name)
        assert snapshot(there._storage, name) == snapshot(here._storage, name)
        assert there.user_attrs == here.user_attrs
        assert there.directions == here.directions
        assert there._storage.get_study_system_attrs(there._study_id) == here._storage.get_study_system_attrs(
            here._study_id
        )


def test_copy_to_another_name_in_the_same_storage(storage: str) -> None:
    assert run(["copy", FIRST, "--to", storage, "--as", "mine", "--storage", storage]) == 0
    here, there = both(storage, storage, FIRST, "mine")
    spec, found = read_spec(there), read_recommendation(there)
    assert spec is not None
    assert found is not None
    assert (spec.study_name(), found.study) == ("mine", "mine")
    original = read_spec(here)
    assert original is not None
    assert spec.differences(original) == []
    assert read_recommendation(here) == make_recommendation()


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ([FIRST, "--to", "{storage}"], [FIRST, "{storage}"]),
        (["*", "--to", "{target}", "--as", "x"], ["--as", "2"]),
        ([FIRST, "--to", "{target}", "--as", ""], ["--as", "1", "400"]),
        ([FIRST, "--to", "{target}", "--as", "two\nlines"], ["--as", "1", "400"]),
        (["nothing", "--to", "{target}"], ["'nothing'"]),
        ([FIRST, "--to", "nonsense"], ["storage"]),
        ([FIRST], ["--to"]),
    ],
)
def test_refusals(words: list[str], names: list[str], storage: str, tmp_path: Path) -> None:
    target = tmp_path / "archive.sqlite3"
    words = [word.format(storage=storage, target=url(target)) for word in words]
    assert_names(refused("copy", *words, "--storage", storage), *(name.format(storage=storage) for name in names))
    assert not target.exists()


def test_running_study_is_not_copied(storage: str, tmp_path: Path) -> None:
    target = url(tmp_path / "archive.sqlite3")
    with lock_studies(storage, FIRST):
        assert_names(refused("copy", FIRST, "--to", target, "--storage", storage), FIRST)
    assert not (tmp_path / "archive.sqlite3").exists()
