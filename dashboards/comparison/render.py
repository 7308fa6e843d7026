"""From the page to HTML."""

from __future__ import annotations

from pathlib import Path

from dashboards.comparison.page import build
from dashboards.html import render_page
from studies.comparison.document import Document


def render(document: Document) -> str:
    """The text of `compare.html`: one file that asks nothing of any network."""
    page = build(document)
    return render_page(Path(__file__).parent, "comparison", page.all_panels, page=page)
