"""The sensitivity maps of several studies in one picture: scenarios × horizons, as in the paper's Figure 3."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ravenlab.common.text import format_count, format_number, format_settings
from ravenlab.dashboards.figures import style
from ravenlab.dashboards.figures.grid import (
    TIED_SIZE,
    choose_lines,
    choose_regret_axis,
    draw_line_marks,
    draw_lines,
    make_parameter_axis,
)
from ravenlab.dashboards.figures.grid_marks import LOWEST, GridMark, list_marks
from ravenlab.dashboards.figures.marks import RAMP, choose_ramp_colors, make_color_bar, make_color_title
from ravenlab.dashboards.figures.style import Figure, PlotlyTrace
from ravenlab.studies.results.baselines import TITLES, shorten_title
from ravenlab.studies.results.grid import Grid
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.symbols import format_params, format_symbol

MAX_COLUMNS = 4
MAX_PANELS = 24
PANEL_HEIGHT, PANEL_GAP = 170, 78  # pixels of each panel, and between two rows of panels
BAR_PAD, BAR_SHARE = 38, 0.3  # of the color bar: pixels below it for titles of panels, and its share of the width
TOP, BOTTOM = 78, 66  # pixels above the panels for the color bar and the first titles, and below for the legend
TITLE = 66  # pixels of the title of the figure
GUTTER = 0.055  # horizontal space between panels as a share of the width


def plot_sensitivity_panels(
    recommendations: Sequence[Recommendation], links: Mapping[str, str] | None = None
) -> Figure:
    """Plot the mean regret against α₀ with one line per β₀ for several studies: scenarios × horizons.

    Args:
        recommendations: Recommendations with sensitivity maps over the same parameters, at most one per scenario and
            horizon. At most 24 are drawn.
        links: Addresses of the studies by name; titles of panels are links to them.
    """
    grid = arrange(recommendations)
    places = [
        (each, each.sensitivity, column, row)
        for row, studies in enumerate(grid)
        for column, each in enumerate(studies)
        if each is not None and each.sensitivity is not None
    ]
    scenarios = list(dict.fromkeys(name_scenario(each) for each, *_ in places))
    places.sort(key=lambda place: (scenarios.index(name_scenario(place[0])), place[0].horizon))  # the order on phones
    mapped = [(each, found) for each, found, *_ in places]
    first = mapped[0][1]
    names = list(first.spec.axes)
    symbols = [style.escape_text(format_symbol(name)) for name in names]
    values = [value for _, each in mapped for value in list(each.spec.axes.values())[-1]]
    traces: list[PlotlyTrace] = []
    layout: dict[str, Any] = {}
    notes = []
    columns = max(map(len, grid))
    y_domains = style.stack_panels(len(grid), PANEL_GAP / _inner_height(len(grid)))
    width = (1.0 - GUTTER * (columns - 1)) / columns
    for number, (each, found, column, row) in enumerate(places):
        axis = style.axis_number(number)
        panel, x_axis, y_axis = _draw_panel(each, found, values)
        traces += [trace | {"xaxis": f"x{axis}", "yaxis": f"y{axis}"} for trace in panel]
        left = column * (width + GUTTER)
        x_domain = style.round_numbers([left, min(1.0, left + width)])
        layout[f"xaxis{axis}"] = x_axis | {"domain": x_domain, "anchor": f"y{axis}"}
        layout[f"yaxis{axis}"] = y_axis | {"domain": y_domains[row], "anchor": f"x{axis}"}
        notes.append(_make_title(each, found, axis, (links or {}).get(each.study)))
    close = {"size": TIED_SIZE, "color": style.GREY}
    lines = f", one line per {symbols[1]}" if len(names) > 1 else ""
    return style.make_figure(
        [
            style.make_legend_entry("tied with the recommended", mode="markers", marker=close),
            *style.show_names_once(traces),
            *([_make_color_key(values)] if lines else []),
        ],
        style.format_title(f"Mean regret against {symbols[0]}{lines}", *_list_context(mapped)),
        _describe(mapped),
        height=_inner_height(len(grid)) + TOP + BOTTOM + TITLE,
        top=TOP,
        margin={"t": TOP + TITLE, "r": 16, "b": BOTTOM, "l": 44},
        annotations=[*notes, *([make_color_title(f"{symbols[1]} of the lines", BAR_PAD)] if lines else [])],
        panels={"columns": columns, "height": PANEL_HEIGHT, "gap": PANEL_GAP, "gutter": GUTTER, "count": len(places)},
        **layout,
    )


def arrange(recommendations: Sequence[Recommendation]) -> list[list[Recommendation | None]]:
    """Arrange studies in rows: horizons as rows and scenarios as columns, or the other way if there are many scenarios.

    >>> arrange([])
    [[]]
    """
    shown = list(recommendations[:MAX_PANELS])
    scenarios = list(dict.fromkeys(map(name_scenario, shown)))
    horizons = sorted({each.horizon for each in shown})
    found = {(name_scenario(each), each.horizon): each for each in shown}
    if len(scenarios) <= MAX_COLUMNS:
        rows = [[found.get((scenario, horizon)) for scenario in scenarios] for horizon in horizons]
    elif 1 < len(horizons) <= MAX_COLUMNS:
        rows = [[found.get((scenario, horizon)) for horizon in horizons] for scenario in scenarios]
    else:
        rows = [list(shown[start : start + MAX_COLUMNS]) for start in range(0, len(shown), MAX_COLUMNS)]
    return rows or [[]]


def name_scenario(recommendation: Recommendation) -> str:
    """Name the scenario of a study with its settings."""
    settings = format_settings(recommendation.settings)
    return f"{recommendation.scenario}, {settings}" if settings else recommendation.scenario


def name_mark(mark: GridMark) -> str:
    """Return what a mark means in all panels, whatever it coincides with in one of them."""
    return shorten_title(TITLES.get(mark.kind, mark.kind))


def _inner_height(rows: int) -> int:
    return rows * PANEL_HEIGHT + (rows - 1) * PANEL_GAP


def _draw_panel(
    recommendation: Recommendation, grid: Grid, values: Sequence[float]
) -> tuple[list[PlotlyTrace], dict[str, Any], dict[str, Any]]:
    """Draw the lines and marks of a study; return them with the axes."""
    names = list(grid.spec.axes)
    across, *down = grid.spec.axes.values()
    chosen = choose_lines(grid)
    colors = choose_ramp_colors(values, [down[0][j] for j in chosen]) if down else [RAMP[0]]
    marks = list_marks(grid, recommendation)
    named = [replace(mark, name=name_mark(mark)) for mark in marks]
    lines = draw_lines(grid, chosen, colors, bands=False)
    for line in lines:
        line["line"] = {**line["line"], "width": 1.5}
    title = {"text": style.escape_text(format_symbol(names[0])), "standoff": 2, "font": {"size": 12}}
    x_axis = make_parameter_axis(names[0], across) | {"title": title, "automargin": False}
    y_axis = choose_regret_axis(grid, chosen, marks) | {"title": {"text": ""}, "automargin": False, "nticks": 5}
    return [*lines, *draw_line_marks(grid, chosen, named)], x_axis, y_axis


def _make_title(recommendation: Recommendation, grid: Grid, axis: str, link: str | None) -> dict[str, Any]:
    """Make the title of a panel, with a line below it that says which marks coincide."""
    name = f"<b>{style.escape_text(name_scenario(recommendation), 32)}</b>, T = {format_count(recommendation.horizon)}"
    joint = [
        mark.name for mark in list_marks(grid, recommendation) if mark.kind != LOWEST and mark.name != name_mark(mark)
    ]
    below = f'<br><span style="font-size:11px">{", ".join(joint)}</span>' if joint else ""
    return {
        "text": (name if link is None else f'<a href="{link}">{name}</a>') + below,
        "align": "left",
        "showarrow": False,
        "xref": f"x{axis} domain",
        "yref": f"y{axis} domain",
        "x": 0.0,
        "y": 1.0,
        "xanchor": "left",
        "yanchor": "bottom",
        "font": {"size": 12},
    }


def _make_color_key(values: Sequence[float]) -> PlotlyTrace:
    """Make the color bar of the lines, which all panels share."""
    ends = [min(values), max(values)]
    log = style.choose_axis_type(ends) == "log"
    ticks = (style.choose_log_ticks(values, 5) if log else None) or style.choose_ticks(min(values), max(values), 5)
    low, high, *places = map(math.log10, [*ends, *ticks]) if log else [*ends, *ticks]
    marker = {
        "color": [low],
        "cmin": low,
        "cmax": high,
        "colorscale": [[place / (len(RAMP) - 1), color] for place, color in enumerate(RAMP)],
        "colorbar": make_color_bar(places, list(map(format_number, ticks)), BAR_PAD, BAR_SHARE),
    }
    return style.make_legend_entry("", mode="markers", showlegend=False, hoverinfo="skip", marker=marker)


def _list_context(mapped: Sequence[tuple[Recommendation, Grid]]) -> list[str]:
    first, grid = mapped[0]
    worlds = [each.spec.replications for _, each in mapped]
    most = f" to {format_count(max(worlds))}" if max(worlds) > min(worlds) else ""
    return [
        style.escape_text(first.policy),
        f"K = {grid.spec.arms} arms",
        f"R = {format_count(min(worlds))}{most} worlds",
    ]


def _describe(mapped: Sequence[tuple[Recommendation, Grid]]) -> str:
    parts = []
    for each, grid in mapped:
        regret = format_number(float(grid.mean[grid.reference]))
        parts.append(
            f"{name_scenario(each)}, T = {format_count(each.horizon)}: recommended {format_params(each.params)}, regret"
            f" {regret}, highest {format_number(float(grid.mean.max()))}"
        )
    first = mapped[0][1]
    names = " and ".join(format_symbol(name) for name in first.spec.axes)
    return f"Mean regret over {names} in {len(mapped)} panels, with the marked parameters. {'; '.join(parts)}."
