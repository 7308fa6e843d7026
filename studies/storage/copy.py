"""A study as a whole into another storage or under another name, in one transaction: all of it, or nothing.

Rows are copied as they are, whatever table Optuna keeps them in; only ids are new. Going trial by trial through
Optuna would take 10 ms each and leave half a study behind a lost connection.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from environments.errors import InputError
from studies.storage.keys import COMPARISON, FRONT, GRID, RECOMMENDATION, ROBUST, ROBUST_RECOMMENDATION, SPEC

if TYPE_CHECKING:
    from optuna.storages import RDBStorage
    from sqlalchemy import Connection, Table


Row = dict[str, Any]
Rows = dict[str, list[Row]]
"""The rows of a study by table."""

OF_A_TRIAL = re.compile(r"dashboard:(\d+):(.+)", re.DOTALL)
"""Optuna's dashboard keeps a trial's note with the study, by the trial's id, which is another one in the copy."""


def read_study_rows(source: RDBStorage, study_id: int) -> Rows:
    """All rows of a study, in the order in which they were written."""
    from sqlalchemy import select

    studies, trials, of_studies, of_trials = _tables()
    found: Rows = {}
    with source.engine.connect() as connection:

        def read(table: Table, condition: Any) -> None:
            asked = select(table).where(condition).order_by(*table.primary_key.columns)
            found[table.name] = [dict(row._mapping) for row in connection.execute(asked)]

        for table in (studies, trials, *of_studies):
            read(table, table.c.study_id == study_id)
        for table in of_trials:
            read(table, table.c.trial_id.in_(select(trials.c.trial_id).where(trials.c.study_id == study_id)))
    return found


def write_study_rows(rows: Rows, target: RDBStorage, name: str) -> int:
    """Write the rows of a study under a name; tells how many trials it has. On an error nothing of it stays behind."""
    from sqlalchemy import insert, select
    from sqlalchemy.exc import IntegrityError

    studies, trials, of_studies, of_trials = _tables()
    renamed = rows["studies"][0]["study_name"] != name
    with target.engine.begin() as connection:
        try:
            connection.execute(insert(studies), [{"study_name": name}])
        except IntegrityError:
            raise InputError(
                f"study {name!r} already exists in the target; delete it or choose another name.", field="name"
            ) from None
        there = connection.execute(select(studies.c.study_id).where(studies.c.study_name == name)).scalar_one()
        _insert(connection, trials, [{**row, "study_id": there} for row in rows["trials"]])
        asked = select(trials.c.trial_id).where(trials.c.study_id == there).order_by(trials.c.trial_id)
        new = connection.execute(asked).scalars().all()
        ids: dict[int, int] = dict(zip((row["trial_id"] for row in rows["trials"]), new, strict=True))
        for table in of_studies:
            kept = [{**row, "study_id": there} for row in rows[table.name]]
            if table.name == "study_system_attributes":
                kept = _with_moved_keys(kept, ids)
            if table.name == "study_user_attributes" and renamed:
                kept = [{**row, "value_json": _renamed(row["key"], row["value_json"], name)} for row in kept]
            _insert(connection, table, kept)
        for table in of_trials:
            _insert(connection, table, [{**row, "trial_id": ids[row["trial_id"]]} for row in rows[table.name]])
    return len(ids)


def _tables() -> tuple[Table, Table, list[Table], list[Table]]:
    """Optuna's tables: studies, trials, what belongs to a study, what belongs to a trial."""
    from optuna.storages._rdb.models import BaseModel

    known = BaseModel.metadata.tables
    studies, trials = known["studies"], known["trials"]
    of_studies = [table for table in known.values() if "study_id" in table.c and table not in (studies, trials)]
    of_trials = [table for table in known.values() if "trial_id" in table.c and table is not trials]
    return studies, trials, of_studies, of_trials


def _insert(connection: Connection, table: Table, rows: list[Row]) -> None:
    """Add rows, which get keys of their own."""
    from sqlalchemy import insert

    own = {column.name for column in table.primary_key.columns}
    if rows:
        connection.execute(insert(table), [{key: row[key] for key in row if key not in own} for row in rows])


def _with_moved_keys(rows: list[Row], ids: dict[int, int]) -> list[Row]:
    """Notes of trials go by the new ids; one of a trial that is not in the study gives way to one that is."""
    moved: dict[str, Row] = {}
    for row in rows:
        found = OF_A_TRIAL.fullmatch(row["key"])
        if found is not None and int(found[1]) in ids:
            key = f"dashboard:{ids[int(found[1])]}:{found[2]}"
            moved[key] = {**row, "key": key}
        else:
            moved.setdefault(row["key"], row)
    return list(moved.values())


def _renamed(key: str, text: str, name: str) -> str:
    """An attribute of ours says the new name."""
    value = json.loads(text)
    if not isinstance(value, dict):
        return text
    if key in (SPEC, GRID, COMPARISON):
        value["name"] = name
    elif key in (RECOMMENDATION, ROBUST_RECOMMENDATION, FRONT):
        value["study"] = name
    elif key == ROBUST:
        value["base"]["name"] = name
    return json.dumps(value)
