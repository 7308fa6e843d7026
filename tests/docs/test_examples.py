"""The scripts in docs/examples run from top to bottom, with small budgets; the service survives being killed."""

from __future__ import annotations

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
from tests.dashboards.served import Served, listening
from tests.project import DOCS

EXAMPLES = DOCS / "examples"
SCRIPTS = ("tune.py", "custom_scenario.py", "read_results.py", "service.py")
BROUGHT = ("falling_greedy.py", "fast_greedy.py", "night_shift.py")
"""Not scripts: tests/tuning/cli/test_plugins.py brings them."""


def test_every_example_is_known() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == {*SCRIPTS, *BROUGHT}


@pytest.mark.usefixtures("plugins_unloaded")
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EXAMPLE_TRIALS", "4")
    monkeypatch.setenv("EXAMPLE_WORLDS", "4")
    monkeypatch.setattr(sys, "argv", [name])
    monkeypatch.setattr(sys, "path", list(sys.path))
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    sys.modules.pop("night_shift", None)
    assert len(capsys.readouterr().out.splitlines()) >= 1
    assert (EXAMPLES / name).read_text(encoding="utf-8").count("\n# %%") >= 5


def serving(folder: Path) -> AbstractContextManager[Served]:
    """The service in a process of its own."""
    return listening([sys.executable, EXAMPLES / "service.py", "serve", "0"], folder)


def asked(port: int, path: str, **content: Any) -> dict[str, Any]:
    with urlopen(Request(f"http://127.0.0.1:{port}{path}", json.dumps(content).encode()), timeout=30) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


def paid(number: int, arm: int) -> float:
    return 0.2 * (arm + 1) + 0.01 * (number * 7 % 20)


def exported(folder: Path) -> None:
    """An export whose policy draws at random, so that its generator matters."""
    entry = {
        "study": "softmax/blips/T1000/K4",
        "policy": "softmax",
        "scenario": "blips",
        "horizon": 1000,
        "arms": 4,
        "params": {"tau": 0.1},
    }
    text = json.dumps({"schema": 1, "recommendations": [entry]})
    (folder / "service-policy.json").write_text(text, encoding="utf-8")


def without_a_kill(folder: Path, requests: int) -> tuple[list[int], dict[str, Any]]:
    """What the same policy does in one go, without a service: its arms and its last state."""
    policy: Any = ravenlab.Policy.load(folder / "service-policy.json", seed=0)
    arms = []
    for number in range(requests):
        arms.append(policy.select())
        policy.update(arms[-1], paid(number, arms[-1]))
    return arms, policy.state()


@pytest.mark.parametrize("kills", [1, pytest.param(30, marks=pytest.mark.stress)])
def test_the_service_goes_on_after_a_kill_as_if_nothing_had_been(kills: int, tmp_path: Path) -> None:
    """Killed with −9 at random moments while it is being asked, and asked again what it did not answer."""
    exported(tmp_path)
    luck = random.Random(kills)
    requests = 20 * (kills + 1)
    steps = [(number, path) for number in range(requests) for path in ("/choose", "/reward")]
    arms: dict[int, int] = {}
    done = killed = 0
    while done < len(steps):
        with serving(tmp_path) as (port, _, process):
            killing = threading.Timer(luck.random() * 0.02, process.kill)
            if killed < kills:
                killing.start()
            while done < len(steps):
                number, path = steps[done]
                more = {} if path == "/choose" else {"value": paid(number, arms[number])}
                try:
                    answer = asked(port, path, request=number, **more)
                except (URLError, HTTPException, OSError):
                    assert killed < kills, "it ended by itself"
                    killed += 1
                    break
                if path == "/choose":
                    arms[number] = answer["arm"]
                done += 1
            killing.cancel()
    wanted, state = without_a_kill(tmp_path, requests)
    saved = json.loads((tmp_path / "service-state.json").read_text(encoding="utf-8"))
    assert killed == kills
    assert [arms[number] for number in range(requests)] == wanted
    assert saved == {"policy": json.loads(json.dumps(state)), "waiting": {}}


def test_the_service_knows_a_request_again_and_refuses_a_bad_reward(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    exported(tmp_path)
    found = runpy.run_path(str(EXAMPLES / "service.py"), run_name="read")
    server = found["serving"](0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        arm = asked(server.server_port, "/choose", request="a")["arm"]
        assert asked(server.server_port, "/choose", request="a")["arm"] == arm
        with pytest.raises(URLError, match="400"):
            asked(server.server_port, "/reward", request="a", value="much")
        assert asked(server.server_port, "/reward", request="a", value=1.0) == {"taken": True}
    finally:
        server.shutdown()
        server.server_close()
