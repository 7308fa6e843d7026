"""Plotly figures, one file each, usable from a notebook: every function returns a `plotly.graph_objects.Figure`.

Nothing is imported before it is asked for. A figure reads on light and on dark pages; `themed` makes it
crisp for one of them, `explain` gives its alt text.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dashboards.figures.comparison import plot_critical_difference, plot_standings, plot_winners
    from dashboards.figures.curves import plot_curves, plot_regret_curves
    from dashboards.figures.diagnosis import plot_diagnosis
    from dashboards.figures.distributions import plot_distributions
    from dashboards.figures.heat_map import plot_heat_map
    from dashboards.figures.history import HistoryPoint, plot_history
    from dashboards.figures.parameters import plot_horizons, plot_importances
    from dashboards.figures.recorded import plot_logged, plot_recorded
    from dashboards.figures.robust import plot_front, plot_prices
    from dashboards.figures.sensitivity_lines import plot_sensitivity_lines
    from dashboards.figures.style import THEMES, explain, themed
    from dashboards.figures.surface import plot_surface
    from dashboards.figures.world import plot_world


__all__ = [
    "THEMES",
    "HistoryPoint",
    "explain",
    "plot_critical_difference",
    "plot_curves",
    "plot_diagnosis",
    "plot_distributions",
    "plot_front",
    "plot_heat_map",
    "plot_history",
    "plot_horizons",
    "plot_importances",
    "plot_logged",
    "plot_prices",
    "plot_recorded",
    "plot_regret_curves",
    "plot_sensitivity_lines",
    "plot_standings",
    "plot_surface",
    "plot_winners",
    "plot_world",
    "themed",
]

_MODULES = {
    "HistoryPoint": "history",
    "THEMES": "style",
    "plot_critical_difference": "comparison",
    "plot_curves": "curves",
    "plot_diagnosis": "diagnosis",
    "plot_distributions": "distributions",
    "explain": "style",
    "plot_front": "robust",
    "plot_heat_map": "heat_map",
    "plot_history": "history",
    "plot_horizons": "parameters",
    "plot_importances": "parameters",
    "plot_logged": "recorded",
    "plot_prices": "robust",
    "plot_recorded": "recorded",
    "plot_regret_curves": "curves",
    "plot_sensitivity_lines": "sensitivity_lines",
    "plot_standings": "comparison",
    "plot_surface": "surface",
    "themed": "style",
    "plot_winners": "comparison",
    "plot_world": "world",
}
"""The module of each public name."""


def __getattr__(name: str) -> Any:
    """Import a figure's module when the figure is first used."""
    if name not in _MODULES:
        raise AttributeError(f"module 'dashboards.figures' has no attribute {name!r}")
    return getattr(importlib.import_module(f"dashboards.figures.{_MODULES[name]}"), name)
