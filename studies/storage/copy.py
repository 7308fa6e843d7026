"""Copying of a study to another storage or name in one transaction.

The rows of all of Optuna's tables are copied unchanged, except for their ids. Copying trial by trial through Optuna
takes 10 ms per trial and leaves a partial study when the connection is lost.
"""

import json
import re
from typing import Any

from ravenlab.common.compat.optuna import RDBStorage, Table
from ravenlab.common.errors import InputError
from ravenlab.studies.storage.hardening import parse_attribute
from ravenlab.studies.storage.keys import COMPARISON, FRONT, GRID, RECOMMENDATION, ROBUST, ROBUST_RECOMMENDATION, SPEC
from ravenlab.studies.storage.rows import Row, Rows, insert_rows, insert_trials, optuna_tables

# Optuna's dashboard stores the note of a trial with the study, under the id of the trial, which changes in a copy.
TRIAL_NOTE_KEY = re.compile(r"dashboard:(\d+):(.+)", re.DOTALL)


def read_study_rows(source: RDBStorage, study_id: int) -> Rows:
    """Read all rows of a study in the order in which they were written.

    Raises:
        InputError: The rows contradict each other. With a damaged index, the database finds other rows for one query
            than for another.
    """
    from sqlalchemy import select

    studies, trials, study_tables, trial_tables = optuna_tables()
    rows: Rows = {}
    with source.engine.connect() as connection:

        def read(table: Table, condition: Any) -> None:
            query = select(table).where(condition).order_by(*table.primary_key.columns)
            rows[table.name] = [dict(row._mapping) for row in connection.execute(query)]

        for table in (studies, trials, *study_tables):
            read(table, table.c.study_id == study_id)
        for table in trial_tables:
            read(table, table.c.trial_id.in_(select(trials.c.trial_id).where(trials.c.study_id == study_id)))
    numbers = {row["trial_id"] for row in rows["trials"]}
    if not rows["studies"] or not all(row["trial_id"] in numbers for table in trial_tables for row in rows[table.name]):
        name = rows["studies"][0]["study_name"] if rows["studies"] else study_id
        raise InputError(f"study {name!r} is damaged: its tables contradict each other, so it cannot be copied.")
    return rows


def write_study_rows(rows: Rows, target: RDBStorage, name: str) -> int:
    """Write the rows of a study under a name and return the number of trials. An error leaves nothing behind."""
    from sqlalchemy import insert, select
    from sqlalchemy.exc import IntegrityError

    studies, _, study_tables, _ = optuna_tables()
    renamed = rows["studies"][0]["study_name"] != name
    with target.engine.begin() as connection:
        try:
            connection.execute(insert(studies), [{"study_name": name}])
        except IntegrityError:
            raise InputError(
                f"study {name!r} already exists in the target; delete it or choose another name.", field="name"
            ) from None
        study_id = connection.execute(select(studies.c.study_id).where(studies.c.study_name == name)).scalar_one()
        ids = insert_trials(connection, study_id, rows)
        for table in study_tables:
            copied = [{**row, "study_id": study_id} for row in rows[table.name]]
            if table.name == "study_system_attributes":
                copied = _renumber_notes(copied, ids)
            if table.name == "study_user_attributes" and renamed:
                copied = [{**row, "value_json": _rename(row["key"], row["value_json"], name)} for row in copied]
            insert_rows(connection, table, copied)
    return len(ids)


def _renumber_notes(rows: list[Row], ids: dict[int, int]) -> list[Row]:
    """Store notes of trials under the new ids. They replace notes of trials that are not in the study."""
    moved: dict[str, Row] = {}
    for row in rows:
        match = TRIAL_NOTE_KEY.fullmatch(row["key"])
        if match is not None and int(match[1]) in ids:
            key = f"dashboard:{ids[int(match[1])]}:{match[2]}"
            moved[key] = {**row, "key": key}
        else:
            moved.setdefault(row["key"], row)
    return list(moved.values())


def _rename(key: str, text: str, name: str) -> str:
    """Replace the name of the study in an attribute."""
    value = parse_attribute(text)
    if not isinstance(value, dict):
        return text
    if key in (SPEC, GRID, COMPARISON):
        value["name"] = name
    elif key in (RECOMMENDATION, ROBUST_RECOMMENDATION, FRONT):
        value["study"] = name
        if value.get("sensitivity"):
            value["sensitivity"]["study"] = name
    elif key == ROBUST:
        value["base"]["name"] = name
    return json.dumps(value)
