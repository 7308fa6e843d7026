"""Savings and costs of pruning: python -m tools.benchmarks.pruning prints a table of docs/evidence/performance.md."""

import numpy as np
import optuna

from ravenlab.environments.streams import Stream
from ravenlab.studies.registry import PRUNERS
from ravenlab.studies.spec.distributions import from_trial_params
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.storage import keys
from ravenlab.tuning.search.loop import search
from ravenlab.tuning.search.samplers import first_candidates
from ravenlab.tuning.workers.problem import Evaluator

SCENARIOS = ("stationary", "localized-jump", "blips")
SEEDS = 12
HELD_OUT = 4000


def run_search(scenario: str, pruner: str, seed: int) -> tuple[float, float]:
    """Return the number of replications played, and the mean regret of the best trial on held-out worlds."""
    fields = {"scenario": scenario, "pruner": pruner, "seed": seed, "horizon": 2000, "trials": 96, "replications": 100}
    spec = StudySpec.model_validate(fields)
    study = optuna.create_study(study_name=f"{scenario}/{seed}")
    evaluator = Evaluator(spec)
    search(spec, study, evaluator, first=first_candidates(spec, law=False))
    played = sum(trial.user_attrs[keys.REPLICATIONS] for trial in study.get_trials(deepcopy=False))
    best = spec.resolve_params(from_trial_params(spec, study.best_trial.params))
    return float(played), float(evaluator.play([best], Stream.REPORT, 0, HELD_OUT).regret[0].mean())


def main() -> None:
    """Print a Markdown table."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    print("| scenario | pruner | replications played | regret of the search's best | against no pruning |")
    print("| --- | --- | --- | --- | --- |")
    for scenario in SCENARIOS:
        results = {
            pruner: np.array([run_search(scenario, pruner, seed) for seed in range(SEEDS)]) for pruner in PRUNERS
        }
        unpruned = results["none"]
        for pruner in PRUNERS:
            share = results[pruner][:, 0].mean() / unpruned[:, 0].mean()
            regret = results[pruner][:, 1]
            difference = regret - unpruned[:, 1]
            error = difference.std(ddof=1) / np.sqrt(SEEDS)
            against = "–" if pruner == "none" else f"{difference.mean():+.2f} ± {error:.2f}"
            print(f"| {scenario} | {pruner} | {share:.0%} | {regret.mean():.2f} | {against} |")


if __name__ == "__main__":
    main()
