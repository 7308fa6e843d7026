"""Segments of a file as held-out data: all candidates are measured on a whole segment, and compared there once."""

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ravenlab.common.interval import ERROR_RATE, Interval
from ravenlab.environments.recorded.log_world import LogScenario
from ravenlab.environments.recorded.recording import SEGMENT_SHARES
from ravenlab.environments.recorded.trace_world import TraceScenario
from ravenlab.environments.world import Floats
from ravenlab.policies.engine.parameters import Values
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.spec.source import RecordedSource
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.statistics.intervals import order_best_first
from ravenlab.tuning.validation.held_out import HeldOutData, Screening, Selection, ValuesKey, make_key
from ravenlab.tuning.validation.report import Report, make_recommendation
from ravenlab.tuning.workers.problem import Evaluator

Loss = TypeVar("Loss")
"""What a candidate loses on a segment. The losses of two candidates on the same segment can be subtracted."""


class SegmentData(HeldOutData[Recommendation], Generic[Loss]):
    """The selection and the report segment of a file: there is no design, and one look at the whole selection."""

    recorded = True

    def __init__(self, spec: StudySpec, evaluator: Evaluator, alternatives: Sequence[str] = ()) -> None:
        super().__init__(spec, evaluator, alternatives)
        self.losses: dict[ValuesKey, Loss] = {}

    @property
    def file(self) -> str:
        """Name of the file."""
        assert isinstance(self.spec.source, RecordedSource)
        return Path(self.spec.source.path).name

    @abstractmethod
    def play_selection(self, candidates: Sequence[Values]) -> list[Loss]:
        """Return the losses of candidates on the selection segment."""

    @abstractmethod
    def mean(self, loss: Loss) -> float:
        """Return a mean loss."""

    @abstractmethod
    def relative_excess(self, loss: Loss, best: Loss, level: float) -> Interval:
        """Return the difference between two losses on the selection segment, relative to the best."""

    @abstractmethod
    def mark_indistinguishable(self, losses: Sequence[Loss], means: Floats) -> NDArray[np.bool_]:
        """Mark the candidates that are statistically indistinguishable from the best."""

    @abstractmethod
    def evaluate(self, candidates: Sequence[Values]) -> Report:
        """Evaluate the first candidate, and its differences from the others, on the report segment."""

    def screen(self, candidates: Sequence[Values], design: Sequence[Values]) -> Screening:
        self.measure(candidates, self.spec.selection)
        losses = [self._loss(values) for values in candidates]
        means = np.array([self.mean(loss) for loss in losses])
        return Screening(means, order_best_first(means, self.mark_indistinguishable(losses, means))[1])

    def most_worlds(self, conclusive: bool) -> int:
        return self.spec.selection

    def list_looks(self, most: int) -> list[tuple[int, bool]]:
        return [(self.spec.selection, True)]

    def measure(self, candidates: Sequence[Values], worlds: int) -> None:
        missing = {make_key(values): values for values in candidates if self.count(values) == 0}
        if missing:
            self.losses.update(zip(missing, self.play_selection(list(missing.values())), strict=True))

    def count(self, values: Values) -> int:
        return self.spec.selection if make_key(values) in self.losses else 0

    def objective(self, values: Values, worlds: int) -> float:
        return self.mean(self._loss(values))

    def compare(self, values: Values, best: Values, worlds: int, error_rate: float) -> Interval:
        return self.relative_excess(self._loss(values), self._loss(best), level=1.0 - 2.0 * error_rate)

    def difference(self, values: Values, best: Values, worlds: int) -> tuple[float, float]:
        excess = self.compare(values, best, worlds, ERROR_RATE / 2.0)
        return excess.mean, excess.standard_error

    def report(self, selection: Selection) -> Recommendation:
        return make_recommendation(self, selection, self.evaluate(selection.evaluated))

    def _loss(self, values: Values) -> Loss:
        return self.losses[make_key(values)]


def list_segments(scenario: TraceScenario | LogScenario) -> dict[str, tuple[int, int]]:
    """Return the first and last row of each stream's segment, counted from 1."""
    segments = {stream.name.lower(): scenario.segment(stream) for stream in SEGMENT_SHARES}
    return {name: (segment.first + 1, segment.last) for name, segment in segments.items()}
