"""Options that `ravenlab tune` alone takes: where it gets its data, how it searches, validates and spans scenarios."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from environments.text import join_words
from studies.registry import MEASURES, OBJECTIVES, PRUNERS, SAMPLERS, StudyDefaults, format_choices
from tuning.cli import completion
from tuning.cli.options import PROBLEM, WORKERS, default

SEARCH = "The search"
VALIDATION = "Validation"
DATA = "Your own data"
WORLDS = "One setting for several scenarios"

StudyFileOption = Annotated[
    str | None,
    typer.Option(
        "--study",
        metavar="FILE",
        help="A study file, or a shipped one by name (ravenlab list studies), in place of all this.",
        autocompletion=completion.study_files,
        rich_help_panel=PROBLEM,
    ),
]

TraceOption = Annotated[
    str | None,
    typer.Option(
        "--trace", metavar="FILE", help="A .csv or .parquet: one row a step, one column an arm.", rich_help_panel=DATA
    ),
]

LogOption = Annotated[
    str | None,
    typer.Option(
        "--log",
        metavar="FILE",
        help="A .csv or .parquet: columns step, arm, reward[, propensity].",
        rich_help_panel=DATA,
    ),
]

WindowOption = Annotated[
    str | None,
    typer.Option(
        "--window", metavar="W", help="Rows of a window. [default: an eighth of the trace]", rich_help_panel=DATA
    ),
]

MinimizeOption = Annotated[bool, typer.Option("--minimize", help="The trace or log holds costs.", rich_help_panel=DATA)]

PolicyOption = Annotated[
    str | None,
    typer.Option(
        "--policy",
        help=f"Whose parameters are searched; ./yours.py:Name brings your own. {default(StudyDefaults.policy)}",
        autocompletion=completion.policies,
        rich_help_panel=SEARCH,
    ),
]

TrialsOption = Annotated[
    str | None,
    typer.Option("--trials", metavar="N", help=f"Candidates. {default(StudyDefaults.trials)}", rich_help_panel=SEARCH),
]

ReplicationsOption = Annotated[
    str | None,
    typer.Option(
        "--replications",
        metavar="R",
        help=f"Worlds each one plays. {default(StudyDefaults.replications)}",
        rich_help_panel=SEARCH,
    ),
]

SamplerOption = Annotated[
    str | None,
    typer.Option(
        "--sampler",
        help=f"{join_words(list(SAMPLERS))}. {default(StudyDefaults.sampler)}",
        autocompletion=completion.names(SAMPLERS),
        rich_help_panel=SEARCH,
    ),
]

PrunerOption = Annotated[
    str | None,
    typer.Option(
        "--pruner",
        help=f"{join_words(list(PRUNERS))}. {default(StudyDefaults.pruner)}",
        autocompletion=completion.names(PRUNERS),
        rich_help_panel=SEARCH,
    ),
]

ObjectiveOption = Annotated[
    str | None,
    typer.Option(
        "--objective",
        help=f"{join_words(format_choices(OBJECTIVES))}. {default(StudyDefaults.objective)}",
        autocompletion=completion.choices(OBJECTIVES),
        rich_help_panel=SEARCH,
    ),
]

RangeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--range",
        metavar="NAME=LOW:HIGH",
        help="Where a parameter is searched; may be given again.",
        rich_help_panel=SEARCH,
    ),
]

FixOption = Annotated[
    list[str] | None,
    typer.Option(
        "--fix",
        metavar="NAME=VALUE",
        help="A parameter that is not searched; may be given again.",
        rich_help_panel=SEARCH,
    ),
]

BatchOption = Annotated[
    str | None,
    typer.Option(
        "--batch",
        metavar="B",
        help=f"Candidates asked at a time. {default(StudyDefaults.batch)}",
        rich_help_panel=SEARCH,
    ),
]

TimeoutOption = Annotated[
    str | None,
    typer.Option("--timeout", metavar="S", help="Stop after so many seconds; rerun to go on.", rich_help_panel=SEARCH),
]

SelectionOption = Annotated[
    str | None,
    typer.Option(
        "--selection",
        metavar="R",
        help=f"Fresh worlds to choose on. {default(StudyDefaults.selection)}",
        rich_help_panel=VALIDATION,
    ),
]

ReportOption = Annotated[
    str | None,
    typer.Option(
        "--report",
        metavar="R",
        help=f"Fresh worlds to report on. {default(StudyDefaults.report)}",
        rich_help_panel=VALIDATION,
    ),
]

RobustOption = Annotated[
    bool,
    typer.Option("--robust", help="Search it, for when nobody knows which it will be.", rich_help_panel=WORLDS),
]

MeasureOption = Annotated[
    str | None,
    typer.Option(
        "--measure",
        help=f"How relative regrets are combined: {join_words(format_choices(MEASURES))}. "
        f"{default(StudyDefaults.measure)}",
        autocompletion=completion.choices(MEASURES),
        rich_help_panel=WORLDS,
    ),
]

ParetoOption = Annotated[
    bool,
    typer.Option("--pareto", help="Find every setting that no other beats in all scenarios.", rich_help_panel=WORLDS),
]

CsvOption = Annotated[
    Path | None,
    typer.Option("--csv", metavar="FILE", help="Write settings × scenarios to a file.", rich_help_panel=WORLDS),
]

DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Print what would run, and run nothing.", rich_help_panel=WORKERS)
]
