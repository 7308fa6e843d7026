"""`ravenlab show`: settings, progress and result of one study."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ravenlab.common.documents import Table
from ravenlab.common.terminal import print_document, print_line, print_table
from ravenlab.common.text import format_number
from ravenlab.studies.symbols import format_params, format_symbol
from ravenlab.tuning.cli.options import JsonOption, StorageOption, StudyArgument
from ravenlab.tuning.cli.output import print_json

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

    from ravenlab.studies.kinds import StudyKind
    from ravenlab.studies.results.alternatives import BetterPolicy
    from ravenlab.studies.results.recommendation import Recommendation
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
    from ravenlab.studies.kinds import TUNE, find_kind
    from ravenlab.studies.storage.database import use_storage
    from ravenlab.studies.storage.keys import UNSUPPORTED_FRONT, is_front
    from ravenlab.studies.storage.library import describe_study, find_better_policies, find_study, read_best_trials

    with use_storage(storage) as store:
        stored = find_study(store, study)
        row = describe_study(store, stored)
        content: dict[str, Any] = asdict(row)
        if is_front(stored):
            if as_json:
                print_json(content)
            else:
                print_line(f"{row.name}: {UNSUPPORTED_FRONT}")
            return
        kind = find_kind(stored)
        spec: Any = None if kind is None else kind.read_spec(stored)
        result: Any = None if kind is None or spec is None else kind.read_result(store, stored)
        content["spec"] = None if spec is None else spec.model_dump(mode="json")
        answer = None if result is None else result.as_object()
        if kind is not None and kind is not TUNE and spec is not None:
            if as_json:
                print_json({**content, kind.name: answer})
            else:
                _print_result(row, kind, result)
            return
        better = None if result is None else find_better_policies(store, [result]).get(result.study)
        best = read_best_trials(store, stored, MAX_BEST_TRIALS)
    if as_json:
        content["best_trials"] = [_trial_object(trial) for trial in best]
        content["recommendation"] = answer
        content["better_policy"] = None if better is None else better.as_object()
        print_json(content)
    else:
        _print_study(row, spec, result, better, best)


def _print_study(
    row: StudyRow,
    spec: StudySpec | None,
    recommendation: Recommendation | None,
    better: BetterPolicy | None,
    best: list[FrozenTrial],
) -> None:
    """Print a study of one scenario, or a study that ravenlab did not create."""
    from ravenlab.studies.results.documents import recommendation_document

    if recommendation is None:
        print_line("No recommendation yet.")
    else:
        print_document(recommendation_document(recommendation, better))
    print_line(_describe_progress(row, "trials"))
    if spec is not None:
        _print_spec(spec)
    if best:
        _print_trials(best)


def _print_result(row: StudyRow, kind: StudyKind[Any, Any], result: Any) -> None:
    """Print a grid, a comparison or a robust search."""
    if result is None:
        print_line(f"Not complete; rerun the same ravenlab {kind.command} command to resume.")
    else:
        for document in result.to_documents():
            print_document(document)
    print_line(_describe_progress(row, kind.unit))


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
    for name, value in spec.model_dump(mode="json", exclude={"space", "name", "map"}).items():
        if value not in ({}, None, False):
            text = ", ".join(f"{key}={item}" for key, item in value.items()) if isinstance(value, dict) else value
            print_line(f"  {name}: {text:,}" if isinstance(text, int) and name != "seed" else f"  {name}: {text}")
    for name, range_ in spec.space.items():
        param = f"1 − {format_symbol(name)}" if range_.scale == "one-minus" else format_symbol(name)
        bounds = f"{format_number(range_.low)} to {format_number(range_.high)}"
        print_line(f"  search range of {param}: {bounds} ({range_.scale})")


def _print_trials(best: list[FrozenTrial]) -> None:
    from ravenlab.studies.storage.trials import is_number

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
    print_table(Table(columns, rows, "Best trials (search estimates)", text=("parameters",)))
