"""Steps of the selection: python -m tools.selection_steps [FILE ...] [--horizon 10000].

Runs the studies of the shipped files (or those named) and counts the steps played on the selection stream, relative to
a plain selection, in which every finalist and baseline plays all selection worlds. Report worlds do not affect the
selection, so few are played.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from environments.streams import Stream
from environments.world import Floats
from policies.engine.parameters import Value
from studies.spec.files import find_study_file, load_study_file, shipped_studies
from studies.spec.study import StudySpec
from tuning.search.loop import search
from tuning.validation.recommend import recommend
from tuning.workers.local import LocalWorkers
from tuning.workers.problem import Evaluator

REPORT = 200


class CountingEvaluator(Evaluator):
    """Counts the plays on the selection stream."""

    plays = 0

    def _play(
        self,
        task: Callable[..., Floats],
        candidates: Sequence[Mapping[str, Value]],
        stream: int,
        first: int,
        count: int,
    ) -> Floats:
        if stream == Stream.SELECTION:
            self.plays += len(candidates) * count
        return super()._play(task, candidates, stream, first, count)


def measure_share(spec: StudySpec, study: Any, jobs: int) -> tuple[float, str]:
    """Return the steps of the selection relative to a plain one, and the verdict."""
    evaluator = CountingEvaluator(spec, LocalWorkers(jobs))
    found = recommend(spec, study, evaluator)
    plain = (min(spec.candidates, found.trials) + len(found.versus)) * spec.selection
    return evaluator.plays / plain, found.verdict.decision


def main() -> None:
    """Print the share of each study, and the median of the saved shares."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", default=sorted(shipped_studies()), help="study files; all shipped ones")
    parser.add_argument("--horizon", type=int, default=10**9, help="skip studies with a longer horizon")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    shares = []
    for name in options.files:
        for spec in load_study_file(find_study_file(name)):
            if not isinstance(spec, StudySpec) or spec.size()[0] > options.horizon:
                continue
            small = spec.model_copy(update={"report": REPORT})
            study = optuna.create_study(study_name=spec.study_name())
            search(small, study, Evaluator(small, LocalWorkers(options.jobs)))
            share, decision = measure_share(small, study, options.jobs)
            shares.append(share)
            print(f"{name}: {spec.study_name()}: {share:.0%} of the steps of a plain selection, {decision}", flush=True)
    print(f"{len(shares)} studies: {1.0 - statistics.median(shares):.0%} of the steps saved in the median")


if __name__ == "__main__":
    main()
