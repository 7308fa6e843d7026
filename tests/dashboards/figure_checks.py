"""Checks that every figure must pass, and example grids."""

import json
import re
from typing import Any

import numpy as np

from ravenlab.dashboards.figures import get_alt_text
from ravenlab.studies.registry import PAPER_VALUES
from ravenlab.studies.results.grid import Grid
from ravenlab.studies.spec.grid import GridSpec

FINE = tuple(float(f"{value:.6g}") for value in np.geomspace(0.01, 10.0, 25))


def make_grid(
    alpha0: tuple[float, ...] = PAPER_VALUES, beta0: tuple[float, ...] = PAPER_VALUES, **changes: Any
) -> Grid:
    """Make a grid whose lowest cell is at α₀ = 1, β₀ = 1, if it has this cell."""
    settings: dict[str, Any] = {"scenario": "variance-drift", "horizon": 1000, "replications": 500, **changes}
    spec = GridSpec(alpha0=alpha0, beta0=beta0, **settings)
    a, b = np.meshgrid(np.log(alpha0), np.log(beta0), indexing="ij")
    mean = 13.55 + 7.1234567 * a**2 + 1.7654321 * b**2
    return Grid(spec, spec.study_name(), mean, mean / 50, mean < mean.min() * 1.25)


def check_figure(figure: Any, most: int = 25_000, title: tuple[str, ...] = ("T = ", "K = ", "R = ")) -> dict[str, Any]:
    """Check size, numbers, title, description and hover texts of a figure; return its JSON."""
    text = figure.to_json()
    assert len(text) < most, len(text)
    assert "NaN" not in text
    assert "Infinity" not in text
    out: dict[str, Any] = json.loads(text)
    layout = out["layout"]
    assert not layout.get("template")
    assert layout["paper_bgcolor"] == "rgba(0,0,0,0)"
    for part in title:
        assert part in layout["title"]["text"]
    assert len(get_alt_text(figure)) > 20
    for line in re.split("<br>", re.sub("<(?!br)[^>]*>", "", layout["title"]["text"])):
        assert len(line) < 80
    for trace in out["data"]:
        assert "bdata" not in json.dumps(trace)
        assert trace.get("hoverinfo") == "skip" or trace.get("x") == [None] or "hovertemplate" in trace
        if "hovertemplate" in trace:
            assert trace["hovertemplate"].endswith("<extra></extra>")
    return out


def shown_text(out: dict[str, Any]) -> str:
    """Return everything that Plotly renders: all but the description."""
    return json.dumps({"data": out["data"], "layout": {**out["layout"], "meta": None}}, ensure_ascii=False)


def legend_names(figure: Any) -> list[str]:
    return [trace.name for trace in figure.data if trace.name and trace.showlegend is not False]
