"""Parts of figures and tables that several experiments share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ravenlab.common.interval import Interval
from ravenlab.common.text import format_interval, format_number
from ravenlab.dashboards.figures import style
from ravenlab.dashboards.figures.style import Figure, PlotlyTrace

COLUMNS = 2  # two columns at most, so that panels stay legible on a phone
PANEL_HEIGHT, PANEL_GAP = 216, 74  # pixels of each panel, and between two rows of panels
TOP, BOTTOM = 116, 84  # pixels above and below all panels, for the title and for the legend with the last axis
NOTE = 36  # pixels of the two lines above a panel
GUTTER = 0.14  # horizontal space between panels as a share of the width


def make_line(x: Sequence[float], y: Sequence[float], name: str, color: str, index: int, **more: Any) -> PlotlyTrace:
    """Make a line with markers; its index selects dash and marker, so that lines differ by more than color."""
    look: dict[str, Any] = {
        "line": {"color": color, "dash": style.DASHES[index % len(style.DASHES)], "width": 2},
        "marker": {"symbol": style.MARKERS[index % len(style.MARKERS)], "size": 6, "color": color},
        "legendgroup": name,
        "hovertemplate": f"<b>{name}</b><br>%{{x}}: %{{y}}<extra></extra>",
    }
    return style.make_scatter(x, y, "lines+markers", name, **look) | more


def make_guide_line(
    x: Sequence[float], y: Sequence[float], name: str, dash: str = "dot", color: str = style.GREY, **more: Any
) -> PlotlyTrace:
    """Make a line without markers, for theory or for the paper."""
    return make_line(x, y, name, color, 0, mode="lines", line={"color": color, "dash": dash, "width": 2}) | more


def make_interval_line(
    x: Sequence[float],
    y: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    name: str,
    color: str,
    index: int,
    **more: Any,
) -> list[PlotlyTrace]:
    """Make a line with its 95 % band."""
    axes = {key: value for key, value in more.items() if key in ("yaxis", "xaxis")}
    hover = f"<b>{name}</b><br>%{{x}}: %{{y}}<br>95 %: %{{customdata[0]}} to %{{customdata[1]}}<extra></extra>"
    limits = [list(pair) for pair in zip(style.round_numbers(low), style.round_numbers(high), strict=True)]
    return [
        style.make_band(x, low, high, color, legendgroup=name, **axes),
        make_line(x, y, name, color, index, **({"customdata": limits, "hovertemplate": hover} | more)),
    ]


@dataclass(frozen=True)
class DotSeries:
    """One value with its interval per row of a dot plot."""

    name: str
    values: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    marker: Mapping[str, Any]

    @classmethod
    def from_rows(
        cls, name: str, rows: Sequence[Mapping[str, Any]], column: str, marker: Mapping[str, Any], scale: float = 1.0
    ) -> DotSeries:
        """Read values from a column, and limits from those called `_low` and `_high` if the table has them."""
        columns = (column, f"{column}_low", f"{column}_high") if f"{column}_low" in rows[0] else (column,) * 3
        value, low, high = ([scale * row[name] for row in rows] for name in columns)
        return cls(name, value, low, high, marker)


def plot_dots(
    labels: Sequence[str],
    series: Sequence[DotSeries],
    title: str,
    context: Sequence[str],
    x_axis: Mapping[str, Any],
    extra_traces: Sequence[PlotlyTrace] = (),
    **layout: Any,
) -> Figure:
    """Plot several series with intervals, one row per label, the first at the top."""
    step = 0.56 / len(series)
    middle = (len(series) - 1) / 2
    traces = [_plot_series(labels, dots, (index - middle) * step) for index, dots in enumerate(series)]
    plain = [label.replace("<br>", ", ") for label in labels]
    return style.make_figure(
        [*traces, *extra_traces],
        style.format_title(title, *context),
        f"{title}. " + " ".join(_describe_series(plain, dots) for dots in series),
        height=170 + (26 + 10 * len(series)) * len(labels),
        xaxis=x_axis,
        yaxis=style.make_category_axis(labels, range=[len(labels) - 0.5, -0.5], showgrid=False),
        **layout,
    )


def _plot_series(labels: Sequence[str], series: DotSeries, shift: float) -> PlotlyTrace:
    intervals = list(map(Interval, series.values, series.low, series.high))
    text = [
        f"<b>{label}</b><br>{series.name}: "
        f"{format_number(shown.mean) if shown.low == shown.high else format_interval(shown)}"
        for label, shown in zip(labels, intervals, strict=True)
    ]
    y = [index + shift for index in range(len(labels))]
    trace = style.make_markers(series.values, y, series.name, {"size": 9, **series.marker}, text)
    if any(shown.low < shown.high for shown in intervals):
        color = series.marker.get("line", series.marker).get("color")
        trace["error_x"] = style.make_error_bars(intervals, color, thickness=2, width=5)
    return trace


def _describe_series(labels: Sequence[str], series: DotSeries) -> str:
    parts = [f"{label} {format_number(value)}" for label, value in zip(labels, series.values, strict=True)]
    return f"{series.name}: {'; '.join(parts)}."


def make_note(text: str, x: float, y: float, x_anchor: str = "left") -> dict[str, Any]:
    """Make an annotation without an arrow; x and y are shares of the plot area."""
    position = {"xref": "paper", "yref": "paper", "x": x, "y": y, "xanchor": x_anchor, "yanchor": "bottom"}
    return {"text": text, **position, "align": x_anchor, "showarrow": False, "font": {"size": 12}}


def combine_panels(figures: Sequence[tuple[str, Figure]], title: str, alt: str) -> Figure:
    """Combine titled figures as panels that share a legend; axes are titled only at the edges."""
    rows = -(-len(figures) // COLUMNS)
    inner = rows * PANEL_HEIGHT + (rows - 1) * PANEL_GAP
    y_domains = style.stack_panels(rows, PANEL_GAP / inner)
    traces: list[PlotlyTrace] = []
    layout: dict[str, Any] = {}
    notes: list[dict[str, Any]] = []
    for index, (name, figure) in enumerate(figures):
        row, column = divmod(index, COLUMNS)
        number = style.axis_number(index)
        content = figure.to_plotly_json()
        axes = {"xaxis": f"x{number}", "yaxis": f"y{number}"}
        traces += [trace | axes for trace in content["data"]]
        left = column * (1 + GUTTER) / COLUMNS
        x_domain = [left, left + (1 - GUTTER) / COLUMNS]
        y_domain = y_domains[row]
        is_lowest = index + COLUMNS >= len(figures)
        layout[f"xaxis{number}"] = _panel_axis(content["layout"]["xaxis"], x_domain, f"y{number}", is_lowest)
        layout[f"yaxis{number}"] = _panel_axis(content["layout"]["yaxis"], y_domain, f"x{number}", column == 0)
        place = {"xref": f"x{number} domain", "yref": f"y{number} domain"}
        notes.append(make_note(f"<b>{name}</b>", 0.0, 1.0) | place)
    right = max(int(figure.layout.margin.r) for _, figure in figures) - 4  # labels at the ends of lines
    margin = {"t": TOP, "r": right, "b": BOTTOM, "l": 56}
    traces = style.show_names_once(traces)
    panels = {
        "columns": min(COLUMNS, len(figures)),
        "height": PANEL_HEIGHT,
        "gap": PANEL_GAP,
        "gutter": GUTTER,
        "count": len(figures),
    }
    height = inner + TOP + BOTTOM
    return style.make_figure(
        traces,
        title,
        alt,
        height=height,
        top=NOTE,
        panels=panels,
        annotations=notes,
        margin=margin,
        **layout,
    )


def _panel_axis(settings: dict[str, Any], domain: list[float], anchor: str, titled: bool) -> dict[str, Any]:
    shown = {key: value for key, value in settings.items() if titled or key != "title"}
    return shown | {"domain": domain, "anchor": anchor}


def format_worlds(rows: Sequence[Mapping[str, Any]]) -> str:
    """Format the number of worlds at each horizon, for a title."""
    worlds = {row["horizon"]: row["worlds"] for row in rows}
    return ", ".join(f"R = {count:,} at T = {horizon:,}" for horizon, count in sorted(worlds.items()))
