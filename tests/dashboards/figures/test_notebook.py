"""Figures in notebooks: readable on white and on dark backgrounds."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from plotly.offline import get_plotlyjs

from ravenlab.dashboards.figures import plot_recommendations
from ravenlab.dashboards.figures.notebook import NotebookFigure, make_style
from tests.dashboards.figures.test_style import contrast
from tests.studies.examples import make_recommendation

if TYPE_CHECKING:
    from playwright.sync_api import Page

COLORS = """() => {
    const read = (query, name) => [...document.querySelectorAll(query)].map(part => getComputedStyle(part)[name]);
    return {
        text: read('.gtitle, .xtick text, .xtitle', 'fill'),
        marks: [...read('.point', 'fill'), ...read('.xerror', 'stroke')],
    };
}"""
THEMES = {
    "light": ('<body data-jp-theme-light="true" style="--jp-ui-font-color1: #212121">', "#ffffff"),
    "dark": ('<body data-jp-theme-light="false" style="--jp-ui-font-color1: #ffffff">', "#111111"),
    "vscode": ('<body class="vscode-dark" style="color: #cccccc">', "#1f1f1f"),
}


@pytest.mark.parametrize("theme", THEMES)
def test_text_and_marks_have_enough_contrast(theme: str, offline_page: Page, tmp_path: Path) -> None:
    body, background = THEMES[theme]
    figure = plot_recommendations([make_recommendation()])
    shown = f"{make_style()}{body}<script>{get_plotlyjs()}</script>{figure.to_html(False, include_plotlyjs=False)}"
    path = tmp_path / "cell.html"
    path.write_text(f"<!doctype html><meta charset=utf-8>{shown}", encoding="utf-8")
    offline_page.goto(path.as_uri())
    offline_page.locator(".gtitle").wait_for()
    colors = {kind: set(map(to_hex, found)) for kind, found in offline_page.evaluate(COLORS).items()}
    assert len(colors["marks"]) >= 3
    assert all(contrast(color, background) >= 4.5 for color in colors["text"]), colors
    assert all(contrast(color, background) >= 3.0 for color in colors["marks"]), colors


def to_hex(color: str) -> str:
    """Convert rgb(…) to a hex color."""
    return "#" + "".join(f"{int(level):02x}" for level in re.findall(r"\d+", color)[:3])


def test_figures_are_displayed_with_the_style_sheet(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    monkeypatch.setattr("IPython.display.display", lambda content, raw: shown.append(content))
    monkeypatch.setattr("plotly.io.show", shown.append)
    monkeypatch.setattr("plotly.io.renderers.default", "plotly_mimetype")
    figure = plot_recommendations([make_recommendation()])
    assert isinstance(figure, NotebookFigure)
    figure._ipython_display_()
    assert shown[0] == {"text/html": make_style(), "text/plain": ""}
    assert shown[1] is figure
    assert "ravenlab" not in json.loads(figure.to_json())["layout"]
