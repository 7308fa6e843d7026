"""Storing batches of trials with plain inserts: the same rows as Optuna's own writer, all or none."""

import math
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.storages import RDBStorage
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState, create_trial
from sqlalchemy import event, text

from ravenlab.common.errors import ExternalError
from ravenlab.studies.storage import rows
from ravenlab.studies.storage.copy import read_study_rows
from ravenlab.studies.storage.database import open_storage
from ravenlab.studies.storage.rows import store_trials
from tests.studies.examples import url

SPACE: dict[str, optuna.distributions.BaseDistribution] = {
    "alpha0": FloatDistribution(0.01, 10.0, log=True),
    "share": FloatDistribution(0.0, 1.0, step=0.25),
    "window": IntDistribution(1, 1000, log=True),
    "policy": CategoricalDistribution(("ucb1", None, 3, True)),
}
PARAMS: list[dict[str, Any]] = [
    {"alpha0": 1 / 3, "share": 0.75, "window": 7, "policy": "ucb1"},
    {"alpha0": 10.0, "share": 0.0, "window": 1000, "policy": None},
]
ATTRIBUTES: dict[str, Any] = {
    "stderr": 0.1 + 0.2,
    "nothing": None,
    "names": ["α₀ ‹é›", "'; DROP TABLE trials; --", "%s %(x)s :x ?"],
    "nested": {"list": [1, 2.5, True, None], "text": "\\ \n \x01"},
}


def trials_of(values: list[list[float]]) -> list[FrozenTrial]:
    """Return finished trials with all kinds of attributes, the first ones with these values."""
    complete = [
        create_trial(
            state=TrialState.COMPLETE,
            values=each,
            params=PARAMS[place % 2],
            distributions=SPACE,
            user_attrs={**ATTRIBUTES, "place": place},
            system_attrs={"completed_rung_0": each[0], "other": ATTRIBUTES},
        )
        for place, each in enumerate(values)
    ]
    pruned = create_trial(
        state=TrialState.PRUNED,
        values=values[0],
        params={"alpha0": 0.5},
        distributions={"alpha0": SPACE["alpha0"]},
        intermediate_values={1: 0.1 + 0.2, 5: math.nan, 9: math.inf, 12: -math.inf},
    )
    failed = create_trial(state=TrialState.FAIL, user_attrs={"reason": ""})
    failed.datetime_start, failed.datetime_complete = datetime(2026, 3, 29, 1, 30, 0, 123456), datetime(2026, 7, 1)
    return [*complete, pruned, failed]


@pytest.fixture(params=["sqlite", "postgres"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RDBStorage]:
    """A storage that contains another study, so that ids differ from numbers."""
    place = url(tmp_path / "studies.sqlite3") if request.param == "sqlite" else request.getfixturevalue("database")
    opened = open_storage(place, create=True)
    optuna.create_study(storage=opened, study_name="other").add_trials(trials_of([[1.0]]))
    yield opened
    opened.remove_session()
    opened.engine.dispose()


def rows_of(study: optuna.Study) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of a study by table, with numbers of trials for ids of trials, and without all other ids."""
    found = read_study_rows(study._storage._backend, study._study_id)  # type: ignore[attr-defined]
    numbers = {row["trial_id"]: row["number"] for row in found["trials"]}
    return {
        table: [
            {key: numbers.get(value) if key == "trial_id" else value for key, value in row.items() if key not in keys}
            for row in found[table]
        ]
        for table, keys in (
            (table.name, {"study_id", "study_name", *(c.name for c in table.primary_key if c.name != "trial_id")})
            for table in rows.optuna_tables()[1].metadata.sorted_tables
            if table.name in found
        )
    }


@pytest.mark.parametrize("values", [[[2.0], [1.5], [math.inf]], [[2.0, -math.inf], [0.1 + 0.2, 1e-300]]])
def test_rows_are_those_of_optunas_writer(values: list[list[float]], storage: RDBStorage) -> None:
    directions = [StudyDirection.MINIMIZE] * len(values[0])
    ours, theirs = (
        optuna.create_study(storage=storage, study_name=name, directions=directions) for name in ("ours", "theirs")
    )
    trials = trials_of(values)
    store_trials(ours, trials[:2])
    store_trials(ours, trials[2:])
    store_trials(ours, [])
    theirs.add_trials(trials)
    stored = rows_of(ours)
    assert stored == rows_of(theirs)
    assert all(stored[table.name] for table in rows.optuna_tables()[3] if table.name != "trial_heartbeats")
    assert [row["number"] for row in stored["trials"]] == list(range(len(trials)))
    reopened = optuna.load_study(study_name="ours", storage=storage)
    for read, trial in zip(reopened.trials, trials, strict=True):
        assert (read.state, read.values, read.params) == (trial.state, trial.values, trial.params)
        assert (read.user_attrs, read.system_attrs) == (trial.user_attrs, trial.system_attrs)
        assert (read.datetime_start, read.distributions) == (trial.datetime_start, trial.distributions)
    ours.add_trial(trials[0])
    assert ours.trials[-1].number == len(trials)


def test_tables_of_another_version_are_left_to_optuna(storage: RDBStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = (optuna.create_study(storage=storage, study_name=name) for name in ("ours", "theirs"))
    with storage.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = 'v99.0.0.a'"))
    monkeypatch.delattr(rows, "insert_trials")
    trials = trials_of([[1.0]])
    store_trials(ours, trials)
    theirs.add_trials(trials)
    assert rows_of(ours) == rows_of(theirs)


def test_a_batch_that_fails_leaves_nothing(storage: RDBStorage) -> None:
    study = optuna.create_study(storage=storage, study_name="ours")
    store_trials(study, trials_of([[1.0]]))
    before = rows_of(study)

    def fail(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        if "INSERT INTO trial_intermediate_values" in statement:
            raise RuntimeError("gone")

    event.listen(storage.engine, "before_cursor_execute", fail)
    with pytest.raises(RuntimeError, match="gone"):
        store_trials(study, trials_of([[2.0]]))
    event.remove(storage.engine, "before_cursor_execute", fail)
    assert rows_of(study) == before
    with pytest.raises(TypeError, match="JSON"):
        store_trials(study, [create_trial(value=1.0), create_trial(value=1.0, user_attrs={"x": object()})])
    assert rows_of(study) == before


def test_trials_of_a_deleted_study_are_not_stored(storage: RDBStorage) -> None:
    study = optuna.create_study(storage=storage, study_name="ours")
    optuna.delete_study(study_name="ours", storage=storage)
    with pytest.raises(ExternalError, match="'ours' was deleted"):
        store_trials(study, [create_trial(value=1.0)])
    with storage.engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM trials")).scalar_one() == 3
