"""Lines of the interval plot: regret relative to the recommended parameters, or values in the units of a recording."""

import math
from dataclasses import dataclass

from ravenlab.common.interval import Interval
from ravenlab.common.text import (
    capitalize_first,
    format_ends,
    format_interval,
    format_mean,
    format_number,
    format_percent,
)
from ravenlab.studies.results.baselines import (
    IDENTICAL,
    SIMULTANEOUS,
    UNDECIDED,
    BaselineComparison,
    describe_baseline,
    format_change,
    format_difference,
)
from ravenlab.studies.results.recommendation import LOGGING_POLICY, LogFacts, Recommendation

TICKS = 2  # at least so many steps of a linear axis


@dataclass(frozen=True)
class Lane:
    """One line of the interval plot of a study: the recommended parameters or a baseline."""

    kind: str
    name: str
    """Its name on the page."""
    text: str
    """The value beside the line, such as +155 %."""
    detail: str
    """The value in words, with its interval."""
    ratios: Interval | None = None
    """Regret relative to the recommended parameters; None on recorded data and if their regret is not positive."""
    values: Interval | None = None
    """Values on the own axis of a study on recorded data."""


@dataclass(frozen=True)
class Axis:
    """Logarithmic axis of the interval plot, shared by all simulated studies."""

    low: float
    high: float

    def position(self, ratio: float) -> float:
        """Return the position of a ratio in percent of the width; values outside are moved to the end.

        >>> Axis(0.5, 8.0).position(1.0), Axis(0.5, 8.0).position(100.0)
        (25.0, 100.0)
        """
        share = math.log(max(ratio, 1e-300) / self.low) / math.log(self.high / self.low)
        return round(100.0 * min(max(share, 0.0), 1.0), 2)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Positions and labels of the ticks.

        >>> Axis(0.8, 2.5).ticks
        [(19.58, '0'), (55.17, '+50 %'), (80.42, '+100 %')]
        """
        shown: list[float] = []
        for ratio in (1.0, 2.0, 0.5, 5.0, 1.5, 10.0, 1.2, 1.1, 0.8, 0.9, 3.0, 20.0, 0.2):
            if self.low < ratio < self.high and all(abs(self.position(ratio) - self.position(x)) > 24 for x in shown):
                shown.append(ratio)
        return [
            (self.position(ratio), "0" if ratio == 1.0 else format_percent(ratio - 1.0, signed=True).replace(".0", ""))
            for ratio in sorted(shown)
        ]


@dataclass(frozen=True)
class ValueAxis:
    """Linear axis of one study on recorded data, in the units of its file; it contains 0."""

    title: str
    low: float
    high: float

    def position(self, value: float) -> float:
        """Return the position of a value in percent of the width.

        >>> ValueAxis("gain", -1.0, 3.0).position(0.0)
        25.0
        """
        return round(100.0 * (value - self.low) / (self.high - self.low), 2)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Positions and labels of the ticks.

        >>> ValueAxis("gain", -0.3, 1.2).ticks
        [(20.0, '0'), (53.33, '0.5'), (86.67, '1')]
        """
        power = 10.0 ** math.floor(math.log10((self.high - self.low) / TICKS))
        step = max(digit * power for digit in (1, 2, 5) if TICKS * digit * power <= self.high - self.low)
        places = range(math.ceil(self.low / step), math.floor(self.high / step) + 1)
        return [(self.position(place * step), format_number(float(f"{place * step:.6g}"))) for place in places]


def compare_with_logging(recommendation: Recommendation) -> BaselineComparison:
    """Return the comparison with the logging policy; its difference is the gain per step over it."""
    return next(each for each in recommendation.alternative_comparisons if each.name == LOGGING_POLICY)


