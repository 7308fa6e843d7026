"""Figures for a storage are made small."""

from __future__ import annotations

import json

import numpy as np
import plotly.graph_objects as go

from dashboards.optuna_dashboard.attach import shrink_figure


def test_arrays_become_short_lists() -> None:
    figure = go.Figure(go.Heatmap(z=np.arange(6.0).reshape(2, 3) / 3), layout={"width": 900})
    figure.add_scatter(y=np.arange(3))
    small = json.loads(shrink_figure(figure).to_json())
    assert small["data"][0]["z"] == [[0.0, 0.33333, 0.66667], [1.0, 1.3333, 1.6667]]
    assert small["data"][1]["y"] == [0, 1, 2]
    assert "width" not in small["layout"]
    assert len(shrink_figure(figure).to_json()) < 400
