"""The choice of the recommended parameters: the defaults if they are tied with the best, otherwise simple values.

The choice has two parts. With simulated worlds they use separate selection worlds:

1. Nomination. The best trials, the baselines and further candidates around them play a few worlds. A surface fitted to
   these results and to the trials gives the best values, rounded, and simple proposals.
2. Race. The defaults and the proposals are compared with the best until each is tied or worse.

A trace or log has one selection segment for both, no worlds can be added, and the race has one look; the defaults are
chosen unless they are significantly worse there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ravenlab.common.interval import TIE_MARGIN
from ravenlab.common.text import format_count, format_ends, format_percent, plural
from ravenlab.environments.world import Floats
from ravenlab.policies.engine.parameters import Values
from ravenlab.studies.results.verdict import TRIALS_PER_PARAMETER, Decision, Excess, Verdict
from ravenlab.studies.spec.source import ScenarioSource
from ravenlab.studies.spec.study import ResolvedStudy
from ravenlab.studies.statistics.sobol import scrambled_sobol
from ravenlab.studies.statistics.surface import Surface, fit_surface, tied_range
from ravenlab.studies.symbols import format_params
from ravenlab.tuning.validation.points import MAX_DIGITS, clip_value, find_bounds, from_point, round_values, to_point
from ravenlab.tuning.validation.race import MIN_WORLDS, Race

NOMINATION_SHARE = 16  # one in so many selection worlds is used for the nomination

ROUNDING = 0.001  # relative change of the objective on the surface up to which values are rounded
PROMISING = 0.05  # excess of a proposal on the surface up to which it is compared
MIN_SEARCHED = 10  # complete trials per searched parameter above which the surface uses them
NEAR_BEST = 1.5  # the center lies among candidates whose predicted objective is up to so many times the lowest

DESIGN = 8  # candidates spread over the region of the best trials
FACTORS = (0.7, 0.85, 1.0, 1.2, 1.4)  # multiples of the most important parameter, with others at their defaults
MIN_WIDTH = 0.2  # least width of the region on the search scale


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
    """The chosen parameters, and excesses over the best candidate."""

    values: Values
    excess_of_defaults: Excess | None = None
    """None if candidates were not compared."""
    excess: Excess | None = None
    """Excess of the chosen parameters; None if they are the best candidate or the defaults."""


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
    if not np.all(objective > 0.0):
        return nominate_lowest(spec, candidates, objective, defaults, importance)
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
        *(round_changed(spec, values, defaults) for values in (best, candidates[0])),
    ]
    distinct = [values for i, values in enumerate(references) if values not in references[:i]]
    return Nomination(distinct, proposals, surface)


def nominate_lowest(
    spec: ResolvedStudy,
    candidates: Sequence[Values],
    objective: Floats,
    defaults: Values,
    importance: Mapping[str, float] | None,
) -> Nomination:
    """Nominate the best candidate, rounded, and its most important parameters with the others at their defaults.

    This needs no surface, so the objective may have any sign.
    """
    lowest = round_changed(spec, candidates[int(np.argmin(objective[: len(candidates)]))], defaults)
    names = order_by_importance(spec, importance)
    return Nomination([lowest], [{**defaults, **_pick(lowest, names[:count])} for count in range(1, len(names))])


def round_changed(spec: ResolvedStudy, values: Values, defaults: Values) -> Values:
    """Round the searched parameters that differ from their defaults."""
    return {**values, **round_values(spec, values, find_changed(spec, values, defaults), MAX_DIGITS)}


def find_changed(spec: ResolvedStudy, values: Values, defaults: Values) -> list[str]:
    """Return the searched parameters that differ from their defaults."""
    return [name for name in spec.space if values[name] != defaults[name]]


def _simplify(spec: ResolvedStudy, surface: Surface, values: Values, names: Sequence[str]) -> Values:
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


def choose(
    spec: ResolvedStudy, race: Race, defaults: Values, proposals: Sequence[Values], most: int
) -> ChosenParameters:
    """Choose the defaults if they are tied with the best, otherwise the simplest proposal that is as good, or the best.

    A proposal is as good if it is tied, or if it remains undecided and its estimated excess is at most `TIE_MARGIN`:
    then the best is not known to be better, and which candidate has the lowest mean is mostly chance. No worlds can be
    added to a trace or log, so its defaults are chosen unless the selection segment shows that they are worse: the
    lowest of many noisy estimates lost 4 % more clicks than the class as constructed in logs of clicks, the defaults
    lost fewer.

    Args:
        spec: The study.
        race: The race.
        defaults: The policy's defaults.
        proposals: Simple candidates, the simplest first.
        most: Largest number of worlds for the defaults.
    """
    excess = race.compare(defaults, most)
    recorded = not isinstance(spec.source, ScenarioSource)
    if excess.tied or (recorded and excess.low <= 0.0):
        return ChosenParameters(defaults, excess)
    best = race.settle(spec.selection)
    for values in proposals:
        if values == best:
            break
        if values == defaults:
            continue
        found = race.compare(values, spec.selection)
        if found.tied or (not found.worse and found.mean <= TIE_MARGIN):
            return ChosenParameters(values, excess, found)
    return ChosenParameters(best, excess)


def decide(
    spec: ResolvedStudy,
    choice: ChosenParameters,
    defaults: Values,
    trials: int,
    better: bool,
    recorded: bool = False,
    shortage: str | None = None,
    beaten: bool = False,
) -> Verdict:
    """Return the verdict.

    Args:
        spec: The study.
        choice: The chosen parameters.
        defaults: The policy's defaults.
        trials: Number of complete trials.
        better: Whether the chosen parameters are significantly better than the defaults on the report data.
        recorded: Whether the data are a trace or log, which may be too short to bound the excess.
        shortage: Why recorded data are not sufficient, if they are not.
        beaten: Whether the defaults are significantly better than the chosen parameters on the report data.
    """
    named = "the defaults"
    if spec.reward_factor() != 1.0:
        named = f"the scaled defaults ({format_params({name: defaults[name] for name in spec.space})})"
    report = f"the report {'segment' if recorded else 'worlds'}"
    changed, excess = find_changed(spec, choice.values, defaults), choice.excess_of_defaults
    worse = better if recorded else excess is not None and excess.worse
    reason = shortage
    if reason is None and excess is None and spec.space:
        reason = (
            f"{format_count(spec.selection)} selection worlds are too few to compare candidates with {named};"
            f" at least {format_count(MIN_WORLDS)} are needed"
        )
    if reason is None and trials < least_trials(spec) and not (changed and worse):
        reason = (
            f"{plural(trials, 'complete trial')} are too few to find out whether other parameters are better than"
            f" {named}; at least {format_count(least_trials(spec))} are needed"
        )
    if reason is None and excess is not None and not (worse or recorded if changed else excess.tied):
        data = "the selection segment does" if recorded else f"{format_count(excess.worlds)} worlds do"
        reason = (
            f"{data} not decide whether {named} are within {format_percent(TIE_MARGIN)} of the best: their excess is"
            f" {format_ends(excess, format_percent)}"
        )
    if reason is None and changed and beaten:
        reason = f"tuning did not help: {named} have less regret on {report}"
    if reason is None and changed and not better:
        reason = f"the difference from {named} on {report} is not significant"
    decision: Decision = "use these values"
    if reason is not None:
        decision = "inconclusive"
    elif not changed:
        decision = "keep the defaults"
    elif len(changed) == 1 < len(spec.space):
        decision = "set one parameter"
    return Verdict(decision=decision, set=changed, defaults=excess, excess=choice.excess, reason=reason)


def least_trials(spec: ResolvedStudy) -> int:
    """Return the number of trials below which a search is too small to recommend the defaults."""
    return TRIALS_PER_PARAMETER * len(spec.space)


def find_ranges(spec: ResolvedStudy, surface: Surface, values: Values) -> dict[str, tuple[float, float]]:
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
            first = clip_value(spec, names[0], float(center[names[0]]) * factor)
            design.append({**defaults, **kept, names[0]: first})
    return design


def order_by_importance(spec: ResolvedStudy, importance: Mapping[str, float] | None) -> list[str]:
    """Return the searched parameters, the most important first."""
    names = list(spec.space)
    return names if importance is None else sorted(names, key=lambda name: -importance[name])
