"""`ravenlab show`: one study in detail."""

import json
from pathlib import Path
from typing import Literal

import optuna
import pytest

from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.storage.database import open_storage
from tests.command import printed, refused
from tests.messages import assert_names
from tests.studies.examples import WILD, make_recommendation, store_study, url


def test_study_with_recommendation(tmp_path: Path) -> None:
    storage_url = url(tmp_path / "s.sqlite3")
    storage = open_storage(storage_url, create=True)
    store_study(storage, StudySpec(scenario="variance-drift", horizon=1000, trials=8), 8, make_recommendation())
    words = ["show", "raven-ucb/variance", "--storage", storage_url]
    short = printed(*words)
    assert_names(short, "raven-ucb/variance-drift/T1000/K10", "8 of 8", "α₀ 0.25, β₀ 4, ε 0.0001", "--all")
    assert "search range of" not in short
    assert "Best trials" not in short
    out = printed(*words, "--all")
    assert_names(out, "raven-ucb/variance-drift/T1000/K10", "8 of 8", "α₀ 0.25, β₀ 4, ε 0.0001", "Best trials")
    settings = out[out.index("8 of 8") :].splitlines()
    assert settings[1] == ""
    assert ["horizon", "1,000"] in map(str.split, settings)
    assert any(line.split()[:4] == ["search", "range", "of", "α₀"] for line in settings)
    shown = json.loads(printed(*words, "--json"))
    assert shown["state"] == "recommended"
    assert shown["spec"]["scenario"] == "variance-drift"
    assert [trial["number"] for trial in shown["best_trials"]] == [7, 6, 5, 4, 3]
    assert shown["best_trials"][0] == {
        "number": 7,
        "value": 43.0,
        "params": {"alpha0": 0.8, "beta0": 1.0},
        "stderr": 1.5,
        "replications": 200,
    }
    assert shown["recommendation"] == make_recommendation().as_object()


def test_incomplete_and_foreign_studies(tmp_path: Path) -> None:
    storage_url = url(tmp_path / "s.sqlite3")
    storage = open_storage(storage_url, create=True)
    store_study(storage, StudySpec(scenario="blips", horizon=1000, name=WILD), 0)
    maximized = optuna.create_study(study_name="up", storage=storage, direction="maximize")
    maximized.add_trials([optuna.trial.create_trial(value=value) for value in (1.0, 3.0, 2.0)])
    optuna.create_study(study_name="many", storage=storage, directions=["minimize", "minimize"])
    assert_names(printed("show", WILD, "--storage", storage_url), "0 of 200")
    shown = json.loads(printed("show", "up", "--storage", storage_url, "--json"))
    assert [trial["value"] for trial in shown["best_trials"]] == [3.0, 2.0, 1.0]
    assert (shown["state"], shown["spec"], shown["recommendation"]) == ("external", None, None)
    printed("show", "many", "--storage", storage_url)
    assert_names(refused("show", "*", "--storage", storage_url), 3)
    assert_names(refused("show", "upp", "--storage", storage_url), "'upp'")


def test_only_the_best_trials_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading all trials of a study with 100,000 takes a minute and 2 GB."""
    storage_url = url(tmp_path / "s.sqlite3")
    storage = open_storage(storage_url, create=True)
    store_study(storage, StudySpec(scenario="variance-drift", horizon=1000, trials=8), 8, make_recommendation())
    monkeypatch.delattr(optuna.storages.RDBStorage, "get_all_trials")
    assert_names(printed("show", "raven-ucb/variance", "--all", "--storage", storage_url), "Best trials", "43")


@pytest.mark.parametrize(("direction", "numbers"), [("minimize", [1, 3, 2]), ("maximize", [2, 1, 3])])
def test_best_trials_in_either_direction(
    direction: Literal["minimize", "maximize"], numbers: list[int], tmp_path: Path
) -> None:
    storage_url = url(tmp_path / "s.sqlite3")
    study = optuna.create_study(study_name="other", storage=open_storage(storage_url, create=True), direction=direction)
    study.add_trials([optuna.create_trial(value=value) for value in (float("inf"), 1.0, 2.0, 1.0)])
    study.add_trial(optuna.create_trial(state=optuna.trial.TrialState.FAIL))
    assert [
        trial["number"]
        for trial in json.loads(printed("show", "other", "--json", "--storage", storage_url))["best_trials"]
    ] == numbers
