"""The report's figures as files: HTML always, pictures where there is a browser to draw them."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from dashboards.figures import themed
from environments.errors import InputError

if TYPE_CHECKING:
    from dashboards.report.page import Page

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
WIDTH = 1000


def write_pictures(page: Page, folder: Path) -> tuple[int, str]:
    """Write every figure; gives how many files, and a line about what could not be made, if anything.

    The HTML files share one plotly.min.js beside them. Pictures are SVG, or PNG where a figure is three-dimensional,
    for white paper.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"figures {folder} can't be created: {error.strerror}.", field="figures") from None
    panels = page.all_panels
    for each in panels:
        path = folder / f"{each.id}.html"
        themed(each.figure, dark=False).write_html(path, include_plotlyjs="directory", full_html=True)
    trouble = _without()
    if trouble or not panels:
        return len(panels), trouble
    try:
        _draw(page, folder)
    except Exception as error:  # whatever a browser says: the HTML files are there and the report is whole
        first = " ".join(str(error).split())[:200] or type(error).__name__
        return len(panels), f"figures were written as HTML only: the browser could not draw them ({first})."
    return 2 * len(panels), ""


def _without() -> str:
    """What is missing for pictures, in one line; empty where nothing is."""
    if importlib.util.find_spec("kaleido") is None:
        return "figures were written as HTML only: kaleido is missing (pip install 'ravenlab[images]')."
    if not (os.environ.get("BROWSER_PATH") or any(shutil.which(name) for name in BROWSERS)):
        return "figures were written as HTML only: kaleido needs Chrome or Chromium, and none was found."
    return ""


def _draw(page: Page, folder: Path) -> None:
    """All pictures with one browser: starting it takes longer than drawing."""
    import plotly.io

    panels = page.all_panels
    drawn, paths = [], []
    for each in panels:
        figure = themed(each.figure, dark=False)
        figure.update_layout(paper_bgcolor="#ffffff")
        drawn.append(figure)
        paths.append(folder / f"{each.id}.{'png' if each.scenes else 'svg'}")
    plotly.io.write_images(drawn, paths, width=WIDTH)
