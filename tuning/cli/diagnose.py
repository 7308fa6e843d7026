"""`ravenlab diagnose`: what is my world like?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tuning.cli.options import JsonOption


def diagnose(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A trace or a log: .csv or .parquet.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Also write a page with a picture.")
    ] = None,
    study_file: Annotated[
        Path | None,
        typer.Option(
            "--study-file", metavar="FILE", help="Write the proposed study to a file. [default: it is printed]"
        ),
    ] = None,
    horizon: Annotated[
        str | None, typer.Option(metavar="T", help="Steps of the proposed study. [default: as many as there are rows]")
    ] = None,
    halves: Annotated[str, typer.Option(metavar="N", help="Random halves of the rows to ask again.")] = "10",
    as_json: JsonOption = False,
) -> None:
    """Say which kinds of change a trace or a log of yours shows.

    For each of seven kinds: how strongly, and how sure that is. Then it proposes a study file whose scenario
    resembles what was seen.

    Examples:
        # answer in the terminal
        ravenlab diagnose latency.csv
        # a page with a picture, and a study file to tune
        ravenlab diagnose latency.csv -o diagnosis.html --study-file proposed.toml
    """
    from dashboards.pages.diagnosis import render_diagnosis
    from environments.checks import check_integer
    from environments.text import plural
    from studies.diagnosis import diagnose as answer
    from studies.diagnosis.analysis import read_rewards
    from studies.diagnosis.proposal import propose_study
    from studies.diagnosis.result import FINDING_COLUMNS, describe_diagnosis, tabulate_findings
    from tuning.cli.options import whole_number
    from tuning.cli.output import called, print_json, print_table, say
    from tuning.files import atomic_write, check_file_writable

    steps = None if horizon is None else check_integer("--horizon", whole_number("--horizon", horizon), least=1)
    asked = check_integer("--halves", whole_number("--halves", halves), least=0, most=1000)
    for place in (output, study_file):
        if place is not None:
            check_file_writable(place)
    names, values = read_rewards(file)
    result = answer(values, names, halves=asked)
    proposed = propose_study(result, file.name, steps) if result.conclusive else ""
    if output is not None:
        with atomic_write(output) as out:
            out.write(render_diagnosis(result, file.name, proposed))
    if study_file is not None and proposed:
        with atomic_write(study_file) as out:
            out.write(proposed)
    if as_json:
        print_json({**result.to_dict(), "study": proposed}, indent=2)
        return
    for line in describe_diagnosis(result):
        say(line)
    if result.conclusive:
        title = f"{file.name}: {plural(result.rows, 'step')}, {plural(result.arms, 'arm')}"
        print_table(title, FINDING_COLUMNS, tabulate_findings(result), numbers=("p", "halves"))
    if output is not None:
        say(f"{output} is written.")
    if not proposed:
        say(f"There is no study to propose{'' if study_file is None else f', so {study_file} is not written'}.")
    elif study_file is None:
        say("A study of such a world (--study-file FILE writes it):")
        typer.echo(proposed)
    else:
        say(f"{study_file} is written. Next: {called()} tune --study {study_file}")
