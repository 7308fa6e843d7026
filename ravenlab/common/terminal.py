"""Documents and tables rendered as text for terminals, with Rich. Nothing is wider than the terminal.

Names of studies are printed as plain text, never as markup or control codes.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from ravenlab.common.cells import BEST, TIED
from ravenlab.common.documents import Document, Map, Shade, Table
from ravenlab.common.text import escape_unprintable

if TYPE_CHECKING:
    from rich.console import Console

UNLIMITED_WIDTH = 100_000  # columns of output that is not a terminal: names are not wrapped in a pipe
NO_BREAK = "\N{NO-BREAK SPACE}"
MAX_JOINED = 30  # shorter pairs of a heading and a cell are kept on one line

MAP_WIDTH = 80  # columns of a map, also where the output is not a terminal
MAX_CELL_WIDTH = 8
MIN_NUMBER_WIDTH = 6  # narrower cells do not contain the percentage
SHADES = " ░▒▓█"
LIMITS = (2.0, 10.0, 30.0, 100.0)  # largest percentage of each shade but the last


def console() -> Console:
    """Return standard output: with colors on a terminal, without colors and line breaks elsewhere."""
    from rich.console import Console

    out = Console(highlight=False, markup=False, emoji=False)
    if not out.is_terminal:
        out.width = UNLIMITED_WIDTH
    return out


def print_document(document: Document) -> None:
    """Print all sentences of a document, what it is about, and its tables."""
    for sentence in document.sentences:
        print_line(sentence)
    about = ": ".join(filter(None, [document.label, document.problem]))
    if about:
        print_line(f"{about}.")
    for table in document.tables:
        if isinstance(table, Map):
            print_map(table)
        else:
            print_table(table)


def print_table(table: Table) -> None:
    """Print a table below its caption. Lines break between words only.

    `Table.narrow` says what happens if the terminal is too narrow; where words are too long to wrap, rows become
    blocks.
    """
    from rich.table import Table as RichTable
    from rich.text import Text

    out = console()
    columns = list(table.columns)
    rows = [[escape_unprintable(cell) for cell in row] for row in table.cells]
    _print_wrapped(out, escape_unprintable(table.caption), "italic")
    omitted: list[str] = []
    while table.narrow == "cut" and len(columns) > 2 and _table_width(columns, rows) > out.width:
        omitted.insert(0, columns.pop())
        rows = [row[:-1] for row in rows]
    widths = fit_widths(columns, rows, out.width)
    too_wide = _table_width(columns, rows) > out.width
    if widths is None or (too_wide and table.narrow in ("stack", "list")):
        _print_blocks(out, columns, rows, one_line=table.narrow == "list")
        return
    shown = RichTable(show_lines=table.ruled and out.is_terminal)
    for column, numeric, width in zip(columns, table.numeric, widths, strict=False):
        justify: Literal["left", "right"] = "right" if numeric else "left"
        shown.add_column("\n".join(wrap_words(column, width)), justify=justify, no_wrap=True, width=width)
    for row in rows:
        shown.add_row(*(Text("\n".join(wrap_words(cell, width))) for cell, width in zip(row, widths, strict=True)))
    out.print(shown)
    if omitted:
        print_line(f"Columns omitted for lack of space: {', '.join(omitted)}. Widen the terminal or use --json.")


def print_map(table: Map) -> None:
    """Print a map with block characters and its legend, or the listed cells if it is too wide for that."""
    lines = draw_map(table, min(console().width, MAP_WIDTH))
    if lines is None:
        print_table(table.listing)
        return
    print_line(table.caption.replace("outlined", TIED))
    for line in lines:
        print_line(line)
    steps = [f"{SHADES[0]!r} up to {LIMITS[0]:g} %"]
    steps += [f"{shade} to {limit:g} %" for shade, limit in zip(SHADES[1:], LIMITS[1:], strict=False)]
    print_line(f"Shades: {', '.join(steps)}, {SHADES[-1]} more; {BEST} {table.mark}.")


def draw_map(table: Map, width: int) -> list[str] | None:
    """Draw a map with block characters; None if it has more columns than the width.

    Wide cells contain the percentage. Marks replace a part of the shade.
    """
    down, across = table.corner.replace(" ↓", "").replace(" →", "").split()
    left = max(3, *map(len, table.rows)) + 1
    cell_width = min(MAX_CELL_WIDTH, (width - left) // len(table.columns))
    if cell_width < 1:
        return None
    lines = [
        f"{name:>{left - 1}} {''.join(_draw_cell(cell, cell_width) for cell in cells)}".rstrip()
        for name, cells in zip(table.rows, table.cells, strict=True)
    ]
    axis = f"{across:>{left - 1}} "
    end = 0
    for i, label in enumerate(table.columns):
        place = left + i * cell_width + (max(0, cell_width - 1 - len(label)) // 2 if cell_width > 3 else 0)
        if place > end and place + len(label) <= max(width, place + cell_width):
            axis = axis.ljust(place) + label
            end = len(axis)
    return [f"{down:>{left - 1}}", *lines, axis]


def _draw_cell(cell: Shade, width: int) -> str:
    """Draw a cell: its shade, the percentage if there is room, and its mark."""
    shade = SHADES[sum(cell.percent > limit for limit in LIMITS)]
    mark = BEST if cell.best else TIED if cell.outlined else shade
    if width < 3:
        return f"{shade * (width - 1)}{mark}"
    if width < MIN_NUMBER_WIDTH:
        return f"{shade * (width - 2)}{mark} "
    number = "" if cell.best else ">999%" if cell.percent > 999 else f"{cell.text}%"
    return f"{shade * (width - 2 - len(number))}{mark}{number} "


def _table_width(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Return the width of a table without wrapped cells.

    >>> _table_width(["a", "bcd"], [["xyz", "x"]])
    13
    """
    from rich.cells import cell_len

    return sum(max(map(cell_len, column)) + 3 for column in zip(columns, *rows, strict=True)) + 1


