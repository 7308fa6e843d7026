"""Where a comparison goes: a page, tables and JSON in a folder, and a table in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from studies.comparison.boards import Result
    from studies.comparison.document import Document

NAME = "compare"


def write_comparison(document: Document, folder: Path) -> list[Path]:
    """Write everything, each file whole or not at all."""
    from dashboards.comparison.render import render
    from tuning.files import replacing

    texts = {
        "html": render(document),
        "json": document.as_json(),
        "csv": document.as_csv(),
        "md": document.as_markdown(),
        "tex": document.as_latex(),
    }
    for ending, text in texts.items():
        with replacing(folder / f"{NAME}.{ending}") as file:
            file.write(text)
    return [folder / f"{NAME}.{ending}" for ending in texts]


def print_results(results: Sequence[Result]) -> None:
    """The overview where there is more than one world, then each board."""
    from studies.comparison.tables import board_table, overview_table
    from studies.comparison.words import lead, overview_lead, search_note
    from tuning.commands.tables import print_table, say

    for result in results:
        for board in reversed(result.boards):
            table = board_table(result, board, timed=True)
            rows = [row[:-1] for row in table.rows]
            columns = table.columns[:-1]
            print_table(table.caption, columns, rows, numbers=[columns[i] for i in table.numbers])
        for line in lead(result):
            say(line)
        note = search_note(result)
        if note is not None:
            say(note)
    if len(results) > 1:
        table = overview_table(results)
        print_table(table.caption, table.columns, table.rows, numbers=[table.columns[i] for i in table.numbers])
        say(overview_lead(results))
    say("★ best, ≈ can't be told from it (paired t-tests of all pairs, Holm's correction, 95 %).")
