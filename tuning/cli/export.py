"""`ravenlab export`: recommendations in a file format for programs or papers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ravenlab.common.text import plural
from ravenlab.studies.export import DEFAULT_FORMAT, FORMATS
from ravenlab.tuning.cli.options import AllOption, OptionalStudiesArgument, StorageOption, choice_option, option

WITHOUT_RECOMMENDATION = {
    "grid": "is a grid; ravenlab grid --csv writes it",
    "comparison": "is a comparison; ravenlab compare -o writes it",
}
"""Reasons why a study is not exported, by its kind."""


def export(
    studies: OptionalStudiesArgument = None,
    form: Annotated[str, choice_option("--format", "Format", FORMATS)] = DEFAULT_FORMAT,
    output: Annotated[
        Path | None, option("--output", "Output file. [default: stdout]", short="-o", metavar="FILE")
    ] = None,
    show_all: AllOption = False,
    storage: StorageOption = None,
) -> None:
    """Export recommendations for programs or papers.

    Exporting the same studies again gives the same bytes.

    Examples:
        # all recommendations as JSON to stdout
        ravenlab export
        # those of one policy to a file that a service loads
        ravenlab export 'raven-ucb/*' -o recommended.json
        # a table for a paper
        ravenlab export --format latex -o table.tex
    """
    from ravenlab.common.errors import InputError, unknown_name
    from ravenlab.studies.export import export as export_text
    from ravenlab.studies.results.recommendation import Recommendation
    from ravenlab.studies.results.robust import RobustRecommendation
    from ravenlab.studies.storage.database import use_storage
    from ravenlab.studies.storage.library import list_studies, read_robust_results, split_by_recommendation
    from ravenlab.tuning.cli.output import print_exact, print_line, print_message
    from ravenlab.tuning.files import atomic_write

    if form not in FORMATS:
        raise unknown_name("format", form, FORMATS)
    with use_storage(storage) as store:
        single, without = split_by_recommendation(store, studies or None, show_all)
        robust = read_robust_results(store, studies or None)
        kinds = {row.name: row.kind for row in list_studies(store, internal=True)} if without else {}
    recommendations: list[Recommendation | RobustRecommendation] = [*single, *robust]
    exported = {result.study for result in recommendations}
    notes = []
    for name in without:
        reason = WITHOUT_RECOMMENDATION.get(kinds[name], "has no recommendation yet")
        if name not in exported and kinds[name] != "front":  # reading a front has said that it is left out
            notes.append(f"study {name!r} {reason}.")
    if not recommendations:
        reasons = " ".join(notes) or "no study has a recommendation; run ravenlab tune first."
        raise InputError(f"nothing to export: {reasons}")
    for note in notes:
        print_message(f"ravenlab: {note}")
    text = export_text(recommendations, form)
    if output is None:
        print_exact(text)
        return
    with atomic_write(output) as file:
        file.write(text)
    print_line(f"Wrote {output}: {plural(len(recommendations), 'recommendation')}.")
