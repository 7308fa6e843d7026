"""Colors, themes, titles and trace builders that all figures share; axes are in `axes.py` and used through this module.

Colors are those of Okabe and Ito, darker or lighter where the background requires it; lines also differ in dash and
marker, not only in color. Backgrounds are transparent, grids and lines are semi-transparent gray. Figures are drawn in
the colors for light pages; dark pages replace them by those of `DARK_COLORS`, and the entries of `THEMES`.
"""

import html
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ravenlab.common.interval import Interval
from ravenlab.dashboards.figures.axes import axis_number as axis_number
from ravenlab.dashboards.figures.axes import choose_axis_type as choose_axis_type
from ravenlab.dashboards.figures.axes import choose_log_ticks as choose_log_ticks
from ravenlab.dashboards.figures.axes import choose_ticks as choose_ticks
from ravenlab.dashboards.figures.axes import make_axis as make_axis
from ravenlab.dashboards.figures.axes import make_category_axis as make_category_axis
from ravenlab.dashboards.figures.axes import make_row_axis as make_row_axis
from ravenlab.dashboards.figures.axes import make_step_axis as make_step_axis
from ravenlab.dashboards.figures.axes import make_value_axis as make_value_axis
from ravenlab.dashboards.figures.axes import round_number as round_number
from ravenlab.dashboards.figures.axes import round_numbers as round_numbers
from ravenlab.dashboards.figures.axes import spans_decades as spans_decades
from ravenlab.dashboards.figures.axes import stack_panels as stack_panels

if TYPE_CHECKING:
    import plotly.graph_objects as go


Figure: TypeAlias = "go.Figure"  # Plotly is imported by the functions that draw
PlotlyTrace = dict[str, Any]

BLUE = "#0072B2"
ORANGE = "#A86F00"
GREEN = "#008F68"
PINK = "#C66D9E"
SKY = "#1E96CF"
VERMILION = "#D55E00"
GREY = "#5D6673"
COLORS = (BLUE, ORANGE, GREEN, PINK, SKY, VERMILION, GREY)
DARK_COLORS = {
    BLUE: "#56B4E9",
    ORANGE: "#E69F00",
    GREEN: "#2FBF94",
    PINK: "#E09BC4",
    SKY: "#A6DCF7",
    VERMILION: "#F0803C",
    GREY: "#AAB3BF",
}
"""Each color on dark pages. Marks have a contrast of at least 3:1 with the background of either kind of page."""
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
MARKERS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "triangle-down")
COLOR_SCALE = "Cividis"  # perceptually uniform and safe for color-blind readers; used reversed, so that more is darker

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
CHANGE_COLOR = "#7E838A"  # visible on either kind of page

THEMES: dict[str, dict[str, str]] = {
    "light": {"font.color": "#1f2328", "hoverlabel.bgcolor": "#ffffff", "hoverlabel.font.color": "#1f2328"},
    "dark": {"font.color": "#e6e6e6", "hoverlabel.bgcolor": "#24292f", "hoverlabel.font.color": "#f0f0f0"},
    "either": {"font.color": "#767b83", "hoverlabel.bgcolor": "#24292f", "hoverlabel.font.color": "#f0f0f0"},
}
"""Arguments of `Plotly.relayout` for a light, a dark and an unknown background."""


def get_color(place: int) -> str:
    """Return the color of the item at a position; colors repeat after seven.

    >>> get_color(0) == get_color(7)
    True
    """
    return COLORS[place % len(COLORS)]


def apply_theme(figure: Figure, dark: bool | None = None) -> Figure:
    """Return a copy of a figure for a dark, a light or (None) an unknown background.

    >>> from plotly.graph_objects import Figure
    >>> dark = apply_theme(Figure({"data": [{"type": "scatter", "line": {"color": BLUE}}]}), dark=True)
    >>> dark.layout.font.color, dark.data[0].line.color == DARK_COLORS[BLUE]
    ('#e6e6e6', True)
    """
    import plotly.graph_objects as go

    copy = go.Figure(_darken(figure) if dark else figure)
    copy.layout.template = None
    name = "either" if dark is None else "dark" if dark else "light"
    copy.update_layout({key.replace(".", "_"): value for key, value in THEMES[name].items()})
    return copy


