"""Parts that all pages share: tables, figures, links, and rendering with Jinja."""

from __future__ import annotations

import hashlib
import html
import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from ravenlab.common.cells import Cell, Values
from ravenlab.common.text import capitalize_first, format_range, keep_pairs_together
from ravenlab.dashboards.figures import THEMES, get_alt_text, style
from ravenlab.dashboards.figures.style import Figure

if TYPE_CHECKING:
    import jinja2

TEMPLATES = Path(__file__).parent / "templates"

MAX_SLUG_LENGTH = 80  # file names may have 255 bytes, including prefixes and extensions
TOP_MARGIN = 30  # pixels above a figure without a title, for Plotly's buttons


CONTENT_SECURITY_POLICY = "; ".join(
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
"""Forbids every request to another host."""


@dataclass(frozen=True)
class ContentsEntry:
    """An entry of the table of contents."""

    id: str
    title: str
    children: list[ContentsEntry] = field(default_factory=list)


@dataclass(frozen=True)
class Panel:
    """A figure on a page."""

    id: str
    title: str
    context: str
    alt: str
    json: str
    height: int
    figure: Figure


class Slugs:
    """Unique slugs for the links of a page.

    >>> slugs = Slugs()
    >>> slugs.new("a/b"), slugs.new("a-b")
    ('a-b', 'a-b-2')
    """

    def __init__(self) -> None:
        self._used: set[str] = set()

    def new(self, name: str) -> str:
        """Return the slug of a name, numbered if it is in use."""
        base = candidate = slugify(name)
        number = 1
        while candidate in self._used:
            number += 1
            candidate = f"{base}-{number}"
        self._used.add(candidate)
        return candidate


def slugify(name: str) -> str:
    """Convert a name to lower-case letters, digits and hyphens; a hash is appended if information is lost.

    >>> slugify("raven-ucb/blips/T1000/K10")
    'raven-ucb-blips-t1000-k10'
    >>> slugify("<b>").startswith("b-") and slugify("<b>") != slugify("b")
    True
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain)[:MAX_SLUG_LENGTH].strip("-")
    if re.fullmatch(r"[A-Za-z0-9]+([-/_.][A-Za-z0-9]+)*", name) and len(name) <= MAX_SLUG_LENGTH:
        return slug
    return f"{slug or 'name'}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def make_panel(slugs: Slugs, name: str, figure: Figure, height: int | None = None) -> Panel:
    """Prepare a figure for a page: its title becomes the caption, and its data become JSON.

    Args:
        slugs: Slugs in use on the page.
        name: Name of the figure, for its slug.
        figure: The figure.
        height: Height in pixels, if it should differ from that of the figure.
    """
    from plotly.io.json import to_json_plotly

    content: dict[str, Any] = figure.to_plotly_json()
    layout = content["layout"]
    layout.pop("template", None)
    title, context = split_title(str((layout.pop("title", None) or {}).get("text") or name))
    figure_height = int(layout.get("height") or 450)
    margin = dict(layout.get("margin") or {})
    before = int(margin.get("t", TOP_MARGIN))
    top = min(before, max(TOP_MARGIN, int((layout.get("meta") or {}).get("top", 0)) + 6))
    layout["height"] = height or figure_height - (before - top)
    layout["margin"] = {**margin, "t": top}
    return Panel(
        id=slugs.new(name),
        title=title,
        context=context,
        alt=get_alt_text(figure) or title,
        json=to_json_plotly({"data": content["data"], "layout": layout}),
        height=layout["height"],
        figure=figure,
    )


def split_title(text: str) -> tuple[str, str]:
    """Split a Plotly title into its first line and the rest, as plain text.

    >>> split_title("<b>Regret</b><br><span style='font-size:12px'>a &lt;b&gt; · T = 5</span>")
    ('Regret', 'a <b> · T = 5')
    """
    lines = [html.unescape(re.sub(r"<[^>]*>", "", line)) for line in re.split(r"<br\s*/?>", text)]
    return lines[0], " · ".join(line for line in lines[1:] if line)


def render_page(name: str, panels: Sequence[Panel], exports: Any = None, /, **variables: Any) -> str:
    """Render the template of a page as one self-contained HTML file.

    Args:
        name: Name of the template, of its style sheet, which is added to that of the report, and of its script if it
            has one instead of that of the report.
        panels: All figures of the page.
        exports: Data for the copy and save buttons, by row.
        variables: Variables of the template.
    """
    from plotly.offline import get_plotlyjs

    sheets = dict.fromkeys(("report.css", "maps.css", f"{name}.css"))
    own_script = name != "report" and (TEMPLATES / f"{name}.js").exists()
    scripts = (f"{name}.js",) if own_script else ("maps.js", "report.js")
    return (
        _environment()
        .get_template(f"{name}.html.j2")
        .render(
            **variables,
            figures=[(panel.id, Markup(escape_json(panel.json))) for panel in panels],
            policy=CONTENT_SECURITY_POLICY,
            css=Markup(_write_mark_colors() + "".join(map(_read_asset, sheets))),
            js=Markup("".join(map(_read_asset, scripts))),
            plotly=Markup(get_plotlyjs()) if panels else "",
            exports=Markup(escape_json(json.dumps(exports or {}))),
            themes=Markup(escape_json(json.dumps({**THEMES, "colors": style.dark_replacements()}))),
        )
    )


def _write_mark_colors() -> str:
    """Write the colors of the marks as variables of the style sheets, so that text and figures have the same ones."""
    marks = {"recommended": style.BLUE, "paper-advice": style.ORANGE, "defaults": style.GREY}
    light = "".join(f"--{name}: {color};" for name, color in marks.items())
    dark = "".join(f"--{name}: {style.DARK_COLORS[color]};" for name, color in marks.items())
    return f":root {{{light}}}\n@media (prefers-color-scheme: dark) {{:root {{{dark}}}}}\n"


def escape_json(text: str) -> str:
    """Escape JSON for a script element, so that nothing in it can end the element.

    >>> escape_json('["</script>", "<!--"]')
    '["\\\\u003c/script\\\\u003e", "\\\\u003c!--"]'
    """
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def keep_equations(text: str) -> str:
    """Prevent line breaks around equals signs, before percent signs, and between a parameter and its value.

    >>> keep_equations("K = 10, ε 0.1").split(" ")[0] == "K\\N{NO-BREAK SPACE}=\\N{NO-BREAK SPACE}10,"
    True
    """
    return re.sub(r" (?=[=%\d−])|(?<==) ", "\N{NO-BREAK SPACE}", text)


def code_spans(text: str) -> Markup:
    """Escape text, and show what is between backticks as code.

    >>> code_spans("`times` < 1")
    Markup('<code>times</code> &lt; 1')
    """
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def format_cell(cell: Cell) -> str:
    """Format a cell; lines break between parameters, never within one."""
    return keep_pairs_together(str(cell)) if isinstance(cell, Values) else str(cell)


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    """Jinja with autoescaping; undefined variables are errors."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["capitalize_first"] = capitalize_first
    environment.filters["code_spans"] = code_spans
    environment.filters["format_cell"] = format_cell
    environment.filters["keep_equations"] = keep_equations
    environment.filters["range"] = format_range
    return environment


@lru_cache(maxsize=8)
def _read_asset(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")
