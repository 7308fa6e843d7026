"""The overview of a report: recommended parameters of several studies by scenario and horizon, on common axes."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ravenlab.common.text import format_count, format_number
from ravenlab.dashboards.figures.style import choose_log_ticks
from ravenlab.dashboards.pages.report.summary import VerdictRow
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.symbols import format_symbol

MAX_COLUMNS = 4
UNIT = "unit"  # parameter of policies that follows the scale of the rewards and is never searched with the others
MAX_TICKS = 5
MARGIN = 0.06  # of the width, so that marks at the ends of an axis are whole


@dataclass(frozen=True)
class Column:
    """The logarithmic axis of one parameter, shared by all studies."""

    symbol: str
    low: float
    high: float

    def position(self, value: float) -> float:
        """Return the position of a value in percent of the width.

        >>> Column("α₀", 0.1, 10.0).position(1.0)
        50.0
        """
        share = math.log(value / self.low) / math.log(self.high / self.low) if self.high > self.low else 0.5
        return round(100.0 * (MARGIN + (1.0 - 2.0 * MARGIN) * share), 2)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Positions and labels of the ticks."""
        ticks = choose_log_ticks([self.low, self.high], MAX_TICKS) or []
        return [(self.position(tick), format_number(tick)) for tick in ticks]


@dataclass(frozen=True)
class Mark:
    """Positions of one parameter of one study; those of baselines are None where they coincide or do not exist."""

    value: float
    low: float
    high: float
    defaults: float | None
    paper: float | None


@dataclass(frozen=True)
class OverviewStudy:
    """One study of a scenario: its marks, one per column, and its verdict, which has the link and the filters."""

    label: str
    verdict: VerdictRow
    marks: list[Mark | None]


@dataclass(frozen=True)
class Overview:
    """The studies by scenario, in the order of the export, and the axes."""

    columns: list[Column]
    groups: dict[str, list[OverviewStudy]]


def make_overview(recommendations: Sequence[Recommendation], verdicts: Sequence[VerdictRow]) -> Overview | None:
    """Arrange the recommendations of several simulated studies; None for fewer than two.

    Parameters for recorded data follow the scale of its rewards, so they have no place on these axes.

    >>> make_overview([], []) is None
    True
    """
    pairs = zip(recommendations, verdicts, strict=True)
    simulated = [(each, verdict) for each, verdict in pairs if each.source is None]
    if len(simulated) < 2:
        return None
    recommendations = [each for each, _ in simulated]
    names = list(dict.fromkeys(name for each in recommendations for name in each.params))
    reach = {name: [value for each in recommendations for value in _list_values(each, name)] for name in names}
    axes = {
        name: Column(format_symbol(name), min(values), max(values))
        for name, values in reach.items()
        if values and min(values) > 0.0 and name != UNIT
    }
    shown = list(axes)[:MAX_COLUMNS]
    groups: dict[str, list[OverviewStudy]] = {}
    for recommendation, verdict in simulated:
        horizon = f"T = {format_count(recommendation.horizon)}"
        marks = [_make_mark(recommendation, name, axes[name]) for name in shown]
        group = verdict.title.replace(f", {horizon}", "")
        groups.setdefault(group, []).append(OverviewStudy(horizon, verdict, marks))
    return Overview([axes[name] for name in shown], groups)


def _list_values(recommendation: Recommendation, name: str) -> Iterable[float]:
    """List the numbers that the axis of a parameter must contain."""
    settings = [recommendation.params, *(baseline.params for baseline in recommendation.versus)]
    values = [*(params.get(name) for params in settings), *recommendation.box.get(name, ())]
    return [value for value in values if isinstance(value, int | float)]


def _make_mark(recommendation: Recommendation, name: str, column: Column) -> Mark | None:
    value = recommendation.params.get(name)
    if not isinstance(value, int | float):
        return None
    others = {baseline.name: baseline.params.get(name) for baseline in recommendation.versus}
    defaults, paper = (
        column.position(other) if isinstance(other := others.get(key), int | float) and other != value else None
        for key in ("defaults", "paper")
    )
    low, high = recommendation.box.get(name, (value, value))
    ends = column.position(min(low, value)), column.position(max(high, value))
    return Mark(column.position(value), *ends, defaults, None if paper == defaults else paper)
