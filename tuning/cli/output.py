"""Output of commands: tables, lines, JSON, and how much is stored after an interrupt.

Names of studies are printed as plain text, never as markup or control codes.
"""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Literal

import typer

from ravenlab.common.text import escape_in_strings, escape_unprintable
from ravenlab.tuning.interrupts import acknowledge_interrupt

if TYPE_CHECKING:
    from rich.console import Console

    from ravenlab.tuning.progress import Reporter, StartedStudy

UNLIMITED_WIDTH = 100_000  # columns of output that is not a terminal: names are not wrapped in a pipe
MAX_NAMED_STUDIES = 3  # an interrupt names at most so many studies, and counts more of them together
COMMAND = "ravenlab"
NO_BREAK = "\N{NO-BREAK SPACE}"
MAX_JOINED = 30  # shorter pairs of a heading and a cell are kept on one line


def console() -> Console:
    """Return standard output: with colors on a terminal, without colors and line breaks elsewhere."""
    from rich.console import Console

    out = Console(highlight=False, markup=False, emoji=False)
    if not out.is_terminal:
        out.width = UNLIMITED_WIDTH
    return out


def print_table(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    numbers: Sequence[str] = (),
    ruled: bool = False,
    if_too_wide: Literal["wrap", "stack", "list", "cut"] = "wrap",
) -> None:
    """Print a table. Lines break between words only.

    Args:
        title: Printed above the table.
        columns: Headings.
        rows: Cells.
        numbers: Columns that are aligned right.
        ruled: Whether lines separate rows.
        if_too_wide: What happens to a table that is wider than the terminal: cells are wrapped ("wrap"), each row
            becomes a block with one line per cell ("stack") or with all cells on one line ("list"), or the last columns
            are left out ("cut"), so that rows stay comparable. Where words are too long to wrap, rows become blocks.
    """
    from rich.table import Table
    from rich.text import Text

    out = console()
    rows = [[escape_unprintable(cell) for cell in row] for row in rows]
    _print_wrapped(out, escape_unprintable(title), "italic")
    omitted: list[str] = []
    while if_too_wide == "cut" and len(columns) > 2 and _table_width(columns, rows) > out.width:
        omitted.insert(0, columns[-1])
        columns = columns[:-1]
        rows = [row[:-1] for row in rows]
    widths = fit_widths(columns, rows, out.width)
    too_wide = _table_width(columns, rows) > out.width
    if widths is None or (too_wide and if_too_wide in ("stack", "list")):
        _print_blocks(out, columns, rows, one_line=if_too_wide == "list")
        return
    table = Table(show_lines=ruled and out.is_terminal)
    for column, width in zip(columns, widths, strict=True):
        justify: Literal["left", "right"] = "right" if column in numbers else "left"
        table.add_column("\n".join(wrap_words(column, width)), justify=justify, no_wrap=True, width=width)
    for row in rows:
        table.add_row(*(Text("\n".join(wrap_words(cell, w))) for cell, w in zip(row, widths, strict=True)))
    out.print(table)
    if omitted:
        print_line(f"Columns omitted for lack of space: {', '.join(omitted)}. Widen the terminal or use --json.")


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


def print_message(text: str) -> None:
    """Print a line for people to stderr, wrapped if it is a terminal."""
    text = escape_unprintable(text)
    lines = wrap_words(text, shutil.get_terminal_size().columns) if sys.stderr.isatty() else [text]
    typer.echo("\n".join(lines), err=True)


def print_json(document: Any, indent: int | None = None) -> None:
    """Print a JSON document to stdout, always as UTF-8."""
    import json

    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=indent)
    print_exact(f"{escape_in_strings(text)}\n")


def print_exact(text: str) -> None:
    """Print text for programs to stdout, byte by byte as a file would hold it."""
    typer.echo(text.encode("utf-8", "backslashreplace"), nl=False)


@contextmanager
def describing_interrupts(reporter: Reporter, url: str) -> Iterator[None]:
    """Add to an interrupt of this block how much is stored of what it interrupts."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        acknowledge_interrupt()
        started = list(reporter.started_studies.values())
        if started:
            interrupt.add_note(describe_stored(started, _count_stored(url, started)))
        raise


def describe_stored(started: Sequence[StartedStudy], stored: Sequence[int]) -> str:
    """Describe how much is stored of started studies.

    >>> from ravenlab.tuning.progress import StartedStudy
    >>> describe_stored([StartedStudy("raven-ucb/blips/T1000/K10", 200, "trials")], [24])
    '24 of 200 trials of raven-ucb/blips/T1000/K10 are saved; rerun the same command to resume'
    """
    if not any(stored):
        return "nothing was saved yet; rerun the same command to start again"
    unit = started[0].unit
    if len(started) > MAX_NAMED_STUDIES:
        total = sum(study.total for study in started)
        parts = [f"{sum(stored):,} of {total:,} {unit} of {len(started):,} studies"]
    else:
        parts = [
            f"{count:,} of {study.total:,} {unit} of {study.name}" for study, count in zip(started, stored, strict=True)
        ]
    return f"{' and '.join(parts)} are saved; rerun the same command to resume"


def _count_stored(url: str, started: Sequence[StartedStudy]) -> list[int]:
    """Count trials in the storage; if it does not answer, use the last counts that were reported."""
    from ravenlab.studies.storage.database import use_storage

    try:
        with use_storage(url) as storage:
            return [storage.get_n_trials(storage.get_study_id_from_name(study.name)) for study in started]
    except Exception:  # nothing may keep an interrupt from ending the program
        return [study.stored for study in started]


def command_name() -> str:
    """Return how users can call the command: its name, or its path where a shell would not find the name.

    >>> command_name()
    'ravenlab'
    """
    path = sys.argv[0]
    return quote(path) if Path(path).name == COMMAND and shutil.which(COMMAND) is None else COMMAND
