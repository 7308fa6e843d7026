"""From the page to HTML."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from dashboards.comparison.page import build
from dashboards.html import assets, environment
from studies.comparison.document import Document

FOLDER = Path(__file__).parent


def render(document: Document) -> str:
    """The text of `compare.html`: one file that asks nothing of any network."""
    page = build(document)
    template = environment(FOLDER).get_template("comparison.html.j2")
    own = Markup((FOLDER / "comparison.css").read_text(encoding="utf-8"))
    shared = assets(page.all_panels)
    return template.render(page=page, **{**shared, "css": shared["css"] + own})
