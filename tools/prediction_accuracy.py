"""Accuracy of the what-if predictions of the report: python -m tools.prediction_accuracy.

Runs the search of every study in the shipped study files that has enough trials for predictions. Prints for each the
median relative error when a trial is predicted from all others, as stated in the report, the same error in ten-fold
cross-validation with everything fitted again, and the share of the trials within their 95 % intervals. The median over
the studies should be at most 5 %.
"""

from __future__ import annotations

import argparse
import statistics

import numpy as np

from dashboards.figures import HistoryPoint
from dashboards.pages.report.data import StudyData, Trials, make_history_point
from dashboards.pages.report.what_if import MIN_TRIALS, locate_trials
from environments.world import Floats
from studies.spec.files import find_study_file, load_study_file, shipped_studies
from studies.spec.study import ResolvedStudy
from studies.statistics.gaussian_process import fit_gaussian_process
from tuning.search.loop import search
from tuning.workers.local import LocalWorkers
from tuning.workers.problem import Evaluator

FOLDS = 10
Z95 = 1.959964


def run_search(spec: ResolvedStudy, jobs: int) -> StudyData:
    """Search without a storage and without validation."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(study_name=spec.study_name())
    search(spec, study, Evaluator(spec, LocalWorkers(jobs)))
    points: list[HistoryPoint] = []
    for trial in study.get_trials(deepcopy=False):
        if trial.value is not None:
            stderr = trial.user_attrs.get("stderr")
            points.append(make_history_point(spec, trial.number, trial.value, trial.state.name, stderr, trial.params))
    return StudyData(spec.study_name(), spec, None, Trials(len(points), 0, 0, points))


def cross_validate(points: Floats, values: Floats) -> tuple[float, float]:
    """Return the median relative error and the share of trials within their 95 % intervals."""
    fold = np.random.default_rng(0).permutation(values.size) % FOLDS
    errors, inside = [], []
    for part in range(FOLDS):
        process = fit_gaussian_process(points[fold != part], values[fold != part])
        mean, deviation = process.predict(points[fold == part])
        residual = mean - np.log(values[fold == part])
        errors.extend(np.abs(np.expm1(residual)))
        inside.extend(np.abs(residual) <= Z95 * deviation)
    return float(np.median(errors)), float(np.mean(inside))


def main() -> None:
    parser = argparse.ArgumentParser(description="Accuracy of the what-if predictions of the report.")
    parser.add_argument("--replications", type=int, help="worlds per trial instead of those of the study files")
    parser.add_argument("--jobs", type=int, default=2, help="threads")
    args = parser.parse_args()
    specs = {
        spec.study_name(): spec.resolved()
        for file in shipped_studies()
        for spec in load_study_file(find_study_file(file))
    }
    stated, repeated, covered = [], [], []
    for name, spec in sorted(specs.items(), key=lambda item: item[1].horizon):
        if spec.trials < MIN_TRIALS:
            continue
        if args.replications is not None:
            spec = spec.model_copy(update={"replications": args.replications})
        points, values, _ = locate_trials(run_search(spec, args.jobs))
        error = fit_gaussian_process(points, values).error
        again, share = cross_validate(points, values)
        stated.append(error)
        repeated.append(again)
        covered.append(share)
        print(f"{name}: {100 * error:.1f} %, ten-fold {100 * again:.1f} %, within 95 % {100 * share:.0f} %", flush=True)
    print(
        f"median over {len(stated)} studies: {100 * statistics.median(stated):.1f} %,"
        f" ten-fold {100 * statistics.median(repeated):.1f} %, largest {100 * max(repeated):.1f} %,"
        f" within 95 % intervals {100 * statistics.mean(covered):.1f} %"
    )


if __name__ == "__main__":
    main()
