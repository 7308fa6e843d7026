"""`ravenlab export`: recommendations as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from environments.text import escape_unprintable, join_words, plural
from studies.export import DEFAULT_FORMAT, FORMATS
from tuning.cli import completion
from tuning.cli.options import SomeStudiesArgument, StorageOption

ELSEWHERE = {
    "grid": "is a grid; ravenlab grid --csv writes it",
    "comparison": "is a comparison; ravenlab compare -o writes it",
}
"""What a study is that recommends nothing, and who writes it."""


def export(
    studies: SomeStudiesArgument = None,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help=f"{join_words(list(FORMATS))}.",
            autocompletion=completion.names(FORMATS),
        ),
    ] = DEFAULT_FORMAT,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write a file. [default: it is printed]"),
    ] = None,
    storage: StorageOption = None,
) -> None:
    """Print or write what the studies recommend, for programs to read.

    The same studies give the same bytes.

    Examples:
        # everything as JSON on the screen
        ravenlab export
        # some of it into a file that a service loads
        ravenlab export 'raven-ucb/*' -o recommended.json
        # a table for a paper
        ravenlab export --format latex -o table.tex
    """
    from environments.errors import InputError, unknown_name
    from studies.export import export as written
    from studies.results.recommendation import Recommendation
    from studies.results.robust import RobustRecommendation
    from studies.storage.database import use_storage
    from studies.storage.library import list_studies, read_robust_results, split_by_recommendation
    from tuning.cli.output import put, say
    from tuning.files import atomic_write

    if form not in FORMATS:
        raise unknown_name("format", form, FORMATS)
    with use_storage(storage) as store:
        found, without = split_by_recommendation(store, studies or None)
        over_worlds = read_robust_results(store, studies or None)
        states = {row.name: row.state for row in list_studies(store)} if without else {}
    several = {each.study: each for each in over_worlds}
    for name in (name for name in without if not isinstance(several.get(name), RobustRecommendation)):
        why = ELSEWHERE.get(states[name], "has no recommendation yet")
        if name in several:
            why = "is a Pareto front; ravenlab tune --robust --pareto --csv writes it"
        typer.echo(f"ravenlab: study {escape_unprintable(repr(name))} {why}.", err=True)
    every: list[Recommendation | RobustRecommendation] = list(found)
    every += [each for each in over_worlds if isinstance(each, RobustRecommendation)]
    if not every:
        raise InputError("there is nothing to export: no study has a recommendation; run ravenlab tune first.")
    text = written(every, form)
    if output is None:
        put(text)
        return
    with atomic_write(output) as file:
        file.write(text)
    say(f"{output} is written: {plural(len(every), 'recommendation')}.")
