"""A collection of traces as held-out data: whole files are independent replications."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ravenlab.common.interval import CONFIDENCE_LEVEL, ERROR_RATE, Interval
from ravenlab.environments.recorded.collection import CollectionScenario
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats
from ravenlab.policies.engine.parameters import Values
from ravenlab.studies.statistics.bootstrap import SerialDependence
from ravenlab.studies.statistics.files import FileEstimate
from ravenlab.studies.statistics.paired import holm_adjust
from ravenlab.tuning.validation.report import Report
from ravenlab.tuning.validation.trace import TraceData, WindowSample
from ravenlab.tuning.workers.problem import problem_policy


def estimate_files(sample: WindowSample) -> FileEstimate:
    """Estimate a mean from those of files."""
    return FileEstimate.of(sample.windows, sample.parts)


class CollectionData(TraceData):
    """The files for selection and for the report of a collection of traces."""

    scenario: CollectionScenario

    def windows(self, stream: Stream) -> int:
        """Return the number of windows of a stream: as many in each file."""
        random = problem_policy(self.evaluator.problem).random
        return self.scenario.count_windows(self.evaluator.problem.horizon, super().windows(stream), stream, random)

    def relative_excess(self, loss: WindowSample, best: WindowSample, level: float) -> Interval:
        """Return the excess regret relative to that of the best."""
        return estimate_files(loss - best).interval(level) / (abs(self.mean(best)) or 1.0)

    def mark_indistinguishable(self, losses: Sequence[WindowSample], means: Floats) -> NDArray[np.bool_]:
        """Mark the candidates that are statistically indistinguishable from the best."""
        best = losses[int(np.argmin(means))]
        p = [estimate_files(loss - best).p_value for loss in losses]
        return np.array(holm_adjust(p)) > ERROR_RATE

    def evaluate(self, candidates: Sequence[Values]) -> Report:
        """Estimate regret on the files of the report, and compare with fixed arms."""
        report = super().evaluate(candidates)
        assert report.trace is not None
        files = {
            stream.name.lower(): [self.scenario.files[i] for i in self.scenario.numbers(stream)]
            for stream in (Stream.SEARCH, Stream.SELECTION, Stream.REPORT)
        }
        return replace(report, trace=report.trace.model_copy(update={"enough": True, "files": files}))

    def _test(self, difference: WindowSample) -> FileEstimate:
        return estimate_files(difference)

    def _estimate(self, sample: WindowSample) -> Interval:
        return estimate_files(sample).interval(CONFIDENCE_LEVEL)

    def _is_conclusive(self, sample: WindowSample) -> bool:
        return True

    def _find_dependence(self, parts: Floats, stream: Stream) -> SerialDependence:
        files = float(len(self.scenario.numbers(stream)))
        return SerialDependence(block=1, effective=files, blocks=files, centering=1.0)
