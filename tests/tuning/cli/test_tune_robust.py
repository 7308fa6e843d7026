"""`ravenlab tune --robust`: output, files, other commands on it, and invalid input."""

import csv
import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

import ravenlab
from ravenlab.studies.spec.schema import study_file_schema
from ravenlab.tuning.cli.app import run
from tests.command import printed, refused
from tests.messages import assert_names
from tests.studies.examples import finished_trials

SCENARIOS = ["stationary", "localized-jump"]
SMALL = [
    *("--horizon=120", "--arms=3", "--trials=6", "--batch=4", "--replications=5", "--selection=20", "--report=20"),
    "--quiet",
    "--jobs=1",
]
Captured = pytest.CaptureFixture[str]


def test_commands_agree_on_a_robust_search(tmp_path: Path, capsys: Captured) -> None:
    url, path = f"--storage=sqlite:///{tmp_path}/s.sqlite3", tmp_path / "m.csv"
    words = ["tune", "--robust", *SCENARIOS, *SMALL, url, f"--csv={path}"]
    assert_names(printed(*words, "--dry-run"), "6", "5", "2", "tpe", "worst")
    assert_names(printed(*words), *SCENARIOS)
    before = finished_trials(url.removeprefix("--storage="))
    assert run([*words, "--json"]) == 0
    captured = capsys.readouterr()
    assert finished_trials(url.removeprefix("--storage=")) == before
    (entry,) = json.loads(captured.out)["robust"]
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert len(rows) == 4 * 2
    assert float(rows[0]["regret"]) == entry["contenders"][0]["worlds"][0]["regret"]["mean"]
    assert run(["export", url, f"--output={tmp_path}/all.json"]) == 0
    document = json.loads((tmp_path / "all.json").read_text())
    assert document["robust"] == [entry]
    assert len(document["recommendations"]) == 2
    assert ravenlab.RavenUCB.load(tmp_path / "all.json", scenario="stationary,localized-jump").arms == 3
    for form in ("csv", "markdown", "latex", "python", "yaml", "toml"):
        assert "robust/" in printed("export", "robust/*", f"--format={form}", url)
    assert_names(printed("show", "robust", url), "stationary")
    shown = json.loads(printed("show", "robust", url, "--json"))["robust"]
    assumptions = ["Holds for immediate rewards: each one is known before the next choice."]
    assert {**shown, "feedback": "rewards", "extra_arms": 0, "assumptions": assumptions} == entry
    assert run(["copy", "robust", "--as=copied", f"--to=sqlite:///{tmp_path}/t.sqlite3", url]) == 0
    assert json.loads(
        printed("show", "copied", f"--storage=sqlite:///{tmp_path}/t.sqlite3", "--json").splitlines()[-1]
    )["robust"] == {**shown, "study": "copied"}


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["--robust"], ["SCENARIO"]),
        (["--robust", "--trace=log.csv"], ["--robust", "--trace"]),
        (["--robust", "--log=log.csv"], ["--robust", "--log"]),
        (["blips", "periodic", "--measure=mean"], ["--measure", "--robust"]),
        (["--robust", "--study=quick"], ["--study", "--robust"]),
        (["--robust", "blips", "periodic", "--horizon=90,99", "--name=x"], ["--name", "2"]),
        (["--robust", "blips", "periodic", "--csv=no/such/f.csv"], ["no/such"]),
        (["--robust", "blips", "./none.py:mine"], ["none.py"]),
    ],
)
def test_invalid_input_is_one_line(words: list[str], names: list[str], tmp_path: Path) -> None:
    assert_names(refused("tune", *words, f"--storage=sqlite:///{tmp_path}/s.sqlite3"), *names)
    assert list(tmp_path.iterdir()) == []


def test_robust_search_in_a_study_file(tmp_path: Path) -> None:
    path, text = tmp_path / "study.toml", "[[robust]]\nscenarios = ['blips', 'periodic']\nhorizon = [1000, 2000]\n"
    path.write_text(text)
    out = printed("validate", str(path))
    assert out.startswith(f"{path}: ")
    assert_names(out, "712,000,000", *(f"robust/raven-ucb/blips,periodic/T{horizon}/K10" for horizon in (1000, 2000)))
    out = printed("tune", f"--study={path}", "--dry-run")
    assert_names(out, "robust/raven-ucb/blips,periodic/T2000/K10", 200)
    assert_names(out.splitlines()[-1], 6, "712,000,000")
    jsonschema.validate(tomllib.loads(text), study_file_schema())
    for invalid, names in (
        ("[[robust]]\nscenarios = ['blips']", ["robust 1", "2", "scenarios"]),
        ("[[robust]]\nscenarios = ['blips', 'periodic']\nmeasur = 'mean'", ["robust 1", "'measur'"]),
        ("[robust]\nscenarios = ['blips', 'periodic']", ["[[robust]]"]),
        (text + text, ["robust/raven-ucb/blips,periodic/T1000/K10"]),
    ):
        path.write_text(invalid)
        assert_names(refused("validate", str(path)), *names)
