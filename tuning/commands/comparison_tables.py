"""Comparisons on a terminal: a table each, the best policy and those that can't be told from it marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from studies.comparison.boards import Result


def print_results(results: Sequence[Result]) -> None:
    """Each board, and where there is more than one world the overview."""
    from studies.comparison.summary import LEGEND, describe_overview, describe_result, describe_search
    from studies.comparison.tables import board_table, overview_table
    from tuning.commands.tables import print_table, say

    for result in results:
        for board in reversed(result.boards):
            table = board_table(result, board, timed=True)
            rows = [row[:-1] for row in table.rows]
            columns = table.columns[:-1]
            print_table(table.caption, columns, rows, numbers=[columns[i] for i in table.numbers], cut=True)
        for line in describe_result(result):
            say(line)
        note = describe_search(result)
        if note is not None:
            say(note)
    if len(results) > 1:
        table = overview_table(results)
        print_table(table.caption, table.columns, table.rows, numbers=[table.columns[i] for i in table.numbers])
        say(describe_overview(results))
    say(LEGEND)
