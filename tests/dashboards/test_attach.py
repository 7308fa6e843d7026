"""Notes and figures in the storage: there once, small, and harmless to what was measured."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import optuna_dashboard
import pytest

from dashboards.attach import attach, attach_to_grid, attach_to_study
from dashboards.attached import stored_figure
from dashboards.notes import code, escape, study_note
from dashboards.slim import slim
from dashboards.stamps import is_attached
from dashboards.words import value_name
from studies import keys
from studies.copying import read_study, write_study
from studies.export import export
from studies.grid import FINE_VALUES, GridSpec
from studies.grid_storage import land_cell
from studies.library import find_studies, recommendations
from studies.spec import StudySpec
from studies.storage import open_storage
from tests.studies.made import LINES, WILD, recommendation, snapshot, store, url
from tuning.cli import run

HARD = "raven-ucb/variance-drift/T1000/K10"
EPSILON = optuna.distributions.FloatDistribution(0.001, 0.5, log=True)


def searched(storage: Any, done: int = 30, name: str | None = None, **more: Any) -> optuna.Study:
    """A finished search whose trials hold all three parameters."""
    spec = StudySpec(scenario="variance-drift", horizon=1000, trials=done, name=name, **more)
    found = recommendation(study=spec.study_name(), trials=done, importance={"alpha0": 0.7, "beta0": 0.3})
    study = optuna.create_study(study_name=spec.study_name(), storage=storage)
    keys.write_spec(study, spec)
    even = optuna.distributions.FloatDistribution(0.01, 10.0, log=True)
    for number in range(done):
        study.add_trial(
            optuna.trial.create_trial(
                params={"alpha0": 0.01 + number % 90 / 10, "beta0": 1.0, "epsilon": 0.1},
                distributions={"alpha0": even, "beta0": even, "epsilon": EPSILON},
                value=50.0 + 7 * np.sin(number),
                user_attrs={"stderr": 1.5, "replications": 200, "seconds": 0.01},
            )
        )
    keys.write_recommendation(study, found)
    return study


def gridded(storage: Any, finished: bool = True, **changes: Any) -> optuna.Study:
    """A grid as a run leaves it."""
    spec = GridSpec(**{"scenario": "variance-drift", "horizon": 1000, "replications": 20, **changes})
    study = optuna.create_study(study_name=spec.study_name(), storage=storage)
    keys.write_grid_spec(study, spec)
    noise = np.random.default_rng(3).normal(0.0, 1.0, (len(spec.cells()), 20))
    for number, cell in enumerate(spec.cells()):
        land_cell(study, spec, number, 20.0 + cell["alpha0"] + noise[number], 0.1)
    if finished:
        keys.write_indistinguishable(study, [0, 1])
    return study


def rows(path: Path) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute("SELECT * FROM study_system_attributes ORDER BY 1").fetchall()
    finally:
        connection.close()


def figures(study: optuna.Study) -> set[str]:
    system = study._storage.get_study_system_attrs(study._study_id)
    return {key.split(":")[2] for key in system if key.startswith("dashboard:plot_data:")}


def test_a_study_gets_note_figures_and_the_name_of_its_value(tmp_path: Path) -> None:
    study = searched(open_storage(url(tmp_path / "s.sqlite3"), create=True))
    assert attach_to_study(study) == 5
    note = optuna_dashboard.get_note(study)
    assert note.startswith("# Use α₀ = 0.25, β₀ = 4, ε = 0.0001\n")
    assert "41.5 \\(95 %: 40.25 to 42.75\\)" in note
    assert "$" not in note
    assert figures(study) == {"ravenlab-history", "ravenlab-importances", "ravenlab-world"}
    assert study.metric_names == ["mean regret"]
    assert stored_figure(study, "ravenlab-world")["layout"]["height"] == 450


def test_a_grid_gets_its_heat_map_with_what_a_search_recommends(tmp_path: Path) -> None:
    storage = open_storage(url(tmp_path / "s.sqlite3"), create=True)
    study = gridded(storage)
    assert attach_to_grid(study) == 5
    assert figures(study) == {"ravenlab-heat-map", "ravenlab-lines", "ravenlab-surface"}
    assert optuna_dashboard.get_note(study).startswith("# Best cell: α₀ = 0.5, β₀ = ")
    assert "2 of 16 cells can't be told" in optuna_dashboard.get_note(study)
    before = stored_figure(study, "ravenlab-heat-map")
    searched(storage)
    assert attach_to_grid(study) >= 1
    assert "recommended" in json.dumps(stored_figure(study, "ravenlab-heat-map"))
    assert stored_figure(study, "ravenlab-heat-map") != before


def test_attaching_again_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite3"
    storage = open_storage(url(path), create=True)
    names = [searched(storage).study_name, gridded(storage).study_name]
    for name in names:
        attach(optuna.load_study(study_name=name, storage=storage))
    before = rows(path)
    other = open_storage(url(path), create=False)
    for name in names:
        assert attach(optuna.load_study(study_name=name, storage=other)) == 0
    assert rows(path) == before


def test_only_what_is_missing_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = open_storage(url(tmp_path / "s.sqlite3"), create=True)
    grid = gridded(storage)
    assert attach(grid, missing=True) == 5
    study = searched(storage)
    assert attach(study, missing=True) == 5
    assert attach(grid, missing=True) >= 1, "there is a recommendation to mark now"
    with monkeypatch.context() as patched:
        patched.setattr(optuna.Study, "get_trials", lambda *given, **more: pytest.fail("trials were loaded"))
        assert attach(study, missing=True) == 0
        assert attach(grid, missing=True) == 0
    keys.write_recommendation(study, recommendation(study=study.study_name, seed=9))
    assert attach(study, missing=True) >= 1
    keys.write_recommendation(study, None)
    assert attach(study, missing=True) >= 1


def test_trials_and_exports_stay_as_they_are(tmp_path: Path) -> None:
    storage = open_storage(url(tmp_path / "s.sqlite3"), create=True)
    names = [searched(storage).study_name, gridded(storage).study_name]
    trials = [snapshot(storage, name) for name in names]
    attributes = [study.user_attrs for study in find_studies(storage, names)]
    exported = [export(recommendations(storage), kind) for kind in ("json", "toml", "csv")]
    for name in names:
        attach(optuna.load_study(study_name=name, storage=storage))
    assert [snapshot(storage, name) for name in names] == trials
    assert [study.user_attrs for study in find_studies(storage, names)] == attributes
    assert [export(recommendations(storage), kind) for kind in ("json", "toml", "csv")] == exported


def test_a_longer_search_takes_the_place_of_the_old_figures(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite3"
    study = searched(open_storage(url(path), create=True), done=200)
    attach(study)
    before = len(rows(path))
    keys.write_recommendation(study, None)
    attach(study)
    assert optuna_dashboard.get_note(study).startswith("# No recommendation yet")
    assert len(rows(path)) <= before
    assert stored_figure(study, "ravenlab-history") is not None


def test_figures_stay_small() -> None:
    """2000 trials and 625 cells: a row is 2 kB and a commit, and every page reads them all."""
    memory = optuna.storages.InMemoryStorage()
    for study in (searched(memory, done=2000), gridded(memory, alpha0=FINE_VALUES, beta0=FINE_VALUES)):
        assert attach(study) == 5
        assert len(memory.get_study_system_attrs(study._study_id)) < 60


def test_a_note_that_someone_wrote_is_kept(tmp_path: Path) -> None:
    study = searched(open_storage(url(tmp_path / "s.sqlite3"), create=True))
    attach(study)
    optuna_dashboard.save_note(study, "mine")
    assert attach(study) == 0
    assert optuna_dashboard.get_note(study) == "mine"
    optuna_dashboard.save_note(study, "")
    assert attach(study) == 1
    assert optuna_dashboard.get_note(study).startswith("# Use")


def test_others_figures_and_studies_are_left_alone(tmp_path: Path) -> None:
    import plotly.graph_objects as go

    storage = open_storage(url(tmp_path / "s.sqlite3"), create=True)
    study = searched(storage)
    optuna_dashboard.save_plotly_graph_object(study, go.Figure(), graph_object_id="theirs")
    attach(study)
    assert "theirs" in figures(study)
    theirs = optuna.create_study(study_name="theirs", storage=storage)
    assert attach(theirs) == 0
    assert storage.get_study_system_attrs(theirs._study_id) == {}


def test_a_figure_that_was_cut_off_is_written_again(tmp_path: Path) -> None:
    study = searched(open_storage(url(tmp_path / "s.sqlite3"), create=True))
    attach(study)
    whole = stored_figure(study, "ravenlab-history")
    study._storage.set_study_system_attr(study._study_id, "dashboard:plot_data:ravenlab-history:1", "")
    assert stored_figure(study, "ravenlab-history") is None
    assert attach(study) == 1
    assert stored_figure(study, "ravenlab-history") == whole


@pytest.mark.parametrize("done", [0, 1, 3])
def test_unfinished_studies(tmp_path: Path, done: int) -> None:
    storage = open_storage(url(tmp_path / "s.sqlite3"), create=True)
    study = store(storage, StudySpec(scenario="blips", horizon=100, trials=10), done)
    assert attach(study) > 0
    assert f"{done} of 10 trials" in optuna_dashboard.get_note(study)
    assert attach(study) == 0
    assert attach(gridded(storage, finished=False)) == 0


def test_a_scenario_of_its_users_own_is_not_drawn_where_it_is_not_at_hand(tmp_path: Path) -> None:
    study = searched(open_storage(url(tmp_path / "s.sqlite3"), create=True))
    study.set_user_attr(keys.SPEC, {**study.user_attrs[keys.SPEC], "scenario": "mine.py:world~0a1b2c3d"})
    assert attach(study) == 4
    assert figures(study) == {"ravenlab-history", "ravenlab-importances"}
    assert is_attached(study)


def test_a_copy_is_complete(tmp_path: Path) -> None:
    storage = open_storage(url(tmp_path / "s.sqlite3"), create=True)
    attach(searched(storage))
    (study,) = find_studies(storage, [HARD])
    write_study(read_study(storage, study._study_id), storage, "copy")
    assert attach(optuna.load_study(study_name="copy", storage=storage)) <= 1


def test_wild_names_are_shown_as_they_are() -> None:
    assert escape("a_b*c|d <script>&amp;\n#") == "a\\_b\\*c\\|d \\<script\\>\\&amp; \\#"
    assert code("``") == "``` `` ```"
    for name in (WILD, LINES):
        spec = StudySpec(scenario="blips", horizon=100, settings={"noise": "laplace"})
        note = study_note(spec, recommendation(study=name, scenario=name, settings={name: name}), 3)
        assert all(line.startswith(("#", "-", "`")) for line in note.splitlines() if line)
        assert "\n<" not in note
        assert "\x1b" not in note


@pytest.mark.parametrize(
    ("objective", "name"),
    [
        ("reward", "mean reward"),
        ("quantile:0.9", "90 % quantile of regret"),
        ("cvar:0.95", "mean of the worst 5 % of regrets"),
        ("after:10%", "mean regret after 10%"),
    ],
)
def test_names_of_values(objective: str, name: str) -> None:
    assert value_name(objective) == name


def test_arrays_become_short_lists() -> None:
    import plotly.graph_objects as go

    figure = go.Figure(go.Heatmap(z=np.arange(6.0).reshape(2, 3) / 3), layout={"width": 900})
    figure.add_scatter(y=np.arange(3))
    small = json.loads(slim(figure).to_json())
    assert small["data"][0]["z"] == [[0.0, 0.33333, 0.66667], [1.0, 1.3333, 1.6667]]
    assert small["data"][1]["y"] == [0, 1, 2]
    assert "width" not in small["layout"]
    assert len(slim(figure).to_json()) < 400


def test_the_commands_attach(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = url(tmp_path / "s.sqlite3")
    world = ["localized-jump", "--horizon=200", "--arms=3", "--replications=10", "--quiet", "--storage", place]
    tune = ["tune", *world, "--trials=4", "--selection=20", "--report=20"]
    grid = ["grid", *world, "--alpha0=0.5,1", "--beta0=1,5"]
    assert run(tune) == 0
    assert run(grid) == 0
    storage = open_storage(place, create=False)
    studies = [optuna.load_study(study_name=name, storage=storage) for name in optuna.get_all_study_names(storage)]
    tuned, played = sorted(studies, key=lambda study: study.study_name, reverse=True)
    assert "ravenlab-history" in figures(tuned)
    assert "ravenlab-heat-map" in figures(played)
    before = rows(tmp_path / "s.sqlite3")
    assert run(tune) == 0
    assert run(grid) == 0
    assert rows(tmp_path / "s.sqlite3") == before
    assert "not attached" not in capsys.readouterr().err
