"""From the page to HTML: one file that asks nothing of any network."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

from markupsafe import Markup

from dashboards.figures import THEMES
from dashboards.report.gather import Material
from dashboards.report.page import Page, build
from studies.export import export

FOLDER = Path(__file__).parent

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'unsafe-inline'",
        "style-src 'unsafe-inline'",
        "img-src data: blob:",
        "font-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    )
)
"""What the browser lets the page do: nothing that needs another host."""


def render(material: Material, page: Page | None = None) -> str:
    """The text of the HTML file."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from plotly.offline import get_plotlyjs

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["capitalised"] = lambda text: text[:1].upper() + text[1:]
    page = build(material) if page is None else page
    shown = [(panel.id, Markup(in_script(panel.json))) for panel in page.all_panels]
    return environment.get_template("report.html.j2").render(
        page=page,
        held=shown,
        policy=POLICY,
        css=Markup(_text("report.css")),
        js=Markup(_text("report.js")),
        plotly=Markup(get_plotlyjs()) if shown else "",
        exports=Markup(in_script(_exports(material, page))),
        themes=Markup(in_script(json.dumps(THEMES))),
    )


def _exports(material: Material, page: Page) -> str:
    """What the buttons give: for each row what `ravenlab export` says of its study alone."""
    texts: dict[str, dict[str, str]] = {}
    for row, each in zip(page.rows, material.recommendations, strict=True):
        texts[row.id] = {form: export([each], form) for form in ("json", "toml")}
    return json.dumps(texts)


def in_script(text: str) -> str:
    """JSON that can stand inside a script element: nothing in it can end the element or a line of code.

    >>> in_script('["</script>", "<!--"]')
    '["\\\\u003c/script\\\\u003e", "\\\\u003c!--"]'
    """
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


@lru_cache(maxsize=4)
def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
