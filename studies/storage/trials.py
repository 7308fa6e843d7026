"""Grids and comparisons as Optuna studies: one trial per cell or entry, in the order of the specification.

Trials and attributes hold the complete result: a grid or comparison that is read back equals the computed one.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np

from ravenlab.common.compat.optuna import AnyStudy, BaseDistribution, FrozenTrial, Study, contains
from ravenlab.common.errors import InputError
from ravenlab.environments.world import Floats
from ravenlab.studies.results.comparison import Comparison, ComparisonEntry, RecordedResult, RegretCurve
from ravenlab.studies.results.grid import Grid
from ravenlab.studies.spec.comparison import ComparisonSpec, SettingKind
from ravenlab.studies.spec.grid import GridSpec
from ravenlab.studies.storage import keys
from ravenlab.studies.storage.rows import store_trials

LARGEST = sys.float_info.max


def grid_distributions(spec: GridSpec) -> dict[str, BaseDistribution]:
    """Return Optuna's distribution of each parameter, on a log scale if all values are positive.

    >>> grid_distributions(GridSpec(scenario="blips"))["alpha0"]
    FloatDistribution(high=10.0, log=True, low=0.1, step=None)
    """
    from optuna.distributions import CategoricalDistribution, FloatDistribution

    numbers = {name: (value,) for name, value in spec.fixed.items() if isinstance(value, float)}
    bounds = {name: (values[0], values[-1]) for name, values in {**spec.axes, **numbers}.items()}
    numeric = {name: FloatDistribution(low, high, log=low > 0.0) for name, (low, high) in bounds.items()}
    texts = {name: CategoricalDistribution([value]) for name, value in spec.fixed.items() if isinstance(value, str)}
    return {**numeric, **texts}


def store_cells(study: Study, spec: GridSpec, first: int, samples: Floats, seconds: float) -> None:
    """Store cells first, first + 1, … with the samples [cells, replications] as finished trials, in one transaction.

    Cells must be stored in order. `seconds` is the time per cell.
    """
    cells = spec.cells()[first:]
    distributions = grid_distributions(spec)
    pairs = zip(samples, cells, strict=False)
    store_trials(study, [_finished_trial(sample, seconds, cell, distributions, {}) for sample, cell in pairs])


def _finished_trial(
    sample: Floats,
    seconds: float,
    params: Mapping[str, Any],
    distributions: Mapping[str, BaseDistribution],
    attributes: Mapping[str, Any],
) -> FrozenTrial:
    """Make a complete trial whose value is the mean of a sample [R]."""
    import optuna

    return optuna.trial.create_trial(
        state=optuna.trial.TrialState.COMPLETE,
        value=float(sample.mean()),
        params=dict(params),
        distributions=dict(distributions),
        user_attrs={
            keys.STDERR: float(sample.std(ddof=1) / np.sqrt(sample.size)),
            keys.REPLICATIONS: int(sample.size),
            keys.SECONDS: round(seconds, 6),
            **attributes,
        },
    )


def read_grid(study: AnyStudy, spec: GridSpec, trials: Sequence[FrozenTrial]) -> Grid | None:
    """Return the grid of a study; None before it is complete."""
    indistinguishable = keys.read_indistinguishable(study)
    if indistinguishable is None:
        return None
    check_cells(study.study_name, spec, trials)
    if len(trials) < len(spec.cells()):
        return None
    shape = tuple(map(len, spec.axes.values()))
    return Grid(
        spec=spec,
        study=study.study_name,
        mean=np.array([trial.value for trial in trials], dtype=np.float64).reshape(shape),
        stderr=np.array([trial.user_attrs[keys.STDERR] for trial in trials], dtype=np.float64).reshape(shape),
        indistinguishable=np.isin(np.arange(len(trials)), indistinguishable).reshape(shape),
    )


def check_cells(name: str, spec: GridSpec, trials: Sequence[FrozenTrial]) -> None:
    """Raise InputError if a trial is not a finished cell of the grid in its place."""
    cells = spec.cells()
    for number, trial in enumerate(trials):
        if (
            number >= len(cells)
            or trial.state.name != "COMPLETE"
            or trial.params != cells[number]
            or not is_number(trial.value)
            or not is_number(trial.user_attrs.get(keys.STDERR))
        ):
            raise InputError(
                f"trial {number} of grid {name!r} is not a cell of the grid; delete the study or choose another name.",
                field="name",
            )


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a stored value is a finite number.

    >>> is_number(0.5), is_number("0.5"), is_number(None), is_number(float("inf")), is_number(10**400)
    (True, False, False, False, False)
    """
    return isinstance(value, int | float) and abs(value) <= LARGEST  # also false for NaN, and for integers beyond it


