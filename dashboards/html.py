"""What our HTML files share: one file that asks nothing of any network, and figures drawn when they come into view."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from dashboards.figures import THEMES
from dashboards.report.panels import Panel
from environments.text import capitalize_first

if TYPE_CHECKING:
    import jinja2

SHARED = Path(__file__).parent / "report"
"""The folder of the style sheet, the script and the macros."""

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


def environment(folder: Path) -> jinja2.Environment:
    """Jinja for the templates of a folder and the shared ones: everything escaped, nothing silently missing."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader([folder, SHARED]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["capitalize_first"] = capitalize_first
    return made


def assets(panels: Sequence[Panel], exports: Any = None) -> dict[str, Any]:
    """What a template needs to draw its figures: styles, scripts, and the figures themselves."""
    from plotly.offline import get_plotlyjs

    return {
        "held": [(panel.id, Markup(in_script(panel.json))) for panel in panels],
        "policy": POLICY,
        "css": Markup(_text("report.css")),
        "js": Markup(_text("report.js")),
        "plotly": Markup(get_plotlyjs()) if panels else "",
        "exports": Markup(in_script(json.dumps(exports or {}))),
        "themes": Markup(in_script(json.dumps(THEMES))),
    }


def render_page(folder: Path, name: str, panels: Sequence[Panel], /, **shown: Any) -> str:
    """The text of a page whose template and style sheet, both of one name, lie in a folder; the style adds to ours."""
    template = environment(folder).get_template(f"{name}.html.j2")
    shared = assets(panels)
    own = Markup((folder / f"{name}.css").read_text(encoding="utf-8"))
    return template.render(**shown, **{**shared, "css": shared["css"] + own})


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
    return (SHARED / name).read_text(encoding="utf-8")
