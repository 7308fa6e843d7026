"""The choice of the recommended parameters: the defaults if they are tied with the best, otherwise simple values.

The choice has two parts. With simulated worlds they use separate selection worlds:

1. Nomination. The best trials, the baselines and further candidates around them play a few worlds. A surface fitted to
   these results and to the trials gives the best values, rounded, and simple proposals.
2. Race. The defaults and the proposals are compared with the best until each is tied or worse.

A trace or log has one selection segment for both, no worlds can be added, and the race has one look; the defaults are
chosen unless they are significantly worse there.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ravenlab.common.interval import ERROR_RATE, TIE_MARGIN
from ravenlab.environments.world import Floats
from ravenlab.policies.engine.parameters import Values
from ravenlab.studies.results.verdict import TRIALS_PER_PARAMETER, Excess
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.statistics.sobol import scrambled_sobol
from ravenlab.studies.statistics.surface import Surface, fit_surface, tied_range
from ravenlab.tuning.validation.candidates import (
    MAX_DIGITS,
    CompleteTrials,
    clip_value,
    find_bounds,
    from_point,
    round_values,
    to_point,
)
from ravenlab.tuning.validation.held_out import ChosenParameters, HeldOutData

NEGLIGIBLE = 0.025  # standard error of the relative difference between two references below which the worse is dropped


class Race:
    """Candidates are compared with the best on a growing number of selection worlds until each is tied or worse.

    A candidate is *tied* if the upper 95 % bound of its paired excess over the best is at most `TIE_MARGIN`, and
    *worse* if the lower bound is above `TIE_MARGIN`. The looks share the error rate of 5 %, so that a bound holds
    although the number of worlds depends on it. A file has one look, at the whole selection segment.

    The best reference counts as the best. Another one is dropped when it is worse by more than the standard error of
    the difference, or when that error is negligible; no tie is accepted before.
    """

    def __init__(self, data: HeldOutData[Any], references: Sequence[Values]) -> None:
        self.data = data
        self.references = list(references)

    def compare(self, candidate: Values, most: int) -> Excess:
        """Compare a candidate with the best until it is tied or worse, on at most so many worlds."""
        looks = self.data.list_looks(most)
        error_rate = ERROR_RATE / sum(accept for _, accept in looks)
        for worlds, accept in looks:
            self.data.measure([*self.references, candidate], worlds)
            self._race_references(worlds, least=1 if accept else 2)
            # At the last look several references may remain: then the candidate is compared with each of them.
            last = worlds == looks[-1][0]
            rivals = self.references if last else self.references[:1]
            excesses = [self.data.compare(candidate, rival, worlds, error_rate) for rival in rivals]
            largest = excesses[0]
            if largest.low <= TIE_MARGIN:
                largest = max(excesses, key=lambda excess: excess.high)
            tied = accept and (last or len(self.references) == 1) and largest.high <= TIE_MARGIN
            excess = Excess(*largest, worlds=worlds, tied=tied, worse=largest.low > TIE_MARGIN)
            if excess.tied or excess.worse:
                break
        return excess

    def settle(self, most: int) -> Values:
        """Return the best reference after at most so many worlds."""
        for worlds, accept in self.data.list_looks(most):
            if len(self.references) > 1 and worlds > self.data.count(self.references[0]):
                self.data.measure(self.references, worlds)
                self._race_references(worlds, least=1 if accept else 2)
        del self.references[1:]
        return self.references[0]

    def _race_references(self, worlds: int, least: int) -> None:
        """Put the best references first, and drop others, but keep at least so many."""
        self.references.sort(key=lambda values: self.data.objective(values, worlds))
        kept = self.references[:least]
        for values in self.references[least:]:
            difference, error = self.data.difference(values, self.references[0], worlds)
            if max(difference, NEGLIGIBLE) < error:
                kept.append(values)
        self.references = kept


ROUNDING = 0.001  # relative change of the objective on the surface up to which values are rounded
PROMISING = 0.05  # excess of a proposal on the surface up to which it is compared
MIN_SEARCHED = 10  # complete trials per searched parameter above which the surface uses them
NEAR_BEST = 1.5  # the center lies among candidates whose predicted objective is up to so many times the lowest

DESIGN = 8  # candidates spread over the region of the best trials
FACTORS = (0.7, 0.85, 1.0, 1.2, 1.4)  # multiples of the most important parameter, with others at their defaults
MIN_WIDTH = 0.2  # least width of the region on the search scale


def order_by_importance(spec: StudySpec, importance: Mapping[str, float] | None) -> list[str]:
    """Return the searched parameters, the most important first if that is known."""
    names = list(spec.space)
    return names if importance is None else sorted(names, key=lambda name: -importance[name])


@dataclass(frozen=True)
class Finalists:
    """The best trials and the baselines, which are compared on held-out data."""

    spec: StudySpec
    values: list[Values]
    """The best trials come first."""
    defaults: Values
    importance: dict[str, float] | None
    """Importance of the searched parameters; the least important ones are left at their defaults first."""

    @property
    def names(self) -> list[str]:
        """The searched parameters, the most important first."""
        return order_by_importance(self.spec, self.importance)


@dataclass(frozen=True)
class Nomination:
    """Candidates worth racing."""

    references: list[Values]
    """Rounded candidates that may be the best: lowest points of surfaces, and the best trials or baselines."""
    proposals: list[Values]
    """Candidates with fewer parameters that differ from their defaults, the simplest first."""
    surface: Surface | None = None
    """None if the objective is not positive."""


def nominate(
    finalists: Finalists, design: Sequence[Values], objective: Floats, searched: CompleteTrials | None
) -> Nomination:
    """Nominate candidates for the race by the objective [C] of finalists and design on the selection data.

    `searched` are all complete trials with their objective in the search; None if the two are not comparable.
    """
    if not np.all(objective > 0.0):
        return nominate_lowest(finalists, objective)
    spec = finalists.spec
    points = np.stack([to_point(spec, values) for values in [*finalists.values, *design]])
    surfaces = [fit_surface(points, objective)]
    if searched is not None and searched.values.size > MIN_SEARCHED * len(spec.space) and np.all(searched.values > 0.0):
        # Both sets of worlds contribute to one surface. The search worlds may be easier or harder as a whole.
        trials = np.stack([to_point(spec, trial.values) for trial in searched.candidates])
        shift = np.median(np.log(objective / fit_surface(trials, searched.values).predict(points)))
        pooled = np.concatenate([objective, searched.values * math.exp(shift)])
        surfaces.append(fit_surface(np.concatenate([points, trials]), pooled))
    surface = surfaces[-1]
    inside = points[: len(finalists.values)]
    predicted = surface.predict(inside)
    near = inside[predicted <= NEAR_BEST * predicted.min()]
    low = near.min(axis=0)
    high = near.max(axis=0)
    # The lowest of many noisy values is mostly luck, so half of each candidate's deviation from the surface counts.
    best = finalists.values[int(np.argmin(np.sqrt(objective[: len(inside)] * predicted)))]
    lowest_points = [from_point(spec, each_surface.lowest(low, high)) for each_surface in surfaces]
    references = [
        *(
            _simplify(spec, each_surface, {**finalists.defaults, **lowest}, list(spec.space))
            for each_surface, lowest in zip(surfaces, lowest_points, strict=True)
        ),
        *(round_changed(spec, values, finalists.defaults) for values in (best, finalists.values[0])),
    ]
    distinct = [values for i, values in enumerate(references) if values not in references[:i]]
    return Nomination(distinct, _propose(finalists, surface, low, high), surface)


def _propose(finalists: Finalists, surface: Surface, low: Floats, high: Floats) -> list[Values]:
    """Return the lowest points with only the most important parameters set, if they are almost as low as the lowest."""
    spec = finalists.spec
    default_point = to_point(spec, finalists.defaults)
    limit = (1.0 + PROMISING) * float(surface.predict(surface.lowest(low, high)[None])[0])
    proposals = []
    for count in range(1, len(spec.space)):
        changed = [name for name in spec.space if name in finalists.names[:count]]
        kept = [name not in changed for name in spec.space]
        point = surface.lowest(np.where(kept, default_point, low), np.where(kept, default_point, high))
        if float(surface.predict(point[None])[0]) <= limit:
            values = {**finalists.defaults, **_pick(from_point(spec, point), changed)}
            proposals.append(_simplify(spec, surface, values, changed))
    return proposals


def nominate_lowest(finalists: Finalists, objective: Floats) -> Nomination:
    """Nominate the best candidate, rounded, and its most important parameters with the others at their defaults.

    This needs no surface, so the objective may have any sign.
    """
    defaults = finalists.defaults
    best = finalists.values[int(np.argmin(objective[: len(finalists.values)]))]
    lowest = round_changed(finalists.spec, best, defaults)
    names = finalists.names
    return Nomination([lowest], [{**defaults, **_pick(lowest, names[:count])} for count in range(1, len(names))])


def round_changed(spec: StudySpec, values: Values, defaults: Values) -> Values:
    """Round the searched parameters that differ from their defaults."""
    return {**values, **round_values(spec, values, find_changed(spec, values, defaults), MAX_DIGITS)}


def find_changed(spec: StudySpec, values: Values, defaults: Values) -> list[str]:
    """Return the searched parameters that differ from their defaults."""
    return [name for name in spec.space if values[name] != defaults[name]]


def _simplify(spec: StudySpec, surface: Surface, values: Values, names: Sequence[str]) -> Values:
    """Round each parameter to as few digits as hardly change the value on the surface, the last named first."""

    def predict(values: Values) -> float:
        return float(surface.predict(to_point(spec, values)[None])[0])

    limit = (1.0 + ROUNDING) * predict(values)
    rounded = {**values, **round_values(spec, values, names, MAX_DIGITS)}
    for name in reversed(names):
        for digits in range(1, MAX_DIGITS):
            shorter = {**rounded, **round_values(spec, values, [name], digits)}
            if predict(shorter) <= limit:
                rounded = shorter
                break
    return rounded


def _pick(values: Values, names: Sequence[str]) -> Values:
    return {name: values[name] for name in names}


def choose(race: Race, defaults: Values, proposals: Sequence[Values], most: int) -> ChosenParameters:
    """Choose the defaults if they are tied with the best, otherwise the simplest proposal that is as good, or the best.

    A proposal is as good if it is tied, or if it remains undecided and its estimated excess is at most `TIE_MARGIN`:
    then the best is not known to be better, and which candidate has the lowest mean is mostly chance. No worlds can be
    added to a trace or log, so its defaults are chosen unless the selection segment shows that they are worse: the
    lowest of many noisy estimates lost 4 % more clicks than the class as constructed in logs of clicks, the defaults
    lost fewer. The simplest proposal comes first; `most` is the largest number of worlds for the defaults.
    """
    excess = race.compare(defaults, most)
    if excess.tied or (race.data.recorded and excess.low <= 0.0):
        return ChosenParameters(defaults, excess)
    selection = race.data.spec.selection
    best = race.settle(selection)
    for values in proposals:
        if values == best:
            break
        if values == defaults:
            continue
        excess_of_proposal = race.compare(values, selection)
        if excess_of_proposal.tied or (not excess_of_proposal.worse and excess_of_proposal.mean <= TIE_MARGIN):
            return ChosenParameters(values, excess, excess_of_proposal)
    return ChosenParameters(best, excess)


def least_trials(spec: StudySpec) -> int:
    """Return the number of trials below which a search is too small to recommend the defaults."""
    return TRIALS_PER_PARAMETER * len(spec.space)


def find_ranges(spec: StudySpec, surface: Surface, values: Values) -> dict[str, tuple[float, float]]:
    """Return the range of each searched parameter that is tied with these values, if the others keep them.

    The upper 95 % bound of the excess on the surface is at most `TIE_MARGIN` there. Ranges end at the search space, or
    at the value if that lies outside, and are rounded inwards to `MAX_DIGITS` digits.
    """
    point = to_point(spec, values)
    lowest, highest = find_bounds(spec)
    ranges = {}
    for i, name in enumerate(spec.space):
        ends = tied_range(surface, point, i, lowest[i], highest[i], TIE_MARGIN)
        shown = []
        for end in ends:
            moved = point.copy()
            moved[i] = end
            shown.append(float(from_point(spec, moved)[name]))
        ranges[name] = _round_inwards(min(shown), max(shown), float(values[name]))
    return ranges


def _round_inwards(low: float, high: float, value: float) -> tuple[float, float]:
    """Round a range to few digits without leaving it; it always contains the value.

    >>> _round_inwards(0.1234, 5.678, 1.0), _round_inwards(0.999, 1.001, 1.0)
    ((0.13, 5.6), (1.0, 1.0))
    """

    def round_(x: float, up: bool) -> float:
        if x == 0.0:
            return 0.0
        unit = 10.0 ** (math.floor(math.log10(abs(x))) - MAX_DIGITS + 1)
        steps = math.ceil(x / unit - 1e-9) if up else math.floor(x / unit + 1e-9)
        return float(f"{steps * unit:.{MAX_DIGITS + 1}g}")

    return min(round_(low, True), value), max(round_(high, False), value)


def make_design(finalists: Finalists) -> list[Values]:
    """Return candidates around the best finalists and between them and the defaults, for the surface."""
    spec = finalists.spec
    points = np.stack([to_point(spec, values) for values in finalists.values[: spec.candidates]])
    low = points.min(axis=0)
    high = points.max(axis=0)
    margin = np.maximum(high - low, MIN_WIDTH) / 2.0
    least, most = find_bounds(spec)
    low = np.maximum(low - margin, least)
    high = np.minimum(high + margin, most)
    spread = scrambled_sobol(len(spec.space), DESIGN, spec.seed)
    design = [{**finalists.defaults, **from_point(spec, low + row * (high - low))} for row in spread]
    center = from_point(spec, points.mean(axis=0))
    names = finalists.names
    for count in range(1, len(names)):
        kept = _pick(center, names[:count])
        for factor in FACTORS:
            first = clip_value(spec, names[0], float(center[names[0]]) * factor)
            design.append({**finalists.defaults, **kept, names[0]: first})
    return design
