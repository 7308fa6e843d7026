"""`ravenlab show`: one study in full."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from tuning.cli.options import JsonOption, StorageOption, StudyArgument

if TYPE_CHECKING:
    from optuna.study._frozen import FrozenStudy
    from optuna.trial import FrozenTrial

    from studies.spec.study import StudySpec
    from studies.storage.library import StudyRow


SHOWN = 5
"""How many of the best trials are shown."""


def show(
    study: StudyArgument,
    storage: StorageOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a study: what was asked, how far it is, what it found.

    Examples:
        # the beginning of a name is enough where it fits one study
        ravenlab show raven-ucb/variance-drift
        # for programs
        ravenlab show raven-ucb/variance-drift/T10000/K10 --json
    """
    from environments.errors import InputError
    from studies.results.describe import describe_recommendation
    from studies.storage.database import use_storage
    from studies.storage.keys import read_recommendation, read_spec
    from studies.storage.library import describe_study, find_studies
    from tuning.cli.output import print_json, say

    with use_storage(storage) as store:
        found = find_studies(store, [study])
        if len(found) > 1:
            raise InputError(f"study {study!r} fits {len(found)} studies; show takes one.")
        row, trials = describe_study(store, found[0]), store.get_all_trials(found[0]._study_id, deepcopy=False)
        whole = _whole(found[0], trials)
        if whole is not None:
            _show_whole(row, whole, as_json)
            return
        spec, recommendation = read_spec(found[0]), read_recommendation(found[0])
        best = _best(trials, found[0].directions[0].name)
    if as_json:
        document = {
            **asdict(row),
            "spec": None if spec is None else spec.model_dump(mode="json"),
            "best_trials": [_as_object(trial) for trial in best],
            "recommendation": None if recommendation is None else recommendation.as_object(),
        }
        print_json(document)
        return
    say(f"{row.name}: {row.state}, {row.finished} of {'–' if row.planned is None else row.planned} trials")
    if spec is not None:
        _print_spec(spec)
    _print_trials(best)
    for line in describe_recommendation(recommendation) if recommendation is not None else ["No recommendation yet."]:
        say(line)


@dataclass(frozen=True)
class Whole:
    """A study that is done when all of it is: a grid, a comparison, or a search over several scenarios."""

    command: str
    """Who goes on with it."""
    unit: str
    """What it is made of."""
    key: str
    """What it found is called so in JSON."""
    spec: Any
    found: Any
    """None while it is not finished."""
    show: Callable[[Any], None]


def _whole(study: FrozenStudy, trials: Sequence[FrozenTrial]) -> Whole | None:
    """What such a study holds; None for a search of one world, or what is not ours."""
    from studies.storage import keys
    from studies.storage.trials import read_comparison, read_grid
    from tuning.cli.compare import print_results
    from tuning.cli.grid import print_grid
    from tuning.cli.tune import print_found
    from tuning.comparison.ranking import analyze_comparison

    grid, comparison = keys.read_grid_spec(study), keys.read_comparison_spec(study)
    if grid is not None:
        return Whole("grid", "cells", "grid", grid, read_grid(study, trials), print_grid)
    if keys.ROBUST in study.user_attrs:
        spec, found = keys.read_robust_spec(study), keys.read_robust(study)
        return Whole("tune --robust", "trials", "found", spec, found, print_found)
    if comparison is not None:
        played = read_comparison(study, trials)
        result = None if played is None else analyze_comparison(played)
        return Whole("compare", "entries", "comparison", comparison, result, lambda one: print_results([one]))
    return None


def _show_whole(row: StudyRow, whole: Whole, as_json: bool) -> None:
    from tuning.cli.output import print_json, say

    if as_json:
        shown = None if whole.found is None else whole.found.as_object()
        print_json({**asdict(row), "spec": whole.spec.model_dump(mode="json"), whole.key: shown})
        return
    say(f"{row.name}: {row.state}, {row.finished} of {row.planned} {whole.unit}")
    if whole.found is None:
        say(f"Not finished; run the same ravenlab {whole.command} command again to go on.")
        return
    whole.show(whole.found)


def _best(trials: list[FrozenTrial], direction: str) -> list[FrozenTrial]:
    """The best complete trials, ties by number."""
    import math

    sign = -1.0 if direction == "MAXIMIZE" else 1.0
    complete = [
        trial
        for trial in trials
        if trial.state.name == "COMPLETE" and trial.values and len(trial.values) == 1 and math.isfinite(trial.values[0])
    ]
    return sorted(complete, key=lambda trial: (sign * trial.values[0], trial.number))[:SHOWN]


def _as_object(trial: FrozenTrial) -> dict[str, Any]:
    from studies.storage.keys import REPLICATIONS, STDERR

    return {
        "number": trial.number,
        "value": trial.value,
        "params": trial.params,
        "stderr": trial.user_attrs.get(STDERR),
        "replications": trial.user_attrs.get(REPLICATIONS),
    }


def _print_spec(spec: StudySpec) -> None:
    """What was asked, a line a field; what is empty is left out."""
    from environments.text import format_number
    from studies.symbols import format_symbol
    from tuning.cli.output import say

    for name, value in spec.model_dump(mode="json", exclude={"space", "name"}).items():
        if value not in ({}, None, False):
            text = ", ".join(f"{key}={each}" for key, each in value.items()) if isinstance(value, dict) else value
            say(f"  {name}: {text}")
    for name, range_ in spec.space.items():
        what = f"1 − {format_symbol(name)}" if range_.scale == "one-minus" else format_symbol(name)
        say(f"  searched: {what} from {format_number(range_.low)} to {format_number(range_.high)} ({range_.scale})")


def _print_trials(best: list[FrozenTrial]) -> None:
    from environments.text import format_number
    from studies.symbols import format_params
    from tuning.cli.output import print_table

    if not best:
        return
    rows = []
    for trial in best:
        error = _as_object(trial)["stderr"]
        rows.append(
            [
                str(trial.number),
                format_number(trial.values[0]),
                format_number(error) if isinstance(error, int | float) else "–",
                format_params(trial.params),
            ]
        )
    columns = ["trial", "value", "± error", "parameters"]
    print_table("Best trials, as the search saw them", columns, rows, numbers=columns[:3])
