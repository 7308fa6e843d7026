"""Pareto fronts and prices of robust settings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dashboards.figures.style import (
    BLUE,
    COLOR_SCALE,
    GREY,
    ORANGE,
    VERMILION,
    PlotlyTrace,
    choose_text_colors,
    escape_text,
    format_sizes,
    format_title,
    make_axis,
    make_category_axis,
    make_error_bars,
    make_figure,
    round_number,
    round_numbers,
    wrap_tick_label,
)
from environments.text import format_interval, format_number, format_percent
from studies.results.describe import list_contenders
from studies.results.robust import EvaluatedSetting, Front, FrontMember, RobustRecommendation
from studies.symbols import format_params

if TYPE_CHECKING:
    import plotly.graph_objects as go


def plot_pareto_front(result: Front) -> go.Figure:
    """Plot the settings of a Pareto front on held-out worlds, with those that held-out worlds do not confirm.

    Two scenarios: regret in one against regret in the other. More: one line per setting, in percent above the setting
    tuned for each scenario, because regrets in different scenarios have different scales.
    """
    kept = result.kept()
    plain = [member for member in kept if member.tuned_for is None and member.name != "defaults"]
    known = [member for member in result.members if member.tuned_for is not None or member.name == "defaults"]
    gone = [member for member in result.members if not member.kept and member not in known]
    even = min(kept, key=lambda member: member.price.mean)
    replications = result.members[0].worlds[0].regret.replications
    title = format_title(
        "Pareto front",
        escape_text(result.policy),
        escape_text(result.scenario),
        *format_sizes(result.horizon, result.arms, replications),
    )
    groups = [
        ("not confirmed on held-out worlds", gone, GREY, "x-thin-open", "dot"),
        ("on the front", plain, BLUE, "circle", "solid"),
        ("tuned for one scenario, and defaults", known, ORANGE, "diamond", "dash"),
        ("lowest price", [even], VERMILION, "star", "solid"),
    ]
    two = len(result.scenarios) == 2
    draw = _points if two else _lines
    traces = [trace for group in groups if group[1] for trace in draw(*group)]
    if two:
        names = [f"mean regret in {escape_text(name, 28)}" for name in result.scenarios]
        return make_figure(
            traces, title, _alt(result, even), height=520, xaxis=make_axis(names[0]), yaxis=make_axis(names[1])
        )
    labels = [wrap_tick_label(name, 20) for name in result.scenarios]
    return make_figure(
        traces,
        title,
        _alt(result, even),
        height=520,
        margin={"r": 16, "b": 110, "l": 60},
        xaxis=make_category_axis(labels, range=[-0.2, len(labels) - 0.8]),
        yaxis=make_axis("excess over the tuned setting (%)"),
    )


def _points(name: str, members: Sequence[FrontMember], color: str, symbol: str, _: str) -> list[PlotlyTrace]:
    """Make points of the regret in both scenarios with 95 % intervals."""

    def errors(place: int) -> dict[str, Any]:
        regrets = [member.worlds[place].regret for member in members]
        mean, low, high = ([getattr(each, name) for each in regrets] for name in ("mean", "low", "high"))
        return make_error_bars(mean, low, high, color, thickness=1, width=0)

    return [
        {
            "type": "scatter",
            "mode": "markers",
            "x": round_numbers(member.worlds[0].regret.mean for member in members),
            "y": round_numbers(member.worlds[1].regret.mean for member in members),
            "error_x": errors(0),
            "error_y": errors(1),
            "marker": {"color": color, "symbol": symbol, "size": 14 if symbol == "star" else 8, "line": {"width": 1}},
            "name": name,
            "customdata": [_describe_member(member) for member in members],
            "hovertemplate": "%{customdata}<extra></extra>",
        }
    ]


def _lines(name: str, members: Sequence[FrontMember], color: str, symbol: str, dash: str) -> list[PlotlyTrace]:
    """Make one trace for all members, with a gap after each line."""
    x: list[int | None] = []
    y: list[float | None] = []
    texts: list[str | None] = []
    for member in members:
        x += [*range(len(member.worlds)), None]
        y += [*round_numbers(100.0 * world.price.mean for world in member.worlds), None]
        texts += [*[_describe_member(member)] * len(member.worlds), None]
    width = 3 if symbol == "star" else 1.5
    return [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "x": x,
            "y": y,
            "line": {"color": color, "dash": dash, "width": width},
            "marker": {"color": color, "symbol": symbol, "size": 12 if symbol == "star" else 7, "line": {"width": 1}},
            "opacity": 0.5 if dash == "dot" else 0.9,
            "name": name,
            "customdata": texts,
            "hovertemplate": "%{customdata}<extra></extra>",
        }
    ]


def _describe_member(member: FrontMember) -> str:
    worlds = "<br>".join(
        f"{escape_text(world.scenario)}: regret {format_number(world.regret.mean)} ({format_percent(world.price.mean)})"
        for world in member.worlds
    )
    return f"{escape_text(member.name)}: {escape_text(format_params(member.params), 80)}<br>{worlds}"


def _alt(result: Front, even: FrontMember) -> str:
    kept = result.kept()
    spans = [
        f"{format_number(min(member.worlds[s].regret.mean for member in kept))} to"
        f" {format_number(max(member.worlds[s].regret.mean for member in kept))} in {name}"
        for s, name in enumerate(result.scenarios)
    ]
    return (
        f"Pareto front of {result.policy} over {', '.join(result.scenarios)}, T = {result.horizon:,},"
        f" K = {result.arms}: {len(kept)} settings on held-out worlds with mean regret {', '.join(spans)}."
        f" The setting with the lowest price, {format_params(even.params)}, has at most"
        f" {format_percent(even.price.mean)} excess regret."
    )


def plot_prices(result: RobustRecommendation) -> go.Figure:
    """Plot the price of every setting in every scenario, in percent above the setting tuned for it.

    Colors show the square root of the price, so that one expensive scenario does not hide differences in the others.
    """
    rows = list(reversed(list_contenders(result)))
    across, down = list(range(len(result.scenarios))), list(range(len(rows)))
    shades = [[math.sqrt(max(0.0, world.price.mean)) for world in each.worlds] for each in rows]
    top = max(max(row) for row in shades) or 1.0
    cells: PlotlyTrace = {
        "type": "heatmap",
        "x": across,
        "y": down,
        "z": [[round_number(shade, 4) for shade in row] for row in shades],
        "zmin": 0,
        "zmax": round_number(top, 4),
        "xgap": 2,
        "ygap": 2,
        "customdata": [[_describe_price_cell(each, s) for s in across] for each in rows],
        "hovertemplate": "%{customdata}<extra></extra>",
        "colorscale": COLOR_SCALE,
        "reversescale": True,
        "showscale": False,
    }
    written: PlotlyTrace = {
        "type": "scatter",
        "mode": "text",
        "x": [s for _ in rows for s in across],
        "y": [row for row in down for _ in across],
        "text": [
            f"<b>{format_percent(world.price.mean)}</b><br>{format_number(world.regret.mean)}"
            for each in rows
            for world in each.worlds
        ],
        "textfont": {"color": choose_text_colors([0.0, *(shade for row in shades for shade in row)])[1:], "size": 12},
        "hoverinfo": "skip",
        "showlegend": False,
    }
    replications = result.contenders[0].worlds[0].regret.replications
    where = escape_text(result.policy), *format_sizes(result.horizon, result.arms, replications)
    bare: dict[str, Any] = {"showgrid": False, "showline": False}
    return make_figure(
        [cells, written],
        format_title("Price of each setting", *where, "bold: excess over tuned; below: mean regret"),
        _describe_prices(result),
        height=170 + 58 * len(rows),
        margin={"r": 8, "b": 48, "l": 8},
        xaxis=make_category_axis([wrap_tick_label(name, 24) for name in result.scenarios], "actual scenario", **bare),
        yaxis=make_category_axis([_label(each) for each in rows], **bare),
    )


def _label(each: EvaluatedSetting) -> str:
    if each.tuned_for is None:
        return f"<b>{escape_text(each.name)}</b>" if each.name == "recommended" else escape_text(each.name)
    return f"tuned for<br>{escape_text(each.tuned_for, 24)}"


def _describe_price_cell(each: EvaluatedSetting, place: int) -> str:
    world = each.worlds[place]
    price, regret = world.price, world.regret
    return (
        f"{escape_text(each.name)}, evaluated in {escape_text(world.scenario)}<br>"
        f"price {format_percent(price.mean)} (95 %: {format_percent(price.low)} to {format_percent(price.high)})<br>"
        f"regret {format_interval(regret.mean, regret.low, regret.high)}"
    )


def _describe_prices(result: RobustRecommendation) -> str:
    lines = [
        f"{each.name}: " + ", ".join(f"{format_percent(world.price.mean)} in {world.scenario}" for world in each.worlds)
        for each in list_contenders(result)
    ]
    return (
        f"Heat map of the prices of settings of {result.policy}, T = {result.horizon:,}, K = {result.arms}: their"
        f" excess regret over the setting tuned for the scenario. {'; '.join(lines)}."
    )
