"""Means with their 95 % intervals: recommended parameters and baselines, and scores of replayed policies."""

from collections.abc import Sequence

from ravenlab.common.documents import IntervalRow
from ravenlab.common.text import format_interval, format_number, join_words
from ravenlab.dashboards.figures.style import (
    Figure,
    PlotlyTrace,
    escape_text,
    format_sizes,
    format_title,
    get_color,
    make_axis,
    make_empty_figure,
    make_error_bars,
    make_figure,
    make_markers,
    make_row_axis,
    make_value_axis,
)
from ravenlab.studies.results.baselines import TITLES, format_difference
from ravenlab.studies.results.describe import list_baselines
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.symbols import format_params

SETTINGS = ("recommended", *TITLES)
SYMBOLS = ("diamond", "square", "circle")

ROW_HEIGHT = 34
MAX_RECOMMENDATIONS = 40


def plot_recommendations(recommendations: Sequence[Recommendation]) -> Figure:
    """Plot the mean regret of the recommended parameters and of the baselines, of one or several studies.

    Intervals of baselines are those of the paired difference from the recommendation: a baseline whose interval does
    not contain the recommended mean differs significantly from it.

    Args:
        recommendations: One or several recommendations.
    """
    title = "Mean regret of the recommended parameters and the baselines"
    if not recommendations:
        return make_empty_figure(format_title(title), "There are no recommendations.")
    drawn = list(recommendations)[:MAX_RECOMMENDATIONS]
    single = len(drawn) == 1
    rows: dict[str, list[tuple[int, IntervalRow]]] = {name: [] for name in SETTINGS}
    labels: list[str] = []
    for recommendation in drawn:
        for place, (name, row) in enumerate(_rows(recommendation)):
            label = f"{_name(name, recommendation)}<br>{escape_text(row.label, 44)}"
            if not single:
                where = f"{escape_text(recommendation.scenario, 28)}<br>T = {recommendation.horizon:,}"
                label = where if place == 0 else ""
            rows[name].append((len(labels), row))
            labels.append(label)
    traces = [
        _interval_trace(_name(name, *drawn), found, place) for place, (name, found) in enumerate(rows.items()) if found
    ]
    every = [value for found in rows.values() for _, row in found for value in row.interval]
    first = drawn[0]
    context = [escape_text(first.policy)]
    if single:
        context += [escape_text(first.scenario), *format_sizes(first.horizon, first.arms)]
    worlds = sorted({each.regret.replications for each in drawn})
    alt = f"Mean regret with 95 % intervals: {'; '.join(map(_describe, drawn[:6]))}."
    return make_figure(
        traces,
        format_title(title, *context),
        alt,
        height=170 + ROW_HEIGHT * max(3, len(labels)),
        xaxis=make_value_axis(f"mean regret ({join_words([f'{n:,}' for n in worlds])} held-out replications)", every),
        yaxis=make_row_axis(labels),
        showlegend=not single,
    )


def plot_scores(rows: Sequence[IntervalRow], title: str, axis: str) -> Figure:
    """Plot means with their 95 % intervals, one row each; rows without a mean are left out."""
    alt = "; ".join(f"{row.label} {format_interval(row.interval)}" for row in rows)
    return make_figure(
        [_interval_trace("", list(enumerate(rows)), 0)],
        format_title(title),
        f"{title}: {alt}.",
        height=150 + ROW_HEIGHT * max(3, len(rows)),
        xaxis=make_axis(axis),
        yaxis=make_row_axis([escape_text(row.label) for row in rows]),
        showlegend=False,
    )


def _rows(recommendation: Recommendation) -> list[tuple[str, IntervalRow]]:
    regret = recommendation.regret
    params = format_params(recommendation.params)
    hover = f"<b>recommended</b><br>{escape_text(params)}<br>mean regret {format_interval(regret)}"
    rows = [("recommended", IntervalRow(params, regret, hover))]
    for baseline, comparison in zip(recommendation.versus, recommendation.comparisons, strict=True):
        params = format_params(baseline.params)
        hover = (
            f"<b>{comparison.title}</b><br>{escape_text(params)}<br>mean regret {format_number(baseline.regret)}"
            f"<br>difference {format_difference(comparison)}"
        )
        rows.append((baseline.name, IntervalRow(params, comparison.difference.shifted(regret.mean), hover)))
    return rows


def _name(setting: str, *recommendations: Recommendation) -> str:
    return setting if setting == "recommended" else f"the {list_baselines(recommendations)[setting]}"


def _interval_trace(name: str, rows: Sequence[tuple[int, IntervalRow]], place: int) -> PlotlyTrace:
    color = get_color(place)
    intervals = [row.interval for _, row in rows]
    return make_markers(
        [interval.mean for interval in intervals],
        [position for position, _ in rows],
        name,
        {"color": color, "size": 10, "symbol": SYMBOLS[place % len(SYMBOLS)]},
        [row.hover for _, row in rows],
        error_x=make_error_bars(intervals, color),
    )


def _describe(recommendation: Recommendation) -> str:
    regret = recommendation.regret
    parts = [f"{recommendation.scenario} recommended {format_interval(regret)}"]
    parts += [f"{each.title} {format_difference(each, interval=False)}" for each in recommendation.comparisons]
    return ", ".join(parts)
