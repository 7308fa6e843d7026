"""Three recursions for the variance: what each gives on a plain sample, and RAVEN-UCB's regret with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboards.figures._scales import axis
from dashboards.figures._style import BLUE, GREEN, ORANGE, PINK, Trace, make
from dashboards.figures._titles import counts, heading
from dashboards.reproduction._lines import with_band
from dashboards.reproduction._logistics import Dots, dots
from studies.reproduction.tables import Table

if TYPE_CHECKING:
    import plotly.graph_objects as go

ESTIMATORS = {
    "welford": "sample variance (Proposition 1)",
    "printed": "Algorithm 1 as printed",
    "accumulated": "the logistics script's",
    "none": "no variance bonus (β₀ = 0)",
}
"""The variants in words."""

COLOURS = {"welford": BLUE, "printed": ORANGE, "accumulated": PINK}


def variance_lines(table: Table) -> go.Figure:
    """S² against the number of rewards, both on log axes, beside the true variance."""
    traces: list[Trace] = []
    sizes = table.distinct("n")
    for place, (name, colour) in enumerate(COLOURS.items()):
        rows = table.where(estimator=name)
        mean, low, high = (rows.column(key) for key in ("mean", "low", "high"))
        above = [max(each, min(mean) / 3) for each in low]  # a log axis has no zero
        hover = f"<b>{ESTIMATORS[name]}</b><br>n = %{{x}}<br>S² %{{y}}<extra></extra>"
        traces += with_band(sizes, mean, above, high, ESTIMATORS[name], colour, place, hovertemplate=hover)
    last = sizes[-1]
    ends = [f"{ESTIMATORS[row['estimator']]} {row['mean']:.3g}" for row in table.where(n=last)]
    true = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 1, "y1": 1, "layer": "below"}
    note = {"text": "true variance 1", "xref": "paper", "x": 0.99, "y": 0, "xanchor": "right", "yanchor": "bottom"}
    return make(
        traces,
        heading("Three recursions for the variance", "mean S² over samples of N(0, 1)", "95 % bands"),
        f"S² against the number of rewards for three recursions, true variance 1. At n = {last}: {', '.join(ends)}.",
        height=430,
        shapes=[true | {"line": {"color": "rgba(128,128,128,0.9)", "width": 1, "dash": "longdash"}}],
        annotations=[note | {"showarrow": False, "font": {"size": 11}}],
        xaxis=axis("rewards n", "log", [n for n in sizes if n in (2, 10, 100, 1000)]),
        yaxis=axis("S²", "log", [0.001, 0.01, 0.1, 1, 10]),
    )


def estimator_dots(table: Table, horizon: int, arms: int) -> go.Figure:
    """RAVEN-UCB's regret with each estimator, as published and as defined."""
    looks = {"published": ("as published (α₀ 0.5, β₀ 1, ε 10⁻⁶)", BLUE), "defined": ("as defined, defaults", GREEN)}
    series = []
    for protocol in table.distinct("protocol"):
        name, colour = looks[protocol]
        rows = [table.one(protocol=protocol, estimator=each, measure="regret") for each in ESTIMATORS]
        mean, low, high = ([row[key] for row in rows] for key in ("mean", "low", "high"))
        symbol = "circle" if protocol == "published" else "square"
        series.append(Dots(name, mean, low, high, {"symbol": symbol, "color": colour}))
    worlds = int(table.column("worlds")[0])
    title = "RAVEN-UCB with each variance"
    return dots(list(ESTIMATORS.values()), series, title, counts(horizon, arms, worlds), "regret of the moment")
