"""The choice of the recommended parameters: the defaults if they are tied with the best, otherwise simple values.

A candidate is *tied* if the upper 95 % bound of its paired excess over the best is at most `MARGIN` on the selection
worlds, and *worse* if the lower bound is above `MARGIN`.

The choice has two parts, which use separate selection worlds:

1. Nomination. The best trials, the baselines and further candidates around them play a few worlds. A surface fitted to
   these results and to the trials gives the best values, rounded, and simple proposals.
2. Race. The defaults and the proposals are compared with the best on a growing number of worlds until each is tied or
   worse. The looks share the error rate of 5 %, so that a bound holds although the number of worlds depends on it.

Parameters that differ by a thousandth lose the best arm in different worlds, so most of the difference between two
candidates in one world is chance, and drawing a world costs more than playing it. In the race a candidate is therefore
measured by the mean of up to `COPIES` copies with slightly different parameters in every world.
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
from studies.statistics.sobol import scrambled_sobol
from studies.statistics.surface import Surface, fit_surface, tied_range

MIN_WORLDS = 200
"""Selection worlds below which candidates are not compared, since an interval of so few worlds is unreliable."""

NOMINATION_SHARE = 16  # one in so many selection worlds is used for the nomination
FIRST_LOOK_SHARE = 40  # the first look of the race comes after one in so many selection worlds, too early for ties
TIE_SHARES = (8, 4, 2, 1)  # shares of the selection worlds at the following looks; later ones double the worlds
ERROR_RATE = 0.05  # of all looks of a race together
NEGLIGIBLE = 0.025  # standard error of the relative difference between two references below which the worse is dropped
MAX_GROWTH = 64  # largest factor by which the selection worlds are increased for the defaults
MAX_WORLD_STEPS = 160_000_000  # largest number of steps of all worlds of a race, unless `selection` is larger

COPIES = 8  # copies of a candidate in each world at the first look
SPREAD = 0.02  # largest relative difference of a copy's parameters
DRAW_COST = 8.0  # cost of drawing a world, in plays; the number of copies depends on it

MAX_DIGITS = 2  # significant digits of recommended values
ROUNDING = 0.005  # relative change of the objective on the surface up to which values are rounded
PROMISING = 0.05  # excess of a proposal on the surface up to which it is compared
MIN_SEARCHED = 10  # complete trials per searched parameter above which the surface uses them
NEAR_BEST = 1.5  # the center lies among candidates whose predicted objective is up to so many times the lowest

DESIGN = 8  # candidates spread over the region of the best trials
FACTORS = (0.7, 0.85, 1.0, 1.2, 1.4)  # multiples of the most important parameter, with others at their defaults
MIN_WIDTH = 0.2  # least width of the region on the search scale
TINY = 1e-12  # in place of zero on a logarithmic scale

Play = Callable[[Sequence[Values], int, int], Floats]
"""Returns the samples [C, count] of candidates in selection worlds first … first + count − 1; lower is better."""


@dataclass(frozen=True)
class Nomination:
    """Candidates worth racing."""

    references: list[Values]
    """Rounded candidates that may be the best: lowest points of surfaces, and the best trials or baselines."""
    proposals: list[Values]
    """Candidates with fewer parameters that differ from their defaults, the simplest first."""
    surface: Surface | None = None
    """None if the objective is not positive."""


@dataclass(frozen=True)
class ChosenParameters:
    """The chosen parameters, and the excess of the defaults over the best candidate."""

    values: Values
    excess_of_defaults: Excess


class Race:
    """Candidates on a growing number of selection worlds, each measured by its copies.

    The best reference counts as the best. Another one is dropped when it is worse by more than the standard error of
    the difference, or when that error is negligible; no tie is accepted before. The number of copies is reduced after
    the first look if copies agree within worlds, so that worlds are worth more than copies.
    """

    def __init__(
        self,
        spec: ResolvedStudy,
        play: Play,
        references: Sequence[Values],
        value: Callable[[Floats], Floats] | None = None,
        first: int = 0,
    ) -> None:
        """Take the study, a function that plays candidates, references, and the objective if it depends on ranks."""
        self.spec = spec
        self.play = play
        self.references = list(references)
        self.value = value
        self.first = first
        self.copies = COPIES
        self.samples: dict[tuple[tuple[str, object], ...], Floats] = {}

    def compare(self, candidate: Values, most: int) -> Excess:
        """Compare a candidate with the best until it is tied or worse, on at most so many worlds."""
        looks = make_looks(self.spec.selection, most)
        error_rate = ERROR_RATE / sum(accept for _, accept in looks)
        for worlds, accept in looks:
            first_look = not self.samples
            self._extend([*self.references, candidate], worlds)
            if first_look:
                self._reduce_copies(*[*self.references, candidate][:2])
            self._race_references(worlds, least=1 if accept else 2)
            best = self._sample(self.references[0], worlds)
            mean, low, high = self._excess(self._sample(candidate, worlds), best, error_rate)
            tied = accept and len(self.references) == 1 and high <= MARGIN
            excess = Excess(mean=mean, low=low, high=high, worlds=worlds, tied=tied, worse=low > MARGIN)
            if excess.tied or excess.worse:
                break
        return excess

    def _extend(self, candidates: Sequence[Values], worlds: int) -> None:
        """Play the missing worlds of candidates, together where they miss the same worlds."""
        for known in sorted({self._count_known(values) for values in candidates}):
            missing = {_key(values): values for values in candidates if self._count_known(values) == known < worlds}
            if missing:
                copies = [copy for values in missing.values() for copy in make_copies(self.spec, values)[: self.copies]]
                played = self.play(copies, self.first + known, worlds - known).reshape(len(missing), self.copies, -1)
                for key, sample in zip(missing, played, strict=True):
                    earlier = self.samples.get(key, np.empty((self.copies, 0)))
                    self.samples[key] = np.concatenate([earlier, sample], axis=1)

    def settle(self) -> Values:
        """Return the best reference."""
        for worlds, accept in make_looks(self.spec.selection, self.spec.selection):
            if len(self.references) > 1 and worlds > self._count_known(self.references[0]):
                self._extend(self.references, worlds)
                self._race_references(worlds, least=1 if accept else 2)
        del self.references[1:]
        return self.references[0]

    def _race_references(self, worlds: int, least: int) -> None:
        """Put the best references first, and drop others, but keep at least so many."""
        self.references.sort(key=lambda values: self._objective(self._sample(values, worlds)))
        best = self._sample(self.references[0], worlds).mean(axis=0)
        kept = self.references[:least]
        for values in self.references[least:]:
            difference = self._sample(values, worlds).mean(axis=0) - best
            error = float(difference.std(ddof=1)) / worlds**0.5
            if max(float(difference.mean()), NEGLIGIBLE * float(best.mean())) < error:
                kept.append(values)
        self.references = kept

    def _reduce_copies(self, first: Values, second: Values) -> None:
        """Keep as many copies as minimize the cost of a given precision."""
        self.copies = count_copies(self.samples[_key(first)] - self.samples[_key(second)])
        self.samples = {key: sample[: self.copies] for key, sample in self.samples.items()}

    def _objective(self, sample: Floats) -> float:
        return float(sample.mean() if self.value is None else self.value(sample.ravel()))

    def _sample(self, values: Values, worlds: int) -> Floats:
        return self.samples[_key(values)][:, :worlds]

    def _excess(self, sample: Floats, best: Floats, error_rate: float) -> tuple[float, float, float]:
        if not best.mean() > 0.0:
            share = 0.0 if sample.mean() <= best.mean() else 1.0
            return share, share, share
        level = 1.0 - 2.0 * error_rate
        if self.value is not None:
            return relative_value_interval(sample, best, self.spec.seed, self.value, level)
        return relative_interval(sample.mean(axis=0), best.mean(axis=0), self.spec.seed, level)

    def _count_known(self, values: Values) -> int:
        return self.samples[_key(values)].shape[1] if _key(values) in self.samples else 0


def make_looks(selection: int, most: int) -> list[tuple[int, bool]]:
    """List the looks of a race: the number of worlds, and whether a tie is accepted.

    >>> make_looks(2000, 4000)
    [(50, False), (250, True), (500, True), (1000, True), (2000, True), (4000, True)]
    """
    worlds = [max(MIN_WORLDS, selection // share) for share in TIE_SHARES]
    while worlds[-1] < most:
        worlds.append(min(most, 2 * worlds[-1]))
    first = max(MIN_WORLDS // 4, selection // FIRST_LOOK_SHARE)
    return [(first, False), *((count, True) for count in sorted(set(worlds)) if count <= most)]


def most_worlds(spec: ResolvedStudy) -> int:
    """Return the largest number of worlds of a race with the defaults."""
    return max(spec.selection, min(MAX_GROWTH * spec.selection, MAX_WORLD_STEPS // spec.horizon))


def count_copies(differences: Floats) -> int:
    """Return the number of copies that minimizes the cost of a given precision, from differences [COPIES, R].

    The variance of a difference is that between worlds plus that within worlds divided by the number of copies.

    >>> rng = np.random.default_rng(1)
    >>> count_copies(rng.normal(size=(8, 200))), count_copies(np.tile(rng.normal(size=200), (8, 1)))
    (8, 1)
    """
    within = float(differences.var(axis=0, ddof=1).mean())
    between = max(0.0, float(differences.mean(axis=0).var(ddof=1)) - within / len(differences))
    options = [copies for copies in (1, 2, 4, 8) if copies <= len(differences)]
    return min(options, key=lambda copies: (DRAW_COST + 2.0 * copies) * (between + within / copies))


def nominate(
    spec: ResolvedStudy,
    candidates: Sequence[Values],
    design: Sequence[Values],
    objective: Floats,
    searched: Sequence[Values],
    search_values: Floats,
    defaults: Values,
    importance: Mapping[str, float] | None,
) -> Nomination:
    """Nominate candidates for the race.

    Args:
        spec: The study.
        candidates: The best trials and the baselines.
        design: Further candidates.
        objective: The objective [C] of candidates and design on the nomination worlds.
        searched: All complete trials.
        search_values: Their objective on the search worlds.
        defaults: The policy's defaults.
        importance: Importance of the searched parameters; the least important ones are left at their defaults first.
    """
    lowest = candidates[int(np.argmin(objective[: len(candidates)]))]
    if not np.all(objective > 0.0):
        return Nomination([lowest], [])
    points = np.stack([to_point(spec, values) for values in [*candidates, *design]])
    surfaces = [fit_surface(points, objective)]
    if len(searched) > MIN_SEARCHED * len(spec.space) and np.all(search_values > 0.0):
        # Both sets of worlds contribute to one surface. The search worlds may be easier or harder as a whole.
        trials = np.stack([to_point(spec, values) for values in searched])
        shift = np.median(np.log(objective / fit_surface(trials, search_values).predict(points)))
        pooled = np.concatenate([objective, search_values * math.exp(shift)])
        surfaces.append(fit_surface(np.concatenate([points, trials]), pooled))
    surface, inside = surfaces[-1], points[: len(candidates)]
    predicted = surface.predict(inside)
    near = inside[predicted <= NEAR_BEST * predicted.min()]
    low, high = near.min(axis=0), near.max(axis=0)
    center = surface.lowest(low, high)
    names, default_point = list(spec.space), to_point(spec, defaults)
    limit = (1.0 + PROMISING) * float(surface.predict(center[None])[0])
    proposals = []
    for count in range(1, len(names)):
        kept = [name not in order_by_importance(spec, importance)[:count] for name in names]
        point = surface.lowest(np.where(kept, default_point, low), np.where(kept, default_point, high))
        if float(surface.predict(point[None])[0]) <= limit:
            set_ = [name for name, keep in zip(names, kept, strict=True) if not keep]
            proposals.append(_simplify(spec, surface, {**defaults, **_pick(from_point(spec, point), set_)}, set_))
    # The lowest of many noisy values is mostly luck, so half of each candidate's deviation from the surface counts.
    best = candidates[int(np.argmin(np.sqrt(objective[: len(candidates)] * predicted)))]
    references = [
        *(_simplify(spec, each, {**defaults, **from_point(spec, each.lowest(low, high))}, names) for each in surfaces),
        *({**values, **round_values(spec, values, names, MAX_DIGITS)} for values in (best, candidates[0])),
    ]
    distinct = [values for i, values in enumerate(references) if values not in references[:i]]
    return Nomination(distinct, proposals, surface)


def _simplify(spec: ResolvedStudy, surface: Surface, values: Values, names: Sequence[str]) -> Values:
    """Round parameters to as few digits as hardly change the value on the surface."""
    limit = (1.0 + ROUNDING) * float(surface.predict(to_point(spec, values)[None])[0])
    for digits in range(1, MAX_DIGITS + 1):
        rounded = {**values, **round_values(spec, values, names, digits)}
        if float(surface.predict(to_point(spec, rounded)[None])[0]) <= limit:
            return rounded
    return rounded


def _pick(values: Values, names: Sequence[str]) -> Values:
    return {name: values[name] for name in names}


def choose(
    spec: ResolvedStudy, race: Race, defaults: Values, proposals: Sequence[Values], conclusive: bool = True
) -> ChosenParameters:
    """Choose the simplest candidate that is tied with the best: the defaults, a proposal, or the best itself.

    A proposal is followed by the next one if it is worse. If it remains undecided, the best is chosen.

    Args:
        spec: The study.
        race: The race.
        defaults: The policy's defaults.
        proposals: Simple candidates, the simplest first.
        conclusive: Whether the search was large enough to recommend the defaults; otherwise no worlds are added for it.
    """
    excess = race.compare(
        defaults, most_worlds(spec) if conclusive else max(MIN_WORLDS, spec.selection // TIE_SHARES[0])
    )
    if excess.tied:
        return ChosenParameters(defaults, excess)
    best = race.settle()
    for values in proposals:
        if values == best:
            break
        if values == defaults:
            continue
        found = race.compare(values, spec.selection)
        if found.tied:
            return ChosenParameters(values, excess)
        if not found.worse:
            break
    return ChosenParameters(best, excess)


def find_ranges(spec: ResolvedStudy, surface: Surface, values: Values) -> dict[str, tuple[float, float]]:
    """Return the range of each searched parameter that is tied with these values, if the others keep them.

    The upper 95 % bound of the excess on the surface is at most `MARGIN` there. Ranges end at the search space, or at
    the value if that lies outside, and are rounded inwards to `MAX_DIGITS` digits.
    """
    point = to_point(spec, values)
    lowest, highest = find_bounds(spec)
    ranges = {}
    for i, name in enumerate(spec.space):
        ends = tied_range(surface, point, i, lowest[i], highest[i], MARGIN)
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


def make_design(
    spec: ResolvedStudy, finalists: Sequence[Values], defaults: Values, importance: Mapping[str, float] | None
) -> list[Values]:
    """Return candidates around the finalists and between them and the defaults, for the surface."""
    points = np.stack([to_point(spec, values) for values in finalists])
    low, high = points.min(axis=0), points.max(axis=0)
    margin = np.maximum(high - low, MIN_WIDTH) / 2.0
    least, most = find_bounds(spec)
    low, high = np.maximum(low - margin, least), np.minimum(high + margin, most)
    spread = scrambled_sobol(len(spec.space), DESIGN, spec.seed)
    design = [{**defaults, **from_point(spec, low + row * (high - low))} for row in spread]
    center = from_point(spec, points.mean(axis=0))
    names = order_by_importance(spec, importance)
    for count in range(1, len(names)):
        kept = {name: center[name] for name in names[:count]}
        for factor in FACTORS:
            first = _clip(spec, names[0], float(center[names[0]]) * factor)
            design.append({**defaults, **kept, names[0]: first})
    return design


def order_by_importance(spec: ResolvedStudy, importance: Mapping[str, float] | None) -> list[str]:
    """Return the searched parameters, the most important first."""
    names = list(spec.space)
    return names if importance is None else sorted(names, key=lambda name: -importance[name])


def make_copies(spec: ResolvedStudy, values: Values) -> list[Values]:
    """Return copies whose searched parameters (1 − x where that is searched) differ by up to `SPREAD`.

    The nearest come first.
    """
    copies = []
    factors = np.linspace(1.0 - SPREAD, 1.0 + SPREAD, COPIES)
    for factor in sorted(factors.tolist(), key=lambda factor: abs(factor - 1.0)):
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


def find_bounds(spec: ResolvedStudy) -> tuple[Floats, Floats]:
    """Return the ends of the search space on the search scale."""
    rows = zip(*(range_.bounds() for range_ in spec.space.values()), strict=True)
    ends = [to_point(spec, dict(zip(spec.space, row, strict=True))) for row in rows]
    return np.minimum(*ends), np.maximum(*ends)


def from_point(spec: ResolvedStudy, point: Floats) -> Values:
    """Return the searched parameters of a point on the search scale."""
    values: Values = {}
    for (name, range_), x in zip(spec.space.items(), point.tolist(), strict=True):
        value = x if range_.scale == "linear" else math.exp(x)
        values[name] = _clip(spec, name, 1.0 - value if range_.scale == "one-minus" else value)
    return values


def _key(values: Values) -> tuple[tuple[str, object], ...]:
    return tuple(sorted(values.items()))