def check_trials(
    name: str, space: Mapping[str, BaseDistribution], directions: int, trials: Sequence[FrozenTrial]
) -> None:
    """Raise InputError if a trial is not a finished trial of a search over `space`."""
    for trial in trials:
        values = trial.values or []
        if trial.state.name not in ("COMPLETE", "PRUNED"):
            problem = "is unfinished"
        elif trial.params.keys() != space.keys() or not all(
            is_number(value) and contains(space[key], float(value)) for key, value in trial.params.items()
        ):
            problem = "has parameters outside the search space"
        elif not all(map(is_number, values)) or (trial.state.name == "COMPLETE" and len(values) != directions):
            problem = "has no valid result"
        else:
            continue
        raise InputError(
            f"trial {trial.number} of study {name!r} {problem}; delete the study or choose another name.", field="name"
        )


def _recorded_fields(recorded: RecordedResult) -> dict[str, Any]:
    """Return the fields of a result on recorded data; that of collections only for them."""
    parts = None if recorded.parts is None else recorded.parts.tolist()
    fields = {**vars(recorded), "parts": parts}
    if not recorded.files:
        del fields["files"]
    return fields


def store_entry(study: Study, spec: ComparisonSpec, entry: ComparisonEntry, seconds: float) -> None:
    """Store one entry as a finished trial; entries must be stored in order."""
    from optuna.distributions import CategoricalDistribution

    recorded = entry.recorded
    params = {"policy": entry.policy, "setting": entry.setting}
    distributions = {
        "policy": CategoricalDistribution(spec.policies),
        "setting": CategoricalDistribution(("defaults", "tuned")),
    }
    attributes = {
        keys.NANOSECONDS: entry.nanoseconds,
        keys.REGRETS: entry.regret.tolist(),
        keys.ENTRY: {
            "params": entry.params,
            "trials": entry.trials,
            "search_replications": entry.search_replications,
            "failures": entry.failures,
            "uniform": entry.uniform,
            "steps": list(entry.curve.steps),
            "mean": list(entry.curve.mean),
            "stderr": list(entry.curve.stderr),
            "recorded": None if recorded is None else _recorded_fields(recorded),
        },
    }
    store_trials(study, [_finished_trial(entry.regret, seconds, params, distributions, attributes)])


def _read_recorded(stored: dict[str, Any]) -> RecordedResult:
    return RecordedResult(
        reward=_check_number(stored["reward"]),
        rows=int(stored["rows"]),
        parts=None if stored["parts"] is None else _check_numbers(stored["parts"]),
        inconclusive=None if stored["inconclusive"] is None else str(stored["inconclusive"]),
        simulated=bool(stored["simulated"]),
        estimator=str(stored.get("estimator", "")),
        files=bool(stored.get("files", False)),
    )


def _read_curve(steps: Sequence[int], stored: dict[str, Any]) -> RegretCurve:
    columns = _check_numbers([steps, stored["mean"], stored["stderr"]], dimensions=2)
    return RegretCurve(tuple(columns[0].astype(int).tolist()), *map(tuple, columns[1:].tolist()))


