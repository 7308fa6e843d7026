"""`ravenlab studies`: list stored studies."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from ravenlab.common.documents import Table
from ravenlab.common.terminal import print_line, print_table
from ravenlab.common.text import format_duration, format_number, plural
from ravenlab.studies.storage.urls import mask_url, storage_url
from ravenlab.tuning.cli.options import AllOption, JsonOption, StorageOption
from ravenlab.tuning.cli.output import print_json

if TYPE_CHECKING:
    from ravenlab.studies.storage.library import StudyRow

MIN_COLUMNS = 4  # columns that a narrow terminal shows; others are left out first


def studies(storage: StorageOption = None, show_all: AllOption = False, as_json: JsonOption = False) -> None:
    """List stored studies with decision, regret, trials and date.

    For bundled study files, see ravenlab list studies.

    Examples:
        # the storage in this folder
        ravenlab studies
        # another storage, as JSON
        ravenlab studies --storage sqlite:///archive.sqlite3 --json
    """
    from ravenlab.studies.storage.database import use_storage
    from ravenlab.studies.storage.library import list_studies

    with use_storage(storage) as store:
        rows = list_studies(store, show_all)
        hidden = 0 if show_all else len(store.get_all_studies()) - len(rows)
    if as_json:
        print_json([asdict(row) for row in rows])
        return
    if rows:
        columns = ["study", "decision", "regret", "trials", "date", "duration", "seed"]
        cells = [_format_row(row) for row in rows]
        title = f"Studies in {mask_url(storage_url(storage))}"
        text = ("study", "decision", "date")
        print_table(Table(columns, cells, title, text=text, narrow="cut", kept=MIN_COLUMNS))
        print_line(
            "decision, or the state of the study; regret: on held-out worlds; duration: of the trials, without"
            " validation.",
            "dim",
        )
    else:
        print_line("No studies yet. To begin: ravenlab tune blips")
    if hidden:
        print_line(f"{plural(hidden, 'search', 'searches')} of comparisons not listed; --all lists all studies.")


def _format_row(row: StudyRow) -> list[str]:
    return [
        row.name,
        row.decision or row.state,
        "–" if row.regret is None else format_number(row.regret),
        f"{row.finished:,}/{'–' if row.planned is None else f'{row.planned:,}'}",
        "–" if row.date is None else row.date[:16].replace("T", " "),
        "–" if row.seconds is None else format_duration(row.seconds),
        "–" if row.seed is None else str(row.seed),
    ]
