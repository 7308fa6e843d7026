"""Figures small enough to be kept in a database, and of the size that Optuna's dashboard gives them."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import plotly.graph_objects as go

DIGITS = 5
HEIGHT = 450
"""Pixels that the dashboard gives a figure."""


def slim(figure: go.Figure) -> go.Figure:
    """The same picture in fewer bytes: numbers as short lists, which older dashboards read too.

    >>> import numpy as np, plotly.graph_objects as go
    >>> slim(go.Figure(go.Scatter(y=np.array([1 / 3, 2.0])))).data[0].y
    (0.33333, 2.0)
    """
    import plotly.graph_objects as go

    plain = _shorter(figure.to_plotly_json())
    layout = plain["layout"]
    layout.pop("width", None)
    out = go.Figure(data=plain["data"], layout={**layout, "height": HEIGHT, "autosize": True})
    out.layout.template = None  # Plotly's own, larger than most figures, and added whatever a layout says
    return out


def _shorter(value: Any) -> Any:
    if isinstance(value, dict):
        if "bdata" in value:
            return _shorter(_decoded(value))
        return {key: _shorter(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_shorter(each) for each in value]
    if isinstance(value, np.ndarray):
        return _shorter(value.tolist())
    if isinstance(value, (float, np.floating)):
        return float(f"{value:.{DIGITS}g}")
    return value


def _decoded(packed: dict[str, Any]) -> Any:
    """An array as Plotly packs it."""
    flat = np.frombuffer(base64.b64decode(packed["bdata"]), dtype=packed["dtype"])
    shape = packed.get("shape")
    return (flat if shape is None else flat.reshape([int(n) for n in str(shape).split(",")])).tolist()
