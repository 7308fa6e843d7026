"""Lines of arms over time, and which of many arms are drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from dashboards.figures._scales import numbers
from dashboards.figures._style import BLUE, DASHES, GREEN, ORANGE, PINK, SKY, Trace
from dashboards.figures._titles import safe
from environments.world import Floats

ARMS = (SKY, ORANGE, GREEN, PINK, BLUE)
MOST_ARMS = 8


def arm_style(place: int) -> dict[str, Any]:
    """Colour and dash of the arm at a place; no two of the first thirty have both in common."""
    return {"color": ARMS[place % len(ARMS)], "dash": DASHES[place % len(DASHES)], "width": 1.2}


def arm_line(x: Floats, values: Floats, name: str, place: int, where: str = "row") -> Trace:
    """A recorded arm over time, with gaps where it has no value."""
    return {
        "type": "scatter",
        "x": numbers(x),
        "y": numbers(values),
        "mode": "lines",
        "connectgaps": False,
        "line": arm_style(place),
        "name": safe(name, 24),
        "hovertemplate": f"{safe(name, 40)}<br>{where} %{{x}}<br>%{{y}}<extra></extra>",
    }


def arms_to_draw(time: Any, means: Floats) -> list[int]:
    """All of a few arms; of many those that are the best for the longest time, then the best on average.

    >>> arms_to_draw(np.array([0, 5, 5]), np.array([[0.1, 0.2, 0.3]]))
    [0, 1, 2]
    >>> arms_to_draw(np.array([9, *[0] * 19]), np.arange(20.0)[None])
    [0, 13, 14, 15, 16, 17, 18, 19]
    """
    if time.size <= MOST_ARMS + 4:
        return list(range(time.size))
    average = np.nan_to_num(np.nanmean(means, axis=0))
    return sorted(int(k) for k in np.lexsort((-average, -time))[:MOST_ARMS])
