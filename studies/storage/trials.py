"""A grid as an Optuna study: one trial a cell, in the order of `GridSpec.cells()`.

What the trials and attributes hold is all there is: a grid that was read back equals the one that was made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from environments.errors import InputError
from environments.world import Floats
from studies.results.comparison import Comparison, ComparisonEntry, RegretCurve
from studies.results.grid import Grid
from studies.spec.comparison import ComparisonSpec
from studies.spec.grid import GridSpec
from studies.storage import keys

if TYPE_CHECKING:
    import optuna
    from optuna.distributions import BaseDistribution
    from optuna.study._frozen import FrozenStudy
    from optuna.trial import FrozenTrial


def grid_distributions(spec: GridSpec) -> dict[str, BaseDistribution]:
    """Optuna's distribution of each parameter: from the first to the last value, log where it can be.

    >>> grid_distributions(GridSpec(scenario="blips"))["alpha0"]
    FloatDistribution(high=10.0, log=True, low=0.5, step=None)
    """
    from optuna.distributions import FloatDistribution

    ends = {
        "alpha0": (spec.alpha0[0], spec.alpha0[-1]),
        "beta0": (spec.beta0[0], spec.beta0[-1]),
        "epsilon": (spec.epsilon, spec.epsilon),
    }
    return {name: FloatDistribution(low, high, log=low > 0.0) for name, (low, high) in ends.items()}


def store_cell(study: optuna.Study, spec: GridSpec, number: int, sample: Floats, seconds: float) -> None:
    """Store one cell as a finished trial; cells land in their order."""
    import optuna

    study.add_trial(
        optuna.trial.create_trial(
            state=optuna.trial.TrialState.COMPLETE,
            value=float(sample.mean()),
            params=spec.cells()[number],
            distributions=grid_distributions(spec),
            user_attrs={
                keys.STDERR: float(sample.std(ddof=1) / np.sqrt(sample.size)),
                keys.REPLICATIONS: int(sample.size),
                keys.SECONDS: round(seconds, 6),
            },
        )
    )


def read_grid(study: optuna.Study | FrozenStudy, trials: Sequence[FrozenTrial] | None = None) -> Grid | None:
    """The grid that a study holds; None where it is not a grid, or not a finished one.

    A `FrozenStudy` does not know its trials, so they must be given with it.

    >>> import optuna
    >>> read_grid(optuna.create_study(study_name="a search")) is None
    True
    """
    spec, equals = keys.read_grid_spec(study), keys.read_indistinguishable(study)
    if spec is None or equals is None:
        return None
    if trials is None:
        trials = study.get_trials(deepcopy=False)  # type: ignore[union-attr]
    check_cells(study.study_name, spec, trials)
    if len(trials) < len(spec.cells()):
        return None
    shape = (len(spec.alpha0), len(spec.beta0))
    return Grid(
        spec=spec,
        study=study.study_name,
        mean=np.array([trial.value for trial in trials], dtype=np.float64).reshape(shape),
        stderr=np.array([trial.user_attrs[keys.STDERR] for trial in trials], dtype=np.float64).reshape(shape),
        indistinguishable=np.isin(np.arange(len(trials)), equals).reshape(shape),
    )


def check_cells(name: str, spec: GridSpec, trials: Sequence[FrozenTrial]) -> None:
    """Only the grid's own cells, finished and in their order, can stand in it."""
    cells = spec.cells()
    for number, trial in enumerate(trials):
        if (
            number >= len(cells)
            or trial.state.name != "COMPLETE"
            or trial.params != cells[number]
            or keys.STDERR not in trial.user_attrs
        ):
            raise InputError(
                f"grid {name!r} holds a trial that is none of its cells (number {number}); "
                "delete the study or choose another name.",
                field="name",
            )


def store_entry(study: optuna.Study, spec: ComparisonSpec, entry: ComparisonEntry, seconds: float) -> None:
    """Store one entry as a finished trial; entries land in their order."""
    import optuna
    from optuna.distributions import CategoricalDistribution

    study.add_trial(
        optuna.trial.create_trial(
            state=optuna.trial.TrialState.COMPLETE,
            value=float(entry.regret.mean()),
            params={"policy": entry.policy, "setting": entry.setting},
            distributions={
                "policy": CategoricalDistribution(spec.policies),
                "setting": CategoricalDistribution(("defaults", "tuned")),
            },
            user_attrs={
                keys.STDERR: float(entry.regret.std(ddof=1) / np.sqrt(entry.regret.size)),
                keys.REPLICATIONS: int(entry.regret.size),
                keys.SECONDS: round(seconds, 6),
                keys.NANOSECONDS: entry.nanoseconds,
                keys.REGRETS: entry.regret.tolist(),
                keys.ENTRY: {
                    "params": entry.params,
                    "trials": entry.trials,
                    "search_replications": entry.search_replications,
                    "steps": list(entry.curve.steps),
                    "mean": list(entry.curve.mean),
                    "stderr": list(entry.curve.stderr),
                },
            },
        )
    )


def read_entries(name: str, spec: ComparisonSpec, trials: Sequence[FrozenTrial]) -> list[ComparisonEntry]:
    """The entries that have landed; whatever else stands in the study is refused."""
    asked = spec.entries()
    found = []
    for number, trial in enumerate(trials):
        try:
            policy, setting = asked[number]
            if trial.state.name != "COMPLETE" or trial.params != {"policy": policy, "setting": setting}:
                raise ValueError
            found.append(_entry(trial, spec, number))
        except (IndexError, KeyError, TypeError, ValueError):
            raise InputError(
                f"comparison {name!r} holds a trial that is none of its entries (number {number}); "
                "delete the study or choose another name.",
                field="name",
            ) from None
    return found


def _entry(trial: FrozenTrial, spec: ComparisonSpec, number: int) -> ComparisonEntry:
    policy, setting = spec.entries()[number]
    kept, regret = trial.user_attrs[keys.ENTRY], np.array(trial.user_attrs[keys.REGRETS], dtype=np.float64)
    if regret.shape != (spec.replications,) or not np.isfinite(regret).all():
        raise ValueError
    return ComparisonEntry(
        policy=policy,
        setting=setting,
        params=dict(kept["params"]),
        regret=regret,
        curve=RegretCurve(tuple(kept["steps"]), tuple(kept["mean"]), tuple(kept["stderr"])),
        trials=int(kept["trials"]),
        search_replications=int(kept["search_replications"]),
        nanoseconds=trial.user_attrs.get(keys.NANOSECONDS),
    )


def read_comparison(study: FrozenStudy, trials: Sequence[FrozenTrial]) -> Comparison | None:
    """The comparison that a study holds; None where it is not one, or not a finished one."""
    spec = keys.read_comparison_spec(study)
    if spec is None or len(trials) < len(spec.entries()):
        return None
    return Comparison(spec, study.study_name, tuple(read_entries(study.study_name, spec, trials)))
