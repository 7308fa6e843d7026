"""Means with their 95 % intervals: recommended parameters and baselines, and scores of replayed policies."""

from collections.abc import Mapping, Sequence
from typing import Any

from ravenlab.common.documents import IntervalRow
from ravenlab.common.text import format_interval, format_number, join_words
from ravenlab.dashboards.figures import style
from ravenlab.dashboards.figures.marks import MARKS
from ravenlab.dashboards.figures.style import Figure, PlotlyTrace
from ravenlab.studies.results.baselines import TITLES, format_difference
from ravenlab.studies.results.describe_recommendation import list_baselines
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.symbols import format_params

SETTINGS = ("recommended", *TITLES)
CONSTRUCTED = {"symbol": "triangle-up", "size": 12, "color": style.PINK}
"""Mark of the class as constructed."""
SCORE = {"symbol": "circle", "size": 10, "color": style.BLUE}

ROW_HEIGHT = 34
MAX_RECOMMENDATIONS = 40


def plot_recommendations(recommendations: Sequence[Recommendation], source: str = "") -> Figure:
    """Plot the mean regret of the recommended parameters and of the baselines, of one or several studies.

    Intervals of baselines are those of the paired difference from the recommendation: a baseline whose interval does
    not contain the recommended mean differs significantly from it.

    Args:
        recommendations: One or several recommendations.
        source: What the regrets of a single one were measured by, if it is not a stored study.
    """
    title = "Mean regret of the recommended parameters and the baselines"
    if not recommendations:
        return style.make_empty_figure(style.format_title(title), "There are no recommendations.")
    drawn = list(recommendations)[:MAX_RECOMMENDATIONS]
    single = len(drawn) == 1
    rows: dict[str, list[tuple[int, IntervalRow]]] = {name: [] for name in SETTINGS}
    labels: list[str] = []
    for recommendation in drawn:
        for place, (name, row) in enumerate(_rows(recommendation)):
            label = f"{_name(name, recommendation)}<br>{style.escape_text(row.label, 44)}"
            if not single:
                where = f"{style.escape_text(recommendation.scenario, 28)}<br>T = {recommendation.horizon:,}"
                label = where if place == 0 else ""
            rows[name].append((len(labels), row))
            labels.append(label)
    traces = [
        _interval_trace(_name(name, *drawn), found, MARKS.get(name, CONSTRUCTED))
        for name, found in rows.items()
        if found
    ]
    every = [value for found in rows.values() for _, row in found for value in row.interval]
    first = drawn[0]
    context = [style.escape_text(first.policy)]
    if single:
        context += [style.escape_text(first.scenario), *style.format_sizes(first.horizon, first.arms)]
        context += [source] if source else []
    worlds = sorted({each.regret.replications for each in drawn})
    alt = f"Mean regret with 95 % intervals: {'; '.join(map(_describe, drawn[:6]))}."
    return style.make_figure(
        traces,
        style.format_title(title, *context),
        alt,
        height=170 + ROW_HEIGHT * max(3, len(labels)),
        xaxis=style.make_value_axis(
            f"mean regret ({join_words([f'{n:,}' for n in worlds])} held-out replications)", every
        ),
        yaxis=style.make_row_axis(labels),
        showlegend=not single,
    )


def plot_scores(rows: Sequence[IntervalRow], title: str, axis: str, *context: str) -> Figure:
    """Plot means with their 95 % intervals, one row each; rows without a mean are left out.

    The context, which says where they come from, is below the title; it is escaped.
    """
    alt = "; ".join(f"{row.label} {format_interval(row.interval)}" for row in rows)
    return style.make_figure(
        [_interval_trace("", list(enumerate(rows)), SCORE)],
        style.format_title(title, *context),
        f"{title}: {alt}.",
        height=150 + ROW_HEIGHT * max(3, len(rows)),
        xaxis=style.make_axis(axis),
        yaxis=style.make_row_axis([style.escape_text(row.label) for row in rows]),
        showlegend=False,
    )


def _rows(recommendation: Recommendation) -> list[tuple[str, IntervalRow]]:
    regret = recommendation.regret
    params = format_params(recommendation.params)
    hover = f"<b>recommended</b><br>{style.escape_text(params)}<br>mean regret {format_interval(regret)}"
    rows = [("recommended", IntervalRow(params, regret, hover))]
    for baseline, comparison in zip(recommendation.versus, recommendation.comparisons, strict=True):
        params = format_params(baseline.params)
        hover = (
            f"<b>{comparison.title}</b><br>{style.escape_text(params)}<br>mean regret {format_number(baseline.regret)}"
            f"<br>difference {format_difference(comparison)}"
        )
        rows.append((baseline.name, IntervalRow(params, comparison.difference.shifted(regret.mean), hover)))
    return rows


def _name(setting: str, *recommendations: Recommendation) -> str:
    return setting if setting == "recommended" else f"the {list_baselines(recommendations)[setting]}"


def _interval_trace(name: str, rows: Sequence[tuple[int, IntervalRow]], mark: Mapping[str, Any]) -> PlotlyTrace:
    intervals = [row.interval for _, row in rows]
    return style.make_markers(
        [interval.mean for interval in intervals],
        [position for position, _ in rows],
        name,
        mark,
        [row.hover for _, row in rows],
        error_x=style.make_error_bars(intervals, mark["color"]),
    )


def _describe(recommendation: Recommendation) -> str:
    regret = recommendation.regret
    parts = [f"{recommendation.scenario} recommended {format_interval(regret)}"]
    parts += [f"{each.title} {format_difference(each, interval=False)}" for each in recommendation.comparisons]
    return ", ".join(parts)
