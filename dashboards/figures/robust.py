"""Prices of robust settings."""

import math
from typing import Any

from ravenlab.common.text import format_interval, format_number, format_percent
from ravenlab.dashboards.figures.style import (
    COLOR_SCALE,
    Figure,
    PlotlyTrace,
    choose_text_colors,
    escape_text,
    format_sizes,
    format_title,
    make_category_axis,
    make_figure,
    round_number,
    wrap_tick_label,
)
from ravenlab.studies.results.describe import list_contenders
from ravenlab.studies.results.robust import EvaluatedSetting, RobustRecommendation


def plot_prices(result: RobustRecommendation) -> Figure:
    """Plot the price of every setting in every scenario, in percent above the setting tuned for it.

    Colors show the square root of the price, so that one expensive scenario does not hide differences in the others.

    Args:
        result: A robust recommendation.
    """
    rows = list(reversed(list_contenders(result)))
    across = list(range(len(result.scenarios)))
    down = list(range(len(rows)))
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
    price = world.price
    regret = world.regret
    return (
        f"{escape_text(each.name)}, evaluated in {escape_text(world.scenario)}<br>"
        f"price {format_interval(price, format_value=format_percent)}<br>"
        f"regret {format_interval(regret)}"
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
