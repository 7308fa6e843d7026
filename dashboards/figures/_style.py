"""What all figures share: colours, fonts, themes, alt texts.

Colours are Okabe and Ito's, and no line is told from another by colour alone: dashes and markers differ too.
Papers are transparent. Grids and lines are half-transparent greys, so that between a light and a dark page
only the entries of `THEMES` differ: a page may hand them to `Plotly.relayout` as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

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


def colour_at(place: int) -> str:
    """The colour of what stands at a place, such as a policy in the order of a page.

    >>> colour_at(0) == colour_at(7)
    True
    """
    return COLOURS[place % len(COLOURS)]


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


def nothing(title: str, why: str, alt: str) -> go.Figure:
    """A figure that says why there is nothing to see."""
    note = {"text": why, "showarrow": False, "xref": "paper", "yref": "paper", "x": 0.5, "y": 0.5, "font": {"size": 14}}
    hidden = {"visible": False}
    return make([], title, alt, height=260, xaxis=hidden, yaxis=hidden, annotations=[note])
