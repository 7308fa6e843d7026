"""Every command reads the databases, states and exports that this and earlier code wrote; see `tools.pins`."""

import contextlib
import csv
import io
import json
import runpy
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import optuna
import optuna_dashboard
import pytest
import yaml

import ravenlab
from ravenlab.studies.storage.database import use_storage
from ravenlab.tuning.attachments import attach_to_studies
from tests.command import run_command
from tests.faults.states import ONLINE
from tools.pins import DATABASE, EXTENSIONS, FOLDER, STUDIES, continue_policy

STORAGE = f"sqlite:///{DATABASE}"
RECORDINGS = (pytest.param("before", marks=pytest.mark.filterwarnings("ignore::UserWarning")), "current")
"""Files of earlier code may be read with a warning, those of this code without."""
RESCALED = ("trace", "log")
"""Earlier code measured the scale of their rewards differently, so that they cannot be continued."""


@pytest.fixture(params=RECORDINGS)
def recording(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the files of a recording, which is the working folder."""
    folder = tmp_path / "recording"
    shutil.copytree(FOLDER / request.param, folder)
    monkeypatch.chdir(folder)
    return folder


def run(line: str) -> tuple[str, str]:
    """Run a command on the database, which must succeed; return stdout and stderr."""
    code, out, err = run_command([*line.split(), f"--storage={STORAGE}"])
    assert code == 0, f"ravenlab {line}: {err}"
    return out, err


def count_trials(path: Path) -> dict[str, int]:
    """Return the number of trials of each study."""
    query = "SELECT study_name, COUNT(trial_id) FROM studies LEFT JOIN trials USING (study_id) GROUP BY study_name"
    with contextlib.closing(sqlite3.connect(path)) as database:
        return dict(database.execute(query))


@pytest.mark.usefixtures("recording")
def test_studies_are_listed_and_shown() -> None:
    trials = count_trials(Path(DATABASE))
    rows = json.loads(run("studies --all --json")[0])
    assert {row["name"]: row["finished"] for row in rows} == trials
    for name in trials:
        assert name in run(f"show {name}")[0]
        assert json.loads(run(f"show {name} --json")[0])
        if not name.startswith("pareto/"):
            assert ravenlab.load_result(name, storage=STORAGE)


@pytest.mark.usefixtures("recording")
def test_recommendations_are_exported_and_found() -> None:
    for form in EXTENSIONS:
        assert "blips" in run(f"export --format {form}")[0]
    found = json.loads(run("recommend blips --horizon 500 --arms 5 --json")[0])
    assert found["params"].keys() >= {"alpha0", "beta0", "epsilon"}


@pytest.mark.usefixtures("recording")
def test_all_results_are_in_the_report_and_the_dashboard() -> None:
    run("report -o report.html")
    page = Path("report.html").read_text(encoding="utf-8")
    attach_to_studies(STORAGE)
    studies = [row["name"] for row in json.loads(run("studies --json")[0])]
    with use_storage(STORAGE) as storage:
        for name in studies:
            assert optuna_dashboard.get_note(optuna.load_study(study_name=name, storage=storage))
            assert name in page or name.startswith("compare/")  # comparisons have a page of their own


def test_studies_are_copied_and_deleted(recording: Path) -> None:
    trials = count_trials(recording / DATABASE)
    run("copy * --to sqlite:///copy.sqlite3")
    assert count_trials(Path("copy.sqlite3")) == trials
    name = min(trials)
    run(f"delete {name} --yes")
    assert name not in count_trials(recording / DATABASE)


@pytest.mark.parametrize("kind", STUDIES)
def test_study_is_already_complete(kind: str, recording: Path) -> None:
    trials = count_trials(recording / DATABASE)
    code, _, err = run_command([*STUDIES[kind].split(), "--jobs=1", f"--storage={STORAGE}"])
    if kind in RESCALED and (recording / "exports" / "exported.json").read_text().startswith('{\n  "schema": 1'):
        assert (code, err.count("\n")) == (2, 1)
        assert "not be comparable: scale was" in err
    else:
        assert code == 0, err
        assert "already complete" in err
    assert count_trials(recording / DATABASE) == trials


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_stored_pareto_front_is_listed_and_not_supported(here: Path, caplog: pytest.LogCaptureFixture) -> None:
    shutil.copy(FOLDER / "before" / DATABASE, here)
    name = "pareto/raven-ucb/blips,periodic/T150/K5"
    (row,) = [row for row in json.loads(run("studies --json")[0]) if row["name"] == name]
    assert (row["kind"], row["state"], row["finished"]) == ("front", "unsupported", 12)
    message = "Pareto fronts are no longer supported."
    assert run(f"show {name}")[0] == f"{name}: {message}\n"
    assert f"study {name!r}: {message}" in run("report -o report.html")[1]
    assert "robust/" in run("export")[0]
    assert f"study {name!r}: {message}" in caplog.text
    code, out, err = run_command(["export", name, f"--storage={STORAGE}"])
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert message in err
    with pytest.raises(ravenlab.InputError, match=message):
        ravenlab.load_result(name, storage=STORAGE)


@pytest.mark.usefixtures("recording")
def test_states_are_restored() -> None:
    actions = json.loads(Path("actions.json").read_bytes())
    assert set(actions) <= set(ONLINE)
    for name, arms in actions.items():
        state = json.loads(Path(f"states/{name}.json").read_bytes())
        assert continue_policy(ravenlab.Policy.from_state(state)) == arms


@pytest.mark.usefixtures("recording")
def test_exports_are_loaded() -> None:
    exports = {path.suffix: path for path in Path("exports").iterdir()}
    document = json.loads(exports[".json"].read_bytes())
    assert yaml.safe_load(exports[".yaml"].read_bytes()) == document
    recommended = {entry["study"]: entry["params"] for key in ("recommendations", "robust") for entry in document[key]}
    with exports[".csv"].open(newline="") as file:
        assert {row["study"] for row in csv.DictReader(file)} == set(recommended)
    with contextlib.redirect_stdout(io.StringIO()):
        policies: dict[str, Any] = runpy.run_path(str(exports[".txt"]))["policies"]
    assert policies.keys() == recommended.keys()
    for study, params in recommended.items():
        for path in (exports[".json"], exports[".toml"]):
            loaded = ravenlab.RavenUCB.load(path, study=study)
            assert loaded.values.items() >= params.items()
            assert loaded.values == policies[study].values
