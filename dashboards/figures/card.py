"""Cards: the answer of a study in large type, with its parameters and an interval plot of what it is compared with.

A card has its own dark background, so that it looks the same on light and dark pages. Positions are in pixels, because
Plotly does not wrap text: lines are short enough for a phone.
"""

import re
import textwrap
from typing import Any

from ravenlab.common.documents import Card, IntervalRow
from ravenlab.common.text import format_number
from ravenlab.dashboards.figures import style
from ravenlab.dashboards.figures.marks import MARKS
from ravenlab.dashboards.figures.style import Figure, PlotlyTrace
from ravenlab.studies.symbols import format_params, format_symbol

NO_BREAK = "\N{NO-BREAK SPACE}"
UNBREAKABLE = re.compile(r" (?=%|=)|(?<==) ")  # spaces in "2 %" and "T = 100"

HEIGHT = 450  # pixels
MARGINS = {"t": 20, "r": 16, "b": 44, "l": 16}
INNER = HEIGHT - MARGINS["t"] - MARGINS["b"]
BACKGROUND = "#12344d"
TEXT = "#ffffff"
MUTED = "#b9cbd9"
GRID = "rgba(255,255,255,0.16)"
GOOD = "#7fd1ae"
UNSURE = "#ffc44d"
OTHER = style.SKY
OTHERS = {kind: style.DARK_COLORS[mark["color"]] for kind, mark in MARKS.items()}
"""Colors of a clear answer, of an inconclusive one, and of what the answer is compared with."""

HEADLINE_LETTERS, TEXT_LETTERS = 20, 42  # letters per line that fit into 290 pixels
MAX_TILES = 4  # more parameters are written as lines
MAX_ROWS = 4  # rows of the interval plot
MIN_ROW, MAX_ROW = 34, 72  # height of a row of the interval plot, in pixels
LINE = 17  # height of a line of text, in pixels
HEADLINE = 32  # height of a line of the headline
SPACE, MAX_SPACE = 5, 36  # below a text; it grows if there is room, so that no part of the card is empty
TILES = 56  # height of the parameters


def plot_card(card: Card) -> Figure:
    """Draw the card of a document."""
    color = GOOD if card.sure else UNSURE
    rows = card.rows[:MAX_ROWS]
    tiles = TILES if 0 < len(card.params) <= MAX_TILES else 0
    texts, y = _write_lines(card, color, INNER - tiles - MIN_ROW * len(rows), (MAX_ROW - MIN_ROW) * len(rows))
    if len(card.params) <= MAX_TILES:
        for i, (name, value) in enumerate(card.params.items()):
            x = i / max(3, len(card.params))
            tag = card.tags.get(name)
            label = format_symbol(name) if tag is None else f"{format_symbol(name)} · {tag}"
            shown = value if isinstance(value, str) else format_number(value)
            texts.append(_text(style.escape_text(label, 16), 12, MUTED, x, y))
            texts.append(_text(f"<b>{style.escape_text(shown, 10)}</b>", 22, TEXT, x, y + 17))
        y += tiles
    height = min(MAX_ROW, max(MIN_ROW, (INNER - y) / max(1, len(rows))))
    ink = {"size": 11, "color": MUTED}
    lines: dict[str, Any] = {"gridcolor": GRID, "linecolor": GRID, "tickcolor": GRID}
    return style.make_figure(
        [_interval(row, i, color if i == 0 else OTHERS.get(row.kind, OTHER)) for i, row in enumerate(rows)],
        "",
        _describe(card),
        height=HEIGHT,
        margin=MARGINS,
        paper_bgcolor=BACKGROUND,
        annotations=[*texts, *(_row_label(row, i, color if i == 0 else TEXT) for i, row in enumerate(rows))],
        xaxis=style.make_axis(card.axis, title_font=ink, tickfont=ink, nticks=5, fixedrange=True, **lines),
        yaxis={
            "visible": False,
            "range": [len(rows) - 0.6, -0.6],
            "domain": [0.0, style.round_number(min(1.0, height * len(rows) / INNER), 4)],
            "fixedrange": True,
        },
        showlegend=False,
    )


def _write_lines(card: Card, color: str, room: int, reserve: int) -> tuple[list[dict[str, Any]], int]:
    """Write everything above the tiles; return it with the position below it, in pixels.

    The explanation gets the lines that the other texts leave of the room, because it is the text that can be cut. What
    is still left, except for the reserve, is put between the texts.
    """
    params = format_params(card.params) if len(card.params) > MAX_TILES else ""
    context = _wrap(card.context, 2)
    headline = _wrap(card.headline, 2, HEADLINE_LETTERS)
    hint = _wrap(card.hint, 4)
    values = _wrap(params, 2)
    others = len(context) + len(hint) + len(values)
    left = room - others * LINE - len(headline) * HEADLINE - 5 * SPACE
    blocks = (
        (context, 12, MUTED, LINE),
        (headline, 25, color, HEADLINE),
        (_wrap(card.explanation, max(0, left // LINE)), 12, TEXT, LINE),
        (hint, 12, UNSURE, LINE),
        (values, 12, TEXT, LINE),
    )
    filled = [(len(lines), height) for lines, _, _, height in blocks if lines]
    spare = room - reserve - sum(count * height + SPACE for count, height in filled)
    space = SPACE + min(MAX_SPACE, max(0, spare // max(1, len(filled))))
    texts = []
    y = 0
    for lines, size, ink, height in blocks:
        for line in lines:
            shown = style.escape_text(line, TEXT_LETTERS + 1)
            texts.append(_text(f"<b>{shown}</b>" if size > 20 else shown, size, ink, 0.0, y))
            y += height
        y += space if lines else 0
    return texts, y


def _wrap(text: str, most: int, letters: int = TEXT_LETTERS) -> list[str]:
    """Break a text into at most so many lines; a text that is cut ends with an ellipsis."""
    if most == 0:
        return []
    return textwrap.wrap(UNBREAKABLE.sub(NO_BREAK, text), letters, max_lines=most, placeholder="…")


def _text(text: str, size: int, color: str, x: float, y: float) -> dict[str, Any]:
    """Make a line of text whose top is y pixels below the top of the card."""
    return {
        "text": text,
        "font": {"size": size, "color": color},
        "showarrow": False,
        "align": "left",
        "xref": "paper",
        "yref": "paper",
        "x": style.round_number(x, 3),
        "y": style.round_number(1.0 - y / INNER, 4),
        "xanchor": "left",
        "yanchor": "top",
        "borderpad": 0,
    }


def _row_label(row: IntervalRow, place: int, color: str) -> dict[str, Any]:
    return {
        **_text(style.escape_text(row.label, TEXT_LETTERS), 12, color, 0.0, 0.0),
        "yref": "y",
        "y": place - 0.12,
        "yanchor": "bottom",
    }


def _interval(row: IntervalRow, place: int, color: str) -> PlotlyTrace:
    bars = style.make_error_bars([row.interval], color, thickness=3, width=0)
    shared = {"error_x": bars, "showlegend": False, "cliponaxis": False}
    marker = {"color": color, "size": 11, "symbol": MARKS.get(row.kind, MARKS["recommended"])["symbol"]}
    return style.make_markers([row.interval.mean], [place], None, marker, [style.escape_text(row.hover)], **shared)


def _describe(card: Card) -> str:
    rows = "; ".join(row.hover for row in card.rows)
    params = f" {format_params(card.params)}." if card.params else ""
    sentences = [f"{card.context}: {card.headline}.", card.explanation, card.hint]
    return f"{' '.join(sentence for sentence in sentences if sentence)}{params} {card.axis}: {rows}."
