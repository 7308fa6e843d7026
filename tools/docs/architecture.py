"""The architecture picture and table, from the real imports."""

from __future__ import annotations

import ast

from dashboards.figures.style import BLUE, GREEN, ORANGE, PINK, SKY
from tests.project import ROOT
from tools.docs.imports import FRONT, PACKAGES, between_packages, files_of, most_imported
from tools.docs.marks import table
from tools.docs.svg import INK, SOFT, card, path, rect, text

WIDTH, HEIGHT = 960, 700
CHIPS = 11
BOXES = {
    FRONT: (130, 62, 700, 68),
    "tuning": (130, 178, 340, 128),
    "dashboards": (490, 178, 340, 128),
    "studies": (130, 354, 560, 82),
    "policies": (130, 484, 560, 82),
    "environments": (130, 602, 700, 82),
}
"""Left, top, width and height."""
COLOURS = {
    FRONT: "#8c959f",
    "tuning": BLUE,
    "dashboards": PINK,
    "studies": GREEN,
    "policies": ORANGE,
    "environments": SKY,
}
TITLES = {FRONT: "ravenlab.py, tuning/api.py, tuning/cli/app.py, tuning/commands/"}

WAYS: dict[tuple[str, str], list[tuple[float, float]]] = {
    (FRONT, "tuning"): [(300, 130), (300, 178)],
    (FRONT, "dashboards"): [(660, 130), (660, 178)],
    (FRONT, "studies"): [(480, 130), (480, 354)],
    (FRONT, "policies"): [(130, 96), (36, 96), (36, 540), (130, 540)],
    (FRONT, "environments"): [(830, 96), (924, 96), (924, 660), (830, 660)],
    ("tuning", "dashboards"): [(470, 226), (490, 226)],
    ("tuning", "studies"): [(300, 306), (300, 354)],
    ("tuning", "policies"): [(130, 262), (102, 262), (102, 510), (130, 510)],
    ("tuning", "environments"): [(130, 222), (69, 222), (69, 660), (130, 660)],
    ("dashboards", "studies"): [(590, 306), (590, 354)],
    ("dashboards", "policies"): [(735, 306), (735, 510), (690, 510)],
    ("dashboards", "environments"): [(790, 306), (790, 602)],
    ("studies", "policies"): [(300, 436), (300, 484)],
    ("studies", "environments"): [(690, 412), (762, 412), (762, 602)],
    ("policies", "environments"): [(300, 566), (300, 602)],
}
"""Where the arrow of each pair of packages runs; a pair that is not here has no place in the design."""

LABELS: dict[tuple[str, str], tuple[float, float]] = {
    (FRONT, "policies"): (36, 330),
    (FRONT, "environments"): (924, 390),
    ("tuning", "policies"): (102, 400),
    ("tuning", "environments"): (69, 460),
    ("dashboards", "policies"): (735, 390),
    ("dashboards", "environments"): (790, 470),
    ("studies", "environments"): (762, 540),
    (FRONT, "studies"): (480, 330),
    ("tuning", "dashboards"): (480, 252),
}
"""Where its number stands; in the middle of the arrow where none is given."""


def architecture_picture() -> str:
    """The packages as boxes, the modules that most files import in them, and arrows to what is imported."""
    counted = between_packages()
    unknown = set(counted) - set(WAYS)
    if unknown:
        raise ValueError(f"an import that the picture does not know: {unknown}")
    heads = "".join(
        f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 0L8 4L0 8Z" fill="{colour}"/></marker>'
        for name, colour in COLOURS.items()
    )
    parts = [
        f"<defs>{heads}</defs>",
        text(28, 32, "Who imports whom", font_size=17, font_weight=600),
        text(
            WIDTH - 28,
            32,
            "on an arrow: files that import · in a box: what most files import",
            text_anchor="end",
            fill=SOFT,
        ),
    ]
    for pair, points in WAYS.items():
        if counted[pair]:
            colour = COLOURS[pair[0]]
            width = 1.2 + counted[pair] ** 0.5 / 4
            parts.append(path(points, stroke=colour, stroke_width=round(width, 1), marker_end=f"url(#{pair[0]})"))
    for pair, points in WAYS.items():
        if counted[pair]:
            (x0, y0), (x1, y1) = points[0], points[-1]
            parts += _number(*LABELS.get(pair, ((x0 + x1) / 2, (y0 + y1) / 2)), counted[pair], COLOURS[pair[0]])
    for package in BOXES:
        parts += _box(package)
    alt = "Boxes for the command line, tuning, dashboards, studies, policies and environments, from top to bottom; "
    return card(WIDTH, HEIGHT, f"{alt}arrows to what each imports point down, and from tuning to dashboards.", parts)


def _number(x: float, y: float, count: int, colour: str) -> list[str]:
    wide = 10 + 7 * len(str(count))
    return [
        rect(x - wide / 2, y - 9, wide, 18, rx=9, fill="#ffffff", stroke=colour),
        text(x, y + 4, str(count), text_anchor="middle", font_size=11),
    ]


def _box(package: str) -> list[str]:
    x, y, width, height = BOXES[package]
    colour = COLOURS[package]
    parts = [
        rect(x, y, width, height, rx=6, fill="#ffffff"),
        rect(
            x,
            y,
            width,
            height,
            rx=6,
            fill=COLOURS[package],
            fill_opacity=0.1,
            stroke=COLOURS[package],
            stroke_width=1.5,
        ),
        text(x + 12, y + 21, TITLES.get(package, package), font_size=14, font_weight=600),
        text(x + width - 12, y + 21, f"{files_of(package)} files", text_anchor="end", fill=SOFT, font_size=11),
    ]
    if package == FRONT:
        words = "The command line, and the public API in one import: they join what is computed to what is drawn."
        return [*parts, text(x + 12, y + 46, words, fill=SOFT)]
    left, top = x + 10.0, y + 32.0
    for name, count in most_imported(package, CHIPS):
        wide = 16 + 6.6 * len(name) + 7 * len(str(count)) + 6
        if left + wide > x + width - 8:
            left, top = x + 10.0, top + 24
            if top + 20 > y + height:
                break
        parts.append(rect(left, top, wide, 20, rx=4, fill="#ffffff", stroke=colour, stroke_opacity=0.6))
        parts.append(text(left + 8, top + 14, name, fill=INK, font_size=11.5))
        parts.append(text(left + wide - 7, top + 14, str(count), fill=SOFT, font_size=10.5, text_anchor="end"))
        left += wide + 6
    return parts


def parts_of_the_page() -> dict[str, list[str]]:
    """The table of the packages."""
    counted = between_packages()
    rows = []
    for package in PACKAGES:
        says = ast.get_docstring(ast.parse((ROOT / package / "__init__.py").read_text(encoding="utf-8"))) or ""
        needs = ", ".join(f"{other} ({counted[package, other]})" for other in PACKAGES if counted[package, other])
        rows.append([f"`{package}/`", says.split("\n")[0], str(files_of(package)), needs or "nothing of ours"])
    return {"packages": table(["package", "what it is for", "files", "imports (by so many files)"], rows)}
