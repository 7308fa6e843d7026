"""Recommended parameters against the horizon."""

from collections.abc import Sequence
from typing import Any

from ravenlab.common.errors import InputError
from ravenlab.common.interval import Interval
from ravenlab.common.text import format_interval, format_number, format_range
from ravenlab.dashboards.figures import style
from ravenlab.dashboards.figures.style import Figure, PlotlyTrace
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
        return style.make_empty_figure(style.format_title("Recommended parameters against T"), "No recommendation yet.")
    if len({(each.policy, each.scenario) for each in recommendations}) > 1:
        raise InputError("recommendations must be for one policy and one scenario.")
    names = [
        name
        for name in recommendations[0].params
        if all(isinstance(each.params.get(name), int | float) for each in recommendations)
    ]
    times = sorted({each.horizon for each in recommendations})
    first = recommendations[0]
    return style.make_stacked_figure(
        [_panel(recommendations, name, place) for place, name in enumerate(names)],
        style.make_axis("horizon T (steps)", style.choose_axis_type(times), times if len(times) <= 6 else None),
        style.format_title(
            "Recommended parameters against T",
            style.escape_text(first.policy),
            style.escape_text(first.scenario),
            f"T = {format_range(times)} steps",
            f"K = {format_range(each.arms for each in recommendations)} arms",
            f"R = {format_range(each.regret.replications for each in recommendations)} worlds",
        ),
        f"Recommended parameters of {first.policy} in {first.scenario} over the horizon: "
        + "; ".join(f"T = {each.horizon:,}: {format_params(each.params)}" for each in recommendations[:8])
        + ".",
        height=170 + PANEL_HEIGHT * max(1, len(names)),
    )


def _panel(
    recommendations: Sequence[Recommendation], name: str, place: int
) -> tuple[list[PlotlyTrace], dict[str, Any]]:
    """Make the traces and the axis of one parameter: recommendations with their ranges, and the paper's advice."""
    symbol = style.escape_text(format_symbol(name), 20)
    values = [float(each.params[name]) for each in recommendations]
    ends = [each.box.get(name, (value, value)) for each, value in zip(recommendations, values, strict=True)]
    color = style.get_color(place)
    text = [
        f"<b>{style.escape_text(each.study, 100)}</b><br>T = {each.horizon:,}, K = {each.arms}<br>"
        f"{style.escape_text(format_params(each.params), 200)}<br>"
        f"{style.escape_text(format_symbol(name))} from {format_number(low)} to {format_number(high)}"
        " is indistinguishable from the best<br>"
        f"mean regret {format_interval(each.regret)}, R ="
        f" {each.regret.replications:,} held-out worlds"
        for each, (low, high) in zip(recommendations, ends, strict=True)
    ]
    ranges = [
        Interval(value, min(value, low), max(value, high)) for value, (low, high) in zip(values, ends, strict=True)
    ]
    traces = [
        style.make_markers(
            [each.horizon for each in recommendations],
            values,
            "recommended, with the range indistinguishable from the best",
            {"symbol": style.MARKERS[place % len(style.MARKERS)], "size": 9},
            text,
            mode="lines+markers" if len(recommendations) > 1 else "markers",
            line={"color": color, "width": 2},
            error_y=style.make_error_bars(ranges, width=5),
        )
    ]
    advice = [(each.horizon, paper_advice(each.scenario, each.horizon, each.policy)) for each in recommendations]
    points = {horizon: given[name] for horizon, given in advice if given is not None and name in given}
    if points:
        traces.append(
            style.make_scatter(
                points,
                points.values(),
                "markers",
                "the paper's advice",
                marker={"symbol": "square-open", "size": 11, "color": style.ORANGE, "line": {"width": 2}},
                hovertemplate=f"The paper's advice<br>T = %{{x}}: {symbol} = %{{y}}<extra></extra>",
            )
        )
    if min(low for low, _ in ends) <= 0 or min(values) <= 0:
        return traces, style.make_axis(symbol)
    reach = [*values, *points.values(), *(end for pair in ends for end in pair)]
    return traces, style.make_axis(symbol, "log", style.choose_log_ticks(reach, 4))
