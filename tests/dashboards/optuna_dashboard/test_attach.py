"""Notes and figures attached to studies: idempotent, small, and without effect on trials and exports."""

import json
import re
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import optuna
import optuna_dashboard
import plotly.graph_objects as go
import pytest

from ravenlab.common.documents import escape_markdown, format_code
from ravenlab.dashboards.optuna_dashboard.attach import (
    FIGURES,
    attach,
    is_attached,
    load_figure,
)
from ravenlab.studies.export import export
from ravenlab.studies.kinds import TUNE
from ravenlab.studies.results.documents import recommendation_document
from ravenlab.studies.spec.comparison import ComparisonSpec
from ravenlab.studies.spec.grid import FINE_VALUES
from ravenlab.studies.spec.objective import parse_objective
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.storage import keys
from ravenlab.studies.storage.database import open_storage
from ravenlab.studies.storage.library import find_studies, read_recommendations
from ravenlab.tuning.attachments import attach_to_studies
from ravenlab.tuning.cli.app import run
from tests.dashboards.storages import store_search, store_search_grid
from tests.studies.examples import (
    LINES,
    WILD,
    make_comparison,
    make_map,
    make_recommendation,
    snapshot,
    store_comparison,
    store_recommendations,
    store_study,
    url,
)

MEANS = {"raven-ucb": 40.0, "sw-raven": 30.0}
COMPARISON = ComparisonSpec(scenario="variance-drift", horizon=1000, policies=tuple(MEANS), tune=5, replications=50)
HARD = "raven-ucb/variance-drift/T1000/K10"


def attribute_rows(path: Path) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute("SELECT * FROM study_system_attributes ORDER BY 1").fetchall()
    finally:
        connection.close()


def attached_figures(study: optuna.Study) -> set[str]:
    system = study._storage.get_study_system_attrs(study._study_id)
    return {key.split(":")[2] for key in system if key.startswith("dashboard:plot_data:")}