def _darken(figure: Figure) -> Any:
    """Replace the colors of a figure by those for dark pages."""
    text = str(figure.to_json())
    for before, after in dark_replacements().items():
        text = text.replace(before, after)
    return json.loads(text)


def dark_replacements() -> dict[str, str]:
    """Return what dark pages replace in the JSON of a figure: colors, and the beginnings of semi-transparent ones.

    >>> list(dark_replacements())[:3]
    ['"#0072B2"', 'color:#0072B2', '"rgba(0,114,178,']
    """
    replacements = {}
    for light, dark in DARK_COLORS.items():
        replacements[f'"{light}"'] = f'"{dark}"'
        replacements[f"color:{light}"] = f"color:{dark}"  # of a part of a text
        replacements[f'"{fade(light, 1).removesuffix("1)")}'] = f'"{fade(dark, 1).removesuffix("1)")}'
    return replacements


def fade(color: str, opacity: float = 0.22) -> str:
    """Make a hex color semi-transparent.

    >>> fade("#0072B2")
    'rgba(0,114,178,0.22)'
    """
    return f"rgba({','.join(str(int(color[i : i + 2], 16)) for i in (1, 3, 5))},{opacity:g})"


def get_alt_text(figure: Figure) -> str:
    """Return the description of a figure as plain text.

    >>> from plotly.graph_objects import Figure
    >>> get_alt_text(Figure(layout={"meta": {"alt": "A line."}}))
    'A line.'
    """
    meta = figure.layout.meta
    return str(meta["alt"]) if isinstance(meta, Mapping) and "alt" in meta else ""


def make_figure(
    traces: Sequence[PlotlyTrace],
    title: str,
    alt: str,
    *,
    link: Mapping[str, Any] | None = None,
    height: int = 460,
    top: int = 0,
    right: int = 0,
    panels: Mapping[str, float] | None = None,
    **layout: Any,
) -> Figure:
    """Make a figure from traces, without Plotly's template, which is larger than most figures.

    `link` tells the report which parameters the points of the figure have, so that it can mark them in other figures.
    `top` and `right` are pixels for what is drawn beside the axes, such as a color bar or labels of lines. `panels`
    tells the report how to arrange panels in fewer columns on narrow screens.
    """
    from ravenlab.dashboards.figures.notebook import NotebookFigure  # imports Plotly

    lines = title.count("<br>") + 1
    settings: dict[str, Any] = {
        "title": {
            "text": title,
            "x": 0,
            "xref": "container",
            "xanchor": "left",
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "pad": {"t": 24, "l": 8},
            "font": {"size": 15},
        },
        "meta": {"alt": alt}
        | ({} if link is None else {"link": dict(link)})
        | ({"top": top} if top else {})
        | ({} if panels is None else {"panels": dict(panels)}),
        "font": {"family": FONT, "size": 12},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": {"t": 30 + 18 * lines + top, "r": 16 + right, "b": 48, "l": 60},
        "height": height,
        "hovermode": "closest",
        "hoverlabel": {"align": "left"},
        "legend": {
            "orientation": "h",
            "x": 0,
            "xref": "paper",
            "y": 0,
            "yref": "container",
            "yanchor": "bottom",
            "bgcolor": "rgba(0,0,0,0)",
            "font": {"size": 11},
        },
    }
    figure = NotebookFigure(data=list(traces))
    figure.layout.template = None
    figure.update_layout(settings)
    figure.update_layout({key.replace(".", "_"): value for key, value in THEMES["either"].items()})
    figure.update_layout(layout)
    return figure


