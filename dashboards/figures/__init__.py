"""Plotly figures, one file each, usable from a notebook: every function returns a `plotly.graph_objects.Figure`.

Nothing is imported before it is asked for. A figure reads on light and on dark pages; `themed` makes it
crisp for one of them, `explain` gives its alt text.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dashboards.figures._critical_difference import critical_difference
    from dashboards.figures._curves import curves
    from dashboards.figures._diagnosis import diagnosis
    from dashboards.figures._distributions import distributions
    from dashboards.figures._front import front
    from dashboards.figures._heat_map import heat_map
    from dashboards.figures._history import HistoryPoint, history
    from dashboards.figures._horizons import horizons
    from dashboards.figures._importances import importances
    from dashboards.figures._logged import logged
    from dashboards.figures._prices import prices
    from dashboards.figures._recorded import recorded
    from dashboards.figures._regret_curves import regret_curves
    from dashboards.figures._sensitivity_lines import sensitivity_lines
    from dashboards.figures._standings import standings
    from dashboards.figures._style import THEMES, explain, themed
    from dashboards.figures._surface import surface
    from dashboards.figures._winners import winners
    from dashboards.figures._world import world

__all__ = [
    "THEMES",
    "HistoryPoint",
    "critical_difference",
    "curves",
    "diagnosis",
    "distributions",
    "explain",
    "front",
    "heat_map",
    "history",
    "horizons",
    "importances",
    "logged",
    "prices",
    "recorded",
    "regret_curves",
    "sensitivity_lines",
    "standings",
    "surface",
    "themed",
    "winners",
    "world",
]

_ELSEWHERE = {
    "THEMES": "_style",
    "HistoryPoint": "_history",
    "explain": "_style",
    "themed": "_style",
}
"""Public names whose file is not their name with an underscore before it."""


def __getattr__(name: str) -> Any:
    """Import a figure's file when it is asked for."""
    if name not in __all__:
        raise AttributeError(f"module 'dashboards.figures' has no attribute {name!r}")
    return getattr(importlib.import_module(f"dashboards.figures.{_ELSEWHERE.get(name, '_' + name)}"), name)
