"""Documents and tables rendered as text for terminals, with Rich. Nothing is wider than the terminal.

On a terminal, decisions are bold, evidence is dim and warnings are yellow; NO_COLOR leaves out colors. Names of studies
are printed as plain text, never as markup or control codes.
"""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from ravenlab.common.cells import BEST, TIED
from ravenlab.common.documents import Document, Map, Shade, Table
from ravenlab.common.text import escape_unprintable

if TYPE_CHECKING:
    from rich.console import Console

PIPE_WIDTH = 100  # columns of tables in output that is not a terminal, unless COLUMNS is set
MAX_NAME_WIDTH = 20  # a longer name of a list gets a line of its own if descriptions have to be wrapped
NO_BREAK = "\N{NO-BREAK SPACE}"
SYMBOL = re.compile(r"(?<!\S)([^\s\d]\S?) (?=[\d−])")  # a word of one or two characters before a number
SHORT_PARENTHESES = re.compile(r"\([^()]{1,26}\)")
MAX_JOINED = 30  # shorter pairs of a heading and a cell are kept on one line

MAP_WIDTH = 80  # columns of a map, also where the output is not a terminal
MAX_CELL_WIDTH = 8
MIN_NUMBER_WIDTH = 6  # narrower cells do not contain the percentage
SHADES = " ░▒▓█"
LIMITS = (2.0, 10.0, 30.0, 100.0)  # largest percentage of each shade but the last


def console() -> Console:
    """Return standard output: with colors on a terminal, without colors elsewhere."""
    from rich.console import Console

    out = Console(highlight=False, markup=False, emoji=False)
    if not out.is_terminal:
        out.width = shutil.get_terminal_size((PIPE_WIDTH, 24)).columns
    return out


def print_document(document: Document, short: bool = False) -> None:
    """Print all sentences of a document, what it is about, and its tables; if `short`, no details and one table."""
    if document.answer:
        print_line(document.answer, "dim" if document.headline else "bold", document.headline)
    for warning in document.warnings:
        print_line(warning, "yellow")
    for sentence in [*document.facts, *([] if short else document.details)]:
        print_line(sentence, "yellow" if sentence.startswith("Warning:") else "dim")
    about = ": ".join(filter(None, [document.label, document.problem]))
    if about:
        print_line(f"{about}.", "dim")
    for table in document.tables[: 1 if short else None]:
        console().print()
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
    if table.caption:
        _print_wrapped(out, escape_unprintable(table.caption), "italic", always=True)
    shown = len(columns)
    if table.narrow == "cut":
        least = min(table.kept, shown)
        parts = {n: (columns[:n], [row[:n] for row in rows]) for n in range(shown, least - 1, -1)}
        fitting = (n for n, part in parts.items() if _table_width(*part) <= out.width)
        shown = next(fitting, shown if fit_widths(*parts[least], out.width) is None else least)
    omitted = columns[shown:]
    columns = columns[:shown]
    rows = [row[:shown] for row in rows]
    widths = fit_widths(columns, rows, out.width)
    too_wide = _table_width(columns, rows) > out.width
    if widths is None or (too_wide and table.narrow in ("stack", "list")):
        _print_blocks(out, columns, rows, one_line=table.narrow in ("list", "cut"))
        return
    grid = RichTable(show_lines=table.ruled and out.is_terminal)
    for column, numeric, width in zip(columns, table.numeric, widths, strict=False):
        justify: Literal["left", "right"] = "right" if numeric else "left"
        grid.add_column("\n".join(wrap_words(column, width)), justify=justify, no_wrap=True, width=width)
    for row in rows:
        grid.add_row(*(Text("\n".join(wrap_words(cell, width))) for cell, width in zip(row, widths, strict=True)))
    out.print(grid)
    if omitted:
        print_line(f"Columns omitted for lack of space: {', '.join(omitted)}. Widen the terminal or use --json.", "dim")


