"""Who wins where: by what share every policy lies behind the best of each scenario and horizon."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dashboards.figures._scales import labelled, rounded
from dashboards.figures._style import SCALE, Trace, make
from dashboards.figures._titles import heading, safe
from environments.text import format_percent
from studies.comparison.boards import Result
from studies.comparison.summary import SETTINGS
from studies.comparison.tables import by_relative_regret, mark, relative

if TYPE_CHECKING:
    import plotly.graph_objects as go

ROW = 26
"""Pixels of a policy."""

MOST_WRITTEN = 16
"""Columns up to which numbers may fit into the cells; where they do not, Plotly leaves them out."""

WORST = 10.0
"""Ten times the best one's regret and more is all the same colour."""


def winners(results: Sequence[Result]) -> go.Figure:
    """A heat map, policies × cases: 0 % and ★ for the best of a column, ≈ for who can't be told from it."""
    policies = by_relative_regret(results)
    shares = [[relative(result, policy) for result in results] for policy in policies]
    marks = [[mark(result.main.find(policy)) for result in results] for policy in policies]
    written = len(results) <= MOST_WRITTEN
    cells: Trace = {
        "type": "heatmap",
        "x": list(range(len(results))),
        "y": list(range(len(policies))),
        "z": [[_depth(share) for share in row] for row in shares],
        "text": [
            [_written(share, sign, written) for share, sign in zip(row, signs, strict=True)]
            for row, signs in zip(shares, marks, strict=True)
        ],
        "texttemplate": "%{text}",
        "customdata": [
            [_says(result, policy, share) for result, share in zip(results, row, strict=True)]
            for policy, row in zip(policies, shares, strict=True)
        ],
        "hovertemplate": "%{customdata}<extra></extra>",
        "colorscale": SCALE,
        "reversescale": True,
        "zmin": 0,
        "zmax": math.log10(1 + WORST),
        "xgap": 2,
        "ygap": 2,
        "colorbar": {
            "title": {"text": "behind the best", "side": "top"},
            "tickvals": [math.log10(1 + share) for share in (0, 0.5, 2, 10)],
            "ticktext": ["0 %", "50 %", "200 %", "1000 %"],
            "orientation": "h",
            "thickness": 12,
            "len": 1,
            "y": 1.0,
            "yanchor": "bottom",
        },
    }
    best = "; ".join(f"{result.label}: {result.main.best.policy}" for result in results)
    how = SETTINGS[results[0].main.setting]
    return make(
        [cells],
        heading("Who wins where", how, f"{len(results)} scenarios and horizons"),
        f"Regret of {len(policies)} policies relative to the best in each of {len(results)} scenarios and horizons,"
        f" {how}. The best: {best}.",
        height=430 + ROW * len(policies),
        margin={"t": 150, "r": 16, "b": 150, "l": 60},
        xaxis=labelled(
            [safe(result.label) for result in results], tickangle=-90 if len(results) > 2 else 0, showgrid=False
        ),
        yaxis=labelled([safe(policy, 30) for policy in policies], range=[len(policies) - 0.5, -0.5], showgrid=False),
    )


def _depth(share: float | None) -> float | None:
    return None if share is None else rounded(math.log10(1.0 + min(share, WORST)), 4)


def _written(share: float | None, sign: str, written: bool) -> str:
    if not written or share is None:
        return sign
    return sign if share == 0.0 else format_percent(share, unit="") + sign


def _says(result: Result, policy: str, share: float | None) -> str:
    each = result.main.find(policy)
    behind = "the best" if each.behind is None else "" if share is None else f"{format_percent(share)} behind the best"
    told = ", not told from it" if each.behind is not None and each.among_the_best else ""
    return f"<b>{safe(policy)}</b><br>{safe(result.label)}<br>mean regret {each.mean:.4g}<br>{behind}{told}"
