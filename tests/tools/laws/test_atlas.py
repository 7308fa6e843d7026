"""The atlas: settings are measured and resumed, and the shipped data file is that of the stored results."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ravenlab.policies import find_policy
from ravenlab.studies.laws.law import load_document, load_laws
from tools.atlas import FILES, current_check, read_records
from tools.laws.document import summarize_check, summarize_start
from tools.laws.measurement import Budget, Setting, measure_policy, recommend_prefixes

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
    for policy, records in check.items():  # the laws are those that were checked
        assert len(records) == len(read_records(FILES["check" if policy == "raven-ucb" else "check-others"]))
        assert summarize_check(records) == load_document()["check"][policy]
    assert summarize_start(read_records(FILES["check-start"])) == load_document()["start"]


def test_the_laws_keep_what_they_promise() -> None:
    """Excess regret over 200-trial studies, and coverage of the expected regret, in held-out settings."""
    check = load_document()["check"]["raven-ucb"]
    assert check["settings"] >= 100
    median, high, *_ = check["excess"]["law"]["quantiles"]
    assert median <= 0.02
    assert high <= 0.1
    assert check["covered"] >= 0.9 * check["settings"]
    assert check["half_width"] <= 0.25
    assert all(law.excess is not None for law in load_laws().values())


def test_a_shorter_study_is_the_beginning_of_a_longer_one() -> None:
    """A single search gives the recommendations of several numbers of trials."""
    first = [{"alpha0": 0.5, "beta0": 0.3, "epsilon": 0.03}]
    found = recommend_prefixes(SETTING, "raven-ucb", BUDGET, first, (6, 12))
    budget = replace(BUDGET, search_steps=np.inf, most_search=12)
    assert recommend_prefixes(SETTING, "raven-ucb", budget, first, (6,)) == {6: found[6]}


def test_the_summary_of_searches_from_the_law() -> None:
    records = [
        {
            "excess.law": [x, 0.1],
            "excess.law50": [0.0, 0.1],
            "excess.usual50": [-x, 0.1],
            "excess.reference": [0.0, 0.0],
        }
        for x in (0.0, 0.01, 0.05)
    ]
    rows = summarize_start(records)
    assert [(row["start"], row["trials"]) for row in rows] == [("law", 0), ("law", 50), ("usual", 50)]
    assert (rows[0]["median"], rows[0]["mean"], rows[2]["mean"]) == (0.01, 0.02, -0.02)
    assert rows[1]["low"] == rows[1]["high"] == 0.0
    assert rows[0]["low"] < 0.02 < rows[0]["high"]


@pytest.mark.parametrize("horizon", [300, 10_000, 100_000])
def test_a_budget_bounds_the_steps(horizon: int) -> None:
    budget = Budget(50, 1e8, finalists=8, selection_steps=4e7, report_steps=4e6)
    assert 12 <= budget.search_worlds(horizon) <= 200
    assert budget.search_worlds(horizon) * budget.trials * horizon <= max(1e8, 12 * budget.trials * horizon)
    assert 200 <= budget.report_worlds(horizon) <= 1000
