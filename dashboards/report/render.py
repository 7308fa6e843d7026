"""From the page to HTML."""

from __future__ import annotations

from pathlib import Path

from dashboards.html import assets, environment
from dashboards.report.gather import Material
from dashboards.report.page import Page, build
from studies.export import export

FOLDER = Path(__file__).parent


def render(material: Material, page: Page | None = None) -> str:
    """The text of the HTML file."""
    page = build(material) if page is None else page
    template = environment(FOLDER).get_template("report.html.j2")
    return template.render(page=page, **assets(page.all_panels, _exports(material, page)))


def _exports(material: Material, page: Page) -> dict[str, dict[str, str]]:
    """What the buttons give: for each row what `ravenlab export` says of its study alone."""
    return {
        row.id: {form: export([each], form) for form in ("json", "toml")}
        for row, each in zip(page.rows, material.recommendations, strict=True)
    }
