"""`ravenlab studies`: list stored studies."""

from __future__ import annotations

from tuning.cli.options import JsonOption, StorageOption


def studies(storage: StorageOption = None, as_json: JsonOption = False) -> None:
    """List stored studies: trials, best value, regret and state.

    For bundled study files, see ravenlab list studies.

    Examples:
        # the storage in this folder
        ravenlab studies
        # another storage, as JSON
        ravenlab studies --storage sqlite:///archive.sqlite3 --json
    """
    from dataclasses import asdict

    from environments.text import format_number
    from studies.storage.database import use_storage
    from studies.storage.library import list_studies
    from studies.storage.urls import mask_url, storage_url
    from tuning.cli.output import print_json, print_line, print_table

    with use_storage(storage) as store:
        rows = list_studies(store)
    if as_json:
        print_json([asdict(row) for row in rows])
        return
    if not rows:
        print_line("No studies yet. To begin: ravenlab tune blips")
        return
    print_table(
        f"Studies in {mask_url(storage_url(storage))}",
        ["study", "trials", "best", "regret", "state"],
        [
            [
                row.name,
                f"{row.finished:,}/{'–' if row.planned is None else f'{row.planned:,}'}",
                "–" if row.best is None else format_number(row.best),
                "–" if row.regret is None else format_number(row.regret),
                row.state,
            ]
            for row in rows
        ],
        numbers=["trials", "best", "regret"],
    )
    print_line("best: search estimate, optimistically biased (selection bias); regret: measured on held-out worlds.")