def print_list(pairs: Sequence[tuple[str, str]], indent: int = 0) -> None:
    """Print names with their descriptions beside them, which are wrapped on a terminal."""
    from rich.cells import cell_len

    out = console()
    width = indent + 2 + max((cell_len(name) for name, _ in pairs), default=0)
    if out.is_terminal and any(width + cell_len(text) > out.width for _, text in pairs):
        width = min(width, indent + 2 + MAX_NAME_WIDTH)
    for name, text in pairs:
        name = f"{' ' * indent}{escape_unprintable(name)}"
        text = escape_unprintable(text)
        lines = wrap_words(text, max(out.width - width, 20)) if out.is_terminal else [text]
        if cell_len(name) > width - 2:
            _print_styled(out, name, bold=name)
            name = ""
        first = name + " " * (width - cell_len(name))
        _print_styled(out, f"\n{' ' * width}".join([first + lines[0], *lines[1:]]).rstrip(), bold=name)


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
    least = [max(cell_len(word) for cell in column for word in _bind(cell).split(" ")) for column in cells]
    available = width - 3 * len(columns) - 1
    if sum(least) > available:
        return None
    while sum(widths) > available:
        widest = max((i for i in range(len(widths)) if widths[i] > least[i]), key=lambda i: widths[i])
        widths[widest] -= 1
    return widths


def wrap_words(text: str, width: int) -> list[str]:
    """Wrap text between words, not within an interval; a long word is not broken. Continuations have the same indent.

    >>> wrap_words("  raven-ucb in blips", 12), wrap_words("41.5 (40.2 to 42.8)", 15)
    (['  raven-ucb', '  in blips'], ['41.5', '(40.2 to 42.8)'])
    """
    indent = text[: len(text) - len(text.lstrip(" "))]
    lines = textwrap.wrap(
        _bind(text),
        width,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(NO_BREAK, " ") for line in lines] or [""]


def _bind(text: str) -> str:
    """Replace blanks at which a line does not break: before %, after a symbol, and within short parentheses."""
    text = SYMBOL.sub(f"\\1{NO_BREAK}", text.replace(" %", f"{NO_BREAK}%").replace(" = ", f"{NO_BREAK}={NO_BREAK}"))
    return SHORT_PARENTHESES.sub(lambda match: match[0].replace(" ", NO_BREAK), text)


def _print_blocks(out: Console, columns: Sequence[str], rows: Sequence[Sequence[str]], one_line: bool) -> None:
    """Print each row as a block: its first cell, and below it the others with their headings."""
    label = max(map(len, columns[1:]), default=0) + 4
    for row in rows:
        _print_wrapped(out, row[0], "bold", always=True)
        cells = list(zip(columns[1:], row[1:], strict=True))
        if one_line:
            pairs = [f"{column} {cell}" for column, cell in cells]
            joined = [pair.replace(" ", NO_BREAK) if len(pair) < MAX_JOINED else pair for pair in pairs]
            _print_wrapped(out, f"  {'; '.join(joined)}", always=True)
            continue
        for column, cell in cells:
            if label > out.width // 2:
                _print_wrapped(out, f"  {column}", always=True)
                _print_wrapped(out, f"    {cell}", always=True)
                continue
            for i, line in enumerate(wrap_words(cell, out.width - label)):
                out.print(f"  {'' if i else column}".ljust(label) + line, soft_wrap=True)


def _print_wrapped(out: Console, text: str, style: str = "", bold: str = "", always: bool = False) -> None:
    """Print text that may begin with bold words, wrapped to the width of a terminal, and if `always` in a pipe too."""
    lines = wrap_words(text, out.width) if out.is_terminal or always else [text]
    _print_styled(out, "\n".join(lines), style, bold)


def _print_styled(out: Console, text: str, style: str = "", bold: str = "") -> None:
    """Print text that may begin with bold words, in a style that a terminal shows."""
    from rich.text import Text

    styled = Text(text)
    styled.stylize("bold", 0, len(bold))
    styled.stylize(style, len(bold))
    out.print(styled, soft_wrap=True)


def print_line(text: str, style: str = "", bold: str = "") -> None:
    """Print a line, wrapped on a terminal; it may begin with bold words."""
    _print_wrapped(console(), escape_unprintable(text), style, escape_unprintable(bold))