def describe_gain(recommendation: Recommendation, facts: LogFacts) -> str:
    """Describe the gain over the logging policy with its unit, interval and percentage, in one sentence."""
    comparison = compare_with_logging(recommendation)
    gain = comparison.difference
    less = gain.mean < 0.0
    more = "less" if facts.minimize != less else "more"
    stated = -gain if less else gain
    share = f"; {format_percent(stated.mean / abs(facts.logged.mean))}" if facts.logged.mean != 0.0 else ""
    unit = "cost" if facts.minimize else "reward"
    return (
        f"{format_mean(stated)} {more} {unit} per step than the logging policy"
        f" ({SIMULTANEOUS if comparison.simultaneous else ''}95 % CI {format_ends(stated)}{share})."
    )


def make_recorded_lanes(recommendation: Recommendation) -> tuple[list[Lane], ValueAxis]:
    """Make the lines of a study on recorded data: the gain over the logging policy, or the regret per window."""
    facts = recommendation.log
    best: Interval = recommendation.regret
    sign = 1.0
    title = f"regret{recommendation.regret_unit}"
    if facts is not None:
        best = compare_with_logging(recommendation).difference
        sign = -1.0
        title = f"{'cost saved' if facts.minimize else 'reward gained'} per step over the logging policy"
    lanes = [Lane("recommended", "Recommended", state_value(best, facts), format_interval(best), values=best)]
    for comparison in recommendation.comparisons:
        value = comparison.difference.scaled(sign).shifted(best.mean)
        text = state_value(value, facts)
        if comparison.relation in UNDECIDED:
            text = f"≈ {text}"
        detail = format_difference(comparison)
        if comparison.relation == "same":
            text = IDENTICAL
            detail = describe_baseline(comparison)
        lanes.append(Lane(comparison.name, capitalize_first(comparison.short_title), text, detail, values=value))
    ends = [0.0, *(end for lane in lanes for end in lane.values or ())]
    margin = 0.04 * (max(ends) - min(ends)) or 1.0
    return lanes, ValueAxis(title, min(ends) - margin, max(ends) + margin)


def state_value(value: Interval, facts: LogFacts | None) -> str:
    """State a value in a few letters: on a log the gain in percent of the mean of the logging policy."""
    if facts is None or facts.logged.mean == 0.0:
        return format_mean(value)
    return format_percent(value.mean / abs(facts.logged.mean), signed=True)


def describe_recorded(recommendation: Recommendation) -> list[str]:
    """State the gain over the logging policy of a log, or the regret on a trace, which may be a gain; then details."""
    facts = recommendation.log
    if facts is not None:
        unit = "cost" if facts.minimize else "reward"
        means = f"{format_interval(facts.score)}, that of the logging policy {format_interval(facts.logged)}"
        return [describe_gain(recommendation, facts), f"Mean {unit} per step {means}."]
    regret = recommendation.regret
    if regret.mean < 0.0:
        return [f"Gain over the best arm of nearby rows {format_interval(-regret)}{recommendation.regret_unit}."]
    return [f"Mean regret {format_interval(regret)}{recommendation.regret_unit}."]


def make_lanes(recommendation: Recommendation) -> list[Lane]:
    """Make the lines of the interval plot: the recommended parameters, then the baselines."""
    regret = recommendation.regret
    relative = recommendation.log is None and regret.mean > 0.0
    same = Interval(1.0, 1.0, 1.0) if relative else None
    lanes = [
        Lane(
            "recommended",
            "Recommended",
            format_mean(regret) if relative else _shorten(regret.mean),
            f"regret {format_interval(regret)}",
            regret / regret.mean if relative else None,
        )
    ]
    for comparison in recommendation.comparisons:
        name = capitalize_first(comparison.short_title)
        if comparison.relation == "same":
            lanes.append(Lane(comparison.name, name, IDENTICAL, describe_baseline(comparison), same))
            continue
        shown = format_change(comparison)
        lanes.append(
            Lane(
                comparison.name,
                name,
                f"≈ {shown}" if comparison.relation in UNDECIDED else shown,
                format_difference(comparison),
                None if comparison.share is None else comparison.share.shifted(1.0),
            )
        )
    return lanes


def _shorten(value: float) -> str:
    """Format a number with three digits, so that it fits beside the interval plot.

    >>> _shorten(1234.5)
    '1,230'
    """
    return format_number(float(f"{value:.3g}"))
