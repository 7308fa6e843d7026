"""Figures as the page holds them: the title goes into the caption, where it folds on a small screen."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dashboards.figures import explain
from dashboards.report.slugs import Slugs

if TYPE_CHECKING:
    import plotly.graph_objects as go

TOP = 30
"""Pixels above a plot without a title: room for Plotly's buttons."""

THREE_D = ("surface", "scatter3d", "mesh3d")
GL = ("scattergl",)


@dataclass(frozen=True)
class Panel:
    """One figure on the page."""

    id: str
    title: str
    context: str
    alt: str
    json: str
    height: int
    scenes: int
    """How many WebGL contexts it takes while it is drawn."""
    figure: go.Figure


def panel(slugs: Slugs, name: str, figure: go.Figure) -> Panel:
    """A figure for the page under a link of its own."""
    from plotly.io.json import to_json_plotly

    drawn: dict[str, Any] = figure.to_plotly_json()
    layout = drawn["layout"]
    layout.pop("template", None)
    title, context = split_title(str((layout.pop("title", None) or {}).get("text") or name))
    height, margin = int(layout.get("height") or 450), dict(layout.get("margin") or {})
    layout["height"] = height - max(0, int(margin.get("t", TOP)) - TOP)
    layout["margin"] = {**margin, "t": min(TOP, int(margin.get("t", TOP)))}
    return Panel(
        id=slugs.new(name),
        title=title,
        context=context,
        alt=explain(figure) or title,
        json=to_json_plotly({"data": drawn["data"], "layout": layout}),
        height=layout["height"],
        scenes=_scenes(drawn),
        figure=figure,
    )


def split_title(text: str) -> tuple[str, str]:
    """Plotly's title as plain text: its first line, and the rest.

    >>> split_title("<b>Regret</b><br><span style='font-size:12px'>a &lt;b&gt; · T = 5</span>")
    ('Regret', 'a <b> · T = 5')
    """
    lines = [html.unescape(re.sub(r"<[^>]*>", "", line)) for line in re.split(r"<br\s*/?>", text)]
    return lines[0], " · ".join(line for line in lines[1:] if line)


def _scenes(drawn: dict[str, Any]) -> int:
    """Scenes of 3-D traces; a flat trace that is drawn by WebGL takes contexts too."""
    kinds = [trace.get("type") for trace in drawn["data"]]
    places = {trace.get("scene", "scene") for trace in drawn["data"] if trace.get("type") in THREE_D}
    return len(places) + any(kind in GL for kind in kinds)