def _check_numbers(stored: Any, dimensions: int = 1) -> Floats:
    """Return a stored list, or one of lists of equal length, as an array of finite numbers."""
    numbers = np.array(stored, dtype=np.float64)
    if numbers.ndim != dimensions or not np.isfinite(numbers).all():
        raise ValueError
    return numbers


def _check_number(value: Any) -> float:
    if not is_number(value):
        raise ValueError
    return float(value)


def read_entries(name: str, spec: ComparisonSpec, trials: Sequence[FrozenTrial]) -> list[ComparisonEntry]:
    """Return the stored entries. Raises InputError if a trial is not an entry of the comparison in its place."""
    expected = spec.entries()
    entries = []
    for number, trial in enumerate(trials):
        try:
            entries.append(_read_entry(trial, spec, *expected[number]))
        except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError):
            raise InputError(
                f"trial {number} of comparison {name!r} is not an entry of the comparison; "
                "delete the study or choose another name.",
                field="name",
            ) from None
    return entries


def _read_entry(trial: FrozenTrial, spec: ComparisonSpec, policy: str, setting: SettingKind) -> ComparisonEntry:
    if trial.state.name != "COMPLETE" or trial.params != {"policy": policy, "setting": setting}:
        raise ValueError
    stored = trial.user_attrs[keys.ENTRY]
    regret = _check_numbers(trial.user_attrs[keys.REGRETS])
    recorded = stored.get("recorded")
    of_files = recorded is not None and bool(recorded.get("files"))
    if regret.size != spec.replications and not of_files:
        raise ValueError
    nanoseconds = trial.user_attrs.get(keys.NANOSECONDS)
    params = dict(stored["params"])
    if not all(isinstance(value, str) or is_number(value) for value in params.values()):
        raise ValueError
    failures = stored.get("failures")
    return ComparisonEntry(
        policy=policy,
        setting=setting,
        params=params,
        regret=regret,
        curve=_read_curve(stored["steps"], stored),
        trials=int(stored["trials"]),
        search_replications=int(stored["search_replications"]),
        failures=None if failures is None else int(failures),
        uniform=_check_number(stored.get("uniform", 0.0)),
        nanoseconds=None if nanoseconds is None else _check_number(nanoseconds),
        recorded=None if recorded is None else _read_recorded(recorded),
    )


def store_further_worlds(study: Study, further: Sequence[ComparisonEntry]) -> None:
    """Store what all entries of a comparison play beyond the worlds of their trials; nothing if that is enough."""
    results = [
        {
            "regret": entry.regret.tolist(),
            "mean": list(entry.curve.mean),
            "stderr": list(entry.curve.stderr),
            "failures": entry.failures,
            "uniform": entry.uniform,
        }
        for entry in further
    ]
    keys.write_further_worlds(study, results)


def add_further_worlds(study: AnyStudy, entries: Sequence[ComparisonEntry]) -> tuple[ComparisonEntry, ...]:
    """Return the entries on all worlds, those of their trials and the stored further ones."""
    stored = keys.read_further_worlds(study)
    if not stored:
        return tuple(entries)
    try:
        further = [
            replace(
                entry,
                regret=_check_numbers(part["regret"]),
                curve=_read_curve(entry.curve.steps, part),
                failures=int(part["failures"]),
                uniform=_check_number(part["uniform"]),
            )
            for entry, part in zip(entries, stored, strict=True)
        ]
        return tuple(entry.pool(more) for entry, more in zip(entries, further, strict=True))
    except (KeyError, OverflowError, TypeError, ValueError):
        raise InputError(
            f"comparison {study.study_name!r} has a list of results that this version cannot read."
        ) from None


def read_comparison(study: AnyStudy, spec: ComparisonSpec, trials: Sequence[FrozenTrial]) -> Comparison | None:
    """Return the comparison of a study; None before it is complete."""
    if keys.read_further_worlds(study) is None or len(trials) < len(spec.entries()):
        return None
    entries = read_entries(study.study_name, spec, trials)
    return Comparison(spec, study.study_name, add_further_worlds(study, entries))
