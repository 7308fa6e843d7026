"""Output of commands: tables, lines, JSON, and how much is stored after an interrupt.

Names of studies are printed as plain text, never as markup or control codes.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Literal

import typer

from environments.text import escape_unprintable
from tuning.interrupts import acknowledge_interrupt

if TYPE_CHECKING:
    from rich.console import Console

    from tuning.progress import Reporter, StartedStudy

UNLIMITED_WIDTH = 100_000  # columns of output that is not a terminal: names are not wrapped in a pipe
MAX_NAMED_STUDIES = 3  # an interrupt names at most so many studies, and counts more of them together
COMMAND = "ravenlab"


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
    unbroken: Sequence[str] = (),
    ruled: bool = False,
    if_too_wide: Literal["wrap", "stack", "cut"] = "wrap",
) -> None:
    """Print a table.

    Args:
        title: Printed above the table.
        columns: Headings.
        rows: Cells.
        numbers: Columns that are aligned right.
        unbroken: Columns whose cells are not wrapped.
        ruled: Whether lines separate rows.
        if_too_wide: What happens to a table that is wider than the terminal: cells are wrapped, each row becomes a
            block of lines (names and numbers stay readable), or the last columns are left out (rows stay comparable).
    """
    from rich.table import Table
    from rich.text import Text

    out = console()
    if if_too_wide == "stack" and _table_width(columns, rows) > out.width:
        _print_blocks(out, title, columns, rows)
        return
    omitted: list[str] = []
    while if_too_wide == "cut" and len(columns) > 2 and _table_width(columns, rows) > out.width:
        omitted.insert(0, columns[-1])
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    table = Table(title=Text(title), title_justify="left", show_lines=ruled and out.is_terminal)
    for column in columns:
        justify: Literal["left", "right"] = "right" if column in numbers else "left"
        table.add_column(column, justify=justify, overflow="fold", no_wrap=column in unbroken)
    for row in rows:
        table.add_row(*(Text(escape_unprintable(cell)) for cell in row))
    out.print(table)
    if omitted:
        print_line(f"Columns omitted for lack of space: {', '.join(omitted)}. Widen the terminal or use --json.")


def _table_width(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Return the width of a table without wrapped cells.

    >>> _table_width(["a", "bcd"], [["xyz", "x"]])
    13
    """
    return sum(max(map(len, column)) + 3 for column in zip(columns, *rows, strict=True)) + 1


def _print_blocks(out: Console, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.table import Table
    from rich.text import Text

    out.print(Text(title, style="italic"))
    for row in rows:
        out.print(Text(escape_unprintable(row[0]), style="bold"))
        block = Table.grid(padding=(0, 2, 0, 0))
        for column, cell in zip(columns[1:], row[1:], strict=True):
            block.add_row(Text(f"  {column}", style="dim"), Text(escape_unprintable(cell)))
        out.print(block)


def print_line(text: str) -> None:
    """Print a line, wrapped to the terminal."""
    from rich.text import Text

    console().print(Text(escape_unprintable(text)))


def print_json(document: Any, indent: int | None = None) -> None:
    """Print a JSON document to stdout, always as UTF-8."""
    import json

    print_exact(f"{json.dumps(document, ensure_ascii=False, allow_nan=False, indent=indent)}\n")


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

    >>> from tuning.progress import StartedStudy
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
    from studies.storage.database import use_storage

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
