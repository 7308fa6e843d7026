"""Plotly figures of studies, grids, comparisons and worlds. Every `plot_*` function returns a Plotly figure.

Modules are imported on first use. Figures are readable on light and dark pages; `apply_theme` adapts one to a known
background, `get_alt_text` returns its description.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ravenlab.dashboards.figures.card import plot_card as plot_card
    from ravenlab.dashboards.figures.comparison import plot_comparison_curves as plot_comparison_curves
    from ravenlab.dashboards.figures.comparison import plot_critical_difference as plot_critical_difference
    from ravenlab.dashboards.figures.comparison import plot_ranking as plot_ranking
    from ravenlab.dashboards.figures.comparison import plot_relative_regret as plot_relative_regret
    from ravenlab.dashboards.figures.comparison import plot_standings as plot_standings
    from ravenlab.dashboards.figures.curves import plot_curves as plot_curves
    from ravenlab.dashboards.figures.diagnosis import plot_diagnosis as plot_diagnosis
    from ravenlab.dashboards.figures.distributions import plot_distributions as plot_distributions
    from ravenlab.dashboards.figures.grid import plot_heat_map as plot_heat_map
    from ravenlab.dashboards.figures.grid import plot_sensitivity_lines as plot_sensitivity_lines
    from ravenlab.dashboards.figures.grid_panels import plot_sensitivity_panels as plot_sensitivity_panels
    from ravenlab.dashboards.figures.intervals import plot_recommendations as plot_recommendations
    from ravenlab.dashboards.figures.intervals import plot_scores as plot_scores
    from ravenlab.dashboards.figures.parameters import plot_params_by_horizon as plot_params_by_horizon
    from ravenlab.dashboards.figures.recorded import plot_log as plot_log
    from ravenlab.dashboards.figures.recorded import plot_trace as plot_trace
    from ravenlab.dashboards.figures.robust import plot_prices as plot_prices
    from ravenlab.dashboards.figures.style import THEMES as THEMES
    from ravenlab.dashboards.figures.style import apply_theme as apply_theme
    from ravenlab.dashboards.figures.style import get_alt_text as get_alt_text
    from ravenlab.dashboards.figures.world import plot_world as plot_world

_MODULES = {
    "card": ("plot_card",),
    "comparison": (
        "plot_comparison_curves",
        "plot_critical_difference",
        "plot_ranking",
        "plot_relative_regret",
        "plot_standings",
    ),
    "curves": ("plot_curves",),
    "diagnosis": ("plot_diagnosis",),
    "distributions": ("plot_distributions",),
    "grid": ("plot_heat_map", "plot_sensitivity_lines"),
    "grid_panels": ("plot_sensitivity_panels",),
    "intervals": ("plot_recommendations", "plot_scores"),
    "parameters": ("plot_params_by_horizon",),
    "recorded": ("plot_log", "plot_trace"),
    "robust": ("plot_prices",),
    "style": ("THEMES", "apply_theme", "get_alt_text"),
    "world": ("plot_world",),
}


def __getattr__(name: str) -> Any:
    """Import a figure's module when the figure is first used."""
    for module, names in _MODULES.items():
        if name in names:
            return getattr(importlib.import_module(f"ravenlab.dashboards.figures.{module}"), name)
    raise AttributeError(f"module 'ravenlab.dashboards.figures' has no attribute {name!r}")
