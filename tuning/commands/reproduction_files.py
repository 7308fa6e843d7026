"""Where a reproduction goes: one page, one JSON file, a CSV file for each table, and lines in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from studies.reproduction.document import Document

CSV = "csv"


def write_reproduction(document: Document, folder: Path) -> list[Path]:
    """Write everything, each file whole or not at all; CSV files of an earlier run that this one did not make go."""
    from dashboards.reproduction.render import render
    from tuning.files import replacing

    tables = {
        f"{name}-{key}.csv": table.as_csv()
        for name, outcome in document.outcomes.items()
        for key, table in outcome.tables.items()
    }
    texts = {
        folder / "reproduction.json": document.as_json(),
        **{folder / CSV / name: text for name, text in tables.items()},
        folder / "reproduction.html": render(document),
    }
    (folder / CSV).mkdir(exist_ok=True)
    for stale in (folder / CSV).glob("*.csv"):
        if stale.name not in tables:
            stale.unlink()
    for path, text in texts.items():
        with replacing(path) as file:
            file.write(text)
    return list(texts)


def print_verdicts(document: Document, written: list[Path]) -> None:
    """The verdicts that are not one of many, and where the rest is."""
    from dashboards.reproduction.verdict_table import groups
    from tuning.commands.tables import print_table, say

    found = groups(document.verdicts())
    rows = []
    for claim in [claim for group in found if not group.title for claim in group.claims]:
        for place, row in enumerate(claim.verdicts):
            ours = f"{row.ours} ({row.interval})" if row.interval else row.ours
            first = (claim.text, claim.printed) if place == 0 else ("", "")
            rows.append([first[0], row.protocol, first[1], ours, f"{row.sign} {row.word}"])
    if rows:
        print_table("Verdicts", ["The paper's claim", "Run", "Paper", "Ours (95 %)", "Verdict"], rows)
    for group in found:
        if group.title:
            say(f"{group.title}: {group.summary}.")
    page = next(path for path in written if path.suffix == ".html")
    tables = sum(path.suffix == ".csv" for path in written)
    say(f"{page} is written, with reproduction.json and {tables} CSV files beside it.")
