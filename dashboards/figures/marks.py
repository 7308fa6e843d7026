"""Marks that have one meaning in all figures, colors of ordered lines with places of their labels, and color bars."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ravenlab.dashboards.figures import style

EDGE = "#1f2328"
MARKS: dict[str, dict[str, Any]] = {
    "recommended": {"symbol": "circle", "size": 12, "color": style.BLUE, "line": {"color": EDGE, "width": 1.5}},
    "paper": {"symbol": "square", "size": 13, "color": style.ORANGE, "line": {"color": EDGE, "width": 1.5}},
    "defaults": {"symbol": "diamond", "size": 14, "color": style.GREY, "line": {"color": EDGE, "width": 1.5}},
    "lowest": {"symbol": "circle-open", "size": 22, "color": style.GREY, "line": {"width": 2.5}},
}
"""Marks that have one meaning in all figures: the recommended parameters, the baselines, the lowest cell or trial."""

RAMP = ("#12908e", "#7a72d6", "#cc4e94")
"""Colors of lines whose values have an order, from the smallest; visible on light and dark pages."""


def choose_ramp_colors(ends: Sequence[float], values: Sequence[float]) -> list[str]:
    """Choose colors of the ramp for values between the smallest and the largest of others.

    >>> choose_ramp_colors([0.1, 10.0], [0.1, 1.0, 10.0]) == list(RAMP)
    True
    """
    log = style.choose_axis_type([min(ends), max(ends)]) == "log"
    points = np.log(values) if log else np.asarray(values, dtype=float)
    low, high = (math.log(end) if log else end for end in (min(ends), max(ends)))
    stops = [[int(color[i : i + 2], 16) for i in (1, 3, 5)] for color in RAMP]
    shares = np.clip((points - low) / ((high - low) or 1.0), 0.0, 1.0) * (len(RAMP) - 1)
    channels = [np.interp(shares, range(len(RAMP)), channel) for channel in zip(*stops, strict=True)]
    return ["#" + "".join(f"{round(level):02x}" for level in levels) for levels in zip(*channels, strict=True)]


def spread_apart(places: Sequence[float], gap: float, low: float = -math.inf, high: float = math.inf) -> list[float]:
    """Move labels apart until neighbors are at least `gap` apart, as little as possible, in their order.

    They stay between `low` and `high` if there is room.

    >>> spread_apart([5.0, 1.0, 1.0], 2.0), spread_apart([5.0, 1.0, 1.0], 2.0, low=1.0)
    ([5.0, 0.0, 2.0], [5.0, 1.0, 3.0])
    """
    order = sorted(range(len(places)), key=lambda i: places[i])
    blocks: list[list[float]] = []  # positions minus the gaps below, pooled until they increase
    for rank, i in enumerate(order):
        blocks.append([places[i] - rank * gap])
        while len(blocks) > 1 and np.mean(blocks[-2]) >= np.mean(blocks[-1]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    highest = max(low, high - gap * (len(places) - 1))
    level = [min(max(float(np.mean(block)), low), highest) for block in blocks for _ in block]
    moved = {i: level[rank] + rank * gap for rank, i in enumerate(order)}
    return [moved[i] for i in range(len(places))]


def make_color_bar(places: Sequence[float], labels: Sequence[str], pad: int = 6, share: float = 1.0) -> dict[str, Any]:
    """Make a color bar above the plot, `pad` pixels from it, over a share of its width."""
    return {
        "title": {"text": "", "side": "right"},  # Plotly moves the title of the figure if there is another one
        "orientation": "h",
        "thickness": 10,
        "outlinewidth": 0,
        "x": 0.0,
        "xanchor": "left",
        "y": 1.0,
        "yanchor": "bottom",
        "len": share,
        "xpad": 0,
        "ypad": pad,
        "tickangle": 0,
        "tickvals": style.round_numbers(places),
        "ticktext": list(labels),
    }


def make_color_title(text: str, pad: int = 6) -> dict[str, Any]:
    """Make the title above a color bar."""
    return {
        "text": text,
        "showarrow": False,
        "xref": "paper",
        "yref": "paper",
        "x": 0.0,
        "y": 1.0,
        "yshift": pad + 28,
        "xanchor": "left",
        "yanchor": "bottom",
    }
