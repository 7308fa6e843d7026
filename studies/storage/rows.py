"""Rows of Optuna's tables, and storing a batch of finished trials in one transaction of plain inserts.

Optuna's `add_trial` takes 10 ms of CPU per trial, and more the more trials a study has: it runs about 20 queries of its
object-relational mapper in one transaction per trial. A batch that is stored here is visible completely or not at all,
and has the rows that Optuna would write. Tables of an unknown version are left to Optuna.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from ravenlab.common.compat import optuna as compat
from ravenlab.common.compat.optuna import Connection, FrozenTrial, RDBStorage, Study, Table
from ravenlab.common.errors import ExternalError

Row = dict[str, Any]
Rows = dict[str, list[Row]]  # by table

TABLE_VERSION = "v3.2.0.a"
"""Version of Optuna's tables that this module writes, as in the table `alembic_version`."""


def store_trials(study: Study, trials: Sequence[FrozenTrial]) -> None:
    """Append finished trials to a study, all or none of them.

    Raises:
        ExternalError: The study was deleted in the meantime.

    >>> import optuna
    >>> study = optuna.create_study(storage="sqlite:///:memory:")
    >>> store_trials(study, [optuna.create_trial(value=value) for value in (2.0, 1.0)])
    >>> study.best_trial.number
    1
    """
    if not trials:
        return
    storage = compat.database_of(study)
    if storage is None or not compat.has_known_tables() or not _store(storage, study, _make_rows(trials)):
        study.add_trials(trials)


def _store(storage: RDBStorage, study: Study, rows: Rows) -> bool:
    """Insert trials with the next numbers; return False if the tables have an unknown version."""
    from sqlalchemy import func, select, text

    studies, trials, _, _ = optuna_tables()
    study_id = compat.study_id(study)
    with storage.engine.begin() as connection:
        # Lock as Optuna does, so that its own writers get other numbers. SQLite locks the whole database.
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        if connection.execute(text("SELECT version_num FROM alembic_version")).scalars().all() != [TABLE_VERSION]:
            return False
        query = select(studies.c.study_id).where(studies.c.study_id == study_id).with_for_update()
        if connection.execute(query).first() is None:
            raise ExternalError(f"study {study.study_name!r} was deleted by another program during the run.")
        count = select(func.count()).select_from(trials).where(trials.c.study_id == study_id)
        for number, row in enumerate(rows["trials"], connection.execute(count).scalar_one()):
            row["number"] = number
        insert_trials(connection, study_id, rows)
    return True


def _make_rows(trials: Sequence[FrozenTrial]) -> Rows:
    """Return the rows of trials, whose ids are their places in the sequence."""
    from optuna.distributions import distribution_to_json

    rows: Rows = {table.name: [] for table in optuna_tables()[3]}
    rows["trials"] = []
    distributions: dict[int, str] = {}  # all trials of a batch share the objects
    for place, trial in enumerate(trials):
        start = _utc(trial.datetime_start)
        complete = _utc(trial.datetime_complete)
        rows["trials"].append(
            {"trial_id": place, "state": trial.state, "datetime_start": start, "datetime_complete": complete}
        )
        for objective, value in enumerate(trial.values or ()):
            number, value_type = compat.stored_value(value)
            rows["trial_values"].append(
                {"trial_id": place, "objective": objective, "value": number, "value_type": value_type}
            )
        for name, value in trial.params.items():
            distribution = trial.distributions[name]
            text = distributions.get(id(distribution))
            if text is None:
                text = distributions[id(distribution)] = distribution_to_json(distribution)
            rows["trial_params"].append(
                {
                    "trial_id": place,
                    "param_name": name,
                    "param_value": distribution.to_internal_repr(value),
                    "distribution_json": text,
                }
            )
        for table, attributes in (
            ("trial_user_attributes", trial.user_attrs),
            ("trial_system_attributes", trial.system_attrs),
        ):
            rows[table] += [
                {"trial_id": place, "key": key, "value_json": json.dumps(value)} for key, value in attributes.items()
            ]
        for step, value in trial.intermediate_values.items():
            number, step_type = compat.stored_intermediate_value(value)
            rows["trial_intermediate_values"].append(
                {"trial_id": place, "step": step, "intermediate_value": number, "intermediate_value_type": step_type}
            )
    return rows


def _utc(local: datetime | None) -> datetime | None:
    """Return a local time in UTC without a time zone, as Optuna stores it."""
    return None if local is None else local.astimezone(UTC).replace(tzinfo=None)


def insert_trials(connection: Connection, study_id: int, rows: Rows) -> dict[int, int]:
    """Insert trials with all their rows, and return their new ids by the ids in the rows."""
    from sqlalchemy import func, select

    _, trials, _, trial_tables = optuna_tables()
    of_study = trials.c.study_id == study_id
    last = connection.execute(select(func.max(trials.c.trial_id)).where(of_study)).scalar()
    insert_rows(connection, trials, [{**row, "study_id": study_id} for row in rows["trials"]])
    query = select(trials.c.trial_id).where(of_study).order_by(trials.c.trial_id)
    if last is not None:
        query = query.where(trials.c.trial_id > last)
    new_ids = connection.execute(query).scalars().all()
    ids: dict[int, int] = dict(zip((row["trial_id"] for row in rows["trials"]), new_ids, strict=True))
    for table in trial_tables:
        insert_rows(connection, table, [{**row, "trial_id": ids[row["trial_id"]]} for row in rows[table.name]])
    return ids


def insert_rows(connection: Connection, table: Table, rows: list[Row]) -> None:
    """Insert rows without their primary keys, which the database assigns."""
    from sqlalchemy import insert

    primary = {column.name for column in table.primary_key.columns}
    if rows:
        connection.execute(insert(table), [{key: row[key] for key in row if key not in primary} for row in rows])


def optuna_tables() -> tuple[Table, Table, list[Table], list[Table]]:
    """Return Optuna's tables: studies, trials, tables that refer to studies, tables that refer to trials."""
    known = compat.database_tables()
    studies = known["studies"]
    trials = known["trials"]
    study_tables = [table for table in known.values() if "study_id" in table.c and table not in (studies, trials)]
    trial_tables = [table for table in known.values() if "trial_id" in table.c and table is not trials]
    return studies, trials, study_tables, trial_tables