def make_empty_figure(title: str, reason: str) -> Figure:
    """Make a figure that only states why there are no data."""
    note = {
        "text": reason,
        "showarrow": False,
        "xref": "paper",
        "yref": "paper",
        "x": 0.5,
        "y": 0.5,
        "font": {"size": 14},
    }
    hidden = {"visible": False}
    alt = f"Empty figure: {reason}"
    return make_figure([], title, alt, height=260, xaxis=hidden, yaxis=hidden, annotations=[note])


MAX_NAME_LENGTH = 56


def format_title(main: str, *context: str) -> str:
    """Format a title: a bold first line, then the context in lines short enough for a phone.

    >>> format_title("Regret", "blips", "T = 100", "K = 5", "R = 20")
    '<b>Regret</b><br><span style="font-size:12px">blips · T = 100 · K = 5 · R = 20</span>'
    """
    lines: list[list[str]] = [[]]
    for part in context:
        if lines[-1] and sum(len(html.unescape(item)) + 3 for item in lines[-1]) + len(html.unescape(part)) > 50:
            lines.append([])
        lines[-1].append(part)
    small = [f'<span style="font-size:12px">{" · ".join(line)}</span>' for line in lines if line]
    return "<br>".join([f"<b>{main}</b>", *small])


def format_sizes(horizon: int, arms: int, replications: int | None = None, name: str = "worlds") -> list[str]:
    """Format horizon, arms and replications for a title; `name` is what replications are called.

    >>> format_sizes(1000, 10, 200)
    ['T = 1,000 steps', 'K = 10 arms', 'R = 200 worlds']
    """
    sizes = [f"T = {horizon:,} steps", f"K = {arms} arms"]
    return sizes if replications is None else [*sizes, f"R = {replications:,} {name}"]


def escape_text(name: object, longest: int = MAX_NAME_LENGTH) -> str:
    """Escape text for Plotly: no tags, templates or control characters, and at most `longest` characters.

    >>> escape_text("<script>%{x}")
    '&lt;script&gt;%&#123;x}'
    """
    text = "".join(letter if letter.isprintable() else " " for letter in str(name))
    if len(text) > longest:
        text = text[: longest - 1].rstrip() + "…"
    return html.escape(text, quote=False).replace("%{", "%&#123;")


def wrap_tick_label(name: object, longest: int = 24) -> str:
    """Format a name as a tick label with line breaks after plus signs and the first hyphen.

    >>> wrap_tick_label("localized-jump+blips")
    'localized-<br>jump+<br>blips'
    """
    text = escape_text(name, longest)
    return (text.replace("-", "-<br>", 1) if len(text) > 10 else text).replace("+", "+<br>")


def make_stacked_figure(
    panels: Sequence[tuple[Sequence[PlotlyTrace], Mapping[str, Any]]],
    x_axis: Mapping[str, Any],
    title: str,
    alt: str,
    *,
    gap: float = 0.06,
    entries: Sequence[PlotlyTrace] = (),
    **layout: Any,
) -> Figure:
    """Make a figure of panels above each other with one horizontal axis and one legend.

    Args:
        panels: The traces and the vertical axis of each panel, from the top.
        x_axis: The axis that they share.
        title: Title of the figure.
        alt: Its description.
        gap: Space between panels, as a share of the height.
        entries: Further entries of the legend.
        layout: Further settings, as for `make_figure`.
    """
    traces: list[PlotlyTrace] = []
    number = ""
    for index, ((shown, axis), domain) in enumerate(zip(panels, stack_panels(len(panels), gap), strict=True)):
        number = axis_number(index)
        traces += [trace | {"yaxis": f"y{number}"} for trace in shown]
        layout[f"yaxis{number}"] = {"domain": domain, **axis}
    layout["xaxis"] = {**x_axis, "anchor": f"y{number}"}
    return make_figure(show_names_once([*traces, *entries]), title, alt, **layout)


