"""`ravenlab tune`: output, invalid input, and the tools of Optuna on its storage."""

import json
from pathlib import Path

import optuna
import pytest

import ravenlab
from ravenlab.common.terminal import print_document
from ravenlab.studies.kinds import TUNE
from ravenlab.studies.results.documents import recommendations_documents
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.tuning.cli.app import run
from tests.command import printed, refused
from tests.messages import assert_names
from tests.project import python
from tests.studies.examples import finished_trials, make_recommendation, make_trace_facts

SMALL = ["--horizon=200", "--arms=3", "--trials=24", "--batch=8", "--replications=10", "--selection=60", "--report=60"]


def test_tunes_and_recommends(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tune", "blips", *SMALL, f"--storage={url}", "--jobs=1", "--json"]) == 0
    captured = capsys.readouterr()
    (recommendation,) = json.loads(captured.out)["recommendations"]
    assert recommendation["study"] == "raven-ucb/blips/T200/K3"
    assert recommendation["trials"] == 24
    assert {"name", "params", "regret", "difference", "low", "high", "failure_rate"} == set(recommendation["versus"][0])
    assert recommendation["regret"]["low"] < recommendation["regret"]["mean"] < recommendation["regret"]["high"]
    assert_names(captured.err, 24, 10)
    before = finished_trials(url)
    assert run(["tune", "blips", *SMALL, f"--storage={url}"]) == 0
    assert finished_trials(url) == before
    assert "blips" in capsys.readouterr().out


def print_results(recommendations: list[Recommendation]) -> None:
    """Print what `ravenlab tune` prints."""
    for document in recommendations_documents(recommendations):
        print_document(document)


def test_the_table_states_scale_and_unit(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    trace = make_recommendation(scenario="trace:a.csv", study="trace", trace=make_trace_facts(["a", "b"]))
    print_results([trace])
    out = capsys.readouterr().out
    assert_names(out, "41.5 (40.2 to 42.8) per window of 1,000 steps", "Scaled defaults")
    _, _, scale, *_ = out.splitlines()
    assert scale.startswith("The scale of the rewards is 2 times that of simulated worlds")
    print_results([make_recommendation(unit=8.0), make_recommendation(study="usual")])
    out = capsys.readouterr().out
    assert "\nraven-ucb/variance-drift/T1000/K10: The scale of the rewards is 8 times that of the scenario" in out
    assert "Defaults or scaled defaults" in out
    print_results([make_recommendation()])
    assert "scale" not in capsys.readouterr().out


def test_every_scenario_is_tuned_for_every_horizon(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = [*SMALL, "--horizon=100,200", f"--storage={url}", "--quiet", "--json"]
    assert run(["tune", "stationary", "blips", *words]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert [
        (recommendation["scenario"], recommendation["horizon"])
        for recommendation in json.loads(captured.out)["recommendations"]
    ] == [
        ("stationary", 100),
        ("stationary", 200),
        ("blips", 100),
        ("blips", 200),
    ]


def test_dry_run_runs_nothing(url: str, tmp_path: Path) -> None:
    out = printed("tune", "blips", *SMALL, f"--storage={url}", "--dry-run")
    assert_names(out, 24, 10)
    assert printed("tune", "blips", "blips", *SMALL, f"--storage={url}", "--dry-run") == out
    assert list(tmp_path.iterdir()) == []


def test_short_forms_of_counts_and_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--horizon=1e3,2k", "--trials=1e1", "--replications=0.1k", "--arms=1", "--set=every=1.5k"]
    assert run(["tune", "blips", *words, "--dry-run", "--json"]) == 0
    captured = capsys.readouterr()
    plans = json.loads(captured.out)["studies"]
    assert [(plan["trials"], plan["replications"]) for plan in plans] == [(10, 100)] * 2
    assert [plan["steps"] % 1000 for plan in plans] == [0, 0]
    one_arm, beyond = captured.err.splitlines()
    assert_names(one_arm, "blips", "1 arm")
    assert_names(beyond, "blips", "every", "1,500", "1,000")


def test_options_reach_the_study(url: str) -> None:
    problem = ["--policy=d-ucb", "--range=gamma=0.9:0.999", "--fix=xi=0.5", "--set=every=10%", "--noise=laplace"]
    search = ["--sampler=random", "--pruner=race", "--objective=cvar:0.9", "--seed=3", "--name=mine <b>"]
    printed("tune", "blips", *SMALL, *problem, *search, f"--storage={url}", "--quiet")
    study = optuna.load_study(storage=url, study_name="mine <b>")
    spec = TUNE.read_spec(study)
    assert spec is not None
    assert spec.policy == "d-ucb"
    assert spec.fixed == {"xi": 0.5}
    assert spec.settings == {"every": "10%", "noise": "laplace"}
    assert (spec.sampler, spec.pruner, spec.objective, spec.seed) == ("random", "race", "cvar:0.9", 3)
    for trial in study.get_trials():
        assert 0.001 * 0.999 <= trial.params["one_minus_gamma"] <= 0.1 * 1.001


def test_time_limit(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tune", "blips", *SMALL, f"--storage={url}", "--timeout=0"]) == 0
    err = capsys.readouterr().err
    assert "ravenlab export" not in err
    assert finished_trials(url) == {"raven-ucb/blips/T200/K3": []}
    assert run(["tune", "blips", *SMALL, f"--storage={url}", "--quiet"]) == 0


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["blips", "--horizon=100,"], ["--horizon", "''"]),
        (["blips", "--range=alpha0"], ["--range", "'alpha0'"]),
        (["blips", "--fix=alpha0=1", "--range=alpha0=1:2"], ["alpha0"]),
        (["blips", "--backend=dask"], ["--backend", "dask"]),
        (["blips", "--jobs=0"], ["jobs", "0"]),
        (["blips", "--timeout=soon"], ["--timeout", "soon"]),
        (["blips", "stationary", "--name=one"], ["--name", "2"]),
        (["blips", "--study=quick"], ["--study"]),
        (["--study=quick", "--trials=3"], ["--study", "--trials"]),
        (["--study=quick", "--set=every=5%"], ["--study", "--set"]),
        (["--study=quick", "--noise=laplace"], ["--study", "--noise"]),
        (["--study=quick", "--range=alpha0=1:2"], ["--study", "--range"]),
        (["--study=quick", "--fix=alpha0=1"], ["--study", "--fix"]),
        (["blips", "--storage=nowhere"], ["storage", "nowhere"]),
        (["blips", "--storage=sqlite:////no/such/folder/x.sqlite3"], ["/no/such/folder"]),
    ],
)
def test_invalid_input_is_one_line(words: list[str], names: list[str], here: Path) -> None:
    assert_names(refused("tune", *words), *names)
    assert list(here.iterdir()) == []


OPTUNA_COMMANDS = """
import sys
from optuna.cli import main
url = sys.argv[1]
for words in (["studies"], ["best-trial", "--study-name", "raven-ucb/blips/T200/K3", "-f", "json"]):
    sys.argv = ["optuna", *words, "--storage", url]
    assert main() == 0
    print("end of", words[0])
"""
"""A separate process, since Optuna's command changes the handlers of the root logger."""


def test_tools_of_optuna_read_the_result(url: str) -> None:
    assert run(["tune", "blips", *SMALL, f"--storage={url}", "--quiet"]) == 0
    done = python("-c", OPTUNA_COMMANDS, url)
    assert done.returncode == 0, done.stderr
    listed, best = done.stdout.split("end of studies")
    assert "raven-ucb/blips/T200/K3" in listed
    assert "alpha0" in best
    frame = optuna.load_study(storage=url, study_name="raven-ucb/blips/T200/K3").trials_dataframe()
    assert len(frame) == 24
    assert {"user_attrs_stderr", "user_attrs_replications", "user_attrs_seconds", "params_alpha0"} <= set(frame.columns)
    assert (frame["state"] == "COMPLETE").all()


def test_api_gives_the_same_result(url: str) -> None:
    recommendation = ravenlab.tune(
        "blips", 200, arms=3, trials=24, batch=8, replications=10, selection=60, report=60, storage=url
    )
    (entry,) = json.loads(ravenlab.export(storage=url))["recommendations"]
    assert recommendation.as_object().items() <= entry.items()
    assert ravenlab.export(recommendation) == ravenlab.export([recommendation]) == ravenlab.export(storage=url)
    policy = ravenlab.RavenUCB(arms=3, **recommendation.params)
    assert policy.select() == 0
