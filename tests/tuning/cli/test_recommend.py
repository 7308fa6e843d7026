"""`ravenlab recommend`: stored studies, laws, exports, and problems without an answer."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ravenlab
from ravenlab.tuning import short_search
from ravenlab.tuning.cli.app import run
from tests.command import printed, refused
from tests.docs.substitutions import SMALL_SEARCHES
from tests.messages import assert_names
from tests.studies.examples import make_recommendation, store_recommendations

Captured = pytest.CaptureFixture[str]
RARE = ["--noise", "bernoulli", "--set", "mean_low=0.01", "--set", "mean_high=0.06"]
JUMPS = ["recommend", "localized-jump", "--horizon", "10k", "--set", "every=5%", "--set", "variance_high=0.09"]

pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture(autouse=True)
def _small_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit, count in SMALL_SEARCHES.items():
        monkeypatch.setattr(short_search, limit, count)


def test_a_stored_study_is_used(tmp_path: Path) -> None:
    storage = store_recommendations(tmp_path / "s.sqlite3", make_recommendation(params={"alpha0": 1.0}))
    words = ["recommend", "variance-drift", "--horizon", "1_000", "--storage", storage]
    answer = json.loads(printed(*words, "--json"))
    assert (answer["kind"], answer["study"], answer["command"]) == (
        "stored",
        "raven-ucb/variance-drift/T1000/K10",
        None,
    )
    assert answer["regret"] == {"mean": 41.5, "low": 40.25, "high": 42.75}
    assert_names(printed(*words), "41.5", "raven-ucb/variance-drift/T1000/K10")
    answer = json.loads(printed(*words, "--arms", "20", "--json"))
    assert (answer["kind"], answer["study"]) == ("interpolated", None)
    assert answer["command"] == f"ravenlab tune variance-drift --horizon 1000 --arms 20 --storage {storage}"


def test_the_law_answers_without_a_storage(tmp_path: Path) -> None:
    answer = json.loads(printed(*JUMPS, "--json"))
    assert (answer["kind"], answer["outside"]) == ("interpolated", [])
    assert sorted(answer["params"]) == ["alpha0", "beta0", "epsilon"]
    assert answer["regret"]["low"] < answer["regret"]["mean"] < answer["regret"]["high"]
    assert answer["better_policy"]["policy"] in ("d-raven", "sw-raven")
    assert answer["better_policy"]["regret"]["mean"] < 0.9 * answer["regret"]["mean"]
    command = "ravenlab tune localized-jump --horizon 10000 --set every=5% --set variance_high=0.09"
    assert answer["command"] == command
    out = printed(*JUMPS)
    assert f"\n  {command}\n" in out
    assert answer["better_policy"]["policy"] in out
    assert list(tmp_path.iterdir()) == []


def test_the_law_states_another_scale_of_the_rewards() -> None:
    words = ["recommend", "stationary", "--horizon", "3000"]
    out = printed(*words, "--set", "mean_high=4", "--set", "variance_low=0.16", "--set", "variance_high=1.44")
    assert "The scale of the rewards is" in out
    assert "times that of the scenario at its default settings" in out
    assert "scale" not in printed(*words)


def test_python_gives_the_same_answer() -> None:
    answer = json.loads(printed(*JUMPS, "--json"))
    result = ravenlab.recommend("localized-jump", 10_000, settings={"every": "5%", "variance_high": 0.09})
    assert {**result.as_object(), "command": answer["command"]} == answer
    assert ravenlab.plot(result).data
    assert result.to_frame()["kind"].tolist() == ["interpolated"]


def test_extrapolation_is_announced() -> None:
    assert "Warning: extrapolated" in printed("recommend", "blips", "--horizon", "200000", "--no-search")


CLICKS = ["recommend", "stationary", "--horizon", "400", "--arms", "3", "--noise", "bernoulli"]


def test_a_problem_without_a_law_is_searched(tmp_path: Path, capsys: Captured) -> None:
    assert run([*CLICKS, "--jobs", "1"]) == 0
    shown = capsys.readouterr()
    assert_names(shown.err, "no law for Bernoulli rewards", "64 candidates", "about 5.0 s")
    assert_names(shown.out, "held-out worlds", "search of 64 candidates", "tune stationary --horizon 400 --arms 3")
    assert run([*CLICKS, "--jobs", "2", "--json", "--quiet"]) == 0
    shown = capsys.readouterr()
    answer = json.loads(shown.out)
    assert (answer["kind"], answer["study"], shown.err) == ("searched", None, "")
    assert answer["command"] == "ravenlab tune stationary --horizon 400 --arms 3 --noise bernoulli"
    result = ravenlab.recommend("stationary", 400, arms=3, settings={"noise": "bernoulli"}, jobs=1, progress=False)
    assert {**result.as_object(), "command": answer["command"]} == answer
    assert "a short search" in result._repr_html_()
    assert run([*CLICKS, "--quiet", "--format", "json", "-o", "clicks.json"]) == 0
    policy = ravenlab.RavenUCB.load("clicks.json", scenario="stationary", horizon=400)
    assert {name: policy.values[name] for name in answer["params"]} == answer["params"]
    assert [path.name for path in tmp_path.iterdir()] == ["clicks.json"]


def test_a_problem_beyond_the_range_of_the_law_is_searched() -> None:
    words = ["recommend", "stationary", "--horizon", "400", "--arms", "3", "--set", "variance_low=0.0001"]
    assert_names(
        printed(*words, "--set", "variance_high=0.0001"), "search of 64 candidates", "0.02 is outside 0.149 to 1.34"
    )


def test_an_export_can_be_loaded(tmp_path: Path) -> None:
    printed(*JUMPS, "--format", "json", "-o", "law.json")
    params = json.loads(printed(*JUMPS, "--json"))["params"]
    policy = ravenlab.RavenUCB.load("law.json", scenario="localized-jump", horizon=10_000)
    assert {name: policy.values[name] for name in params} == params
    assert "localized" in printed(*JUMPS, "--format", "latex")


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["random-walk", "--horizon", "3000"], ["random-walk", "ravenlab tune random-walk --horizon 3000"]),
        (["blips", "--horizon", "3000", "--policy", "ucb1"], ["ravenlab tune blips --horizon 3000 --policy ucb1"]),
        (["stationary", "--horizon", "50", "--arms", "4"], ["300", "ravenlab tune stationary --horizon 50 --arms 4"]),
        (["blips", "--horizon", "3000", "--set", "every=2", "--set", "lasting=1"], ["T / every", "50"]),
        (["blips", "--horizon", "3000", "--noise", "bernoulli"], ["ravenlab tune", "--noise bernoulli"]),
        (["stationary", "--horizon", "3000", *RARE], ["thompson or raven-ucb", "ravenlab tune stationary"]),
        (["stationary", "--horizon", "3000", "--noise", "bernoulli"], ["raven-auto", "ravenlab tune stationary"]),
        (["blip", "--horizon", "3000"], ["'blips'"]),
        (["blips", "--horizon", "3000", "--arms", "1"], ["arms"]),
        (["blips", "--horizon", "many"], ["--horizon"]),
        (["blips", "--horizon", "-5"], ["horizon"]),
        (["blips", "--horizon", "3000", "--set", "lasting=-1"], ["lasting"]),
        (["blips", "--horizon", "3000", "-o", "x.json"], ["--format"]),
        (["blips"], ["--horizon"]),
        ([], ["scenario", "file", "difference"]),
        (["blips", "--horizon", "3000", "--sd", "1"], ["--difference"]),
        (["blips", "--horizon", "3000", "--difference", "1"], ["sd", "rate"]),
        (["blips", "--horizon", "3000", "--difference", "x"], ["--difference", "'x'"]),
        (["blips", "--horizon", "3000", "--minimize"], ["--minimize", "file"]),
        (["missing.csv"], ["missing.csv", "--no-search"]),
    ],
)
def test_problems_without_an_answer_are_explained(words: list[str], names: list[str]) -> None:
    assert_names(refused("recommend", *words, "--no-search"), *names)


def test_the_law_needs_no_heavy_imports() -> None:
    code = (
        "import sys; from ravenlab.tuning.cli.app import run; run(['recommend', 'blips', '--horizon', '3000']);"
        "print(sorted({'numba', 'optuna', 'pandas', 'scipy', 'sqlalchemy', 'plotly'} & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[-1] == "[]"


def test_a_description_in_plain_quantities_is_answered() -> None:
    words = ["recommend", "--arms", "3", "--horizon", "400", "--difference", "3", "--sd", "8", "--changes", "4"]
    out = printed(*words, "--jobs", "1")
    assert_names(out, "Understood: 3 arms for 400 steps", "spread over 9", "vary by 8", "4 times", "are assumed")
    assert_names(out.lower(), "raven-auto, which", "sw-raven with", "d-raven with")
    assert_names(out, "--set mean_high=9.0", "--set variance_low=64.0", "--set every=80")
    words = ["recommend", "stationary", "--arms", "3", "--horizon", "400", "--difference", "2%", "--rate", "5%"]
    answer = json.loads(printed(*words, "--quiet", "--json"))
    assert answer["settings"] == {"noise": "bernoulli", "mean_low": 0.02, "mean_high": 0.08}
    described = ravenlab.recommend("stationary", 400, arms=3, difference=0.02, rate=0.05, progress=False)
    assert described.as_object() == {name: value for name, value in answer.items() if name != "command"}


def test_a_file_is_diagnosed_and_answered(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    costs = rng.normal([5.0, 6.0, 9.0], 2.0, (1500, 3))
    path = tmp_path / "costs.csv"
    path.write_text("a,b,c\n" + "\n".join(",".join(f"{cost:.3f}" for cost in row) for row in costs.tolist()))
    out = printed("recommend", "costs.csv", "--minimize")
    assert_names(out, "costs.csv is a trace of 1,500 steps and 3 arms; less is better", "search of 64 candidates")
    assert_names(
        out, "'a'", "keeps its state over 1,500 steps", "ravenlab tune --trace costs.csv --minimize --keep-state"
    )
    assert [item.name for item in tmp_path.iterdir()] == ["costs.csv"]
