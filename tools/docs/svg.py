"""Small SVG files without dependencies, reproducible to the byte.

Every picture has its own light background, so it is readable on white and on dark pages.
"""

from collections.abc import Sequence
from html import escape

from ravenlab.dashboards.figures.style import FONT

INK = "#1f2328"
SOFT = "#59636e"
RULE = "#d8dde3"
PAPER = "#ffffff"
EDGE = "#d0d7de"


def number(value: float) -> str:
    """Format a coordinate with at most one decimal.

    >>> number(3.04), number(-0.02)
    ('3', '0')
    """
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def path(points: Sequence[tuple[float, float]], **style: str | float) -> str:
    """Return a line through points."""
    coordinates = "L".join(f"{number(x)} {number(y)}" for x, y in points)
    return f'<path d="M{coordinates}" fill="none"{_attributes(style)}/>'


def area(points: Sequence[tuple[float, float]], fill: str) -> str:
    """Return a filled shape."""
    return f'<path d="M{"L".join(f"{number(x)} {number(y)}" for x, y in points)}Z" fill="{fill}"/>'


def text(x: float, y: float, content: str, **style: str | float) -> str:
    """Return text at a position."""
    return f'<text x="{number(x)}" y="{number(y)}"{_attributes(style)}>{escape(content)}</text>'


def rect(x: float, y: float, width: float, height: float, **style: str | float) -> str:
    """Return a rectangle."""
    geometry = f'x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"'
    return f"<rect {geometry}{_attributes(style)}/>"


def card(width: int, height: int, label: str, parts: Sequence[str]) -> str:
    """Return the complete file: a light card with its elements and a label for screen readers."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escape(label)}" font-family="{escape(FONT)}" font-size="12" fill="{INK}">'
    )
    paper = rect(0.5, 0.5, width - 1, height - 1, rx=8, fill=PAPER, stroke=EDGE)
    return "\n".join([head, paper, *parts, "</svg>"]) + "\n"


def _attributes(style: dict[str, str | float]) -> str:
    """Format attributes; empty ones are omitted."""
    values = {name: value if isinstance(value, str) else f"{value:g}" for name, value in style.items()}
    return "".join(f' {name.replace("_", "-")}="{value}"' for name, value in values.items() if value)
