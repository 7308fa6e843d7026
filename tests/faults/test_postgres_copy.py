"""`ravenlab copy` between SQLite and PostgreSQL: complete in both directions, or not at all."""

import math
import re
from pathlib import Path
from typing import Any

import optuna
import plotly.graph_objects as go
import pytest
from optuna_dashboard import get_note, save_note, save_plotly_graph_object
from sqlalchemy import Engine, MetaData, create_engine, event, select

from ravenlab.studies.storage.database import open_storage, use_storage
from ravenlab.studies.storage.lock import lock_studies
from ravenlab.studies.storage.urls import mask_url
from ravenlab.tuning.cli.app import run
from tests.command import refused
from tests.faults.studies import export_json
from tests.messages import assert_names
from tests.postgres import Server
from tests.studies.examples import WILD, make_recommendation, store_recommendations, url

LONG = "α₀ «long» \\ \x00 note\n" * 1000
VERSION_TABLES = {"version_info", "alembic_version"}


def read_tables(place: str) -> dict[str, list[dict[str, Any]]]:
    """Return all rows of all tables, with the ids of studies and trials replaced by names and numbers."""
    engine = create_engine(place)
    metadata = MetaData()
    metadata.reflect(engine)
    with engine.connect() as connection:
        rows = {
            table.name: [dict(row._mapping) for row in connection.execute(select(table).order_by(*table.primary_key))]
            for table in metadata.sorted_tables
            if table.name not in VERSION_TABLES
        }
        primary_keys = {table.name: [column.name for column in table.primary_key] for table in metadata.sorted_tables}
    engine.dispose()
    names = {row["study_id"]: row["study_name"] for row in rows["studies"]}
    numbers = {row["trial_id"]: (names[row["study_id"]], row["number"]) for row in rows["trials"]}

    def replace_ids(table: str, row: dict[str, Any]) -> dict[str, Any]:
        replaced = {key: value for key, value in row.items() if key not in primary_keys[table]}
        if "study_id" in replaced:
            replaced["study_id"] = names[row["study_id"]]
        if "trial_id" in replaced:
            replaced["trial_id"] = numbers[row["trial_id"]]
        note = re.match(r"dashboard:(\d+):", replaced.get("key", ""))
        if note is not None:
            replaced["key"] = replaced["key"].replace(note[1], str(numbers[int(note[1])]), 1)
        return replaced

    return {table: sorted((replace_ids(table, row) for row in rows[table]), key=_study_of) for table in sorted(rows)}


def _study_of(row: dict[str, Any]) -> str:
    """Return the name of a row's study: the order of studies may differ, but not that of their rows."""
    trial = row.get("trial_id")
    return str(row.get("study_name") or row.get("study_id") or (trial and trial[0]))


@pytest.fixture
def source(tmp_path: Path) -> str:
    """A storage with long notes, figures, non-finite values and attributes."""
    place = store_recommendations(
        tmp_path / "source.sqlite3", make_recommendation(), make_recommendation(study=WILD, arms=3)
    )
    storage = open_storage(place, create=False)
    study = optuna.load_study(study_name=WILD, storage=storage)
    study.set_user_attr("long", 50 * LONG)
    save_note(study, LONG)
    save_plotly_graph_object(study, go.Figure(go.Scatter(y=[k / 7 for k in range(2000)])), graph_object_id="big")
    non_finite = [math.inf, -math.inf, math.nan, 1 / 3]
    study.add_trial(
        optuna.trial.create_trial(
            state=optuna.trial.TrialState.FAIL,
            intermediate_values=dict(enumerate(non_finite)),
            user_attrs={"odd": ["ä", None, 1e-300, LONG]},
            system_attrs={"x": {"y": 2}},
        )
    )
    study.add_trial(optuna.trial.create_trial(value=math.inf, state=optuna.trial.TrialState.COMPLETE))
    running = study.ask()
    save_note(running, "a note of a trial " * 200)
    storage.engine.dispose()
    return place


def test_copy_to_postgres_and_back(source: str, database: str, tmp_path: Path) -> None:
    back = url(tmp_path / "back.sqlite3")
    with lock_studies(database, "first") as storage:
        optuna.create_study(storage=storage, study_name="so that ids differ").ask()
    assert run(["copy", "*", "--storage", source, "--to", database]) == 0
    assert run(["delete", "so that ids differ", "--storage", database, "--yes"]) == 0
    assert read_tables(database) == read_tables(source)
    assert run(["copy", "*", "--storage", database, "--to", back]) == 0
    assert read_tables(back) == read_tables(source)
    assert export_json(database) == export_json(source) == export_json(back)
    for place in (source, database, back):
        with use_storage(place) as storage:
            study = optuna.load_study(study_name=WILD, storage=storage)
            assert get_note(study) == LONG
            assert get_note(optuna.Trial(study, study.trials[-1]._trial_id)).startswith("a note of a trial")


def test_copy_with_a_lost_connection_leaves_nothing(
    source: str, database: str, postgres: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    open_storage(database, create=True).engine.dispose()

    def cut(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        if "INSERT INTO trial_params" in statement and connection.dialect.name == "postgresql":
            postgres.cut(database)

    event.listen(Engine, "before_cursor_execute", cut)
    try:
        assert run(["copy", WILD, "--storage", source, "--to", database]) == 1
    finally:
        event.remove(Engine, "before_cursor_execute", cut)
    (line,) = capsys.readouterr().err.splitlines()
    assert_names(line, mask_url(database), "was lost")
    assert not any(read_tables(database).values())
    assert run(["copy", WILD, "--storage", source, "--to", database]) == 0


def test_running_study_is_neither_deleted_nor_copied(
    source: str, database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["copy", WILD, "--storage", source, "--to", database]) == 0
    with lock_studies(database, WILD):
        capsys.readouterr()
        assert run(["delete", WILD, "--storage", database, "--yes"]) == 2
        assert run(["copy", WILD, "--storage", database, "--to", url(tmp_path / "x.sqlite3")]) == 2
        assert run(["copy", WILD, "--storage", database, "--to", database, "--as", "free"]) == 2
    with lock_studies(database, "mine"):
        assert run(["copy", WILD, "--storage", source, "--to", database, "--as", "mine"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 4
    for line, name in zip(lines, (WILD, WILD, WILD, "mine"), strict=True):
        assert_names(line, repr(name), "another process")
    assert_names(
        refused("copy", WILD, "--storage", source, "--to", database), repr(WILD), "already exists", mask_url(database)
    )
    assert not (tmp_path / "x.sqlite3").exists()