def show_names_once(traces: Iterable[PlotlyTrace]) -> list[PlotlyTrace]:
    """Show each name of a group once in the legend, where it switches the traces of all panels."""
    once: list[PlotlyTrace] = []
    shown: set[tuple[str, str]] = set()
    for trace in traces:
        if trace.get("name") and trace.get("showlegend") is not False:
            name = trace["name"]
            group = trace.get("legendgroup") or name
            once.append(trace | {"legendgroup": group, "showlegend": (name, group) not in shown})
            shown.add((name, group))
        else:
            once.append(trace)
    return once


WHITE_MARKER = {"color": "#ffffff", "line": {"color": "#000000", "width": 1.5}}
"""Marker that is visible on every color."""

DARK_THRESHOLD = 0.45  # cells darker than this share of the range get white text


def make_band(x: Sequence[float], low: Sequence[float], high: Sequence[float], color: str, **more: Any) -> PlotlyTrace:
    """Make the band of an interval around a line."""
    area: dict[str, Any] = {
        "line": {"width": 0},
        "fill": "toself",
        "fillcolor": fade(color),
        "hoverinfo": "skip",
        "showlegend": False,
    }
    return make_scatter([*x, *reversed(x)], [*high, *reversed(low)], "lines", **area) | more


HOVER_TEXT = "%{text}<extra></extra>"
"""Template that shows the text of a point."""


def make_scatter(
    x: Iterable[float], y: Iterable[float], mode: str, name: str | None = None, **more: Any
) -> PlotlyTrace:
    """Make points or a line; numbers are rounded."""
    return {"type": "scatter", "mode": mode, "x": round_numbers(x), "y": round_numbers(y), "name": name} | more


def make_markers(
    x: Iterable[float],
    y: Iterable[float],
    name: str | None,
    marker: Mapping[str, Any],
    text: Iterable[str],
    **more: Any,
) -> PlotlyTrace:
    """Make points with one hover text each."""
    return make_scatter(x, y, "markers", name, marker=dict(marker), text=list(text), hovertemplate=HOVER_TEXT) | more


def make_heat_map(shades: Sequence[Sequence[float]], hover: Sequence[Sequence[Any]], **more: Any) -> PlotlyTrace:
    """Make the cells of a heat map from their shades, row by row from below; the largest is the darkest."""
    return {
        "type": "heatmap",
        "x": list(range(len(shades[0]))),
        "y": list(range(len(shades))),
        "z": [round_numbers(row) for row in shades],
        "customdata": hover,
        "hovertemplate": "%{customdata}<extra></extra>",
        "colorscale": COLOR_SCALE,
        "reversescale": True,
    } | more