@pytest.fixture(scope="module")
def attached_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A search and a grid with their notes and figures; tests use copies of the file."""
    path = tmp_path_factory.mktemp("attached") / "s.sqlite3"
    storage = open_storage(url(path), create=True)
    for study in (store_search(storage), store_search_grid(storage)):
        attach(study)
    storage.remove_session()
    storage.engine.dispose()
    return path


@pytest.fixture
def attached(attached_file: Path, tmp_path: Path) -> optuna.storages.RDBStorage:
    """A copy of the storage with a search and a grid, opened."""
    shutil.copy(attached_file, tmp_path / "s.sqlite3")
    return open_storage(url(tmp_path / "s.sqlite3"), create=False)


@pytest.fixture
def storage(tmp_path: Path) -> optuna.storages.RDBStorage:
    return open_storage(url(tmp_path / "empty.sqlite3"), create=True)


def load_search(storage: optuna.storages.RDBStorage) -> optuna.Study:
    return optuna.load_study(study_name=HARD, storage=storage)


def test_the_sensitivity_map_is_attached(tmp_path: Path) -> None:
    recommendation = make_recommendation()
    mapped = recommendation.model_copy(update={"sensitivity": make_map(recommendation)})
    storage = open_storage(store_recommendations(tmp_path / "s.sqlite3", mapped), create=False)
    study = optuna.load_study(study_name=mapped.study, storage=storage)
    attach(study)
    assert attached_figures(study) == {f"ravenlab-{name}" for name in ("card", "heat-map", "lines", "world")}
    for name in ("heat-map", "lines"):
        traces = load_figure(study, f"ravenlab-{name}")["data"]
        marks = [trace["marker"].get("symbol") for trace in traces if trace.get("mode") == "markers"]
        assert "circle" in marks, "the recommended parameters"


def test_attaching_to_a_study(storage: optuna.storages.RDBStorage) -> None:
    study = store_search(storage)
    assert attach(study) == 4
    note = optuna_dashboard.get_note(study)
    assert note.startswith("# Use α₀ 0.25, β₀ 4, ε 0.0001\n")
    assert "The value of ε is at the edge of the search range;" in note
    assert "41.5 \\(95 % CI 40.2 to 42.8\\)" in note
    assert "$" not in note
    assert attached_figures(study) == {"ravenlab-card", "ravenlab-world"}
    assert study.metric_names == ["mean regret"]
    assert load_figure(study, "ravenlab-world")["layout"]["height"] == 450


def test_attaching_to_a_grid_marks_the_recommendation(storage: optuna.storages.RDBStorage) -> None:
    study = store_search_grid(storage)
    assert attach(study) == 4
    assert attached_figures(study) == {"ravenlab-heat-map", "ravenlab-lines"}
    assert optuna_dashboard.get_note(study).startswith("# Best cell: α₀ 0.5, β₀ ")
    assert "1 other cell is statistically indistinguishable" in optuna_dashboard.get_note(study)
    before = load_figure(study, "ravenlab-heat-map")
    store_search(storage)
    assert attach(study) >= 1
    assert "recommended" in json.dumps(load_figure(study, "ravenlab-heat-map"))
    assert load_figure(study, "ravenlab-heat-map") != before


def test_attaching_to_a_comparison(storage: optuna.storages.RDBStorage) -> None:
    part = make_comparison(COMPARISON.model_copy(update={"name": "part"}), MEANS)
    assert attach(store_comparison(storage, part, done=3)) == 0
    study = store_comparison(storage, make_comparison(COMPARISON, MEANS))
    assert attach(study) == 6
    names = {f"ravenlab-{name}" for name in ("card", "standings", "curves", "ranks")}
    assert attached_figures(study) == names <= {f"ravenlab-{name}" for name in FIGURES}
    note = optuna_dashboard.get_note(study)
    assert "sw-raven" in note.splitlines()[0]
    assert re.findall(r"^\| \d\. ([a-z-]+)", note, re.MULTILINE) == ["sw-raven", "raven-ucb"]
    assert attach(study, missing=True) == attach(study) == 0


def test_a_better_policy_is_noted(attached: optuna.storages.RDBStorage) -> None:
    study = load_search(attached)
    assert is_attached(study)
    store_comparison(attached, make_comparison(COMPARISON, MEANS))
    assert not is_attached(study)
    assert attach(study, missing=True) == 2, "note and card"
    assert "Another policy is better: tuned sw-raven" in optuna_dashboard.get_note(study)
    assert "Another policy is better" in json.dumps(load_figure(study, "ravenlab-card"))
    assert is_attached(study)


def test_attaching_again_changes_nothing(attached: optuna.storages.RDBStorage, tmp_path: Path) -> None:
    before = attribute_rows(tmp_path / "s.sqlite3")
    names = optuna.get_all_study_names(attached)
    assert len(names) == 2
    for name in names:
        assert attach(optuna.load_study(study_name=name, storage=attached)) == 0
    assert attribute_rows(tmp_path / "s.sqlite3") == before


def test_up_to_date_studies_are_skipped(storage: optuna.storages.RDBStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = store_search_grid(storage)
    assert attach(grid, missing=True) == 4
    study = store_search(storage)
    assert attach(study, missing=True) == 4
    assert attach(grid, missing=True) >= 1, "the heat map does not mark the new recommendation"
    with monkeypatch.context() as patched:
        patched.setattr(optuna.Study, "get_trials", lambda *given, **more: pytest.fail("trials were loaded"))
        assert attach(study, missing=True) == 0
        assert attach(grid, missing=True) == 0
    keys.write_recommendation(study, make_recommendation(study=study.study_name, seed=9))
    assert attach(study, missing=True) >= 1
    TUNE.drop_result(study)
    assert attach(study, missing=True) >= 1


def test_trials_and_exports_do_not_change(storage: optuna.storages.RDBStorage) -> None:
    names = [store_search(storage).study_name, store_search_grid(storage).study_name]
    trials = [snapshot(storage, name) for name in names]
    attributes = [study.user_attrs for study in find_studies(storage, names)]
    exported = [export(read_recommendations(storage), kind) for kind in ("json", "toml", "csv")]
    for name in names:
        attach(optuna.load_study(study_name=name, storage=storage))
    assert [snapshot(storage, name) for name in names] == trials
    assert [study.user_attrs for study in find_studies(storage, names)] == attributes
    assert [export(read_recommendations(storage), kind) for kind in ("json", "toml", "csv")] == exported


def test_new_notes_and_figures_replace_old_ones(attached: optuna.storages.RDBStorage, tmp_path: Path) -> None:
    study, before = load_search(attached), len(attribute_rows(tmp_path / "s.sqlite3"))
    TUNE.drop_result(study)
    attach(study)
    assert optuna_dashboard.get_note(study).startswith("# No recommendation yet")
    assert len(attribute_rows(tmp_path / "s.sqlite3")) <= before
    assert load_figure(study, "ravenlab-world") is not None


def test_figures_stay_small() -> None:
    """For 2000 trials and 625 cells: each row has 2 kB and is committed separately, and every page reads all rows."""
    memory = optuna.storages.InMemoryStorage()
    for study in (store_search(memory, done=2000), store_search_grid(memory, alpha0=FINE_VALUES, beta0=FINE_VALUES)):
        assert attach(study) == 4
        assert len(memory.get_study_system_attrs(study._study_id)) < 60


def test_a_note_edited_by_a_user_is_kept(attached: optuna.storages.RDBStorage) -> None:
    study = load_search(attached)
    optuna_dashboard.save_note(study, "mine")
    assert attach(study) == 0
    assert optuna_dashboard.get_note(study) == "mine"
    optuna_dashboard.save_note(study, "")
    assert attach(study) == 1
    assert optuna_dashboard.get_note(study).startswith("# Use")


def test_other_figures_and_studies_are_unchanged(storage: optuna.storages.RDBStorage) -> None:
    study = store_search(storage)
    optuna_dashboard.save_plotly_graph_object(study, go.Figure(), graph_object_id="theirs")
    attach(study)
    assert "theirs" in attached_figures(study)
    foreign = optuna.create_study(study_name="theirs", storage=storage)
    assert attach(foreign) == 0
    assert storage.get_study_system_attrs(foreign._study_id) == {}


def test_a_truncated_figure_is_rewritten(attached: optuna.storages.RDBStorage) -> None:
    study = load_search(attached)
    complete = load_figure(study, "ravenlab-world")
    study._storage.set_study_system_attr(study._study_id, "dashboard:plot_data:ravenlab-world:1", "")
    assert load_figure(study, "ravenlab-world") is None
    assert attach(study) == 1
    assert load_figure(study, "ravenlab-world") == complete


@pytest.mark.parametrize("done", [0, 1, 3])
def test_unfinished_studies(storage: optuna.storages.RDBStorage, done: int) -> None:
    study = store_study(storage, StudySpec(scenario="blips", horizon=100, trials=10), done)
    assert attach(study) > 0
    assert f"{done} of 10 trials" in optuna_dashboard.get_note(study)
    assert attach(study) == 0
    assert attach(store_search_grid(storage, finished=False)) == 0


def test_the_world_of_a_missing_plugin_is_not_drawn(storage: optuna.storages.RDBStorage) -> None:
    study = store_search(storage)
    study.set_user_attr(keys.SPEC, {**study.user_attrs[keys.SPEC], "scenario": "mine.py:world~0a1b2c3d"})
    assert attach(study) == 3
    assert attached_figures(study) == {"ravenlab-card"}
    assert is_attached(study)


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
    assert parse_objective(objective).label() == name


def test_commands_attach_notes_and_the_dashboard_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = url(tmp_path / "s.sqlite3")
    world = ["localized-jump", "--horizon=200", "--arms=3", "--replications=10", "--quiet", "--storage", place]
    tune = ["tune", *world, "--trials=4", "--selection=20", "--report=20"]
    grid = ["grid", *world, "--alpha0=0.5,1", "--beta0=1,5"]
    assert run(tune) == 0
    assert run(grid) == 0
    storage = open_storage(place, create=False)
    studies = [optuna.load_study(study_name=name, storage=storage) for name in optuna.get_all_study_names(storage)]
    tuned, grid_study = sorted(studies, key=lambda study: study.study_name, reverse=True)
    assert all(optuna_dashboard.get_note(study) and not attached_figures(study) for study in studies)
    attach_to_studies(place)
    assert "ravenlab-world" in attached_figures(tuned)
    assert "ravenlab-heat-map" in attached_figures(grid_study)
    before = attribute_rows(tmp_path / "s.sqlite3")
    assert run(tune) == 0
    assert run(grid) == 0
    assert attribute_rows(tmp_path / "s.sqlite3") == before
    assert "not attached" not in capsys.readouterr().err


def test_hostile_names_are_escaped_in_notes() -> None:
    assert escape_markdown("a_b*c|d <script>&amp;\n#") == "a\\_b\\*c\\|d \\<script\\>\\&amp; \\#"
    assert format_code("``") == "``` `` ```"
    for name in (WILD, LINES):
        recommendation = make_recommendation(study=name, scenario=name, settings={name: name})
        note = recommendation_document(recommendation).to_markdown()
        assert all(line.startswith(("#", "-", "`", "|")) for line in note.splitlines() if line)
        assert "\n<" not in note
        assert "\x1b" not in note
