"""`ravenlab show`: settings, progress and result of one study."""

from __future__ import annotations

from dataclasses import asdict
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

from ravenlab.common.documents import Table
from ravenlab.common.terminal import print_document, print_line, print_list, print_table
from ravenlab.common.text import format_number
from ravenlab.studies.symbols import format_params, format_symbol
from ravenlab.tuning.cli.options import JsonOption, StorageOption, StudyArgument, option
from ravenlab.tuning.cli.output import command_name, print_json

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

    from ravenlab.studies.kinds import StudyKind
    from ravenlab.studies.results.alternatives import BetterPolicy
    from ravenlab.studies.results.recommendation import Recommendation
    from ravenlab.studies.spec.study import StudySpec
    from ravenlab.studies.storage.library import StudyRow

MAX_BEST_TRIALS = 5

ShowAllOption = Annotated[bool, option("--all", "Also print details, all tables, settings and the best trials.")]


def show(
    study: StudyArgument,
    storage: StorageOption = None,
    show_all: ShowAllOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show the result of a study, with --all in all details.

    Examples:
        # a prefix of the name is enough if it matches one study
        ravenlab show raven-ucb/variance-drift
        # with details, the sensitivity map, settings and the best trials
        ravenlab show raven-ucb/variance-drift --all
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
                _print_result(row, kind, result, show_all)
            return
        better = None if result is None else find_better_policies(store, [result]).get(result.study)
        best = read_best_trials(store, stored, MAX_BEST_TRIALS)
    if as_json:
        content["best_trials"] = [_trial_object(trial) for trial in best]
        content["recommendation"] = answer
        content["better_policy"] = None if better is None else better.as_object()
        print_json(content)
    else:
        _print_study(row, spec, result, better, best, show_all)


def _print_study(
    row: StudyRow,
    spec: StudySpec | None,
    recommendation: Recommendation | None,
    better: BetterPolicy | None,
    best: list[FrozenTrial],
    show_all: bool,
) -> None:
    """Print a study of one scenario, or a study that ravenlab did not create."""
    from ravenlab.studies.results.documents import recommendation_document

    if recommendation is None:
        print_line("No recommendation yet.")
    else:
        print_document(recommendation_document(recommendation, better), short=not show_all)
    _print_progress(row, "trials")
    if spec is not None and show_all:
        _print_spec(spec)
    if best and (show_all or spec is None):
        _print_trials(best)
    if not show_all and spec is not None:
        _print_hint(row)


def _print_result(row: StudyRow, kind: StudyKind[Any, Any], result: Any, show_all: bool) -> None:
    """Print a grid, a comparison or a robust search."""
    if result is None:
        print_line(f"Not complete; rerun the same ravenlab {kind.command} command to resume.")
    else:
        for document in result.to_documents():
            print_document(document, short=not show_all)
    _print_progress(row, kind.unit)
    if result is not None and not show_all:
        _print_hint(row)


def _print_progress(row: StudyRow, unit: str) -> None:
    total = "–" if row.planned is None else f"{row.planned:,}"
    kind = "" if row.kind in ("study", "external") else f"{row.kind}, "
    print_line("")
    print_line(f"{row.name}: {kind}{row.state}, {row.finished:,} of {total} {unit}")


def _print_hint(row: StudyRow) -> None:
    print_line(f"All details: {command_name()} show {quote(row.name)} --all", "dim")


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
    """Print the settings of a study below a blank line, one line per field that is not empty."""
    pairs = []
    for name, value in spec.model_dump(mode="json", exclude={"space", "name", "map"}).items():
        if value not in ({}, None, False):
            text = ", ".join(f"{key}={item}" for key, item in value.items()) if isinstance(value, dict) else value
            pairs.append((name, f"{text:,}" if isinstance(text, int) and name != "seed" else str(text)))
    for name, range_ in spec.space.items():
        param = f"1 − {format_symbol(name)}" if range_.scale == "one-minus" else format_symbol(name)
        bounds = f"{format_number(range_.low)} to {format_number(range_.high)}"
        pairs.append((f"search range of {param}", f"{bounds} ({range_.scale})"))
    print_line("")
    print_list(pairs, indent=2)


def _print_trials(best: list[FrozenTrial]) -> None:
    from ravenlab.studies.storage.trials import is_number

    rows = []
    print_line("")
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
