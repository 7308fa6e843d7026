"""The scripts in docs/examples run with small budgets; the service resumes after being killed."""

import json
import random
import runpy
import sys
import threading
from contextlib import AbstractContextManager
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest

import ravenlab
from tests.dashboards.dashboard_process import RunningServer, start_server
from tests.project import DOCS

EXAMPLES = DOCS / "examples"
SCRIPTS = ("tune.py", "custom_scenario.py", "read_results.py", "service.py")
PLUGINS = ("falling_greedy.py", "fast_greedy.py", "night_shift.py")
"""Plugins, which tests/tuning/cli/test_plugins.py loads."""


def test_all_examples_are_tested() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == {*SCRIPTS, *PLUGINS}


@pytest.mark.usefixtures("plugins_unloaded")
@pytest.mark.parametrize("name", SCRIPTS)
def test_script_runs(
    name: str, here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EXAMPLE_TRIALS", "4")
    monkeypatch.setenv("EXAMPLE_WORLDS", "4")
    monkeypatch.setattr(sys, "argv", [name])
    monkeypatch.setattr(sys, "path", list(sys.path))
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    sys.modules.pop("night_shift", None)
    assert len(capsys.readouterr().out.splitlines()) >= 1
    assert (EXAMPLES / name).read_text(encoding="utf-8").count("\n# %%") >= 5


def start_service(folder: Path) -> AbstractContextManager[RunningServer]:
    return start_server([sys.executable, EXAMPLES / "service.py", "serve", "0"], folder)


def post(port: int, path: str, **content: Any) -> dict[str, Any]:
    with urlopen(Request(f"http://127.0.0.1:{port}{path}", json.dumps(content).encode()), timeout=30) as answer:
        response: dict[str, Any] = json.load(answer)
    return response


def reward(number: int, arm: int) -> float:
    return 0.2 * (arm + 1) + 0.01 * (number * 7 % 20)


def write_policy(folder: Path) -> None:
    """Write an export whose policy draws at random, so that its generator is part of the state."""
    entry = {
        "study": "softmax/blips/T1000/K4",
        "policy": "softmax",
        "scenario": "blips",
        "horizon": 1000,
        "arms": 4,
        "feedback": "rewards",
        "params": {"tau": 0.1},
    }
    text = json.dumps({"schema": 2, "recommendations": [entry]})
    (folder / "service-policy.json").write_text(text, encoding="utf-8")


def run_without_service(folder: Path, requests: int) -> tuple[list[int], dict[str, Any]]:
    """Return the arms and the last state of the same policy without a service."""
    policy: Any = ravenlab.Policy.load(folder / "service-policy.json", seed=0)
    arms = []
    for number in range(requests):
        arms.append(policy.select())
        policy.update(arms[-1], reward(number, arms[-1]))
    return arms, policy.state()


@pytest.mark.parametrize("kills", [1, pytest.param(30, marks=pytest.mark.stress)])
def test_killed_service_resumes_with_the_same_choices(kills: int, tmp_path: Path) -> None:
    """The service is killed (SIGKILL) at random moments, and unanswered requests are repeated."""
    write_policy(tmp_path)
    rng = random.Random(kills)
    requests = 20 * (kills + 1)
    steps = [(number, path) for number in range(requests) for path in ("/choose", "/reward")]
    arms: dict[int, int] = {}
    done = killed = 0
    while done < len(steps):
        with start_service(tmp_path) as (port, _, process):
            timer = threading.Timer(rng.random() * 0.02, process.kill)
            if killed < kills:
                timer.start()
            while done < len(steps):
                number, path = steps[done]
                extra = {} if path == "/choose" else {"value": reward(number, arms[number])}
                try:
                    answer = post(port, path, request=number, **extra)
                except (URLError, HTTPException, OSError):
                    assert killed < kills, "the service ended without being killed"
                    killed += 1
                    break
                if path == "/choose":
                    arms[number] = answer["arm"]
                done += 1
            timer.cancel()
    expected, state = run_without_service(tmp_path, requests)
    saved = json.loads((tmp_path / "service-state.json").read_text(encoding="utf-8"))
    assert killed == kills
    assert [arms[number] for number in range(requests)] == expected
    assert saved == {"policy": json.loads(json.dumps(state)), "waiting": {}}


def test_repeated_requests_and_invalid_rewards(here: Path) -> None:
    write_policy(here)
    module = runpy.run_path(str(EXAMPLES / "service.py"), run_name="read")
    server = module["serving"](0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        arm = post(server.server_port, "/choose", request="a")["arm"]
        assert post(server.server_port, "/choose", request="a")["arm"] == arm
        with pytest.raises(URLError, match="400"):
            post(server.server_port, "/reward", request="a", value="much")
        assert post(server.server_port, "/reward", request="a", value=1.0) == {"taken": True}
    finally:
        server.shutdown()
        server.server_close()
