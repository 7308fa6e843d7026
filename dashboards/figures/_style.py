"""What all figures share: colours, fonts, titles, numbers of a sensible length, alt texts.

Colours are Okabe and Ito's, and no line is told from another by colour alone: dashes and markers differ too.
Papers are transparent. Grids and lines are half-transparent greys, so that between a light and a dark page
only the entries of `THEMES` differ: a page may hand them to `Plotly.relayout` as they are.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from studies.words import short

if TYPE_CHECKING:
    import plotly.graph_objects as go

Trace = dict[str, Any]

BLUE, ORANGE, GREEN, PINK = "#0072B2", "#E69F00", "#009E73", "#CC79A7"
SKY, VERMILION, GREY = "#56B4E9", "#D55E00", "#808080"
COLOURS = (BLUE, ORANGE, GREEN, PINK, SKY, VERMILION, GREY)
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
MARKERS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "triangle-down")
SCALE = "Cividis"
"""Perceptually uniform and the same to colour-blind eyes; reversed, so that more regret is darker, as in print."""

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
LINE = "rgba(128,128,128,0.55)"
GRID = "rgba(128,128,128,0.22)"
CHANGE = "rgba(128,128,128,0.75)"

THEMES: dict[str, dict[str, str]] = {
    "light": {"font.color": "#1f2328", "hoverlabel.bgcolor": "#ffffff", "hoverlabel.font.color": "#1f2328"},
    "dark": {"font.color": "#e6e6e6", "hoverlabel.bgcolor": "#24292f", "hoverlabel.font.color": "#f0f0f0"},
    "either": {"font.color": "#7a7f87", "hoverlabel.bgcolor": "#24292f", "hoverlabel.font.color": "#f0f0f0"},
}
"""What `Plotly.relayout` takes for a light page, a dark one, and one of which nothing is known."""

Z95 = 1.959964
"""Half the width of a 95 % interval, in standard errors."""

LONGEST_NAME = 56


def themed(figure: go.Figure, dark: bool | None = None) -> go.Figure:
    """A copy for a light page, a dark one, or (None) one of which nothing is known.

    >>> from plotly.graph_objects import Figure
    >>> themed(Figure(), dark=True).layout.font.color
    '#e6e6e6'
    """
    import plotly.graph_objects as go

    copy = go.Figure(figure)
    copy.layout.template = None
    name = "either" if dark is None else "dark" if dark else "light"
    copy.update_layout({key.replace(".", "_"): value for key, value in THEMES[name].items()})
    return copy


def explain(figure: go.Figure) -> str:
    """The alt text: what a person who can't see the figure should know. Plain text, not HTML.

    >>> from plotly.graph_objects import Figure
    >>> explain(Figure(layout={"meta": {"alt": "A line."}}))
    'A line.'
    """
    meta = figure.layout.meta
    return str(meta["alt"]) if isinstance(meta, Mapping) and "alt" in meta else ""


def make(traces: Sequence[Trace], title: str, alt: str, *, height: int = 460, **layout: Any) -> go.Figure:
    """The figure of some traces, without Plotly's own template, which is larger than most of our figures."""
    import plotly.graph_objects as go

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
        "meta": {"alt": alt},
        "font": {"family": FONT, "size": 12},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": {"t": 24 + 18 * lines, "r": 16, "b": 48, "l": 60},
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
    figure = go.Figure(data=list(traces))
    figure.layout.template = None
    figure.update_layout(settings)
    figure.update_layout({key.replace(".", "_"): value for key, value in THEMES["either"].items()})
    figure.update_layout(layout)
    return figure


def axis(title: str, kind: str = "linear", ticks: Sequence[float] | None = None, **more: Any) -> dict[str, Any]:
    """An axis; with ticks at given values only."""
    out: dict[str, Any] = {
        "title": {"text": title, "standoff": 8, "font": {"size": 12}},
        "type": kind,
        "gridcolor": GRID,
        "linecolor": LINE,
        "showline": True,
        "zeroline": False,
        "ticks": "outside",
        "tickcolor": LINE,
        "automargin": True,
    }
    if ticks is not None:
        out |= {"tickmode": "array", "tickvals": numbers(ticks), "ticktext": [short(v) for v in ticks]}
    elif kind == "log":
        out |= {"dtick": "D2", "exponentformat": "none"}
    return out | more


def heading(main: str, *context: str) -> str:
    """A title: what it is in bold, then a line or two of where and how much, short enough for a telephone.

    >>> heading("Regret", "blips", "T = 100", "K = 5", "R = 20")
    '<b>Regret</b><br><span style="font-size:12px">blips · T = 100 · K = 5 · R = 20</span>'
    """
    lines: list[list[str]] = [[]]
    for part in context:
        if lines[-1] and sum(len(html.unescape(each)) + 3 for each in lines[-1]) + len(html.unescape(part)) > 50:
            lines.append([])
        lines[-1].append(part)
    small = [f'<span style="font-size:12px">{" · ".join(line)}</span>' for line in lines if line]
    return "<br>".join([f"<b>{main}</b>", *small])


