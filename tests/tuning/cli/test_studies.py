"""`ravenlab studies`: table and JSON."""

import json
import re
from pathlib import Path

import optuna
import pytest

from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.storage.database import open_storage
from tests.command import printed
from tests.studies.examples import WILD, make_recommendation, store_recommendations, store_study, url


def test_table_and_json_list_all_studies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage_url = url(tmp_path / "s.sqlite3")
    storage = open_storage(storage_url, create=True)
    store_study(storage, StudySpec(scenario="variance-drift", horizon=1000, trials=4), 4, make_recommendation())
    store_study(storage, StudySpec(scenario="blips", horizon=1000, trials=10, name=WILD), 3)
    optuna.create_study(study_name="[red]theirs\x1b[31m", storage=storage)
    rows = {row["name"]: row for row in json.loads(printed("studies", "--storage", storage_url, "--json"))}
    assert set(rows) == {"raven-ucb/variance-drift/T1000/K10", WILD, "[red]theirs\x1b[31m"}
    assert rows[WILD]["state"] == "interrupted"
    recommended = rows["raven-ucb/variance-drift/T1000/K10"]
    assert (recommended["state"], recommended["decision"], rows[WILD]["decision"]) == (
        "recommended",
        "use these values",
        None,
    )
    monkeypatch.setenv("COLUMNS", "1000")
    out = printed("studies", "--storage", storage_url)
    (line,) = (line for line in out.splitlines() if "raven-ucb/variance-drift/T1000/K10" in line)
    name, decision, regret, trials, date, _, seed = (cell.strip() for cell in line.split("│")[1:-1])
    assert (name, decision, trials) == ("raven-ucb/variance-drift/T1000/K10", "use these values", "4/4")
    assert (regret, seed) == ("41.5", "0")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", date)
    assert "3/10" in out
    assert "[red]theirs\\x1b[31m" in out
    assert "\x1b" not in out
    assert WILD in out


def test_searches_of_comparisons_are_listed_and_exported_on_request(tmp_path: Path) -> None:
    internal = "compare/variance-drift/T1000/K10/raven-ucb"
    stored = store_recommendations(tmp_path / "s.sqlite3", make_recommendation(), make_recommendation(study=internal))
    place = f"--storage={stored}"

    def names(*words: str) -> list[str]:
        document = json.loads(printed(*words, place))
        return (
            [row["name"] for row in document]
            if words[0] == "studies"
            else [recommendation["study"] for recommendation in document["recommendations"]]
        )

    usual = "raven-ucb/variance-drift/T1000/K10"
    assert names("studies", "--json") == names("export") == [usual]
    assert names("studies", "--json", "--all") == names("export", "--all") == [internal, usual]
    assert names("export", internal) == [internal]
    out = printed("studies", place)
    assert internal not in out
    assert "--all" in out


def test_empty_storage(tmp_path: Path) -> None:
    storage_url = url(tmp_path / "s.sqlite3")
    open_storage(storage_url, create=True).engine.dispose()
    printed("studies", "--storage", storage_url)
    assert json.loads(printed("studies", "--storage", storage_url, "--json")) == []
