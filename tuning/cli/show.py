"""`ravenlab show`: settings, progress and result of one study."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ravenlab.common.compat.optuna import study_id
from ravenlab.tuning.cli.options import JsonOption, StorageOption, StudyArgument

if TYPE_CHECKING:
    from optuna.storages import RDBStorage
    from optuna.trial import FrozenTrial

    from ravenlab.common.compat.optuna import FrozenStudy
    from ravenlab.studies.spec.study import StudySpec
    from ravenlab.studies.storage.library import StudyRow

MAX_BEST_TRIALS = 5


def show(
    study: StudyArgument,
    storage: StorageOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show settings, progress and result of a study.

    Examples:
        # a prefix of the name is enough if it matches one study
        ravenlab show raven-ucb/variance-drift
        # as JSON
        ravenlab show raven-ucb/variance-drift/T10000/K10 --json
    """
    from ravenlab.common.errors import InputError
    from ravenlab.studies.results.describe import describe_recommendation
    from ravenlab.studies.storage.database import use_storage
    from ravenlab.studies.storage.keys import is_front, read_recommendation, read_spec
    from ravenlab.studies.storage.library import describe_study, find_better_policies, find_studies, read_best_trials
    from ravenlab.tuning.cli.output import print_json, print_line

    with use_storage(storage) as store:
        matches = find_studies(store, [study])
        if len(matches) > 1:
            raise InputError(f"study {study!r} matches {len(matches)} studies; name one of them.")
        stored = matches[0]
        row = describe_study(store, stored)
        front = is_front(stored)
        contents = None if front else _read_contents(store, stored)
        spec, recommendation = (None, None) if front or contents else (read_spec(stored), read_recommendation(stored))
        better = (
            None if recommendation is None else find_better_policies(store, [recommendation]).get(recommendation.study)
        )
        best = [] if front or contents else read_best_trials(store, stored, MAX_BEST_TRIALS)
    if front:
        _show_front(row, as_json)
        return
    if contents is not None:
        _show_contents(row, contents, as_json)
        return
    if as_json:
        print_json(
            {
                **asdict(row),
                "spec": None if spec is None else spec.model_dump(mode="json"),
                "best_trials": [_trial_object(trial) for trial in best],
                "recommendation": None if recommendation is None else recommendation.as_object(),
                "better_policy": None if better is None else better.as_object(),
            }
        )
        return
    lines = ["No recommendation yet."] if recommendation is None else describe_recommendation(recommendation, better)
    for line in lines:
        print_line(line)
    print_line(_describe_progress(row, "trials"))
    if spec is not None:
        _print_spec(spec)
    if best:
        _print_trials(best)


@dataclass(frozen=True)
class StudyContents:
    """Specification and result of a grid, a comparison or a robust search."""

    command: str
    """The command that runs it."""
    unit: str
    """What it consists of: cells, entries or trials."""
    key: str
    """Key of the result in JSON."""
    spec: Any
    result: Any
    """None before it is complete."""
    print_result: Callable[[Any], None]


def _read_contents(storage: RDBStorage, study: FrozenStudy) -> StudyContents | None:
    """Read a grid, a comparison or a robust search; None for any other study."""
    from ravenlab.studies.results.ranking import analyze_comparison
    from ravenlab.studies.storage import keys
    from ravenlab.studies.storage.trials import read_comparison, read_grid
    from ravenlab.tuning.cli.compare import print_comparisons
    from ravenlab.tuning.cli.grid import print_grid
    from ravenlab.tuning.cli.tune import print_robust

    grid, comparison = keys.read_grid_spec(study), keys.read_comparison_spec(study)
    if grid is not None:
        trials = storage.get_all_trials(study_id(study), deepcopy=False)
        return StudyContents("grid", "cells", "grid", grid, read_grid(study, trials), print_grid)
    if keys.ROBUST in study.user_attrs:
        spec, result = keys.read_robust_spec(study), keys.read_robust(study)
        return StudyContents("tune --robust", "trials", "robust", spec, result, print_robust)
    if comparison is not None:
        played = read_comparison(study, storage.get_all_trials(study_id(study), deepcopy=False))
        ranking = None if played is None else analyze_comparison(played)
        return StudyContents(
            "compare", "entries", "comparison", comparison, ranking, lambda result: print_comparisons([result])
        )
    return None


def _show_contents(row: StudyRow, contents: StudyContents, as_json: bool) -> None:
    from ravenlab.tuning.cli.output import print_json, print_line

    if as_json:
        result = None if contents.result is None else contents.result.as_object()
        print_json({**asdict(row), "spec": contents.spec.model_dump(mode="json"), contents.key: result})
        return
    if contents.result is None:
        print_line(f"Not complete; rerun the same ravenlab {contents.command} command to resume.")
    else:
        contents.print_result(contents.result)
    print_line(_describe_progress(row, contents.unit))


def _show_front(row: StudyRow, as_json: bool) -> None:
    from ravenlab.studies.storage.keys import UNSUPPORTED_FRONT
    from ravenlab.tuning.cli.output import print_json, print_line

    if as_json:
        print_json(asdict(row))
    else:
        print_line(f"{row.name}: {UNSUPPORTED_FRONT}")


def _describe_progress(row: StudyRow, unit: str) -> str:
    total = "–" if row.planned is None else f"{row.planned:,}"
    kind = "" if row.kind in ("study", "external") else f"{row.kind}, "
    return f"{row.name}: {kind}{row.state}, {row.finished:,} of {total} {unit}"


def _trial_object(trial: FrozenTrial) -> dict[str, Any]:
    from ravenlab.studies.storage.keys import REPLICATIONS, STDERR

    return {
        "number": trial.number,
        "value": trial.value,
        "params": trial.params,
        "stderr": trial.user_attrs.get(STDERR),
        "replications": trial.user_attrs.get(REPLICATIONS),
    }


def _print_spec(spec: StudySpec) -> None:
    """Print the settings of a study, one line per field that is not empty."""
    from ravenlab.common.text import format_number
    from ravenlab.studies.symbols import format_symbol
    from ravenlab.tuning.cli.output import print_line

    for name, value in spec.model_dump(mode="json", exclude={"space", "name"}).items():
        if value not in ({}, None, False):
            text = ", ".join(f"{key}={item}" for key, item in value.items()) if isinstance(value, dict) else value
            print_line(f"  {name}: {text:,}" if isinstance(text, int) and name != "seed" else f"  {name}: {text}")
    for name, range_ in spec.space.items():
        param = f"1 − {format_symbol(name)}" if range_.scale == "one-minus" else format_symbol(name)
        bounds = f"{format_number(range_.low)} to {format_number(range_.high)}"
        print_line(f"  search range of {param}: {bounds} ({range_.scale})")


def _print_trials(best: list[FrozenTrial]) -> None:
    from ravenlab.common.text import format_number
    from ravenlab.studies.storage.trials import is_number
    from ravenlab.studies.symbols import format_params
    from ravenlab.tuning.cli.output import print_table

    rows = []
    for trial in best:
        error = _trial_object(trial)["stderr"]
        params = {name: value if is_number(value) else str(value) for name, value in trial.params.items()}
        rows.append(
            [
                str(trial.number),
                format_number(trial.values[0]),
                format_number(error) if isinstance(error, int | float) else "–",
                format_params(params),
            ]
        )
    columns = ["trial", "value", "± standard error", "parameters"]
    print_table("Best trials (search estimates)", columns, rows, numbers=columns[:3])
