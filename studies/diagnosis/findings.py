"""Findings by kind of change: strength in words and numbers, and the settings of a scenario that resembles it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ravenlab.common.interval import Interval
from ravenlab.common.text import format_count, format_interval, format_number, join_words, plural
from ravenlab.environments.world import Floats
from ravenlab.studies.diagnosis.block_means import Bools, TraceBlocks
from ravenlab.studies.diagnosis.change_points import MAX_CHANGE_POINTS
from ravenlab.studies.diagnosis.model import FittedModel, NoiseScale, Term
from ravenlab.studies.diagnosis.model_selection import ARM_CHURN, KINDS, SIGNIFICANCE_LEVEL, SelectedModel
from ravenlab.studies.diagnosis.random_walk import RANDOM_WALK
from ravenlab.studies.diagnosis.result import Finding
from ravenlab.studies.spec.space import round_digits
from ravenlab.studies.statistics.paired import holm_adjust_by_name

SINGLE_PERIOD = 0.51
"""Period of a change that occurs once, as a share of the rows: it does not occur again within the horizon."""
MIN_ABSENCE = 0.01  # shortest absence of an arm, as a share of the rows; a shorter gap is a missing value
MAX_ABSENCE_P = 0.01  # largest p-value of an absence
NEVER = "200%"  # a time beyond the horizon
MIN_ARMS_TO_AGREE = 5  # arms whose drifts have the same direction, or whose seasons have the same phase, not by chance
SAME_PHASE = 0.9  # length of the sum of the seasons of all arms, relative to the sum of their lengths
MAX_LISTED = 3  # maximal number of changes that are listed
CLOSING_ROWS = 0.2  # share of the rows before an arm closes in which it is compared with the others


@dataclass(frozen=True)
class Absence:
    """Rows first to last − 1, counted from 0, at which an arm was unavailable."""

    arm: int
    first: int
    last: int
    p: float


@dataclass(frozen=True)
class KindDescription:
    """Strength of a kind of change in words and numbers, with the settings of a scenario that resembles it."""

    strength: str
    numbers: dict[str, Any]
    settings: dict[str, Any]
    """Empty if no scenario resembles it."""
    arms: tuple[str, ...] = ()
    variant: str = ""


def find_absences(values: Floats) -> list[Absence]:
    """Find gaps of arms that are too long to be random, ordered by arm and row.

    >>> table = np.ones((1000, 2))
    >>> table[:300, 1] = np.nan
    >>> [(absence.arm, absence.first, absence.last) for absence in find_absences(table)]
    [(1, 0, 300)]
    """
    rows, arms = values.shape
    absences = []
    for k in range(arms):
        observed = np.flatnonzero(~np.isnan(values[:, k]))
        if not observed.size:
            continue
        edges = np.concatenate([[-1], observed, [rows]])
        gaps = np.diff(edges) - 1
        available = rows
        # The longest gap first: the rate of observations is that of the rows without it and the gaps found before.
        for i in np.argsort(-gaps, kind="stable"):
            available -= int(gaps[i])
            rate = min(observed.size / available, observed.size / (observed.size + 1.0))
            p = min(1.0, float(np.exp(gaps[i] * np.log1p(-rate))) * (observed.size + 1) * arms)
            if gaps[i] < max(2.0, MIN_ABSENCE * rows) or p >= MAX_ABSENCE_P:
                break
            absences.append(Absence(k, int(edges[i]) + 1, int(edges[i + 1]), p))
    return sorted(absences, key=lambda absence: (absence.arm, absence.first))


def list_findings(
    blocks: TraceBlocks, selected: SelectedModel, absences: list[Absence], names: Sequence[str]
) -> tuple[Finding, ...]:
    """List one finding per kind of change, also for kinds that were not found."""
    p_of_kinds = {kind: value for kind, value in selected.p.items() if kind != RANDOM_WALK}
    p = holm_adjust_by_name({**p_of_kinds, ARM_CHURN: min((absence.p for absence in absences), default=1.0)})
    p[RANDOM_WALK] = selected.p[RANDOM_WALK]
    in_model = {term.kind: (term, selected.fit) for term in selected.fit.terms}
    candidates = {
        kind: (next(term for term in candidate.terms if term.kind == kind), candidate.fit)
        for kind, candidate in selected.others.items()
    }
    findings = []
    for kind in (*KINDS, RANDOM_WALK):
        found = kind in in_model or (kind == ARM_CHURN and bool(absences))
        if kind == ARM_CHURN:
            description = _describe_churn(absences, blocks, names)
        elif kind in in_model or kind in candidates:
            term, fitted = in_model.get(kind) or candidates[kind]
            description = DESCRIBERS[kind](FittedTerm.of(term, fitted, selected.scale, blocks, names))
        elif blocks.binary and kind == "variance-drift":
            description = KindDescription("not applicable to rewards of 0 and 1", {}, {})
        else:
            description = NOT_DETECTED
        strength = description.strength
        if not found and description.numbers:
            reason = "within sampling noise" if p[kind] >= SIGNIFICANCE_LEVEL else "not supported by BIC"
            strength = f"{reason}: {strength}"
        findings.append(
            Finding(
                kind,
                found,
                p[kind],
                strength,
                arms=description.arms,
                numbers=description.numbers,
                settings=description.settings,
                variant=description.variant if found else "",
            )
        )
    return tuple(findings)


@dataclass(frozen=True)
class FittedTerm:
    """A term with its coefficients [p, K] and their standard errors."""

    term: Term
    weights: Floats
    errors: Floats
    names: Sequence[str]
    rows: int

    @staticmethod
    def of(term: Term, fitted: FittedModel, scale: NoiseScale, blocks: TraceBlocks, names: Sequence[str]) -> FittedTerm:
        """Extract one term of a fitted model."""
        index = next(i for i, candidate in enumerate(fitted.terms) if candidate is term)
        if term.mean.shape[1]:
            weights = fitted.mean_weights[index]
            errors = fitted.mean_errors[index] * np.sqrt(scale.mean)
        else:
            weights = fitted.variance_weights[index]
            errors = fitted.variance_errors[index] * np.sqrt(scale.variance / 2.0)
        return FittedTerm(term, weights, errors, names, blocks.rows)

    def significant_arms(self) -> tuple[str, ...]:
        """Names of the arms with a significant coefficient, corrected for the number of arms."""
        from scipy.stats import norm

        threshold = float(norm.isf(0.025 / len(self.names)))
        large: Bools = np.abs(self.weights) > threshold * np.maximum(self.errors, 1e-300)
        significant = np.asarray((large & self.term.main_used()).any(axis=0))
        return tuple(name for name, yes in zip(self.names, significant, strict=True) if yes)

    def largest(self) -> tuple[str, Interval]:
        """Name and coefficient of the arm with the largest coefficient, for terms with one column."""
        k = int(np.argmax(np.where(self._reliable() & (self.errors[0] > 0.0), np.abs(self.weights[0]), -1.0)))
        return self.names[k], Interval.from_error(float(self.weights[0, k]), float(self.errors[0, k]))

    def typical(self) -> float:
        """Root mean square of the coefficients over arms, without the contribution of noise."""
        squares = self.weights[0] ** 2 - self.errors[0] ** 2
        return math.sqrt(max(0.0, float(squares[self._reliable()].mean())))

    def mean_size(self) -> float:
        """Mean absolute coefficient of the columns that arms use; 0 if only variances change."""
        sizes = np.abs(self.weights[self.term.mean_used])
        return float(sizes.mean()) if sizes.size else 0.0

    def spacing(self, steps: Sequence[int]) -> float:
        """Median distance between changes, including that of the first from the start; robust to missed changes."""
        if len(steps) == 1:
            return max(float(steps[0]), SINGLE_PERIOD * self.rows)
        return float(np.median(np.diff([0, *steps])))

    def _reliable(self) -> Bools:
        """Mark the arms with enough observations, and those without this change."""
        return np.asarray(self.errors[0] <= 10.0 * np.median(self.errors[0][self.errors[0] > 0.0]))


def format_share(share: float) -> str:
    """Format a share of the horizon as in a study file.

    >>> format_share(0.0998), format_share(0.25), format_share(0.9999)
    ('9.98%', '25%', '100%')
    """
    return f"{100 * share:.3g}%"


NOT_DETECTED = KindDescription("not detected", {}, {})


def _format_largest(name: str, value: Interval) -> str:
    return f"largest in {name}: {format_interval(value)}"


def _largest_numbers(value: Interval) -> dict[str, Any]:
    return {"largest": value.mean, "largest_interval": [value.low, value.high]}


def _format_times(steps: Sequence[int], spacing: float) -> str:
    return f"every {format_count(round(spacing))} steps" if len(steps) > 1 else f"at step {format_count(steps[0])}"


def _describe_incremental_drift(fitted: FittedTerm) -> KindDescription:
    arm, value = fitted.largest()
    typical = fitted.typical()
    settings = {"drift": round_digits(math.sqrt(3.0) * typical), "over": "100%"}
    sizes = fitted.weights[0]
    if fitted.term.common or (sizes.size >= MIN_ARMS_TO_AGREE and (np.sign(sizes) == np.sign(sizes[0])).all()):
        direction = "up" if sizes[0] > 0 else "down"
        settings["direction"] = direction
        where = f"all means go {direction}, on average by {format_number(abs(float(sizes.mean())))} over all rows"
        variant = "decay" if direction == "down" else "a common trend"
    else:
        where = f"means change by {format_number(typical)} over all rows (root mean square of the arms)"
        variant = "a trend"
    return KindDescription(
        where if fitted.term.common else f"{where}; {_format_largest(arm, value)}",
        {"typical": typical, **_largest_numbers(value), "largest_arm": arm},
        settings,
        fitted.significant_arms(),
        variant,
    )


def _describe_variance_drift(fitted: FittedTerm) -> KindDescription:
    arm, value = fitted.largest()
    average = float(fitted.weights[0].mean())
    return KindDescription(
        f"σ² grows by {format_number(average)} over all rows on average; {_format_largest(arm, value)}",
        {"average": average, **_largest_numbers(value), "largest_arm": arm},
        {"growth": round_digits(2.0 * max(average, 0.0)), "over": "100%"},
        fitted.significant_arms(),
    )


def _describe_gradual_drift(fitted: FittedTerm) -> KindDescription:
    start, end = (fitted.term.about[name] for name in ("start", "end"))
    arm, value = fitted.largest()
    typical = fitted.typical()
    first, last = (max(1, round(share * fitted.rows)) for share in (start, end))
    return KindDescription(
        f"transition to new levels between steps {format_count(first)} and {format_count(last)},"
        f" {format_number(typical)} away (root mean square of the arms); {_format_largest(arm, value)}",
        {
            "start": first,
            "end": last,
            "typical": typical,
            "largest": value.mean,
            "largest_interval": [value.low, value.high],
        },
        {"start": format_share(max(start, 1.0 / fitted.rows)), "end": format_share(end)},
        fitted.significant_arms(),
    )


def _describe_periodic(fitted: FittedTerm) -> KindDescription:
    period = fitted.term.about["period"]
    error = fitted.errors.mean(axis=0)
    amplitude = np.sqrt(np.maximum(np.hypot(*fitted.weights) ** 2 - error**2, 0.0))
    k = int(np.argmax(amplitude))
    mean = float(amplitude.mean())
    largest = Interval.from_error(float(amplitude[k]), float(error[k]))
    settings = {"amplitude": round_digits(2.0 * mean), "period": format_share(period / fitted.rows)}
    strength = f"period {format_count(round(period))} steps, amplitude {format_number(mean)}"
    lengths = np.hypot(*fitted.weights)
    if fitted.term.common:
        settings["common"] = "cycle"
        strength += ", common to all arms"
    else:
        if lengths.size >= MIN_ARMS_TO_AGREE and np.hypot(*fitted.weights.sum(axis=1)) > SAME_PHASE * lengths.sum():
            settings["common"] = "phase"
        largest = replace(largest, low=max(0.0, largest.low))
        strength += f" on average; {_format_largest(fitted.names[k], largest)}"
    return KindDescription(
        strength,
        {"period": period, "amplitude": mean, "largest": largest.mean},
        settings,
        fitted.significant_arms(),
        "a common cycle" if "common" in settings else "",
    )


def _describe_jumps(fitted: FittedTerm) -> KindDescription:
    at = [cut + 1 for cut in fitted.term.about["at"]]
    typical = fitted.mean_size()
    every = fitted.spacing(at)
    count = len(fitted.names)
    share = float((fitted.term.mean_used | fitted.term.variance_used).mean())
    jumps = f"at least {len(at)} jumps" if len(at) >= MAX_CHANGE_POINTS else plural(len(at), "jump")
    return KindDescription(
        f"{jumps} of {format_number(share * count)} of {count} arms each, by {format_number(typical)} on average,"
        f" {_format_times(at, every)}",
        {"at": at, "typical": typical, "share_of_arms": share},
        {"every": format_share(every / fitted.rows), "fraction": round_digits(min(1.0, max(share, 1.0 / count)))},
        fitted.significant_arms(),
    )


def _describe_blips(fitted: FittedTerm) -> KindDescription:
    spans = fitted.term.about["spans"]
    at = [start + 1 for start, _ in spans]
    lasting = float(np.median([end - start for start, end in spans]))
    every = max(fitted.spacing(at), 1.1 * lasting + 1.0)
    typical = fitted.mean_size()
    if fitted.term.is_outage:
        return _describe_outages(fitted, spans, lasting, every)
    return KindDescription(
        f"{plural(len(spans), 'blip')} of {format_count(round(lasting))} steps, {format_number(typical)} away on"
        f" average, {_format_times(at, every)}",
        {"at": at, "until": [end + 1 for _, end in spans], "typical": typical},
        {"every": format_share(every / fitted.rows), "lasting": format_share(lasting / fitted.rows)},
        fitted.significant_arms(),
    )


def _describe_outages(
    fitted: FittedTerm, spans: Sequence[tuple[int, int]], lasting: float, every: float
) -> KindDescription:
    """Describe temporary changes of single arms; the scenario shifts them by the median size."""
    used = fitted.term.mean_used
    size = float(np.median(fitted.weights[used]))
    count = len(fitted.names)
    listed = []
    for (start, end), affected, weights in zip(spans, used, fitted.weights, strict=True):
        arms = join_words([fitted.names[k] for k in np.flatnonzero(affected).tolist()], "and")
        change = format_number(float(weights[affected].mean()))
        listed.append(f"{arms} by {change} from step {format_count(start + 1)} to {format_count(end)}")
    once = len(spans) == 1
    first = max(spans[0][0] + 1.0, lasting + 1.0)
    return KindDescription(
        f"{plural(len(spans), 'outage')}: {'; '.join(listed[:MAX_LISTED])}{'; …' * (len(listed) > MAX_LISTED)}",
        {
            "at": [start + 1 for start, _ in spans],
            "until": [end + 1 for _, end in spans],
            "typical": fitted.mean_size(),
        },
        {
            "every": format_share((first if once else every) / fitted.rows),
            "lasting": format_share(lasting / fitted.rows),
            "times": "once" if once else "fixed",
            "affected": math.ceil(1000.0 * float(np.median(used.sum(axis=1))) / count) / 1000.0,
            "size": round_digits(size),
        },
        tuple(fitted.names[k] for k in np.flatnonzero(used.any(axis=0)).tolist()),
        "a temporary change of single arms",
    )


def _describe_random_walk(fitted: FittedTerm) -> KindDescription:
    deviation = fitted.term.about["deviation"]
    typical = math.sqrt(float((deviation**2).mean()))
    k = int(np.argmax(deviation))
    significant = fitted.term.about["significant"]
    return KindDescription(
        f"random walks with a standard deviation of {format_number(typical)} over all rows (root mean square of the"
        f" arms); largest in {fitted.names[k]}: {format_number(float(deviation[k]))}",
        {"typical": typical, "largest": float(deviation[k]), "largest_arm": fitted.names[k]},
        {"deviation": round_digits(typical), "over": "100%"},
        tuple(name for name, yes in zip(fitted.names, significant, strict=True) if yes),
    )


def _describe_churn(absences: list[Absence], blocks: TraceBlocks, names: Sequence[str]) -> KindDescription:
    if not absences:
        return NOT_DETECTED
    rows = blocks.rows
    opened = [absence for absence in absences if absence.first == 0]
    closed = [absence for absence in absences if absence.last == rows]
    gaps = [absence for absence in absences if absence.first > 0 and absence.last < rows]
    came = float(np.median([absence.last + 1 for absence in opened])) if opened else 0.0
    left = float(np.median([absence.first + 1 for absence in closed])) if closed else 0.0
    replaced = len(opened) == len(closed) == 1 and abs(came - left) < MIN_ABSENCE * rows
    parts = [f"{names[absence.arm]} opens at step {format_count(absence.last + 1)}" for absence in opened]
    parts += [f"{names[absence.arm]} closes at step {format_count(absence.first + 1)}" for absence in closed]
    if replaced:
        parts = [f"{names[opened[0].arm]} replaces {names[closed[0].arm]} at step {format_count(round(came))}"]
    if gaps:
        arms = plural(len({absence.arm for absence in gaps}), "arm")
        parts.append(f"{arms} temporarily unavailable, {plural(len(gaps), 'time')} in total")
    # The scenario has one arm that opens and one that closes, and none that is unavailable for a while.
    settings = {}
    if opened or closed:
        settings["opens"] = format_share(came / rows) if opened else NEVER
        settings["closes"] = format_share((came if replaced else left) / rows) if closed else NEVER
    if closed:
        settings["closing"] = "best" if _was_best(closed[0], blocks) else "random"
    numbers = {
        "came": {names[absence.arm]: absence.last + 1 for absence in opened},
        "left": {names[absence.arm]: absence.first + 1 for absence in closed},
        "away": [{"arm": names[absence.arm], "from": absence.first + 1, "to": absence.last} for absence in gaps],
    }
    listed = parts if len(parts) <= 4 else [*parts[:3], f"and {len(parts) - 3} more"]
    arm_names = tuple(dict.fromkeys(names[absence.arm] for absence in absences))
    variant = "a replacement" if replaced else "" if settings else "arms unavailable for a while"
    return KindDescription("; ".join(listed), numbers, settings, arm_names, variant)


def _was_best(closed: Absence, blocks: TraceBlocks) -> bool:
    """Whether an arm had the largest mean of all arms in the rows before it closed."""
    before = blocks.values[max(0, closed.first - int(CLOSING_ROWS * blocks.rows)) : closed.first]
    known = ~np.isnan(before)
    means = np.where(known, before, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return int(np.where(known.any(axis=0), means, -np.inf).argmax()) == closed.arm


DESCRIBERS: dict[str, Callable[[FittedTerm], KindDescription]] = {
    "incremental-drift": _describe_incremental_drift,
    "variance-drift": _describe_variance_drift,
    "gradual-drift": _describe_gradual_drift,
    "periodic": _describe_periodic,
    "localized-jump": _describe_jumps,
    "blips": _describe_blips,
    RANDOM_WALK: _describe_random_walk,
}
