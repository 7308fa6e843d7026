"""Search ranges that are widened during a search if the best trials lie at their edge.

The ranges of a batch follow from the trials before it, so that a resumed search continues with the same ranges.
"""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ravenlab.policies import find_policy
from ravenlab.policies.engine.parameters import Param
from ravenlab.studies.spec.distributions import from_trial_params
from ravenlab.studies.spec.space import Range
from ravenlab.studies.spec.study import StudySpec

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

MAX_WIDENINGS = 3  # of each end of a range
WIDENING_FACTOR = 5.0  # by which an end on a log scale is moved; a linear range is extended by its width
BEST_TRIALS = 4  # a range is widened if so many of the best trials
EDGE_ZONE = 0.1  # lie within this share of the range from the same end
EDGE = 1e-6  # of the range: an end itself


def extend_range(param: Param, range_: Range, value: float, zone: float, factor: float) -> Range:
    """Return the range, extended where the value lies within `zone`, a share of the range, of an end.

    An end that cannot move, because the parameter's limit or the horizon sets it, stays.

    >>> extend_range(Param("alpha0", 1.0, 0.01, 10.0), Range(low=0.01, high=10.0), 9.9, zone=0.01, factor=3.0)
    Range(low=0.01, high=30.0, scale='log')
    """
    number = range_.searched(value)
    least = param.least
    most = param.most
    if range_.scale == "one-minus":
        least = max(0.0, 1.0 - param.most)
        most = min(1.0, 1.0 - param.least)
    low = range_.low
    high = range_.high
    position = range_.to_unit(value)
    if range_.logarithmic:
        lower = min(low, number if number > 0.0 else low) / factor
        upper = max(high, number) * factor
    else:
        lower = min(low, number) - (high - low)
        upper = max(high, number) + (high - low)
    if param.integer:
        lower = float(max(1, round(lower)))
        upper = float(round(upper))
    if position <= zone and not callable(param.low):
        low = min(low, max(lower, least))
    if position >= 1.0 - zone and not callable(param.high):
        high = max(high, min(upper, most))
    return range_.model_copy(update={"low": low, "high": high})


class Widening:
    """The search space of a running study. Only default ranges are widened; a given range is never left."""

    def __init__(self, spec: StudySpec, maximize: bool = False) -> None:
        self.spec = spec
        self.counts: Counter[tuple[str, bool]] = Counter()
        """Number of widenings by parameter and end; True is the high end."""
        self._sign = -1.0 if maximize else 1.0
        self._best: list[tuple[float, int, dict[str, float]]] = []
        default = spec.default_ranges_and_values()[0]
        self.params = [
            param
            for param in find_policy(spec.policy).parameters
            if param.name in spec.space and spec.space[param.name] == default.get(param.name)
        ]

    def add(self, batch: Iterable[FrozenTrial]) -> bool:
        """Take the trials of finished batches, in their order; return whether a range was widened."""
        before = self.spec
        for trial in batch:
            if trial.state.name == "COMPLETE" and trial.values is not None and len(trial.values) == 1:
                entry = (self._sign * trial.values[0], trial.number, from_trial_params(self.spec, trial.params))
                bisect.insort(self._best, entry)
                del self._best[BEST_TRIALS:]
            if (trial.number + 1) % self.spec.batch == 0:
                self._widen()
        return self.spec is not before

    def _widen(self) -> None:
        if len(self._best) < BEST_TRIALS:
            return
        for param in self.params:
            range_ = self.spec.space[param.name]
            positions = [range_.to_unit(params[param.name]) for _, _, params in self._best]
            for high in (False, True):
                at_edge = min(positions) >= 1.0 - EDGE_ZONE if high else max(positions) <= EDGE_ZONE
                if not at_edge or self.counts[param.name, high] == MAX_WIDENINGS:
                    continue
                edge = range_.bounds()[1 if high else 0]
                wider = extend_range(param, range_, edge, zone=EDGE, factor=WIDENING_FACTOR)
                if wider != range_:
                    self.counts[param.name, high] += 1
                    space = {**self.spec.space, param.name: wider}
                    self.spec = self.spec.model_copy(update={"space": space})


def widest_spec(spec: StudySpec) -> StudySpec:
    """Return the study with the largest search space that its trials can lead to."""
    space = dict(spec.space)
    for param in Widening(spec).params:
        for _ in range(MAX_WIDENINGS):
            for end in space[param.name].bounds():
                space[param.name] = extend_range(param, space[param.name], end, zone=EDGE, factor=WIDENING_FACTOR)
    return spec.model_copy(update={"space": space})


def widened_spec(spec: StudySpec, trials: Iterable[FrozenTrial], maximize: bool) -> StudySpec:
    """Return the study with the search space that its trials led to."""
    widening = Widening(spec, maximize)
    widening.add(trials)
    return widening.spec
