"""What settings cost in worlds that they were not tuned for: settings down, worlds across."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from dashboards.figures._parts import ink
from dashboards.figures._scales import labelled, rounded
from dashboards.figures._style import SCALE, Trace, make
from dashboards.figures._titles import counts, folded, heading, safe
from environments.text import format_interval, format_number, format_percent
from studies.robust_recommendation import Contender, RobustRecommendation

if TYPE_CHECKING:
    import plotly.graph_objects as go


def prices(found: RobustRecommendation) -> go.Figure:
    """The price of every setting in every world, in percent above the one tuned for it.

    Colours go by the root of the price: a world in which everything is dear leaves something to see of the others.
    """
    rows = list(reversed(found.contenders))
    across, down = list(range(len(found.scenarios))), list(range(len(rows)))
    shades = [[math.sqrt(max(0.0, world.price.mean)) for world in each.worlds] for each in rows]
    top = max(max(row) for row in shades) or 1.0
    cells: Trace = {
        "type": "heatmap",
        "x": across,
        "y": down,
        "z": [[rounded(shade, 4) for shade in row] for row in shades],
        "zmin": 0,
        "zmax": rounded(top, 4),
        "xgap": 2,
        "ygap": 2,
        "customdata": [[_says(each, s) for s in across] for each in rows],
        "hovertemplate": "%{customdata}<extra></extra>",
        "colorscale": SCALE,
        "reversescale": True,
        "showscale": False,
    }
    written: Trace = {
        "type": "scatter",
        "mode": "text",
        "x": [s for _ in rows for s in across],
        "y": [row for row in down for _ in across],
        "text": [
            f"<b>{format_percent(world.price.mean)}</b><br>{format_number(world.regret.mean)}"
            for each in rows
            for world in each.worlds
        ],
        "textfont": {"color": ink([0.0, *(shade for row in shades for shade in row)])[1:], "size": 12},
        "hoverinfo": "skip",
        "showlegend": False,
    }
    fresh = found.contenders[0].worlds[0].regret.replications
    where = safe(found.policy), *counts(found.horizon, found.arms, fresh)
    bare: dict[str, Any] = {"showgrid": False, "showline": False}
    return make(
        [cells, written],
        heading("What a setting costs in each world", *where, "bold: above the tuned one; below it: mean regret"),
        _alt(found),
        height=170 + 58 * len(rows),
        margin={"t": 80, "r": 8, "b": 48, "l": 8},
        xaxis=labelled([folded(name, 24) for name in found.scenarios], "the world it is", **bare),
        yaxis=labelled([_label(each) for each in rows], **bare),
    )


def _label(each: Contender) -> str:
    if each.tuned_for is None:
        return f"<b>{safe(each.name)}</b>" if each.name == "recommended" else safe(each.name)
    return f"tuned for<br>{safe(each.tuned_for, 24)}"


def _says(each: Contender, place: int) -> str:
    world = each.worlds[place]
    price, regret = world.price, world.regret
    return (
        f"{safe(each.name)}, played in {safe(world.scenario)}<br>"
        f"price {format_percent(price.mean)} (95 %: {format_percent(price.low)} to {format_percent(price.high)})<br>"
        f"regret {format_interval(regret.mean, regret.low, regret.high)}"
    )


def _alt(found: RobustRecommendation) -> str:
    lines = [
        f"{each.name}: " + ", ".join(f"{format_percent(world.price.mean)} in {world.scenario}" for world in each.worlds)
        for each in found.contenders
    ]
    return (
        f"Heat map of the price of settings of {found.policy}, T = {found.horizon:,}, K = {found.arms}: their regret"
        f" above that of the setting tuned for the scenario. {'; '.join(lines)}."
    )
