"""Nine lines over time that one can tell apart: panels of cumulative numbers with bands, from a table of curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dashboards.figures._parts import band, change_lines
from dashboards.figures._scales import axis, numbers
from dashboards.figures._style import Trace, make
from dashboards.figures._titles import heading
from dashboards.reproduction._logistics import AXES, LINES, MEASURES, NAMES, PAPER
from studies.reproduction.tables import Table

if TYPE_CHECKING:
    import plotly.graph_objects as go

POINTS = 50
"""Marks of a line that are drawn."""


def over_time(
    curves: Table,
    panels: Sequence[str],
    title: str,
    context: Sequence[str],
    changes: Sequence[int],
    printed: Mapping[str, Mapping[str, float]],
) -> go.Figure:
    """Means and 95 % bands of one comparison, a panel a measure; the legend has the order of the first panel's ends.

    `printed` has the ends of the paper's own curves, by measure and policy, as far as it prints them.
    """
    order = _order(curves.where(measure=panels[0]))
    last = max(curves.column("step"))
    traces: list[Trace] = []
    for place, measure in enumerate(panels):
        y = "y" if place == 0 else f"y{place + 1}"
        here = curves.where(measure=measure)
        for name in order:
            traces += _line(here.where(policy=name), name, measure, y, place == 0)
        if measure in printed:
            traces.append(_ends(printed[measure], last, measure, y, place == 0))
    entry, shapes = change_lines(changes)
    ends = [_at_the_end(curves.where(measure=measure, step=last), measure) for measure in panels]
    return make(
        [*traces, *entry],
        heading(title, *context),
        f"{title}: mean over worlds with 95 % bands, {last} steps, {len(changes)} moments of change marked. "
        + " ".join(ends),
        height=230 + 290 * len(panels),
        shapes=shapes,
        **_axes(panels, last),
    )


def _axes(panels: Sequence[str], last: int) -> dict[str, Any]:
    """Panels below each other on one axis of time."""
    share = 1.0 / len(panels)
    out: dict[str, Any] = {}
    for place, measure in enumerate(panels):
        top = 1.0 - place * share
        bottom = top - share + (0.04 if place < len(panels) - 1 else 0.0)
        label = f"({'abc'[place]}) {AXES[measure]}" if len(panels) > 1 else AXES[measure]
        out["yaxis" if place == 0 else f"yaxis{place + 1}"] = axis(label, domain=[bottom, top], rangemode="tozero")
    anchor = "y" if len(panels) == 1 else f"y{len(panels)}"
    out["xaxis"] = axis("step t", anchor=anchor, range=[0, last * 1.01], nticks=6)
    return out


def _order(curves: Table) -> list[str]:
    """Policies by where their line ends, the highest first: as they lie on the right."""
    last = max(curves.column("step"))
    ends = {row["policy"]: row["mean"] for row in curves.where(step=last)}
    return sorted(ends, key=lambda name: -ends[name])


def _line(curve: Table, name: str, measure: str, y: str, legend: bool) -> list[Trace]:
    every = max(1, len(curve) // POINTS)
    rows = [row for i, row in enumerate(curve) if (i + 1) % every == 0]
    steps, mean, low, high = ([row[key] for row in rows] for key in ("step", "mean", "low", "high"))
    line = LINES[name]
    return [
        band(steps, low, high, line["color"], legendgroup=name, yaxis=y),
        {
            "type": "scatter",
            "mode": "lines",
            "x": steps,
            "y": numbers(mean),
            "yaxis": y,
            "line": line,
            "name": NAMES[name],
            "legendgroup": name,
            "showlegend": legend,
            "customdata": numbers((b - a) / 2 for a, b in zip(low, high, strict=True)),
            "hovertemplate": f"<b>{NAMES[name]}</b><br>t = %{{x}}<br>{MEASURES[measure]} %{{y}} ± %{{customdata}}"
            " (95 %)<extra></extra>",
        },
    ]


def _ends(printed: Mapping[str, float], last: int, measure: str, y: str, legend: bool) -> Trace:
    """The paper's printed numbers, at the end of time."""
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [last] * len(printed),
        "y": numbers(printed.values()),
        "yaxis": y,
        "marker": PAPER,
        "cliponaxis": False,
        "name": "printed in the paper",
        "legendgroup": "paper",
        "showlegend": legend,
        "text": [NAMES[name] for name in printed],
        "hovertemplate": f"<b>%{{text}}</b><br>{MEASURES[measure]} printed in the paper: %{{y}}<extra></extra>",
    }


def _at_the_end(ends: Table, measure: str) -> str:
    parts = sorted(((row["mean"], NAMES[row["policy"]]) for row in ends), reverse=measure == "reward")
    return f"Final {MEASURES[measure]}, best first: {', '.join(f'{name} {value:.0f}' for value, name in parts)}."
