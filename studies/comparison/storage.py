"""A comparison as an Optuna study: one finished trial an entry, in the order of `ComparisonSpec.entries()`.

A trial keeps what its entry got in every world, to the last digit: nothing has to be played again to compare it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from environments.errors import InputError
from studies import keys
from studies.comparison.entries import Comparison, Entry, RegretCurve
from studies.comparison.spec import ComparisonSpec

if TYPE_CHECKING:
    import optuna
    from optuna.study._frozen import FrozenStudy
    from optuna.trial import FrozenTrial


def land_entry(study: optuna.Study, spec: ComparisonSpec, entry: Entry, seconds: float) -> None:
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


def read_entries(name: str, spec: ComparisonSpec, trials: Sequence[FrozenTrial]) -> list[Entry]:
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


def _entry(trial: FrozenTrial, spec: ComparisonSpec, number: int) -> Entry:
    policy, setting = spec.entries()[number]
    kept, regret = trial.user_attrs[keys.ENTRY], np.array(trial.user_attrs[keys.REGRETS], dtype=np.float64)
    if regret.shape != (spec.replications,) or not np.isfinite(regret).all():
        raise ValueError
    return Entry(
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
