"""`ravenlab studies`: what is stored, one row a study."""

from __future__ import annotations

import json

import typer

from tuning.commands.stored import JsonOption, StorageOption, opened


def studies(storage: StorageOption = None, as_json: JsonOption = False) -> None:
    """List the studies: trials done and asked for, best value, validated regret and state.

    Example: `ravenlab studies --json`
    """
    from dataclasses import asdict

    from studies.library import list_studies
    from studies.urls import shown, storage_url
    from studies.words import short
    from tuning.commands.tables import print_table, say

    with opened(storage) as store:
        rows = list_studies(store)
    if as_json:
        typer.echo(json.dumps([asdict(row) for row in rows], ensure_ascii=False, allow_nan=False))
        return
    if not rows:
        say("No studies yet; run ravenlab tune.")
        return
    print_table(
        f"Studies in {shown(storage_url(storage))}",
        ["study", "trials", "best", "regret", "state"],
        [
            [
                row.name,
                f"{row.done}/{'–' if row.asked is None else row.asked}",
                "–" if row.best is None else short(row.best),
                "–" if row.regret is None else short(row.regret),
                row.state,
            ]
            for row in rows
        ],
        numbers=["trials", "best", "regret"],
    )
    say("best is what the search saw, too good to be true; regret is measured on fresh worlds.")