def counts(horizon: int, arms: int, replications: int | None = None) -> list[str]:
    """T, K and R as titles say them.

    >>> counts(1000, 10, 200)
    ['T = 1000 steps', 'K = 10 arms', 'R = 200 worlds']
    """
    out = [f"T = {horizon} steps", f"K = {arms} arms"]
    return out if replications is None else [*out, f"R = {replications} worlds"]


def safe(name: object, longest: int = LONGEST_NAME) -> str:
    """A name that someone gave, as Plotly may render it: no tags, no templates, no control codes, not too long.

    >>> safe("<script>%{x}")
    '&lt;script&gt;%&#123;x}'
    """
    text = "".join(letter if letter.isprintable() else " " for letter in str(name))
    if len(text) > longest:
        text = text[: longest - 1].rstrip() + "…"
    return html.escape(text, quote=False).replace("%{", "%&#123;")


def folded(name: object, longest: int = 24) -> str:
    """A name as the label of a tick: broken after a plus, and after the first hyphen of a long one.

    >>> folded("localized-jump+blips")
    'localized-<br>jump+<br>blips'
    """
    text = safe(name, longest)
    return (text.replace("-", "-<br>", 1) if len(text) > 10 else text).replace("+", "+<br>")


def rounded(value: float, digits: int = 6) -> float | None:
    """A few digits that count; None for what is no number.

    >>> rounded(1.23456789), rounded(float("nan"))
    (1.23457, None)
    """
    value = float(value)
    if not math.isfinite(value):
        return None
    out = float(f"{value:.{digits}g}")
    return int(out) if out.is_integer() and abs(out) < 1e15 else out


def numbers(values: Iterable[float]) -> list[float | None]:
    """Plain short numbers: half the size of a base64 array of doubles, and readable by every Plotly."""
    return [rounded(value) for value in values]


def band(x: Sequence[float], low: Sequence[float], high: Sequence[float], colour: str, **more: Any) -> Trace:
    """An interval around a line."""
    return {
        "type": "scatter",
        "x": numbers([*x, *reversed(x)]),
        "y": numbers([*high, *reversed(low)]),
        "mode": "lines",
        "line": {"width": 0},
        "fill": "toself",
        "fillcolor": faded(colour),
        "hoverinfo": "skip",
        "showlegend": False,
    } | more


def faded(colour: str, opacity: float = 0.22) -> str:
    """A hex colour, half-transparent.

    >>> faded("#0072B2")
    'rgba(0,114,178,0.22)'
    """
    return f"rgba({','.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))},{opacity:g})"


def scale_of(values: Sequence[float], most: float = 4.0) -> str:
    """ "log" where values are positive and better spread on a log axis, else "linear".

    >>> scale_of([0.5, 1, 5, 10]), scale_of([1, 2, 3, 4]), scale_of([0, 1, 10])
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


def wide(values: Iterable[float], ratio: float = 10.0) -> bool:
    """Whether positive values span so much that a log scale shows more."""
    finite = [value for value in values if math.isfinite(value)]
    return bool(finite) and min(finite) > 0 and max(finite) / min(finite) > ratio


def log_ticks(values: Iterable[float], most: int = 7) -> list[float] | None:
    """Round numbers for a log axis over positive values: decades, or 1, 2 and 5 of each where these are too few.

    >>> log_ticks([0.02, 30.0]), log_ticks([3.0, 60.0])
    ([0.1, 1.0, 10.0], [5.0, 10.0, 20.0, 50.0])
    """
    finite = [value for value in values if math.isfinite(value) and value > 0]
    if not finite:
        return None
    low, high = min(finite), max(finite)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in ((1,), (1, 2, 5)):
        ticks = [float(f"{digit}e{power}") for power in powers for digit in digits]
        ticks = [tick for tick in ticks if 0.95 * low <= tick <= 1.05 * high]
        if len(ticks) >= 3:
            return ticks[:: -(-len(ticks) // most)]
    return [float(f"{value:.2g}") for value in (low, high)] if high > 1.2 * low else [float(f"{low:.3g}")]


def change_lines(changes: Sequence[int]) -> tuple[list[Trace], list[dict[str, Any]]]:
    """Moments of change: one shape of vertical lines, and the legend entry that says what they are."""
    if not changes:
        return [], []
    kept, name = list(changes), "moment of change"
    if len(kept) > 60:
        every = -(-len(kept) // 60)
        kept, name = kept[::every], f"moment of change (1 of {every} drawn)"
    path = "".join(f"M{t},0V1" for t in kept)
    line = {"color": CHANGE, "width": 1, "dash": "dot"}
    shape = {"type": "path", "path": path, "xref": "x", "yref": "paper", "line": line, "layer": "below"}
    entry = {"type": "scatter", "x": [None], "y": [None], "mode": "lines", "line": line, "name": name}
    return [entry], [shape]


def nothing(title: str, why: str, alt: str) -> go.Figure:
    """A figure that says why there is nothing to see."""
    note = {"text": why, "showarrow": False, "xref": "paper", "yref": "paper", "x": 0.5, "y": 0.5, "font": {"size": 14}}
    hidden = {"visible": False}
    return make([], title, alt, height=260, xaxis=hidden, yaxis=hidden, annotations=[note])
