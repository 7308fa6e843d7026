"""Tables and stored text on a terminal: names are shown as they are, never as markup or control codes."""

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


UNBROKEN = 100_000
"""Width where no terminal says one: a name in a pipe is not folded."""


def console() -> Console:
    """Standard output; without colours and folds where it is not a terminal."""
    from rich.console import Console

    out = Console(highlight=False, markup=False, emoji=False)
    return out if out.is_terminal else Console(highlight=False, markup=False, emoji=False, width=UNBROKEN)


def print_table(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    numbers: Sequence[str] = (),
    whole: Sequence[str] = (),
    apart: bool = False,
    stacked: bool = False,
    cut: bool = False,
) -> None:
    """A table; columns in `numbers` stand to the right, those in `whole` are not folded; `apart` rules off rows.

    What is `stacked` and wider than the terminal becomes a block of lines a row: names and numbers cut in pieces can't
    be read. What is `cut` loses its last columns instead, and says so: rows are there to be compared.
    """
    from rich.table import Table
    from rich.text import Text

    out = console()
    if stacked and _width(columns, rows) > out.width:
        _print_stack(out, title, columns, rows)
        return
    left_out: list[str] = []
    while cut and len(columns) > 2 and _width(columns, rows) > out.width:
        left_out.insert(0, columns[-1])
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    table = Table(title=Text(title), title_justify="left", show_lines=apart and out.is_terminal)
    for column in columns:
        justify: Literal["left", "right"] = "right" if column in numbers else "left"
        table.add_column(column, justify=justify, overflow="fold", no_wrap=column in whole)
    for row in rows:
        table.add_row(*(Text(escape_unprintable(cell)) for cell in row))
    out.print(table)
    if left_out:
        say(f"No room for {', '.join(left_out)}: widen the terminal, or say --json.")


def _width(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """How wide a table would like to be.

    >>> _width(["a", "bcd"], [["xyz", "x"]])
    13
    """
    return sum(max(map(len, column)) + 3 for column in zip(columns, *rows, strict=True)) + 1


def _print_stack(out: Console, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.table import Table
    from rich.text import Text

    out.print(Text(title, style="italic"))
    for row in rows:
        out.print(Text(escape_unprintable(row[0]), style="bold"))
        block = Table.grid(padding=(0, 2, 0, 0))
        for column, cell in zip(columns[1:], row[1:], strict=True):
            block.add_row(Text(f"  {column}", style="dim"), Text(escape_unprintable(cell)))
        out.print(block)


def say(text: str) -> None:
    """One line of text, folded to the terminal."""
    from rich.text import Text

    console().print(Text(escape_unprintable(text)))


def print_json(document: Any, indent: int | None = None) -> None:
    """A JSON document on stdout, as UTF-8 whatever the terminal speaks; nothing in it is spelled otherwise."""
    import json

    put(f"{json.dumps(document, ensure_ascii=False, allow_nan=False, indent=indent)}\n")


def put(text: str) -> None:
    """What a program reads on stdout, byte by byte what a file would hold."""
    typer.echo(text.encode("utf-8", "backslashreplace"), nl=False)


NAMED = 3
"""More studies than these are summed up."""


@contextmanager
def saying_what_is_kept(reporter: Reporter, url: str) -> Iterator[None]:
    """Tell an interrupt of this block what it leaves behind."""
    try:
        yield
    except KeyboardInterrupt as stop:
        acknowledge_interrupt()
        begun = list(reporter.begun.values())
        if begun:
            stop.add_note(in_words(begun, _counted(url, begun)))
        raise


def in_words(begun: Sequence[StartedStudy], kept: Sequence[int]) -> str:
    """What is kept of what was begun.

    >>> from tuning.progress import Begun
    >>> in_words([Begun("raven-ucb/blips/T1000/K10", 200, "trials")], [24])
    '24 of 200 trials of raven-ucb/blips/T1000/K10 are kept; the same command goes on from there'
    """
    if not any(kept):
        return "nothing had landed yet; the same command begins again"
    unit = begun[0].unit
    if len(begun) > NAMED:
        said = f"{sum(kept)} of {sum(each.total for each in begun)} {unit} of the {len(begun)} studies begun"
    else:
        said = " and ".join(
            f"{count} of {each.total} {unit} of {each.name}" for each, count in zip(begun, kept, strict=True)
        )
    return f"{said} are kept; the same command goes on from there"


def _counted(url: str, begun: Sequence[StartedStudy]) -> list[int]:
    """What the storage holds; what was last heard of where it can't be asked now."""
    from studies.storage.database import use_storage

    try:
        with use_storage(url) as storage:
            return [storage.get_n_trials(storage.get_study_id_from_name(each.name)) for each in begun]
    except Exception:  # nothing may stand between an interrupt and its end
        return [each.landed for each in begun]


NAME = "ravenlab"


def called() -> str:
    """Its name, or the path by which it was called where a shell would not find the name.

    >>> called()
    'ravenlab'
    """
    by = sys.argv[0]
    return quote(by) if Path(by).name == NAME and shutil.which(NAME) is None else NAME
