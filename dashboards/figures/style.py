"""Colors, themes, axes, titles and trace builders that all figures share.

Colors are those of Okabe and Ito, darker or lighter where the background requires it; lines also differ in dash and
marker, not only in color. Backgrounds are transparent, grids and lines are semi-transparent gray. Figures are drawn in
the colors for light pages; dark pages replace them by those of `DARK_COLORS`, and the entries of `THEMES`.
"""

import html
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ravenlab.common.interval import Interval
from ravenlab.common.text import format_number

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
LINE_COLOR = "rgba(128,128,128,0.55)"
GRID_COLOR = "rgba(128,128,128,0.22)"
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

    >>> list(dark_replacements())[:2]
    ['"#0072B2"', '"rgba(0,114,178,']
    """
    replacements = {}
    for light, dark in DARK_COLORS.items():
        replacements[f'"{light}"'] = f'"{dark}"'
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


def make_axis(title: str, kind: str = "linear", ticks: Sequence[float] | None = None, **more: Any) -> dict[str, Any]:
    """Make an axis, optionally with ticks at the given values only."""
    out: dict[str, Any] = {
        "title": {"text": title, "standoff": 8, "font": {"size": 12}},
        "type": kind,
        "gridcolor": GRID_COLOR,
        "linecolor": LINE_COLOR,
        "showline": True,
        "zeroline": False,
        "separatethousands": True,
        "exponentformat": "none",
        "ticks": "outside",
        "tickcolor": LINE_COLOR,
        "automargin": True,
    }
    if ticks is not None:
        out |= {"tickmode": "array", "tickvals": round_numbers(ticks), "ticktext": [format_number(v) for v in ticks]}
    elif kind == "log":
        out["dtick"] = "D2"
    return out | more


def make_step_axis(last: float, title: str = "step t", **more: Any) -> dict[str, Any]:
    """Make an axis of steps with round ticks and one at the last step, the horizon.

    >>> make_step_axis(2500)["nticks"], make_step_axis(2345)["ticktext"]
    (6, ['0', '500', '1,000', '1,500', '2,000', '2,345'])
    """
    ticks = choose_ticks(0.0, last, 6 if last < 1e5 else 4)
    if ticks[-1:] == [last]:  # Plotly chooses the same ones, and others if a reader zooms in
        return make_axis(title, range=[0, last], nticks=len(ticks), ticklabeloverflow="allow") | more
    shown = [tick for tick in ticks if tick < 0.88 * last]
    return make_axis(title, ticks=[*shown, last], range=[0, last], ticklabeloverflow="allow") | more


def make_value_axis(title: str, values: Iterable[float], ratio: float = 10.0) -> dict[str, Any]:
    """Make an axis that is logarithmic if the largest ratio of the values exceeds `ratio`."""
    values = list(values)
    return make_axis(title, "log", choose_log_ticks(values)) if spans_decades(values, ratio) else make_axis(title)


def make_category_axis(labels: Sequence[str], title: str = "", **more: Any) -> dict[str, Any]:
    """Make an axis with labels at 0, 1, 2, …

    >>> make_category_axis(["UCB", "CCB"])["tickvals"]
    [0, 1]
    """
    ticks = {"tickmode": "array", "tickvals": list(range(len(labels))), "ticktext": list(labels)}
    return make_axis(title) | ticks | more


def make_row_axis(labels: Sequence[str], **more: Any) -> dict[str, Any]:
    """Make a vertical axis with one row per label, the first at the top."""
    return make_category_axis(labels, range=[len(labels) - 0.5, -0.5], showgrid=False) | more


def axis_number(index: int) -> str:
    """Return the suffix of Plotly's names for the axes of a panel: "" for the first, then 2, 3, …"""
    return "" if index == 0 else str(index + 1)


