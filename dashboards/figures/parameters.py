"""Recommended parameters against the horizon."""

from collections.abc import Sequence
from typing import Any

from ravenlab.common.errors import InputError
from ravenlab.common.interval import Interval
from ravenlab.common.text import format_interval, format_number, format_range
from ravenlab.dashboards.figures.style import (
    MARKERS,
    ORANGE,
    Figure,
    PlotlyTrace,
    choose_axis_type,
    choose_log_ticks,
    escape_text,
    format_title,
    get_color,
    make_axis,
    make_empty_figure,
    make_error_bars,
    make_figure,
    round_numbers,
)
from ravenlab.studies.paper.advice import paper_advice
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.symbols import format_params, format_symbol

PANEL_HEIGHT = 150  # pixels per parameter


def plot_params_by_horizon(recommendations: Sequence[Recommendation]) -> Figure:
    """Plot each recommended parameter against T, with the range of candidates indistinguishable from the best.

    Args:
        recommendations: Recommendations of one policy in one scenario, for different horizons.

    >>> plot_params_by_horizon([]).layout.annotations[0].text
    'No recommendation yet.'
    """
    recommendations = sorted(recommendations, key=lambda each: (each.horizon, each.arms, each.study))
    if not recommendations:
        return make_empty_figure(format_title("Recommended parameters against T"), "No recommendation yet.")
    if len({(each.policy, each.scenario) for each in recommendations}) > 1:
        raise InputError("recommendations must be for one policy and one scenario.")
    names = [
        name
        for name in recommendations[0].params
        if all(isinstance(each.params.get(name), int | float) for each in recommendations)
    ]
    layout: dict[str, Any] = {}
    traces: list[PlotlyTrace] = []
    gap = 0.06
    height = (1 - gap * (len(names) - 1)) / max(1, len(names))
    for place, name in enumerate(names):
        top = 1 - place * (height + gap)
        values = [float(each.params[name]) for each in recommendations]
        number = "" if place == 0 else str(place + 1)
        traces += _panel(recommendations, name, values, place, f"y{number}")
        kind = "log" if min(values) > 0 and _low(recommendations, name) > 0 else "linear"
        ticks = choose_log_ticks(_reach(recommendations, name, values), 4) if kind == "log" else None
        layout[f"yaxis{number}"] = make_axis(
            escape_text(format_symbol(name), 20), kind, ticks, domain=[max(0.0, top - height), top]
        )
    times = sorted({each.horizon for each in recommendations})
    layout["xaxis"] = make_axis("horizon T (steps)", choose_axis_type(times), times if len(times) <= 6 else None)
    layout["xaxis"] |= {"anchor": f"y{len(names)}" if len(names) > 1 else "y"}
    return make_figure(
        traces,
        format_title(
            "Recommended parameters against T",
            escape_text(recommendations[0].policy),
            escape_text(recommendations[0].scenario),
            *_counts(recommendations),
        ),
        f"Recommended parameters of {recommendations[0].policy} in {recommendations[0].scenario} over the horizon: "
        + "; ".join(f"T = {each.horizon:,}: {format_params(each.params)}" for each in recommendations[:8])
        + ".",
        height=170 + PANEL_HEIGHT * max(1, len(names)),
        **layout,
    )


def _reach(recommendations: Sequence[Recommendation], name: str, values: Sequence[float]) -> list[float]:
    advice = [paper_advice(each.scenario, each.horizon, each.policy) or {} for each in recommendations]
    paper = [given[name] for given in advice if name in given]
    return [*values, *paper, *(end for each in recommendations for end in each.box.get(name, ()))]


def _low(recommendations: Sequence[Recommendation], name: str) -> float:
    return min((each.box[name][0] for each in recommendations if name in each.box), default=1.0)


def _counts(recommendations: Sequence[Recommendation]) -> list[str]:
    return [
        f"T = {format_range(each.horizon for each in recommendations)} steps",
        f"K = {format_range(each.arms for each in recommendations)} arms",
        f"R = {format_range(each.regret.replications for each in recommendations)} worlds",
    ]


def _panel(
    recommendations: Sequence[Recommendation], name: str, values: Sequence[float], place: int, y: str
) -> list[PlotlyTrace]:
    """Make the traces of one parameter: recommendations with their ranges, and the paper's advice."""
    ends = [each.box.get(name, (value, value)) for each, value in zip(recommendations, values, strict=True)]
    color = get_color(place)
    text = [
        f"<b>{escape_text(each.study, 100)}</b><br>T = {each.horizon:,}, K = {each.arms}<br>"
        f"{escape_text(format_params(each.params), 200)}<br>"
        f"{escape_text(format_symbol(name))} from {format_number(low)} to {format_number(high)}"
        " is indistinguishable from the best<br>"
        f"mean regret {format_interval(each.regret)}, R ="
        f" {each.regret.replications:,} held-out worlds"
        for each, (low, high) in zip(recommendations, ends, strict=True)
    ]
    out: list[PlotlyTrace] = [
        {
            "type": "scatter",
            "x": [each.horizon for each in recommendations],
            "y": round_numbers(values),
            "yaxis": y,
            "mode": "lines+markers" if len(recommendations) > 1 else "markers",
            "line": {"color": color, "width": 2},
            "marker": {"symbol": MARKERS[place % len(MARKERS)], "size": 9},
            "error_y": make_error_bars(
                [
                    Interval(value, min(value, low), max(value, high))
                    for value, (low, high) in zip(values, ends, strict=True)
                ],
                width=5,
            ),
            "text": text,
            "hovertemplate": "%{text}<extra></extra>",
            "name": "recommended, with the range indistinguishable from the best",
            "legendgroup": "recommended",
            "showlegend": place == 0,
        }
    ]
    advice = [(each.horizon, paper_advice(each.scenario, each.horizon, each.policy)) for each in recommendations]
    points = [(horizon, given[name]) for horizon, given in advice if given is not None and name in given]
    if points:
        out.append(
            {
                "type": "scatter",
                "x": [horizon for horizon, _ in points],
                "y": round_numbers(value for _, value in points),
                "yaxis": y,
                "mode": "markers",
                "marker": {"symbol": "square-open", "size": 11, "color": ORANGE, "line": {"width": 2}},
                "name": "the paper's advice",
                "legendgroup": "paper",
                "showlegend": place == 0,
                "hovertemplate": (
                    f"The paper's advice<br>T = %{{x}}: {escape_text(format_symbol(name))} = %{{y}}<extra></extra>"
                ),
            }
        )
    return out
