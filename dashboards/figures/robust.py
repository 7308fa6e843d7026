"""Prices of robust settings."""

import math
from typing import Any

from ravenlab.common.text import format_interval, format_number, format_percent
from ravenlab.dashboards.figures import style
from ravenlab.dashboards.figures.style import Figure
from ravenlab.studies.results.describe_recommendation import list_contenders
from ravenlab.studies.results.robust import EvaluatedSetting, RobustRecommendation, ScenarioOutcome


def plot_prices(result: RobustRecommendation) -> Figure:
    """Plot the price of every setting in every scenario, in percent above the setting tuned for it.

    Colors show the square root of the price, so that one expensive scenario does not hide differences in the others.

    Args:
        result: A robust recommendation.
    """
    rows = list(reversed(list_contenders(result)))
    shades = [[math.sqrt(max(0.0, world.price.mean)) for world in each.worlds] for each in rows]
    top = max(max(row) for row in shades) or 1.0
    hover = [[_describe_price_cell(each, world) for world in each.worlds] for each in rows]
    texts = [
        [f"<b>{format_percent(world.price.mean)}</b><br>{format_number(world.regret.mean)}" for world in each.worlds]
        for each in rows
    ]
    cells = style.make_heat_map(shades, hover, zmin=0, zmax=style.round_number(top), xgap=2, ygap=2, showscale=False)
    replications = result.contenders[0].worlds[0].regret.replications
    where = style.escape_text(result.policy), *style.format_sizes(result.horizon, result.arms, replications)
    bare: dict[str, Any] = {"showgrid": False, "showline": False}
    return style.make_figure(
        [cells, style.write_in_cells(texts, shades, lightest=0.0)],
        style.format_title("Price of each setting", *where, "bold: excess over tuned; below: mean regret"),
        _describe_prices(result),
        height=170 + 58 * len(rows),
        margin={"r": 8, "b": 48, "l": 8},
        xaxis=style.make_category_axis(
            [style.wrap_tick_label(name, 24) for name in result.scenarios], "actual scenario", **bare
        ),
        yaxis=style.make_category_axis([_label(each) for each in rows], **bare),
    )


def _label(each: EvaluatedSetting) -> str:
    if each.tuned_for is None:
        return f"<b>{style.escape_text(each.name)}</b>" if each.name == "recommended" else style.escape_text(each.name)
    return f"tuned for<br>{style.escape_text(each.tuned_for, 24)}"


def _describe_price_cell(each: EvaluatedSetting, world: ScenarioOutcome) -> str:
    return (
        f"{style.escape_text(each.name)}, evaluated in {style.escape_text(world.scenario)}<br>"
        f"price {format_interval(world.price, format_value=format_percent)}<br>"
        f"regret {format_interval(world.regret)}"
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
