"""`ravenlab diagnose`: which kinds of change a trace or a log shows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ravenlab.common.errors import InputError
from ravenlab.common.terminal import print_document, print_line
from ravenlab.tuning.cli.options import ColumnsOption, JsonOption, MinimizeOption, argument, integer_option, option
from ravenlab.tuning.cli.output import command_name, print_json, print_message

LARGE_FILE = 5_000_000  # bytes, from which a diagnosis takes several seconds

if TYPE_CHECKING:
    from ravenlab.studies.diagnosis.result import Diagnosis
    from ravenlab.studies.laws.recommendation import RecommendedParameters
    from ravenlab.tuning.diagnosed import TraceCheck


def diagnose(
    file: Annotated[Path, argument("FILE", "A trace or a log (.csv or .parquet), or a folder of traces.")],
    output: Annotated[
        Path | None, option("--output", "Also write an HTML page with a figure.", short="-o", metavar="FILE")
    ] = None,
    study_file: Annotated[
        Path | None,
        option("--study-file", "Write the proposed study to a file. [default: print it]", metavar="FILE"),
    ] = None,
    horizon: Annotated[
        int | None,
        integer_option(
            "--horizon", "T", "Number of steps of the proposed study. [default: the number of rows]", least=1
        ),
    ] = None,
    halves: Annotated[
        int,
        integer_option(
            "--halves",
            "N",
            "Repeat the diagnosis on N random halves of the rows, to show how stable it is.",
            least=0,
            most=1000,
        ),
    ] = 10,
    columns: ColumnsOption = None,
    minimize: MinimizeOption = False,
    as_json: JsonOption = False,
) -> None:
    """Find out which kinds of change a trace or a log shows.

    Tests eight kinds of change (the paper's seven and a random walk) and reports their strength and significance. Then
    proposes a study file with a scenario that resembles the data. If there is a law for it, parameters are recommended
    at once; on a trace, they are compared with the defaults on the last 30 % of the rows.

    Examples:
        # print the diagnosis
        ravenlab diagnose latency.csv
        # write a page with a figure, and a study file to tune
        ravenlab diagnose latency.csv -o diagnosis.html --study-file proposed.toml
    """
    from ravenlab.dashboards.pages.diagnosis import render_diagnosis
    from ravenlab.environments.recorded.log_file import parse_columns
    from ravenlab.studies.diagnosis.proposal import propose_study
    from ravenlab.tuning.diagnosed import suggest_next
    from ravenlab.tuning.files import check_file_writable, write_text
    from ravenlab.tuning.queries import diagnose as diagnose_file

    for path in (output, study_file):
        if path is not None:
            check_file_writable(path)
    names = None if columns is None else parse_columns(columns)
    if file.is_file() and file.stat().st_size > LARGE_FILE:
        print_message(f"Diagnosing {file.name} and {halves} random halves of its rows ...")
    diagnosis = diagnose_file(file, columns=names, minimize=minimize, halves=halves)
    for note in diagnosis.notes:
        print_message(f"{file.name}: {note}.")
    proposal = propose_study(diagnosis, file.name, horizon) if diagnosis.proposes else ""
    recommendation, check, reason = _recommend(diagnosis, horizon, file, minimize)
    parameters = [] if recommendation is None else recommendation.describe()
    parameters += [] if check is None else [check.describe()]
    parameters += [f"{reason}."] if reason else []
    if output is not None:
        step = suggest_next(diagnosis, file, study_file, recommendation, minimize)
        write_text(output, render_diagnosis(diagnosis, file.name, proposal, parameters, step))
    if study_file is not None and proposal:
        write_text(study_file, proposal)
    if as_json:
        answer = None if recommendation is None else recommendation.as_object()
        checked = None if check is None else check.as_object()
        found = {"study": proposal, "recommendation": answer, "check": checked}
        print_json({**diagnosis.to_dict(), **found}, indent=2)
        return
    print_document(replace(diagnosis.to_document(), problem=file.name))
    for line in parameters:
        print_line(line, bold=line if recommendation is not None and line is parameters[0] else "")
    if output is not None:
        print_line(f"Wrote {output}.")
    if not proposal:
        print_line(f"No study is proposed{'' if study_file is None else f'; {study_file} was not written'}.")
    elif study_file is None:
        print_line("Proposed study of a scenario that resembles the data (write it to a file with --study-file FILE):")
        typer.echo(proposal)
    else:
        print_line(f"Wrote {study_file}. Next: {command_name()} tune --study {study_file}")


def _recommend(
    diagnosis: Diagnosis, horizon: int | None, file: Path, minimize: bool
) -> tuple[RecommendedParameters | None, TraceCheck | None, str]:
    """Return the law's answer, its check if the file is a trace, and the reason if one of them is missing."""
    from ravenlab.environments.recorded.collection import is_collection
    from ravenlab.studies.laws.axes import NoLawError
    from ravenlab.tuning.diagnosed import check_on_trace, recommend_for_diagnosis

    if not diagnosis.proposes:
        return None, None, ""
    try:
        result = recommend_for_diagnosis(diagnosis, horizon)
    except (NoLawError, InputError) as error:
        return None, None, f"No parameters are recommended without a search: {str(error).rstrip('.')}"
    if diagnosis.kind == "log" or is_collection(file):
        return result, None, ""
    try:
        return result, check_on_trace(diagnosis, file, minimize), ""
    except (NoLawError, InputError) as error:
        return result, None, f"These parameters were not checked on the trace: {str(error).rstrip('.')}"
