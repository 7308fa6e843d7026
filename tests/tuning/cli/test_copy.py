"""`ravenlab copy`: complete copies, and refusals."""

from pathlib import Path
from typing import Any

import optuna
import pytest

from ravenlab.studies.kinds import TUNE
from ravenlab.studies.storage.database import open_storage
from ravenlab.studies.storage.keys import RaceState, read_recommendation, write_race
from ravenlab.studies.storage.lock import lock_studies
from ravenlab.tuning.cli.app import run
from tests.command import printed, refused
from tests.messages import assert_names
from tests.studies.examples import WILD, make_recommendation, snapshot, store_recommendations, url

Captured = pytest.CaptureFixture[str]
FIRST = "raven-ucb/variance-drift/T1000/K10"


@pytest.fixture
def storage(tmp_path: Path) -> str:
    storage_url = store_recommendations(
        tmp_path / "s.sqlite3", make_recommendation(), make_recommendation(study=WILD, arms=3)
    )
    opened = open_storage(storage_url, create=False)
    study = optuna.load_study(study_name=FIRST, storage=opened)
    write_race(study, RaceState(batches=1, elite=2, blocks=3))
    opened.set_study_system_attr(study._study_id, "dashboard:note_ver", 1)
    opened.engine.dispose()
    return storage_url


def load_original_and_copy(storage: str, target: str, name: str, copy_name: str | None = None) -> tuple[Any, Any]:
    original = optuna.load_study(study_name=name, storage=open_storage(storage, create=False))
    copy = optuna.load_study(study_name=copy_name or name, storage=open_storage(target, create=False))
    return original, copy


def test_copy_is_complete(storage: str, tmp_path: Path) -> None:
    target = url(tmp_path / "archive.sqlite3")
    assert f"Copied {FIRST} to {target}: 4 trials." in printed("copy", "*", "--to", target, "--storage", storage)
    for name in (FIRST, WILD):
        original, copy = load_original_and_copy(storage, target, name)
        assert snapshot(copy._storage, name) == snapshot(original._storage, name)
        assert copy.user_attrs == original.user_attrs
        assert copy.directions == original.directions
        assert copy._storage.get_study_system_attrs(copy._study_id) == original._storage.get_study_system_attrs(
            original._study_id
        )


def test_copy_to_another_name_in_the_same_storage(storage: str) -> None:
    assert run(["copy", FIRST, "--to", storage, "--as", "mine", "--storage", storage]) == 0
    original, copy = load_original_and_copy(storage, storage, FIRST, "mine")
    spec, recommendation = TUNE.read_spec(copy), read_recommendation(copy)
    assert spec is not None
    assert recommendation is not None
    assert (spec.study_name(), recommendation.study) == ("mine", "mine")
    original_spec = TUNE.read_spec(original)
    assert original_spec is not None
    assert spec.differences(original_spec) == []
    assert read_recommendation(original) == make_recommendation()


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
def test_invalid_input_is_refused(words: list[str], names: list[str], storage: str, tmp_path: Path) -> None:
    target = tmp_path / "archive.sqlite3"
    words = [word.format(storage=storage, target=url(target)) for word in words]
    assert_names(refused("copy", *words, "--storage", storage), *(name.format(storage=storage) for name in names))
    assert not target.exists()


def test_running_study_is_not_copied(storage: str, tmp_path: Path) -> None:
    target = url(tmp_path / "archive.sqlite3")
    with lock_studies(storage, FIRST):
        assert_names(refused("copy", FIRST, "--to", target, "--storage", storage), FIRST)
    assert not (tmp_path / "archive.sqlite3").exists()


def test_existing_studies_are_skipped_on_request(storage: str, tmp_path: Path, capsys: Captured) -> None:
    target = url(tmp_path / "archive.sqlite3")
    assert run(["copy", FIRST, "--to", target, "--storage", storage]) == 0
    words = ["copy", "*", "--to", target, "--storage", storage]
    assert_names(refused(*words), "1 of 2", f"'{FIRST}'", target, "--skip-existing")
    capsys.readouterr()
    skipped, copied = printed(*words, "--skip-existing").splitlines()
    assert_names(skipped, "Skipped", FIRST, target)
    assert copied.startswith("Copied ")
    assert printed(*words, "--skip-existing").count("Skipped") == 2