def fit_widths(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[int] | None:
    """Return widths of the columns of a table with which no word is broken; None if the table can't be so narrow.

    >>> fit_widths(["a", "b"], [["one two", "three"]], 16), fit_widths(["a", "b"], [["one two", "three"]], 14)
    ([4, 5], None)
    """
    from rich.cells import cell_len

    cells = list(zip(columns, *rows, strict=True))
    widths = [max(map(cell_len, column)) for column in cells]
    least = [max(cell_len(word) for cell in column for word in cell.split(" ")) for column in cells]
    available = width - 3 * len(columns) - 1
    if sum(least) > available:
        return None
    while sum(widths) > available:
        widest = max((i for i in range(len(widths)) if widths[i] > least[i]), key=lambda i: widths[i])
        widths[widest] -= 1
    return widths


def wrap_words(text: str, width: int) -> list[str]:
    """Wrap text between words; a word that is too long is not broken. Continuations have the same indent.

    >>> wrap_words("  raven-ucb in blips", 12)
    ['  raven-ucb', '  in blips']
    """
    indent = text[: len(text) - len(text.lstrip(" "))]
    return textwrap.wrap(
        text,
        width,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [""]


def _print_blocks(out: Console, columns: Sequence[str], rows: Sequence[Sequence[str]], one_line: bool) -> None:
    """Print each row as a block: its first cell, and below it the others with their headings."""
    label = max(map(len, columns[1:]), default=0) + 4
    for row in rows:
        _print_wrapped(out, row[0], "bold")
        cells = list(zip(columns[1:], row[1:], strict=True))
        if one_line:
            pairs = [f"{column} {cell}" for column, cell in cells]
            joined = [pair.replace(" ", NO_BREAK) if len(pair) < MAX_JOINED else pair for pair in pairs]
            _print_wrapped(out, f"  {', '.join(joined)}")
            continue
        for column, cell in cells:
            if label > out.width // 2:
                _print_wrapped(out, f"  {column}")
                _print_wrapped(out, f"    {cell}")
                continue
            for i, line in enumerate(wrap_words(cell, out.width - label)):
                out.print(f"  {'' if i else column}".ljust(label) + line, soft_wrap=True)


def _print_wrapped(out: Console, text: str, style: str = "") -> None:
    """Print text to a console, wrapped to its width."""
    from rich.text import Text

    for line in wrap_words(text, out.width):
        out.print(Text(line.replace(NO_BREAK, " "), style=style), soft_wrap=True)


def print_line(text: str) -> None:
    """Print a line, wrapped to the terminal."""
    _print_wrapped(console(), escape_unprintable(text))
