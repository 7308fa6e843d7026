"""The trials of a study for a picture: a few hundred of them, however many there are.

Optuna loads every trial with its parameters, which takes seconds for 2000; here the tables are asked for all
values in one query, and for the parameters of those trials alone that are shown.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dashboards.points import point_of
from studies.keys import STDERR
from studies.objective import parse_objective
from studies.spec import StudySpec

if TYPE_CHECKING:
    from optuna.storages import RDBStorage

    from dashboards.figures import HistoryPoint

MOST_POINTS = 400


@dataclass(frozen=True)
class Trials:
    """How many there are of each kind, and those to be shown."""

    complete: int
    pruned: int
    failed: int
    shown: list[HistoryPoint]

    @property
    def finished(self) -> int:
        """Complete or pruned: what counts towards the number asked for."""
        return self.complete + self.pruned


def read_trials(storage: RDBStorage, study_id: int, spec: StudySpec, most: int = MOST_POINTS) -> Trials:
    """Count the trials of a study and give at most so many: all that were the best so far, the rest evenly."""
    from sqlalchemy import text

    with storage.engine.connect() as connection:
        rows = connection.execute(
            text(
                "SELECT t.trial_id, t.number, t.state, v.value FROM trials t LEFT JOIN trial_values v"
                " ON v.trial_id = t.trial_id AND v.objective = 0 AND v.value_type = 'FINITE'"
                " WHERE t.study_id = :study AND t.state IN ('COMPLETE', 'PRUNED', 'FAIL') ORDER BY t.number"
            ),
            {"study": study_id},
        ).all()
    maximise = parse_objective(spec.objective).maximise
    states = [str(row[2]) for row in rows]
    with_value = [row for row in rows if row[3] is not None]
    kept = [with_value[place] for place in thinned([_key(row, maximise) for row in with_value], most)]
    return Trials(states.count("COMPLETE"), states.count("PRUNED"), states.count("FAIL"), _points(storage, kept, spec))


def _key(row: Any, maximise: bool) -> float | None:
    """What a trial competes with: None where it was pruned."""
    if row[2] != "COMPLETE":
        return None
    return -row[3] if maximise else float(row[3])


def thinned(values: Sequence[float | None], most: int) -> list[int]:
    """Places of at most `most` values: the last improvements, both ends, and the rest evenly.

    >>> thinned([9.0, 10.0, 3.0, None, 5.0], 3)
    [0, 2, 4]
    """
    if len(values) <= most:
        return list(range(len(values)))
    best: float | None = None
    records = []
    for place, value in enumerate(values):
        if value is not None and (best is None or value < best):
            best = value
            records.append(place)
    kept = {0, len(values) - 1, *records[-max(1, most // 2) :]}
    rest = [place for place in range(len(values)) if place not in kept]
    room = most - len(kept)
    kept |= {rest[index * len(rest) // room] for index in range(max(0, room))}
    return sorted(kept)


def _points(storage: RDBStorage, rows: Sequence[Any], spec: StudySpec) -> list[HistoryPoint]:
    """The rows with their parameters and standard errors."""
    from optuna.distributions import json_to_distribution
    from sqlalchemy import bindparam, text

    ids = [row[0] for row in rows]
    params: dict[int, dict[str, Any]] = {}
    errors: dict[int, float] = {}
    if ids:
        with storage.engine.connect() as connection:
            of_params = text(
                "SELECT trial_id, param_name, param_value, distribution_json FROM trial_params"
                " WHERE trial_id IN :ids ORDER BY param_id"
            ).bindparams(bindparam("ids", expanding=True))
            for trial, name, value, distribution in connection.execute(of_params, {"ids": ids}):
                params.setdefault(trial, {})[name] = json_to_distribution(distribution).to_external_repr(value)
            of_errors = text(
                "SELECT trial_id, value_json FROM trial_user_attributes WHERE key = :key AND trial_id IN :ids"
            ).bindparams(bindparam("ids", expanding=True))
            for trial, value in connection.execute(of_errors, {"key": STDERR, "ids": ids}):
                error = json.loads(value)
                if isinstance(error, int | float):
                    errors[trial] = float(error)
    return [
        point_of(spec, number, value, str(state), errors.get(trial), params.get(trial, {}))
        for trial, number, state, value in rows
    ]
