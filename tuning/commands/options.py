"""Options that several commands take: the same name, the same words and the same offers of a shell for each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from environments.noise import NOISES
from environments.text import join_words
from studies.registry import StudyDefaults
from studies.urls import DEFAULT_URL, VARIABLE
from tuning.commands import completing
from tuning.crew import BACKENDS

PROBLEM = "The problem"
WORKERS = "Who does the work"
OUTPUT = "What is kept and printed"


def default(value: object) -> str:
    """A default as help shows it.

    >>> default(200)
    '[default: 200]'
    """
    return f"[default: {value}]"


ScenariosArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="SCENARIO",
        help="Names, effects joined by '+', or ./yours.py:name.",
        autocompletion=completing.scenarios,
        rich_help_panel=PROBLEM,
        show_default=False,
    ),
]

ScenarioArgument = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO",
        help="A name, effects joined by '+', or ./yours.py:name.",
        autocompletion=completing.scenarios,
        rich_help_panel=PROBLEM,
        show_default=False,
    ),
]

HorizonsOption = Annotated[
    str | None,
    typer.Option(
        "--horizon",
        metavar="T[,T…]",
        help="Steps; several make as many runs. [default: the scenario's]",
        rich_help_panel=PROBLEM,
    ),
]

ArmsOption = Annotated[
    str | None,
    typer.Option("--arms", metavar="K", help="Arms. [default: the scenario's]", rich_help_panel=PROBLEM),
]

NoiseOption = Annotated[
    str | None,
    typer.Option(
        "--noise",
        help=f"{join_words(list(NOISES))}.",
        autocompletion=completing.names(NOISES),
        rich_help_panel=PROBLEM,
    ),
]

SettingOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A parameter of the scenario; may be given again.",
        rich_help_panel=PROBLEM,
    ),
]

BringOption = Annotated[
    list[str] | None,
    typer.Option(
        "--bring",
        metavar="FILE.py:NAME",
        help="A policy or scenario of yours that is named elsewhere, such as in a study file; may be given again.",
        rich_help_panel=PROBLEM,
        show_default=False,
    ),
]

SeedOption = Annotated[
    str | None,
    typer.Option(
        "--seed",
        metavar="S",
        help=f"Names the worlds and the searches. {default(StudyDefaults.seed)}",
        rich_help_panel=PROBLEM,
    ),
]

JobsOption = Annotated[
    str | None,
    typer.Option(
        "--jobs",
        metavar="N",
        help="Workers; the result is the same for any number. [default: all cores]",
        rich_help_panel=WORKERS,
    ),
]

BackendOption = Annotated[
    str,
    typer.Option(
        "--backend",
        help=f"{join_words(list(BACKENDS))}.",
        autocompletion=completing.names(BACKENDS),
        rich_help_panel=WORKERS,
    ),
]

ClusterOption = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Work on a Dask cluster: its scheduler, such as tcp://host:8786, or local for one of this machine.",
        autocompletion=completing.words("local", "tcp://"),
        rich_help_panel=WORKERS,
        show_default=False,
    ),
]

FolderOption = Annotated[
    Path,
    typer.Option("-o", "--output", metavar="DIR", help="Where everything is written.", rich_help_panel=OUTPUT),
]

NameOption = Annotated[
    str | None,
    typer.Option("--name", help="The study's name; made from its fields if not given.", rich_help_panel=OUTPUT),
]

StorageOption = Annotated[
    str | None,
    typer.Option(
        "--storage",
        metavar="URL",
        help=f"Where the studies are. {default(f'{VARIABLE}, or {DEFAULT_URL}')}",
        rich_help_panel=OUTPUT,
        show_default=False,
    ),
]

QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no hints.", rich_help_panel=OUTPUT)]

JsonOption = Annotated[
    bool, typer.Option("--json", help="Print JSON, and nothing else, to stdout.", rich_help_panel=OUTPUT)
]

StudyArgument = Annotated[
    str,
    typer.Argument(
        metavar="STUDY",
        help="Its name, or the beginning of it.",
        autocompletion=completing.studies,
        show_default=False,
    ),
]

StudiesArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="STUDY",
        help="Names, beginnings, or patterns such as 'raven-ucb/*'.",
        autocompletion=completing.studies,
        show_default=False,
    ),
]

SomeStudiesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="STUDY",
        help="Names, beginnings, or patterns such as 'raven-ucb/*'. [default: all]",
        autocompletion=completing.studies,
        show_default=False,
    ),
]
