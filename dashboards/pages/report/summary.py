"""First screen of the report: one verdict per study, and all recommendations and baselines in one interval plot."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ravenlab.common.interval import Interval
from ravenlab.common.text import (
    capitalize_first,
    format_interval,
    format_number,
    format_percent,
)
from ravenlab.dashboards.pages.report.data import StudyData
from ravenlab.studies.results.baselines import (
    IDENTICAL,
    UNDECIDED,
    describe_baseline,
    format_change,
    format_difference,
)
from ravenlab.studies.results.describe import (
    describe_better_policy,
    describe_price,
    describe_unit,
    warn_inconclusive,
    word_verdict,
)
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.results.robust import RobustRecommendation

WIDEST = (0.2, 20.0)  # regret relative to the recommended one; the axis of the interval plot ends here at the latest


@dataclass(frozen=True)
class Piece:
    """Text, or a formatted number with its full value and the field of the recommendation it comes from."""

    text: str
    value: float | str | None = None
    field: str = ""
    detail: str = ""


@dataclass(frozen=True)
class Lane:
    """One line of the interval plot: regret relative to the recommended parameters of the study.

    Ratios are None if the recommended regret is not positive, as on some recorded data.
    """

    kind: str
    name: str
    """Its name on the page."""
    text: str
    """The value beside the line, such as +155 %."""
    detail: str
    """The value in words, with its interval."""
    ratios: Interval | None = None


@dataclass(frozen=True)
class Axis:
    """Logarithmic axis of the interval plot, shared by all studies."""

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
class VerdictRow:
    """The verdict of one study. `decision` is its first words, `rest` the reason."""

    study: str
    link: str
    title: str
    kind: str
    """The decision for the style sheet, such as keep-the-defaults."""
    decision: str
    rest: str
    facts: str
    warnings: list[str]
    filters: dict[str, list[str]]
    """Values of the filters under which the study is shown."""
    lanes: list[Lane] = field(default_factory=list)
    better_policy: str | None = None
    """Another policy that a stored comparison shows to be better, in one sentence."""
    relations: Mapping[str, str] = field(default_factory=dict)
    """Relation of each baseline to the recommended parameters."""
    gain: float | None = None
    """Excess regret of the defaults, by which studies are ordered; None if it is unknown."""

    @property
    def main_lane(self) -> Lane | None:
        """The line of the defaults, which represents the study in a list of many."""
        return next((lane for lane in self.lanes if lane.kind == "defaults"), None)

    @property
    def description(self) -> str:
        """The lines of the interval plot in words."""
        return "; ".join(f"{lane.name}: {lane.detail}" for lane in self.lanes)


def make_verdict_row(study: StudyData, title: str, link: str, filters: dict[str, list[str]]) -> VerdictRow:
    """Summarize a study: what to do, the regret, and the baselines.

    Args:
        study: The study.
        title: Its short title.
        link: The id of its section.
        filters: Values of the filters.
    """
    recommendation = study.recommendation
    if recommendation is None:
        return VerdictRow(study.name, link, title, "no-result", "No recommendation yet", "", study.missing, [], filters)
    verdict = word_verdict(recommendation)
    return VerdictRow(
        study=study.name,
        link=link,
        title=title,
        kind=recommendation.verdict.decision.replace(" ", "-"),
        decision=verdict.headline,
        rest=verdict.rest,
        facts=_describe_facts(recommendation),
        warnings=_list_warnings(recommendation),
        filters=filters,
        lanes=make_lanes(recommendation),
        better_policy=None if study.better is None else describe_better_policy(study.better),
        relations={each.name: each.relation for each in recommendation.comparisons},
        gain=_find_gain(recommendation),
    )


def _find_gain(recommendation: Recommendation) -> float | None:
    """Return the gain over the defaults: their excess regret, or on a log the reward that they lose, as a share."""
    scale = abs(recommendation.regret.mean if recommendation.log is None else recommendation.log.score.mean)
    found = [each.difference.mean for each in recommendation.comparisons if each.name == "defaults"]
    return found[0] / scale if found and scale > 0.0 else None


def make_robust_row(result: RobustRecommendation, title: str, link: str, filters: dict[str, list[str]]) -> VerdictRow:
    """Summarize one setting for several scenarios."""
    verdict = word_verdict(result)
    kind = result.verdict.decision.replace(" ", "-")
    facts = " ".join([describe_price(result), *describe_unit(result)])
    return VerdictRow(result.study, link, title, kind, verdict.headline, verdict.rest, facts, [], filters)


def _describe_facts(recommendation: Recommendation) -> str:
    """State the regret on held-out data with its scale, or the replay score on a log."""
    log = recommendation.log
    regret = recommendation.regret
    if log is not None:
        scores = f"Replay score {format_interval(log.score)}; mean of the logging policy {format_interval(log.logged)}"
        return " ".join([f"{scores}, both per step.", *describe_unit(recommendation)])
    share = ""
    if recommendation.attainable is not None and recommendation.attainable > 0.0:
        share = f", {format_percent(regret.mean / recommendation.attainable)} of the attainable reward"
    sentence = f"Mean regret {format_interval(regret)}{recommendation.regret_unit}{share}."
    return " ".join([sentence, *describe_unit(recommendation)])


def _list_warnings(recommendation: Recommendation) -> list[str]:
    lines = [] if recommendation.log is None else warn_inconclusive(recommendation.log)
    if recommendation.objective != "mean":
        lines.append(f"Selected by the objective {recommendation.objective}, not by mean regret.")
    if recommendation.failures is not None and not recommendation.failures.reliable:
        lines.append("The upper end of the interval may be too low, because failures are rare; use more report worlds.")
    return lines


def make_lanes(recommendation: Recommendation) -> list[Lane]:
    """Make the lines of the interval plot: the recommended parameters, then the baselines."""
    regret = recommendation.regret
    relative = recommendation.log is None and regret.mean > 0.0
    same = Interval(1.0, 1.0, 1.0) if relative else None
    lanes = [
        Lane(
            "recommended",
            "Recommended",
            format_number(regret.mean) if relative else _shorten(regret.mean),
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


def choose_axis(rows: Iterable[VerdictRow]) -> Axis | None:
    """Choose the axis of the interval plot; None if there is nothing to draw."""
    ratios = [ratio for row in rows for lane in row.lanes for ratio in lane.ratios or ()]
    if not ratios:
        return None
    low = max(min(ratios), WIDEST[0])
    high = min(max(ratios), WIDEST[1])
    return Axis(min(low / 1.05, 0.95), max(high * 1.05, 1.25))
