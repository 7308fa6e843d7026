"""Tables and stored text on a terminal: names are shown as they are, never as markup or control codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

UNBROKEN = 100_000
"""Width where no terminal says one: a name in a pipe is not folded."""


def plain(text: str) -> str:
    """Text on one line; line ends and control codes are written out.

    >>> plain("a\\nb")
    'a\\\\nb'
    """
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def console() -> Console:
    """Standard output; without colours and folds where it is not a terminal."""
    from rich.console import Console

    out = Console(highlight=False, markup=False, emoji=False)
    return out if out.is_terminal else Console(highlight=False, markup=False, emoji=False, width=UNBROKEN)


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[str] = ()) -> None:
    """A table; the columns named in `numbers` stand to the right."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title), title_justify="left")
    for column in columns:
        table.add_column(column, justify="right" if column in numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(plain(cell)) for cell in row))
    console().print(table)


def say(text: str) -> None:
    """One line of text, folded to the terminal."""
    from rich.text import Text

    console().print(Text(plain(text)))


def print_json(document: Any, indent: int | None = None) -> None:
    """A JSON document on stdout, as UTF-8 whatever the terminal speaks; nothing in it is spelled otherwise."""
    import json

    put(f"{json.dumps(document, ensure_ascii=False, allow_nan=False, indent=indent)}\n")


def put(text: str) -> None:
    """What a program reads on stdout, byte by byte what a file would hold."""
    typer.echo(text.encode("utf-8", "backslashreplace"), nl=False)
