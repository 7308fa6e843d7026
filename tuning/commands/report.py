"""`ravenlab report`: everything on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tuning.commands.options import SomeStudiesArgument, StorageOption


def report(
    studies: SomeStudiesArgument = None,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="Where it is written.")] = Path(
        "report.html"
    ),
    pictures: Annotated[
        Path | None,
        typer.Option(
            "--figures",
            metavar="DIR",
            help="Also write each figure as HTML and, with kaleido and a browser, SVG or PNG.",
            show_default=False,
        ),
    ] = None,
    storage: StorageOption = None,
) -> None:
    """Write one HTML page that works offline, with everything on it.

    Summary, parameters, scenarios, grids, search and methods of all studies, or of those named.

    Examples:
        # report.html in this folder
        ravenlab report
        # some studies, and each figure as a file of its own
        ravenlab report 'raven-ucb/*' -o raven.html --figures pictures
    """
    from tuning.commands.report_files import write_report
    from tuning.commands.tables import say

    made = write_report(studies or None, output, pictures, storage)
    for line in made.warnings:
        typer.echo(f"ravenlab: {line}", err=True)
    held = [_count(made.recommendations, "recommendation"), _count(made.figures, "figure")]
    say(f"{output} is written: {', '.join(held)}, {_size(made.size)}.")
    if pictures is not None:
        say(f"{pictures} holds {made.pictures} files of figures.")


def _size(size: int) -> str:
    """A size as people say it.

    >>> _size(4_200_000), _size(31_000)
    ('4.2 MB', '31 kB')
    """
    return f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.0f} kB"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
