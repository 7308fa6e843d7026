"""`ravenlab recommend`: exact, interpolated and extrapolated parameters, and missing ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command import refused
from tests.messages import assert_names
from tests.studies.examples import make_recommendation, store_recommendations
from tuning.cli.app import run

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def storage(tmp_path: Path) -> str:
    return store_recommendations(
        tmp_path / "s.sqlite3",
        make_recommendation(params={"alpha0": 1.0, "beta0": 2.0, "epsilon": 0.1}),
        make_recommendation(horizon=100_000, params={"alpha0": 4.0, "beta0": 2.0, "epsilon": 0.1}),
    )


def test_exact_parameters(storage: str, capsys: Captured) -> None:
    words = ["recommend", "variance-drift", "--horizon", "1_000", "--storage", storage]
    assert run([*words, "--json"]) == 0
    recommendation = json.loads(capsys.readouterr().out)
    assert (recommendation["kind"], recommendation["command"]) == ("exact", None)
    assert recommendation["regret"] == {"mean": 41.5, "low": 40.25, "high": 42.75, "replications": 2000}
    assert run(words) == 0
    out = capsys.readouterr().out
    assert "Exact" in out
    assert_names(out, "41.5")


def test_interpolated_parameters(storage: str, capsys: Captured) -> None:
    words = ["recommend", "variance-drift", "--horizon", "10000", "--storage", storage]
    assert run([*words, "--json"]) == 0
    recommendation = json.loads(capsys.readouterr().out)
    assert recommendation["kind"] == "interpolated"
    assert recommendation["params"]["alpha0"] == pytest.approx(2.0)
    assert recommendation["regret"] is None
    assert recommendation["command"] == f"ravenlab tune variance-drift --horizon 10000 --storage {storage}"
    assert recommendation["studies"] == ["raven-ucb/variance-drift/T1000/K10", "raven-ucb/variance-drift/T100000/K10"]
    assert run(words) == 0
    out = capsys.readouterr().out
    assert_names(out, "1000", "100000")
    assert f"\n  {recommendation['command']}\n" in out
    assert "95 %" not in out


def test_extrapolated_parameters(storage: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAVENLAB_STORAGE", storage)
    assert run(["recommend", "variance-drift", "--horizon", "300"]) == 0
    out = capsys.readouterr().out
    assert_names(out, 1000, "ravenlab tune variance-drift --horizon 300")
    assert run(["recommend", "variance-drift", "--horizon", "300", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "extrapolated"


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["blips", "--horizon", "3000"], ["ravenlab tune blips --horizon 3000 --storage"]),
        (["variance-drift", "--horizon", "3000", "--arms", "5"], ["10", "ravenlab tune"]),
        (["variance-drift", "--horizon", "3000", "--policy", "ucb1"], ["--policy ucb1"]),
        (["blip", "--horizon", "3000"], ["'blips'"]),
        (["blips", "--horizon", "many"], ["--horizon"]),
        (["blips", "--horizon", "-5"], ["horizon"]),
        (["blips"], ["--horizon"]),
    ],
)
def test_missing_recommendation_is_explained(words: list[str], names: list[str], storage: str) -> None:
    assert_names(refused("recommend", *words, "--storage", storage), *names)


def test_missing_storage_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAVENLAB_STORAGE", raising=False)
    assert_names(refused("recommend", "blips", "--horizon", "3000"), "ravenlab tune blips --horizon 3000")
    assert list(tmp_path.iterdir()) == []
