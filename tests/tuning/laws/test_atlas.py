"""The atlas: settings are measured and resumed, and the shipped data file is that of the stored results."""

from __future__ import annotations

from pathlib import Path

import pytest

from policies import find_policy
from studies.laws.law import load_document, load_laws
from tools.atlas import FILES, current_check, read_records
from tuning.laws.document import summarize_check
from tuning.laws.measurement import Budget, Setting, measure_policy

SETTING = Setting("stationary", 0, 300, 3, {}, seed=1)
BUDGET = Budget(12, 12 * 300 * 10, finalists=3, selection_steps=3 * 300 * 20, report_steps=300 * 30, least_report=30)


def test_a_setting_is_measured_reproducibly() -> None:
    entry = measure_policy(SETTING, "raven-ucb", BUDGET, [])
    assert entry["worlds"] == [12, 20, 30]
    assert len(entry["trials"]["alpha0"]) == 12
    find_policy("raven-ucb").resolve(entry["params"], 3, 300)
    for name, value in entry["params"].items():
        low, high = entry["ranges"][name]
        assert low <= 1.05 * value
        assert high >= 0.95 * value
    mean, low, high = entry["regret"]
    assert low < mean < high
    assert measure_policy(SETTING, "raven-ucb", BUDGET, []) == entry


def test_an_incomplete_last_line_is_skipped(tmp_path: Path) -> None:
    lines = [
        '{"scenario":"blips","index":1}',
        '{"scenario":"stationary","index":1}',
        '{"scenario":"stationary","index":0}',
    ]
    path = tmp_path / "records.jsonl"
    path.write_text("\n".join([*lines, '{"scenario":"blips","ind']))
    assert [record["scenario"] for record in read_records(path)] == ["stationary", "stationary", "blips"]
    assert read_records(tmp_path / "missing.jsonl") == []


def test_the_data_file_belongs_to_the_stored_results() -> None:
    facts = load_document()["provenance"]
    for count, command in (("settings", "run"), ("survey", "survey"), ("regrets", "regret")):
        assert facts[count] == len(read_records(FILES[command]))
    check = current_check()
    assert len(check) == len(read_records(FILES["check"]))  # the laws are those that were checked
    assert summarize_check(check) == load_document()["check"]


def test_the_laws_keep_what_they_promise() -> None:
    """Excess regret over 200-trial studies, and coverage of the expected regret, in held-out settings."""
    check = load_document()["check"]
    assert check["settings"] >= 100
    median, high, *_ = check["excess"]["law"]["quantiles"]
    assert median <= 0.02
    assert high <= 0.1
    assert check["covered"] >= 0.9 * check["settings"]
    assert check["half_width"] <= 0.25
    assert all(law.excess is not None for (_, policy), law in load_laws().items() if policy == "raven-ucb")


@pytest.mark.parametrize("horizon", [300, 10_000, 100_000])
def test_a_budget_bounds_the_steps(horizon: int) -> None:
    budget = Budget(50, 1e8, finalists=8, selection_steps=4e7, report_steps=4e6)
    assert 12 <= budget.search_worlds(horizon) <= 200
    assert budget.search_worlds(horizon) * budget.trials * horizon <= max(1e8, 12 * budget.trials * horizon)
    assert 200 <= budget.report_worlds(horizon) <= 1000
