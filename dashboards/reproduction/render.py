"""From the page to HTML."""

from __future__ import annotations

from pathlib import Path

from dashboards.html import render_page
from dashboards.reproduction.page import build
from studies.reproduction.document import Document


def render(document: Document) -> str:
    """The text of `reproduction.html`: one file that asks nothing of any network."""
    page = build(document)
    return render_page(Path(__file__).parent, "reproduction", page.all_panels, page=page)
