"""The choice among tied candidates: the defaults if they are tied with the best, otherwise simple central values.

A candidate is *tied* if the upper 95 % bound of its paired excess over the best is at most `MARGIN` on the selection
worlds, and *worse* if the lower bound is above `MARGIN`. Worlds are added until one of the two holds.

Parameters that differ by a thousandth lose the best arm in different worlds, so most of the difference between two
candidates in one world is chance. Drawing a world costs as much as playing it more than ten times. Each candidate is
therefore measured by the mean of `COPIES` copies with slightly different parameters in every world.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from environments.world import Floats
from policies import find_policy
from policies.engine.base import Values
from studies.results.verdict import MARGIN, Excess
from studies.spec.study import ResolvedStudy
from studies.statistics.intervals import relative_interval, relative_value_interval
from studies.statistics.surface import fit_surface

MIN_WORLDS = 200
"""Selection worlds below which candidates are not compared, since an interval of so few worlds is unreliable."""

BOUND = 0.90  # level of the two-sided interval whose upper end is the upper 95 % bound
COPIES = 8  # copies of a candidate in each world
SPREAD = 0.02  # largest relative difference of a copy's parameters
MAX_GROWTH = 16  # largest factor by which the selection worlds are increased for the defaults
MAX_GROWTH_OF_PROPOSALS = 4  # the same for proposals, of which there are several
MAX_DIGITS = 2  # significant digits of proposed values
PROPOSALS = 2  # proposals compared at a time
PROMISING = 0.1  # excess of a proposal on the fitted surface up to which it is compared

DESIGN = 8  # candidates spread over the region of the finalists
FACTORS = (0.7, 0.85, 1.0, 1.2, 1.4)  # multiples of the most important parameter, with others at their defaults
MIN_WIDTH = 0.2  # least width of the region on the search scale
TINY = 1e-12  # in place of zero on a logarithmic scale

Play = Callable[[Sequence[Values], int, int], Floats]
"""Returns the samples [C, count] of candidates in selection worlds first … first + count − 1; lower is better."""


@dataclass(frozen=True)
class Choice:
    """The chosen parameters, and the excess of the defaults over the best candidate."""

    values: Values
    excess_of_defaults: Excess


class SelectionWorlds:
    """Candidates on a growing number of selection worlds, each measured by its copies."""

    def __init__(self, spec: ResolvedStudy, play: Play, value: Callable[[Floats], Floats] | None = None) -> None:
        """Take the study, a function that plays candidates, and the objective if it depends on ranks."""
        self.spec = spec
        self.play = play
        self.value = value
        self.samples: dict[tuple[tuple[str, object], ...], Floats] = {}

    def extend(self, candidates: Sequence[Values], worlds: int) -> list[Floats]:
        """Return the samples [COPIES, worlds] of candidates; missing worlds are played for all of them together."""
        for known in sorted({self._count_known(values) for values in candidates}):
            missing = [values for values in candidates if self._count_known(values) == known < worlds]
            if missing:
                copies = [copy for values in missing for copy in make_copies(self.spec, values)]
                played = self.play(copies, known, worlds - known).reshape(len(missing), COPIES, -1)
                for values, sample in zip(missing, played, strict=True):
                    earlier = self.samples.get(_key(values), np.empty((COPIES, 0)))
                    self.samples[_key(values)] = np.concatenate([earlier, sample], axis=1)
        return [self.samples[_key(values)][:, :worlds] for values in candidates]

    def compare(self, candidates: Sequence[Values], references: Sequence[Values], growth: int) -> list[Excess]:
        """Compare candidates with the better one of the references until one is tied or all are worse."""
        excesses: dict[int, Excess] = {}
        open_ = list(range(len(candidates)))
        worlds, least = max(MIN_WORLDS, self.spec.selection // 4), max(MIN_WORLDS, self.spec.selection // 2)
        while True:
            samples = self.extend([*references, *(candidates[i] for i in open_)], worlds)
            best = min(samples[: len(references)], key=np.mean)
            for i, sample in zip(open_, samples[len(references) :], strict=True):
                mean, low, high = self._excess(sample, best)
                tied, worse = bool(high <= MARGIN and worlds >= least), bool(low > MARGIN)
                excesses[i] = Excess(mean=mean, low=low, high=high, worlds=worlds, tied=tied, worse=worse)
            open_ = [i for i in open_ if not (excesses[i].tied or excesses[i].worse)]
            if not open_ or any(excess.tied for excess in excesses.values()) or worlds >= growth * self.spec.selection:
                return [excesses[i] for i in range(len(candidates))]
            worlds *= 2

    def _excess(self, sample: Floats, best: Floats) -> tuple[float, float, float]:
        if not best.mean() > 0.0:
            share = 0.0 if sample.mean() <= best.mean() else 1.0
            return share, share, share
        if self.value is not None:
            return relative_value_interval(sample, best, self.spec.seed, self.value, BOUND)
        return relative_interval(sample.mean(axis=0), best.mean(axis=0), self.spec.seed, BOUND)

    def _count_known(self, values: Values) -> int:
        return self.samples[_key(values)].shape[1] if _key(values) in self.samples else 0


def choose(
    spec: ResolvedStudy,
    worlds: SelectionWorlds,
    best: Values,
    defaults: Values,
    center: Values,
    promising: Callable[[Values], bool],
    importance: Mapping[str, float] | None,
) -> Choice:
    """Choose the simplest candidate that is tied with the best.

    Args:
        spec: The study.
        worlds: The selection worlds.
        best: The best finalist.
        defaults: The policy's defaults.
        center: The center of the region of good parameters.
        promising: Whether a proposal is worth comparing.
        importance: Importance of the searched parameters; the least important ones are left at their defaults first.
    """
    references = [best, {**best, **round_values(spec, center, list(spec.space), 4)}]
    (excess,) = worlds.compare([defaults], references, MAX_GROWTH)
    if excess.tied:
        return Choice(defaults, excess)
    proposals = [values for values in propose(spec, center, defaults, importance) if promising(values)]
    for first in range(0, len(proposals), PROPOSALS):
        batch = proposals[first : first + PROPOSALS]
        compared = worlds.compare(batch, references, MAX_GROWTH_OF_PROPOSALS)
        tied = [values for values, found in zip(batch, compared, strict=True) if found.tied]
        if tied:
            return Choice(tied[0], excess)
    return Choice(best, excess)


def choose_by_surface(
    spec: ResolvedStudy,
    worlds: SelectionWorlds,
    finalists: Sequence[Values],
    equals: Sequence[int],
    design: Sequence[Values],
    objective: Floats,
    defaults: Values,
    importance: Mapping[str, float] | None,
) -> Choice:
    """Choose with a surface fitted to the objective [C] of the finalists and the design.

    Args:
        spec: The study.
        worlds: The selection worlds.
        finalists: The best trials and the baselines.
        equals: Indices of the finalists that are indistinguishable from the best, the best first.
        design: Further candidates.
        objective: The objective of finalists and design on the selection worlds.
        defaults: The policy's defaults.
        importance: Importance of the searched parameters.
    """
    best = finalists[equals[0]]
    if not spec.space or not np.all(objective > 0.0):
        return choose(spec, worlds, best, defaults, best, lambda values: True, importance)
    points = np.stack([to_point(spec, values) for values in [*finalists, *design]])
    surface, region = fit_surface(points, objective), points[list(equals)]
    lowest = surface.lowest(region.min(axis=0), region.max(axis=0))
    limit = (1.0 + PROMISING) * float(surface.predict(lowest[None])[0])

    def promising(values: Values) -> bool:
        return float(surface.predict(to_point(spec, values)[None])[0]) <= limit

    return choose(spec, worlds, best, defaults, {**best, **from_point(spec, lowest)}, promising, importance)


def make_design(
    spec: ResolvedStudy, finalists: Sequence[Values], defaults: Values, importance: Mapping[str, float] | None
) -> list[Values]:
    """Return candidates around the finalists and between them and the defaults, for the surface."""
    from scipy.stats import qmc

    points = np.stack([to_point(spec, values) for values in finalists])
    low, high = points.min(axis=0), points.max(axis=0)
    margin = np.maximum(high - low, MIN_WIDTH) / 2.0
    ends = [
        dict(zip(spec.space, row, strict=True)) for row in zip(*(r.bounds() for r in spec.space.values()), strict=True)
    ]
    least, most = np.sort(np.stack([to_point(spec, values) for values in ends]), axis=0)
    low, high = np.maximum(low - margin, least), np.minimum(high + margin, most)
    spread = qmc.Sobol(len(spec.space), rng=np.random.default_rng(spec.seed)).random(DESIGN)
    design = [{**defaults, **from_point(spec, low + row * (high - low))} for row in spread]
    center = from_point(spec, points.mean(axis=0))
    names = order_by_importance(spec, importance)
    for count in range(1, len(names)):
        kept = {name: center[name] for name in names[:count]}
        for factor in FACTORS:
            first = _clip(spec, names[0], float(center[names[0]]) * factor)
            design.append({**defaults, **kept, names[0]: first})
    return design


def propose(
    spec: ResolvedStudy, center: Values, defaults: Values, importance: Mapping[str, float] | None
) -> list[Values]:
    """List candidates from the simplest: few parameters that differ from their defaults, then few digits."""
    names = order_by_importance(spec, importance)
    proposals: list[Values] = []
    for count in range(1, len(names) + 1):
        for digits in range(1, MAX_DIGITS + 1):
            values = {**defaults, **round_values(spec, center, names[:count], digits)}
            if values not in proposals:
                proposals.append(values)
    return proposals


def order_by_importance(spec: ResolvedStudy, importance: Mapping[str, float] | None) -> list[str]:
    """Return the searched parameters, the most important first."""
    names = list(spec.space)
    return names if importance is None else sorted(names, key=lambda name: -importance[name])


def make_copies(spec: ResolvedStudy, values: Values) -> list[Values]:
    """Return copies whose searched parameters (1 − x where that is searched) differ by up to `SPREAD`."""
    copies = []
    for factor in np.linspace(1.0 - SPREAD, 1.0 + SPREAD, COPIES).tolist():
        copy = dict(values)
        for name, range_ in spec.space.items():
            x = float(values[name])
            copy[name] = _clip(spec, name, 1.0 - (1.0 - x) * factor if range_.scale == "one-minus" else x * factor)
        copies.append(copy)
    return copies


def round_values(spec: ResolvedStudy, values: Values, names: Sequence[str], digits: int) -> Values:
    """Round parameters to significant digits (of 1 − x where that is searched)."""
    rounded: Values = {}
    for name in names:
        x = float(values[name])
        if spec.space[name].scale == "one-minus":
            x = 1.0 - x
        shown = f"{x:.{digits}g}"
        value = float(shown)
        if spec.space[name].scale == "one-minus":
            value = round(1.0 - value, 15)
        rounded[name] = _clip(spec, name, value)
    return rounded


def _clip(spec: ResolvedStudy, name: str, value: float) -> float:
    """Return a value that the policy allows: within its limits, and whole if the parameter is."""
    (param,) = (param for param in find_policy(spec.policy).parameters if param.name == name)
    value = min(max(value, param.least), param.most)
    return float(round(value)) if param.integer else value


def to_point(spec: ResolvedStudy, values: Mapping[str, object]) -> Floats:
    """Return the searched parameters on their search scale."""
    point = []
    for name, range_ in spec.space.items():
        x = float(values[name])  # type: ignore[arg-type]
        if range_.scale == "one-minus":
            x = 1.0 - x
        point.append(x if range_.scale == "linear" else math.log(max(x, TINY)))
    return np.array(point)


def from_point(spec: ResolvedStudy, point: Floats) -> Values:
    """Return the searched parameters of a point on the search scale."""
    values: Values = {}
    for (name, range_), x in zip(spec.space.items(), point.tolist(), strict=True):
        value = x if range_.scale == "linear" else math.exp(x)
        values[name] = _clip(spec, name, 1.0 - value if range_.scale == "one-minus" else value)
    return values


def _key(values: Values) -> tuple[tuple[str, object], ...]:
    return tuple(sorted(values.items()))
