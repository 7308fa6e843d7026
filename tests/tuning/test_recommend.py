"""`ravenlab recommend`: exact, interpolated, extrapolated, or the command that would settle it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.said import refused
from tests.studies.made import recommendation, stored
from tuning.cli import run

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def storage(tmp_path: Path) -> str:
    return stored(
        tmp_path / "s.sqlite3",
        recommendation(params={"alpha0": 1.0, "beta0": 2.0, "epsilon": 0.1}),
        recommendation(horizon=100_000, params={"alpha0": 4.0, "beta0": 2.0, "epsilon": 0.1}),
    )


def test_exact(storage: str, capsys: Captured) -> None:
    words = ["recommend", "variance-drift", "--horizon", "1_000", "--storage", storage]
    assert run([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["kind"], found["command"]) == ("exact", None)
    assert found["regret"] == {"mean": 41.5, "low": 40.25, "high": 42.75, "replications": 2000}
    assert run(words) == 0
    out = capsys.readouterr().out
    assert "exact" in out
    assert "Mean regret 41.5" in out


def test_interpolated(storage: str, capsys: Captured) -> None:
    words = ["recommend", "variance-drift", "--horizon", "10000", "--storage", storage]
    assert run([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["kind"] == "interpolated"
    assert found["params"]["alpha0"] == pytest.approx(2.0)
    assert found["regret"] is None
    assert found["command"] == f"ravenlab tune variance-drift --horizon 10000 --storage {storage}"
    assert found["studies"] == ["raven-ucb/variance-drift/T1000/K10", "raven-ucb/variance-drift/T100000/K10"]
    assert run(words) == 0
    out = capsys.readouterr().out
    assert "Interpolated over log horizon between T = 1,000 and T = 100,000" in out
    assert f"\n  {found['command']}\n" in out
    assert "95 %" not in out


def test_extrapolated(storage: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAVENLAB_STORAGE", storage)
    assert run(["recommend", "variance-drift", "--horizon", "300"]) == 0
    out = capsys.readouterr().out
    assert "Extrapolated: these are the parameters for T = 1,000" in out
    assert "\n  ravenlab tune variance-drift --horizon 300\n" in out


@pytest.mark.parametrize(
    ("words", "fragment"),
    [
        (["blips", "--horizon", "3000"], "run: ravenlab tune blips --horizon 3000 --storage"),
        (["variance-drift", "--horizon", "3000", "--arms", "5"], "(there are some with 10 arms); run: ravenlab tune"),
        (["variance-drift", "--horizon", "3000", "--policy", "ucb1"], "--policy ucb1"),
        (["blip", "--horizon", "3000"], "did you mean 'blips'"),
        (["blips", "--horizon", "many"], "--horizon must be a whole number"),
        (["blips", "--horizon", "-5"], "horizon"),
        (["blips"], "--horizon"),
    ],
)
def test_nothing_to_answer_with(words: list[str], fragment: str, storage: str) -> None:
    assert fragment in refused("recommend", *words, "--storage", storage)


def test_no_storage_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAVENLAB_STORAGE", raising=False)
    assert "run: ravenlab tune blips --horizon 3000" in refused("recommend", "blips", "--horizon", "3000")
    assert list(tmp_path.iterdir()) == []
