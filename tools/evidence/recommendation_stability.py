"""Stability of recommendations over seeds: python -m tools.evidence.recommendation_stability [--first 0] [--seeds 20].

1. The README's study (incremental drift, T 10,000) with each seed. The excess of the recommended parameters over a
   reference search (400 trials × 2,000 worlds) is measured on 20,000 worlds that no study uses. The reference is the
   lowest point of a surface fitted to its trials, so that it does not share the preference for simple values. The
   result relative to the parameters that the reference search recommends is printed too. The upper 95 % bound should
   be at most 3 % in 19 of 20, and α₀ within 15 % of the median. The bound is also computed from the mean of eight
   copies with slightly different parameters per world, which has less than half the standard error and so shows the
   true excess better.
2. Stationary rewards, T 1,000, where the defaults are as good as any other parameters: at least 18 of 20 studies should
   say so.
"""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ravenlab.environments.streams import Stream
from ravenlab.studies.results.recommendation import Parameters, Recommendation
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.statistics.intervals import relative_interval
from ravenlab.studies.statistics.surface import fit_surface
from ravenlab.tuning.search.loop import search
from ravenlab.tuning.search.samplers import first_candidates
from ravenlab.tuning.validation.candidates import COPIES, complete_trials, from_point, make_copies, to_point
from ravenlab.tuning.validation.recommend import recommend
from ravenlab.tuning.workers.local import LocalWorkers
from ravenlab.tuning.workers.problem import Evaluator
from tools.evidence.harness import make_parser

if TYPE_CHECKING:
    import optuna

    from ravenlab.environments.world import Floats

REFERENCE_SEED = 1_000_003
TRUTH_SEED = 2**62
BLOCK = 2000
REPORT = 200  # report worlds; they do not affect the choice


def run_study(spec: StudySpec, jobs: int, law: bool) -> tuple[Recommendation, Parameters]:
    """Search and recommend without a storage; return also the lowest point of a surface fitted to the trials."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(study_name=spec.study_name())
    evaluator = Evaluator(spec, LocalWorkers(jobs))
    search(spec, study, evaluator, first=first_candidates(spec, law))
    return recommend(spec, study, evaluator), find_lowest(spec, study)


def find_lowest(spec: StudySpec, study: optuna.Study) -> Parameters:
    """Return the lowest point, within the best trials, of a surface fitted to all trials."""
    complete = complete_trials(spec, study.get_trials(deepcopy=False))
    points = np.stack([to_point(spec, trial.values) for trial in complete.candidates])
    near = points[np.argsort(complete.values)[: spec.candidates]]
    return dict(from_point(spec, fit_surface(points, complete.values).lowest(near.min(axis=0), near.max(axis=0))))


def measure(spec: StudySpec, settings: list[Parameters], first_world: int, worlds: int, jobs: int) -> Floats:
    """Return the regrets [settings, 1 + COPIES, worlds] of parameters and their copies in worlds that no study uses."""
    evaluator = Evaluator(spec.model_copy(update={"seed": TRUTH_SEED}), LocalWorkers(jobs))
    values = [spec.resolve_params(params) for params in settings]
    distinct = [each for i, each in enumerate(values) if each not in values[:i]]
    played = [candidate for each in distinct for candidate in (each, *make_copies(spec, each))]
    ranges = [(first_world + first, min(BLOCK, worlds - first)) for first in range(0, worlds, BLOCK)]
    regret = [evaluator.play(played, Stream.SIMULATE, *part).regret for part in ranges]
    by_setting = np.concatenate(regret, axis=1).reshape(len(distinct), 1 + COPIES, worlds)
    return by_setting[[distinct.index(each) for each in values]]


def main() -> None:
    parser = make_parser(__doc__, first=True, seeds=20, jobs=True)
    parser.add_argument("--first-world", type=int, default=0, help="first world of the comparison")
    parser.add_argument("--worlds", type=int, default=20_000, help="worlds of the comparison with the reference")
    parser.add_argument("--json", type=Path, help="keeps finished studies, so that an interrupted run can go on")
    args = parser.parse_args()
    kept: dict[str, Parameters] = {}
    verdicts: dict[str, str] = {}
    if args.json is not None and args.json.exists():
        stored = json.loads(args.json.read_text())
        kept = stored["params"]
        verdicts = stored["verdicts"]

    def study(name: str, spec: StudySpec, law: bool = True) -> None:
        if name not in kept:
            found, lowest = run_study(spec, args.jobs, law)
            kept[name] = found.params
            verdicts[name] = found.verdict.decision
            kept[f"{name}, lowest point"] = lowest
            if args.json is not None:
                args.json.write_text(json.dumps({"params": kept, "verdicts": verdicts}, indent=1))
        print(name, kept[name], verdicts[name], flush=True)

    drift = StudySpec(scenario="incremental-drift", horizon=10_000, report=REPORT)
    budget = {"seed": REFERENCE_SEED, "trials": 400, "replications": 2000}
    study("reference", drift.model_copy(update=budget), law=False)
    seeds = range(args.first, args.first + args.seeds)
    for seed in seeds:
        study(f"incremental-drift {seed}", drift.model_copy(update={"seed": seed}))
        study(f"stationary {seed}", StudySpec(scenario="stationary", horizon=1000, report=REPORT, seed=seed))

    names = [f"incremental-drift {seed}" for seed in seeds]
    settings = [kept[name] for name in ("reference", "reference, lowest point", *names)]
    recommended, reference, *regrets = measure(drift, settings, args.first_world, args.worlds, args.jobs)
    median = statistics.median(float(kept[name]["alpha0"]) for name in names)
    bounds = []
    bounds_of_copies = []
    bounds_to_recommended = []
    excesses = []
    for name, regret in zip(names, regrets, strict=True):
        single = relative_interval(regret[0], reference[0], seed=0, level=0.9)
        copies = relative_interval(regret[1:].mean(axis=0), reference[1:].mean(axis=0), seed=0, level=0.9)
        bounds.append(single.high)
        bounds_to_recommended.append(relative_interval(regret[0], recommended[0], seed=0, level=0.9).high)
        bounds_of_copies.append(copies.high)
        excesses.append(copies.mean)
        shown = [f"{mean:.2%} ({low:.2%} to {high:.2%})" for mean, low, high in (single, copies)]
        alpha0 = float(kept[name]["alpha0"])
        print(f"{name}: excess {shown[0]}, eight copies {shown[1]}, α₀ {alpha0:g} ({alpha0 / median - 1:+.0%})")
    close = sum(abs(float(kept[name]["alpha0"]) / median - 1.0) <= 0.15 for name in names)
    keep = sum(verdicts[f"stationary {seed}"] == "keep the defaults" for seed in seeds)
    print(f"excess, eight copies: median {statistics.median(excesses):.2%}, largest {max(excesses):.2%}")
    rows = {
        "single values": bounds,
        "eight copies": bounds_of_copies,
        "single values, relative to the recommendation of the reference search": bounds_to_recommended,
    }
    for label, highs in rows.items():
        print(f"upper bound of the excess at most 3 %, {label}: {sum(high <= 0.03 for high in highs)} of {args.seeds}")
    print(f"α₀ within 15 % of the median, {median:g}: {close} of {args.seeds}")
    print(f"stationary, keep the defaults: {keep} of {args.seeds}")


if __name__ == "__main__":
    main()
