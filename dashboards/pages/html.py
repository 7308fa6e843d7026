"""Names for links and files, made of names that may hold anything."""

from __future__ import annotations

import hashlib
import html
import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from dashboards.figures import THEMES, explain
from environments.text import capitalize_first

if TYPE_CHECKING:
    import jinja2
    import plotly.graph_objects as go


LONGEST = 80
"""Letters of a slug: a file system allows 255 bytes, and something may be put before and behind."""


def slug(name: str) -> str:
    """Small letters, digits and dashes; a hash behind where something of the name was lost.

    >>> slug("raven-ucb/blips/T1000/K10")
    'raven-ucb-blips-t1000-k10'
    >>> slug("<b>").startswith("b-") and slug("<b>") != slug("b")
    True
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    short = re.sub(r"[^a-z0-9]+", "-", plain)[:LONGEST].strip("-")
    if re.fullmatch(r"[A-Za-z0-9]+([-/_.][A-Za-z0-9]+)*", name) and len(name) <= LONGEST:
        return short
    return f"{short or 'name'}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


class Slugs:
    """Hands out slugs, no two alike.

    >>> slugs = Slugs()
    >>> slugs.new("a/b"), slugs.new("a-b")
    ('a-b', 'a-b-2')
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def new(self, name: str) -> str:
        """The slug of a name, with a number behind where it is taken."""
        wanted = found = slug(name)
        number = 1
        while found in self._taken:
            number += 1
            found = f"{wanted}-{number}"
        self._taken.add(found)
        return found


TOP = 30
"""Pixels above a plot without a title: room for Plotly's buttons."""

THREE_D = ("surface", "scatter3d", "mesh3d")
GL = ("scattergl",)


@dataclass(frozen=True)
class Panel:
    """One figure on the page."""

    id: str
    title: str
    context: str
    alt: str
    json: str
    height: int
    scenes: int
    """How many WebGL contexts it takes while it is drawn."""
    figure: go.Figure


def panel(slugs: Slugs, name: str, figure: go.Figure) -> Panel:
    """A figure for the page under a link of its own."""
    from plotly.io.json import to_json_plotly

    drawn: dict[str, Any] = figure.to_plotly_json()
    layout = drawn["layout"]
    layout.pop("template", None)
    title, context = split_title(str((layout.pop("title", None) or {}).get("text") or name))
    height, margin = int(layout.get("height") or 450), dict(layout.get("margin") or {})
    layout["height"] = height - max(0, int(margin.get("t", TOP)) - TOP)
    layout["margin"] = {**margin, "t": min(TOP, int(margin.get("t", TOP)))}
    return Panel(
        id=slugs.new(name),
        title=title,
        context=context,
        alt=explain(figure) or title,
        json=to_json_plotly({"data": drawn["data"], "layout": layout}),
        height=layout["height"],
        scenes=_scenes(drawn),
        figure=figure,
    )


def split_title(text: str) -> tuple[str, str]:
    """Plotly's title as plain text: its first line, and the rest.

    >>> split_title("<b>Regret</b><br><span style='font-size:12px'>a &lt;b&gt; · T = 5</span>")
    ('Regret', 'a <b> · T = 5')
    """
    lines = [html.unescape(re.sub(r"<[^>]*>", "", line)) for line in re.split(r"<br\s*/?>", text)]
    return lines[0], " · ".join(line for line in lines[1:] if line)


def _scenes(drawn: dict[str, Any]) -> int:
    """Scenes of 3-D traces; a flat trace that is drawn by WebGL takes contexts too."""
    kinds = [trace.get("type") for trace in drawn["data"]]
    places = {trace.get("scene", "scene") for trace in drawn["data"] if trace.get("type") in THREE_D}
    return len(places) + any(kind in GL for kind in kinds)


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
