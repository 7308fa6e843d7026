"""`ravenlab diagnose`: output, files, and invalid data."""

import json
from pathlib import Path

import numpy as np
import pandas
import pytest

import ravenlab
from ravenlab.tuning.cli.app import run
from tests.command import printed, refused
from tests.messages import assert_names


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    rows = np.random.default_rng(0).normal(size=(600, 3)) * 0.2 + np.linspace(0, 1, 600)[:, None] * [1.0, 0.5, -0.5]
    path = tmp_path / "mine.csv"
    np.savetxt(path, rows, delimiter=",", header="a,b,<script>c", comments="", fmt="%.4f")
    return path


def test_prints_diagnosis_and_writes_page_and_study(trace: Path, tmp_path: Path) -> None:
    page, study = tmp_path / "diagnosis.html", tmp_path / "proposed.toml"
    out = printed("diagnose", str(trace), "-o", str(page), "--study-file", str(study), "--halves", "2")
    assert_names(out, "incremental-drift", "2 of 2")
    assert run(["validate", str(study)]) == 0
    html = page.read_text(encoding="utf-8")
    assert "incremental-drift" in html
    assert "<script>c" not in html
    assert "http://" not in html.split("<script", 1)[0]


def test_json_is_complete(trace: Path) -> None:
    diagnosis = json.loads(printed("diagnose", str(trace), "--json", "--halves", "0", "--horizon", "5000"))
    assert diagnosis["kinds"] == ["incremental-drift"]
    assert "horizon = 5000" in diagnosis["study"]
    assert len(diagnosis["findings"]) == 8


def test_ends_in_parameters_that_are_checked_on_the_trace(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    levels = np.repeat(rng.uniform(0.3, 0.8, (6, 4)), 500, axis=0)
    path = tmp_path / "jumps.csv"
    np.savetxt(path, rng.normal(levels, 0.2), delimiter=",", header="a,b,c,d", comments="", fmt="%.4f")
    diagnosis = json.loads(printed("diagnose", str(path), "--json", "--halves", "0"))
    assert diagnosis["kinds"] == ["localized-jump"]
    answer, check = diagnosis["recommendation"], diagnosis["check"]
    assert (answer["scenario"], answer["horizon"], answer["arms"]) == ("localized-jump", 3000, 4)
    assert answer["settings"]["mean_low"] == diagnosis["base"]["mean_low"]
    assert sorted(answer["params"]) == ["alpha0", "beta0", "epsilon", "unit"]
    assert check["regret"] < check["defaults"]
    assert "Check on windows of" in printed("diagnose", str(path), "--halves", "0")
    costs = json.loads(printed("diagnose", str(path), "--json", "--halves", "0", "--minimize"))
    assert costs["check"]["regret"] != check["regret"]
    assert costs["base"]["mean_high"] < 0.0  # diagnosed as rewards, which are negative costs
    assert costs["base"] == ravenlab.diagnose(path, minimize=True, halves=0).to_dict()["base"]


def test_binary_costs_stay_binary() -> None:
    costs = (np.random.default_rng(1).random((2000, 3)) < np.array([0.1, 0.3, 0.4])).astype(float)
    costs[:5, 0] = np.nan
    base = ravenlab.diagnose(costs, minimize=True, halves=0).to_dict()
    assert base["noise"] == "bernoulli"
    assert base["base"] == ravenlab.diagnose(1.0 - costs, halves=0).to_dict()["base"]


def test_the_kind_with_the_largest_expected_regret_gives_the_parameters(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    steps = np.arange(2000)[:, None]
    levels = 0.1 * np.sin(2 * np.pi * steps / 400 + np.arange(3)) + np.repeat(rng.uniform(0, 1, (8, 3)), 250, axis=0)
    path, page = tmp_path / "both.csv", tmp_path / "diagnosis.html"
    np.savetxt(path, rng.normal(levels, 0.2), delimiter=",", header="a,b,c", comments="", fmt="%.4f")
    diagnosis = json.loads(printed("diagnose", str(path), "--json", "--halves", "0", "-o", str(page)))
    assert sorted(diagnosis["kinds"]) == ["localized-jump", "periodic"]
    answer = diagnosis["recommendation"]
    settings = {**diagnosis["base"], "noise": diagnosis["noise"]}
    laws = {
        finding["kind"]: ravenlab.recommend(
            finding["kind"], 2000, arms=3, settings={**settings, **finding["settings"]}, search=False
        )
        for finding in diagnosis["findings"]
        if finding["found"]
    }
    assert answer["scenario"] == max(laws, key=lambda kind: laws[kind].regret.mean)
    assert answer["params"] == laws[answer["scenario"]].params
    assert answer["kind"] == "extrapolated"
    html = page.read_text(encoding="utf-8")
    assert 'id="parameters"' in html
    assert "Check on windows of" in html


def test_reads_a_log(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    lines = [f"{t},{'xy'[rng.integers(2)]},{rng.normal() + t / 500:.4f}" for t in range(2000)]
    path = tmp_path / "log.csv"
    path.write_text("step,arm,reward\n" + "\n".join(lines) + "\n")
    from_csv = printed("diagnose", str(path), "--halves", "0")
    assert_names(from_csv, "incremental-drift")
    pandas.read_csv(path).to_parquet(tmp_path / "log.parquet")
    assert (
        printed("diagnose", str(tmp_path / "log.parquet"), "--halves", "0").replace("log.parquet", "log.csv").split()
        == from_csv.split()
    )


def test_too_few_rows_are_inconclusive(tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    path.write_text("a,b\n" + "1,2\n" * 50)
    page, study = tmp_path / "few.html", tmp_path / "proposed.toml"
    assert_names(printed("diagnose", str(path), "-o", str(page), "--study-file", str(study)), 50)
    assert not study.exists()
    assert_names(page.read_text(encoding="utf-8"), 50)
    diagnosis = json.loads(printed("diagnose", str(path), "--json"))
    assert (diagnosis["kinds"], diagnosis["study"]) == ([], "")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a;b\n1;x\n", "'x'"),
        ("a,b\n1,2,3\n", "3"),
        ("a,b\n1,x\n", "'x'"),
        ("step,arm,reward\n1,a\n", "2"),
        ("step,arm,reward\n1,a,much\n", "'much'"),
        ("step,arm,reward\n1,a,2\n", "2"),
        ("", "empty"),
    ],
)
def test_invalid_files_are_one_line(text: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    assert_names(refused("diagnose", str(path)), name)


def test_missing_file(tmp_path: Path) -> None:
    assert_names(refused("diagnose", str(tmp_path / "none.csv")), tmp_path / "none.csv")