def write_in_cells(
    texts: Sequence[Sequence[str]],
    shades: Sequence[Sequence[float]],
    size: int = 12,
    *,
    shift: float = 0.0,
    lightest: float | None = None,
) -> PlotlyTrace:
    """Write a text into each cell of a heat map, in black or white.

    `shift` moves it from the middle; `lightest` is the start of the color scale, by default the smallest shade.
    """
    colors = choose_text_colors([shade for row in shades for shade in row], lightest)
    return {
        "type": "scatter",
        "mode": "text",
        "x": [column for row in texts for column in range(len(row))],
        "y": [place + shift for place, row in enumerate(texts) for _ in row],
        "text": [text for row in texts for text in row],
        "textposition": "middle center",
        "textfont": {"color": colors, "size": size},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def make_line_with_band(
    x: Sequence[float],
    mean: Sequence[float],
    stderr: Sequence[float],
    place: int,
    *,
    both: Mapping[str, Any] | None = None,
    least: float = -math.inf,
    **more: Any,
) -> list[PlotlyTrace]:
    """Make a line of means with its 95 % band; `place` determines color and dash.

    `both` holds attributes of band and line, `more` those of the line; the band ends at the least possible value.

    >>> [trace["legendgroup"] for trace in make_line_with_band([1, 2], [5.0, 6.0], [0.5, 0.5], 0)]
    ['g0', 'g0']
    """
    color = get_color(place)
    shared = {"legendgroup": f"g{place}", **(both or {})}
    intervals = [Interval.from_error(value, error).limited(least) for value, error in zip(mean, stderr, strict=True)]
    low = [interval.low for interval in intervals]
    high = [interval.high for interval in intervals]
    look = {"color": color, "dash": DASHES[place % len(DASHES)], "width": 2}
    line = make_scatter(x, mean, "lines", line=look, customdata=round_numbers(stderr), **shared)
    return [make_band(x, low, high, color, **shared), line | {"x": list(x)} | more]


def make_legend_entry(name: str, **more: Any) -> PlotlyTrace:
    """Make a legend entry without data."""
    return {"type": "scatter", "x": [None], "y": [None], "name": name} | more


def make_error_bars(intervals: Sequence[Interval], color: str | None = None, **more: Any) -> dict[str, Any]:
    """Make error bars from intervals.

    >>> bars = make_error_bars([Interval(5.0, 4.0, 7.0)])
    >>> bars["arrayminus"], bars["array"]
    ([1], [2])
    """
    return {
        "type": "data",
        "symmetric": False,
        "array": round_numbers(interval.high - interval.mean for interval in intervals),
        "arrayminus": round_numbers(interval.mean - interval.low for interval in intervals),
        "color": color,
        "thickness": 1.5,
        "width": 4,
    } | more


def make_box(place: float, quantiles: Sequence[float], color: str, **more: Any) -> PlotlyTrace:
    """Make a horizontal box from its quantiles: lower whisker, quartile, median, quartile, upper whisker."""
    low, q1, median, q3, high = ([round_number(each)] for each in quantiles)
    return {
        "type": "box",
        "orientation": "h",
        "y": [place],
        "q1": q1,
        "median": median,
        "q3": q3,
        "lowerfence": low,
        "upperfence": high,
        "fillcolor": fade(color, 0.35),
        "line": {"color": color, "width": 1.5},
        "width": 0.6,
        "showlegend": False,
        "hoverinfo": "skip",
    } | more


def make_shading(start: float, end: float, color: str) -> dict[str, Any]:
    """Shade an interval of the horizontal axis."""
    corners = {"x0": start, "x1": end, "y0": 0, "y1": 1, "xref": "x", "yref": "paper"}
    return {"type": "rect", **corners, "fillcolor": color, "line": {"width": 0}, "layer": "below"}


def choose_text_colors(shades: Sequence[float], lightest: float | None = None) -> list[str]:
    """Choose black or white text for cells of these shades, of which the largest is the darkest.

    >>> choose_text_colors([0.0, 1.0])
    ['#000000', '#ffffff']
    """
    low = min(shades) if lightest is None else lightest
    reach = max(shades) - low
    return ["#ffffff" if shade - low > DARK_THRESHOLD * (reach or 1.0) else "#000000" for shade in shades]


def make_change_lines(
    changes: Sequence[int], name: str = "change", dash: str = "dot"
) -> tuple[list[PlotlyTrace], list[dict[str, Any]]]:
    """Make vertical lines at changes: the legend entry and one shape; at most 60 lines are drawn."""
    if not changes:
        return [], []
    kept = list(changes)
    if len(kept) > 60:
        every = -(-len(kept) // 60)
        kept = kept[::every]
        name = f"{name} (1 of {every} drawn)"
    path = "".join(f"M{t},0V1" for t in kept)
    line = {"color": CHANGE_COLOR, "width": 1, "dash": dash}
    shape = {"type": "path", "path": path, "xref": "x", "yref": "paper", "line": line, "layer": "below"}
    return [make_legend_entry(name, mode="lines", line=line)], [shape]
