"""Private parts of optuna-dashboard: how it stores figures in the attributes of a study."""

from collections.abc import Mapping
from typing import Any

PRIVATE = ("optuna_dashboard._custom_plot_data.SYSTEM_ATTR_PLOT_DATA",)
"""Names of modules and classes."""

PLOT_DATA = "dashboard:plot_data:"
"""Start of the attributes that hold figures."""


def stored_figure(attributes: Mapping[str, Any], name: str) -> str:
    """Return the stored rows of a figure, joined: JSON, or an incomplete or empty text if rows are missing.

    >>> stored_figure({"dashboard:plot_data:a:1": "2]", "dashboard:plot_data:a:0": "[1, "}, "a")
    '[1, 2]'
    """
    keys = (f"{PLOT_DATA}{name}:{place}" for place in range(len(attributes)))
    return "".join(attributes[key] for key in keys if key in attributes)
