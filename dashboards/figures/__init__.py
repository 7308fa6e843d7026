"""Plotly figures, one file each, usable from a notebook: every function returns a `plotly.graph_objects.Figure`.

Nothing is imported before it is asked for. A figure reads on light and on dark pages; `themed` makes it
crisp for one of them, `explain` gives its alt text.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dashboards.figures.comparison import critical_difference, standings, winners
    from dashboards.figures.curves import curves, regret_curves
    from dashboards.figures.diagnosis import diagnosis
    from dashboards.figures.distributions import distributions
    from dashboards.figures.heat_map import heat_map
    from dashboards.figures.history import HistoryPoint, history
    from dashboards.figures.parameters import horizons, importances
    from dashboards.figures.recorded import logged, recorded
    from dashboards.figures.robust import front, prices
    from dashboards.figures.sensitivity_lines import sensitivity_lines
    from dashboards.figures.style import THEMES, explain, themed
    from dashboards.figures.surface import surface
    from dashboards.figures.world import world


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

_MODULES = {
    "HistoryPoint": "history",
    "THEMES": "style",
    "critical_difference": "comparison",
    "curves": "curves",
    "diagnosis": "diagnosis",
    "distributions": "distributions",
    "explain": "style",
    "front": "robust",
    "heat_map": "heat_map",
    "history": "history",
    "horizons": "parameters",
    "importances": "parameters",
    "logged": "recorded",
    "prices": "robust",
    "recorded": "recorded",
    "regret_curves": "curves",
    "sensitivity_lines": "sensitivity_lines",
    "standings": "comparison",
    "surface": "surface",
    "themed": "style",
    "winners": "comparison",
    "world": "world",
}
"""The module of each public name."""


def __getattr__(name: str) -> Any:
    """Import a figure's module when the figure is first used."""
    if name not in _MODULES:
        raise AttributeError(f"module 'dashboards.figures' has no attribute {name!r}")
    return getattr(importlib.import_module(f"dashboards.figures.{_MODULES[name]}"), name)