def stack_panels(count: int, gap: float) -> list[list[float]]:
    """Compute the vertical domains of panels of equal height, the first at the top.

    >>> stack_panels(2, gap=0.2)
    [[0.6, 1.0], [0.0, 0.4]]
    """
    height = (1.0 - gap * (count - 1)) / count
    tops = [1.0 - index * (height + gap) for index in range(count)]
    return [[max(0.0, round(top - height, 6)), round(top, 6)] for top in tops]


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


def round_number(value: float, digits: int = 6) -> float | None:
    """Round to a few significant digits; None for NaN and infinities.

    >>> round_number(1.23456789), round_number(float("nan"))
    (1.23457, None)
    """
    value = float(value)
    if not math.isfinite(value):
        return None
    out = float(f"{value:.{digits}g}")
    return int(out) if out.is_integer() and abs(out) < 1e15 else out


def round_numbers(values: Iterable[float]) -> list[float | None]:
    """Round numbers to a plain list, which is half the size of Plotly's base64 arrays."""
    return [round_number(value) for value in values]


def choose_axis_type(values: Sequence[float], most: float = 4.0) -> str:
    """Return "log" if values are positive and more evenly spaced on a log axis, otherwise "linear".

    >>> choose_axis_type([0.5, 1, 5, 10]), choose_axis_type([1, 2, 3, 4]), choose_axis_type([0, 1, 10])
    ('log', 'linear', 'linear')
    """
    if len(values) < 2 or min(values) <= 0:
        return "linear"
    if len(values) == 2:
        return "log" if max(values) / min(values) >= most else "linear"

    def unevenness(points: Any) -> float:
        gaps = np.diff(np.sort(points))
        return float(gaps.std() / gaps.mean()) if gaps.mean() > 0 else 0.0

    return "log" if unevenness(np.log(values)) < unevenness(np.asarray(values, dtype=float)) else "linear"


def spans_decades(values: Iterable[float], ratio: float = 10.0) -> bool:
    """Whether values are positive and their largest ratio exceeds `ratio`."""
    finite = [value for value in values if math.isfinite(value)]
    return bool(finite) and min(finite) > 0 and max(finite) / min(finite) > ratio


def choose_log_ticks(values: Iterable[float], most: int = 7) -> list[float] | None:
    """Choose round ticks for a log axis: decades; 1, 2 and 5 of each if those are too few; even ones in short ranges.

    >>> choose_log_ticks([0.02, 30.0]), choose_log_ticks([3.0, 60.0])
    ([0.1, 1.0, 10.0], [5.0, 10.0, 20.0, 50.0])
    >>> choose_log_ticks([14.0, 89.0]), choose_log_ticks([22.0, 48.0])
    ([20.0, 50.0], [30.0, 40.0])
    """
    finite = [value for value in values if math.isfinite(value) and value > 0]
    if not finite:
        return None
    low = min(finite)
    high = max(finite)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits, enough in (((1,), 3), ((1, 2, 5), 2)):
        ticks = [float(f"{digit}e{power}") for power in powers for digit in digits]
        ticks = [tick for tick in ticks if 0.95 * low <= tick <= 1.05 * high]
        if len(ticks) >= enough:
            return ticks[:: -(-len(ticks) // most)]
    return choose_ticks(low, high, 4) or [float(f"{low:.3g}")]


def choose_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Choose at most that many ticks from `low` to `high`; their distance is 1, 2 or 5 times a power of ten.

    >>> choose_ticks(0, 2000), choose_ticks(22, 48, 4)
    ([0.0, 500.0, 1000.0, 1500.0, 2000.0], [30.0, 40.0])
    """
    if high <= low:
        return []
    power = math.floor(math.log10((high - low) / most))
    steps = (float(f"{digit}e{power + more}") for more in (0, 1) for digit in (1, 2, 5))
    step = next(step for step in steps if math.floor(high / step) - math.ceil(low / step) < most)
    return [float(f"{place * step:.12g}") for place in range(math.ceil(low / step), math.floor(high / step) + 1)]


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
