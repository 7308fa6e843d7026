"""Where a comparison goes: a page, tables and JSON in a folder, and a table in the terminal."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optuna.study._frozen import FrozenStudy
    from optuna.trial import FrozenTrial

    from studies.comparison.boards import Result
    from studies.comparison.document import Document
    from studies.rows import StudyRow

NAME = "compare"


def write_comparison(document: Document, folder: Path) -> list[Path]:
    """Write everything, each file whole or not at all."""
    from dashboards.comparison.render import render
    from tuning.files import make_folder, replacing

    texts = {
        "html": render(document),
        "json": document.as_json(),
        "csv": document.as_csv(),
        "md": document.as_markdown(),
        "tex": document.as_latex(),
    }
    make_folder(folder)
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
            print_table(table.caption, columns, rows, numbers=[columns[i] for i in table.numbers], cut=True)
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


def show_comparison(row: StudyRow, study: FrozenStudy, trials: Sequence[FrozenTrial], as_json: bool) -> None:
    """What `ravenlab show` says of a comparison, finished or not."""
    from studies.comparison.storage import read_comparison
    from studies.keys import read_comparison_spec
    from tuning.commands.tables import print_json, say
    from tuning.comparison.judging import judge

    comparison, spec = read_comparison(study, trials), read_comparison_spec(study)
    assert spec is not None
    result = None if comparison is None else judge(comparison)
    if as_json:
        shown = None if result is None else result.as_object()
        document = {**asdict(row), "spec": spec.model_dump(mode="json"), "comparison": shown}
        print_json(document)
        return
    say(f"{row.name}: {row.state}, {row.done} of {row.asked} entries")
    if result is None:
        say("Not finished; run the same ravenlab compare command again to go on.")
        return
    print_results([result])
