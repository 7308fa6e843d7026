"""`ravenlab simulate`, `list` and the entry point: output, invalid input and interrupts."""

import json
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ravenlab.policies.engine.simulation import simulate
from ravenlab.tuning.cli.app import run
from tests.command import printed, refused
from tests.messages import assert_names
from tests.project import ROOT, environment

SMALL = ["--horizon", "200", "--arms", "4", "--replications", "3"]


def test_simulate_prints_one_json_object() -> None:
    words = ["--policy", "ucb1", "--param", "c=0.5", "--set", "every=5%", "--set", "lasting=2", "--noise", "laplace"]
    document = json.loads(printed("simulate", "blips", *SMALL, "--seed", "9", *words, "--json"))
    expected = simulate(
        "ucb1",
        "blips",
        horizon=200,
        arms=4,
        replications=3,
        seed=9,
        params={"c": 0.5},
        settings={"every": "5%", "lasting": 2, "noise": "laplace"},
    )
    assert document["params"] == {"c": 0.5}
    assert {key: document[key] for key in ("policy", "scenario", "horizon", "arms", "replications", "seed")} == {
        "policy": "ucb1",
        "scenario": "blips",
        "horizon": 200,
        "arms": 4,
        "replications": 3,
        "seed": 9,
    }
    assert document["regret"] == expected.summary()["regret"]
    assert set(document["suboptimal_pulls"]) == {"mean", "stderr"}
    assert "regret_constant" not in document


def test_one_replication_has_no_standard_error() -> None:
    assert (
        json.loads(printed("simulate", "stationary", "--horizon", "100", "--replications", "1", "--json"))["regret"][
            "stderr"
        ]
        is None
    )


def test_published_logistics_also_reports_regret_against_a_constant() -> None:
    words = ["--policy", "published-ucb1", "--horizon", "400", "--replications", "2", "--json"]
    document = json.loads(printed("simulate", "published-logistics", *words))
    assert document["arms"] == 100
    assert document["regret_constant"]["mean"] == pytest.approx(document["regret"]["mean"])


def test_simulate_prints_a_table() -> None:
    text = printed("simulate", "periodic", *SMALL)
    for word in ("raven-ucb", "periodic", "regret", "Suboptimal pulls", "T = 200", "alpha0 = 1"):
        assert word in text


def test_pulls_are_written_to_a_csv_file(tmp_path: Path) -> None:
    path = tmp_path / "pulls.csv"
    assert run(["simulate", "arm-churn", *SMALL, "--pulls", str(path)]) == 0
    lines = path.read_text().splitlines()
    assert lines[0] == "replication,step,arm"
    assert len(lines) == 1 + 3 * 200
    assert lines[1:5] == ["0,1,0", "0,2,1", "0,3,2", "0,4,3"]
    expected = simulate("raven-ucb", "arm-churn", horizon=200, arms=4, replications=3, pulls=True).pulls
    assert expected is not None
    assert [int(line.split(",")[2]) for line in lines[1:]] == expected.ravel().tolist()
    assert [file.name for file in tmp_path.iterdir()] == ["pulls.csv"]


@pytest.mark.parametrize("kind", ["scenarios", "policies"])
def test_lists_have_name_category_parameters_and_meaning(kind: str) -> None:
    rows = json.loads(printed("list", kind, "--json"))
    assert len(rows) >= 15
    for row in rows:
        assert row["name"]
        assert row["category"]
        assert row["meaning"]
        assert isinstance(row["parameters"], dict)
    assert rows[0]["name"] in printed("list", kind)


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["blip"], ["scenario", "'blip'", "'blips'"]),
        (["blips+nothing"], ["effect", "'nothing'"]),
        (["blips", "--policy", "ucb2"], ["policy", "'ucb2'", "'ucb1'"]),
        (["blips", "--horizon", "9"], ["horizon", "10", "9"]),
        (["blips", "--horizon", "-5"], ["horizon", "-5"]),
        (["blips", "--horizon", "many"], ["--horizon", "'many'"]),
        (["blips", "--arms", "0"], ["arms", "1", "0"]),
        (["blips", "--replications", "0"], ["replications", "1", "0"]),
        (["blips", "--seed", "-1"], ["seed", "0", "-1"]),
        (["blips", "--jobs", "0"], ["jobs", "1"]),
        (["blips", "--param", "alpha0=nan"], ["alpha0", "nan"]),
        (["blips", "--param", "alpha0=x"], ["alpha0", "'x'"]),
        (["blips", "--param", "alpha0"], ["--param", "name=value", "'alpha0'"]),
        (["blips", "--param", "=3"], ["--param", "name=value"]),
        (["blips", "--param", "alpha0=1", "--param", "alpha0=2"], ["alpha0 twice"]),
        (["blips", "--param", "alpha=1"], ["parameter", "'alpha0'"]),
        (["blips", "--param", "variance=other"], ["variance", "welford", "printed", "accumulated", "'other'"]),
        (["blips+localized-jump", "--set", "every=9"], ["ambiguous", "blips.every", "localized-jump.every"]),
        (["blips", "--horzon", "5"], ["--horzon", "--horizon"]),
        ([], ["SCENARIO"]),
    ],
)
def test_invalid_input_is_one_line(words: list[str], names: list[str]) -> None:
    assert_names(refused("simulate", *words), *names)


def test_unwritable_output_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "no" / "pulls.csv", tmp_path):
        assert_names(refused("simulate", "blips", *SMALL, "--pulls", str(path)), path)
    assert list(tmp_path.iterdir()) == []


def test_version() -> None:
    assert printed("--version").startswith("ravenlab 0.")


@pytest.mark.parametrize(
    ("signal_number", "delay"), [(signal.SIGINT, 0.3), (signal.SIGINT, 2.0), (signal.SIGTERM, 2.0)]
)
def test_interrupt_gives_exit_code_130(signal_number: signal.Signals, delay: float) -> None:
    code = "import ravenlab.tuning.cli.app as app; print('ready', flush=True); app.main()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "simulate", "delayed", "--replications", "100000", "--horizon", "20000"],
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(delay)
    process.send_signal(signal_number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("closed", ["0<&- 2>&-", "2>/dev/full"])
def test_messages_that_cannot_be_written_do_not_end_a_command(closed: str, tmp_path: Path) -> None:
    few = ["--horizon=20", "--arms=3", "--replications=2", "--jobs=1", "--trials=3", "--selection=3", "--report=3"]
    done = run_in_shell(["tune", "blips", *few, "--json"], closed, tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["recommendations"]


def test_errors_are_not_written_to_stdout_if_stderr_is_closed(tmp_path: Path) -> None:
    done = run_in_shell(["nonsense"], "2>&-", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")


def run_in_shell(words: list[str], redirection: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = f"{shlex.join([sys.executable, '-m', 'ravenlab', *words])} {redirection}"
    return subprocess.run(
        ["sh", "-c", command], cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
