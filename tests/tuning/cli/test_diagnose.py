"""`ravenlab diagnose`: output, files, and invalid data."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas
import pytest

from tests.command import refused
from tests.messages import assert_names
from tuning.cli.app import run


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    rows = np.random.default_rng(0).normal(size=(600, 3)) * 0.2 + np.linspace(0, 1, 600)[:, None] * [1.0, 0.5, -0.5]
    place = tmp_path / "mine.csv"
    np.savetxt(place, rows, delimiter=",", header="a,b,<script>c", comments="", fmt="%.4f")
    return place


def test_prints_diagnosis_and_writes_page_and_study(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, study = tmp_path / "diagnosis.html", tmp_path / "proposed.toml"
    assert run(["diagnose", str(trace), "-o", str(page), "--study-file", str(study), "--halves", "2"]) == 0
    said = capsys.readouterr().out
    assert_names(said, "incremental-drift")
    assert_names(said, "2 of 2")
    assert run(["validate", str(study)]) == 0
    html = page.read_text(encoding="utf-8")
    assert "incremental-drift" in html
    assert "<script>c" not in html
    assert "http://" not in html.split("<script", 1)[0]


def test_json_is_complete(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["diagnose", str(trace), "--json", "--halves", "0", "--horizon", "5000"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["kinds"] == ["incremental-drift"]
    assert "horizon = 5000" in told["study"]
    assert len(told["findings"]) == 7


def test_reads_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(1)
    lines = [f"{t},{'xy'[rng.integers(2)]},{rng.normal() + t / 500:.4f}" for t in range(2000)]
    place = tmp_path / "log.csv"
    place.write_text("step,arm,reward\n" + "\n".join(lines) + "\n")
    assert run(["diagnose", str(place), "--halves", "0"]) == 0
    said = capsys.readouterr().out
    assert_names(said, "incremental-drift")
    pandas.read_csv(place).to_parquet(tmp_path / "log.parquet")
    assert run(["diagnose", str(tmp_path / "log.parquet"), "--halves", "0"]) == 0
    assert capsys.readouterr().out.replace("log.parquet", "log.csv").split() == said.split()


def test_too_few_rows_are_inconclusive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "few.csv"
    place.write_text("a,b\n" + "1,2\n" * 50)
    page, study = tmp_path / "few.html", tmp_path / "proposed.toml"
    assert run(["diagnose", str(place), "-o", str(page), "--study-file", str(study)]) == 0
    assert_names(capsys.readouterr().out, 50)
    assert not study.exists()
    assert_names(page.read_text(encoding="utf-8"), 50)
    assert run(["diagnose", str(place), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["kinds"], found["study"]) == ([], "")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a;b\n1;2\n", "semicolons"),
        ("a,b\n1,2,3\n", "3"),
        ("a,b\n1,x\n", "'x'"),
        ("step,arm,reward\n1,a\n", "2"),
        ("step,arm,reward\n1,a,much\n", "'much'"),
        ("step,arm,reward\n1,a,2\n", "2"),
        ("", "empty"),
    ],
)
def test_invalid_files_are_one_line(text: str, line: str, tmp_path: Path) -> None:
    place = tmp_path / "bad.csv"
    place.write_text(text)
    assert_names(refused("diagnose", str(place)), line)


def test_missing_file(tmp_path: Path) -> None:
    assert_names(refused("diagnose", str(tmp_path / "none.csv")), tmp_path / "none.csv")
