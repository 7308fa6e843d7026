"""Options and arguments that commands share, those of `ravenlab tune`, and the types of their values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from environments.noise import NOISES
from environments.text import join_words, shorten_value
from studies.registry import MEASURES, OBJECTIVES, PRUNERS, SAMPLERS, StudyDefaults, format_choices
from studies.storage.urls import DEFAULT_URL, STORAGE_VARIABLE
from tuning.cli import completion
from tuning.workers.local import BACKENDS

PROBLEM = "Problem"
DATA = "Recorded data"
SEARCH = "Search"
VALIDATION = "Validation"
ROBUST = "One setting for several scenarios"
WORKERS = "Workers"
OUTPUT = "Output"

MAX_JOBS = 1024


class OptionValueError(typer.BadParameter):
    """A value that an option can't take. The message continues the name of the option: 'must be …'."""


class IntegerList(list[int]):
    """Whole numbers separated by commas. Typer would read a plain `list[int]` as an option that can be repeated."""


class NumberList(list[float]):
    """Numbers separated by commas."""


@dataclass(frozen=True)
class Assignment:
    """The value of an option that is format_choices NAME=VALUE or NAME=LOW:HIGH."""

    name: str
    value: Any


def integer(least: int | None = None, most: int | None = None) -> Callable[[str], int]:
    """Return a parser of whole numbers within bounds; underscores may separate digits.

    >>> integer()("10_000")
    10000
    """

    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise OptionValueError(f"must be a whole number but got {shorten_value(text)}.") from None
        if least is not None and number < least:
            raise OptionValueError(f"must be at least {least:,} but got {shorten_value(number)}.")
        if most is not None and number > most:
            raise OptionValueError(f"must be at most {most:,} but got {shorten_value(number)}.")
        return number

    return parse


def parse_number(text: str) -> float:
    """Parse a number.

    >>> parse_number("1e-2")
    0.01
    """
    try:
        return float(text)
    except ValueError:
        raise OptionValueError(f"must be a number but got {shorten_value(text)}.") from None


def parse_integers(text: str) -> IntegerList:
    """Parse whole numbers separated by commas.

    >>> parse_integers("1000, 10_000")
    [1000, 10000]
    """
    return IntegerList(integer()(word.strip()) for word in text.split(","))


def parse_numbers(text: str) -> NumberList:
    """Parse numbers separated by commas.

    >>> parse_numbers("0.5,1")
    [0.5, 1.0]
    """
    return NumberList(parse_number(word.strip()) for word in text.split(","))


def parse_assignment(text: str) -> Assignment:
    """Parse name=value; a value that looks like a number becomes one.

    >>> parse_assignment("every=5%"), parse_assignment("longest=7")
    (Assignment(name='every', value='5%'), Assignment(name='longest', value=7))
    """
    name, equals, value = (part.strip() for part in text.partition("="))
    if not (name and equals and value):
        raise OptionValueError(f"must have the form name=value but got {shorten_value(text)}.")
    for kind in (int, float):
        try:
            return Assignment(name, kind(value))
        except ValueError:
            continue
    return Assignment(name, value)


def parse_range(text: str) -> Assignment:
    """Parse name=low:high.

    >>> parse_range("alpha0=0.1:5")
    Assignment(name='alpha0', value=[0.1, 5.0])
    """
    name, _, bounds = (part.strip() for part in text.partition("="))
    low, _, high = bounds.partition(":")
    try:
        return Assignment(name, [float(low), float(high)])
    except ValueError:
        raise OptionValueError(f"must have the form name=low:high but got {shorten_value(text)}.") from None


def default(value: object) -> str:
    """Format a default for a help text.

    >>> default(200)
    '[default: 200]'
    """
    return f"[default: {value}]"


def option(
    *names: str,
    help: str,
    group: str | None = None,
    metavar: str | None = None,
    parser: Callable[[str], Any] | None = None,
    complete: Callable[..., list[str]] | None = None,
) -> Any:
    """Return an option of a command: its names, help text, heading in the help, and how its value is parsed."""
    return typer.Option(
        *names, help=help, rich_help_panel=group, metavar=metavar, parser=parser, autocompletion=complete
    )


def argument(
    metavar: str,
    help: str,
    group: str | None = None,
    complete: Callable[..., list[str]] | None = None,
) -> Any:
    """Return a positional argument of a command."""
    return typer.Argument(metavar=metavar, help=help, rich_help_panel=group, autocompletion=complete)


# Problem

ScenarioArgument = Annotated[
    str,
    argument("SCENARIO", "Scenario, effects joined with '+', or ./file.py:name.", PROBLEM, completion.scenarios),
]
ScenariosArgument = Annotated[
    list[str] | None,
    argument("SCENARIO", "Scenarios, effects joined with '+', or ./file.py:name.", PROBLEM, completion.scenarios),
]
HorizonsOption = Annotated[
    IntegerList | None,
    option(
        "--horizon",
        metavar="T[,T…]",
        help="Number of steps; several values define one study each. [default: the scenario's]",
        group=PROBLEM,
        parser=parse_integers,
    ),
]
ArmsOption = Annotated[
    int | None,
    option("--arms", metavar="K", help="Number of arms. [default: the scenario's]", group=PROBLEM, parser=integer()),
]
NoiseOption = Annotated[
    str | None,
    option(
        "--noise",
        help=f"Noise distribution: {join_words(list(NOISES))}.",
        group=PROBLEM,
        complete=completion.names(NOISES),
    ),
]
SettingOption = Annotated[
    list[Assignment] | None,
    option(
        "--set",
        metavar="NAME=VALUE",
        help="Parameter of the scenario; can be repeated.",
        group=PROBLEM,
        parser=parse_assignment,
    ),
]
SeedOption = Annotated[
    int | None,
    option(
        "--seed",
        metavar="S",
        help=f"Random seed. {default(StudyDefaults.seed)}",
        group=PROBLEM,
        parser=integer(),
    ),
]
StudyFileOption = Annotated[
    str | None,
    option(
        "--study",
        metavar="FILE",
        help="Study file, or the name of a bundled one (ravenlab list studies), in place of these options.",
        group=PROBLEM,
        complete=completion.study_files,
    ),
]
PluginOption = Annotated[
    list[str] | None,
    option(
        "--plugin",
        metavar="FILE.py:NAME",
        help="Load a custom policy or scenario that a study file uses; can be repeated.",
        group=PROBLEM,
    ),
]

# Recorded data

TraceOption = Annotated[
    str | None,
    option(
        "--trace",
        metavar="FILE",
        help="Recorded rewards (.csv or .parquet): one row per step, one column per arm.",
        group=DATA,
    ),
]
LogOption = Annotated[
    str | None,
    option(
        "--log",
        metavar="FILE",
        help="Logged decisions (.csv or .parquet): columns step, arm, reward[, propensity].",
        group=DATA,
    ),
]
WindowOption = Annotated[
    int | None,
    option(
        "--window",
        metavar="W",
        help="Rows per window of the trace. [default: an eighth of the trace]",
        group=DATA,
        parser=integer(),
    ),
]
MinimizeOption = Annotated[
    bool, option("--minimize", help="The trace or log holds costs instead of rewards.", group=DATA)
]

# Search and validation

PolicyOption = Annotated[
    str | None,
    option(
        "--policy",
        help=f"Policy to tune, or ./file.py:Name. {default(StudyDefaults.policy)}",
        group=SEARCH,
        complete=completion.policies,
    ),
]
TrialsOption = Annotated[
    int | None,
    option(
        "--trials",
        metavar="N",
        help=f"Number of trials (candidates). {default(StudyDefaults.trials)}",
        group=SEARCH,
        parser=integer(),
    ),
]
ReplicationsOption = Annotated[
    int | None,
    option(
        "--replications",
        metavar="R",
        help=f"Number of worlds per trial. {default(StudyDefaults.replications)}",
        group=SEARCH,
        parser=integer(),
    ),
]
SamplerOption = Annotated[
    str | None,
    option(
        "--sampler",
        help=f"Sampler: {join_words(list(SAMPLERS))}. {default(StudyDefaults.sampler)}",
        group=SEARCH,
        complete=completion.names(SAMPLERS),
    ),
]
PrunerOption = Annotated[
    str | None,
    option(
        "--pruner",
        help=f"Pruner: {join_words(list(PRUNERS))}. {default(StudyDefaults.pruner)}",
        group=SEARCH,
        complete=completion.names(PRUNERS),
    ),
]
ObjectiveOption = Annotated[
    str | None,
    option(
        "--objective",
        help=f"Objective: {join_words(format_choices(OBJECTIVES))}. {default(StudyDefaults.objective)}",
        group=SEARCH,
        complete=completion.choices(OBJECTIVES),
    ),
]
RangeOption = Annotated[
    list[Assignment] | None,
    option(
        "--range",
        metavar="NAME=LOW:HIGH",
        help="Search range of a parameter; can be repeated.",
        group=SEARCH,
        parser=parse_range,
    ),
]
FixOption = Annotated[
    list[Assignment] | None,
    option(
        "--fix",
        metavar="NAME=VALUE",
        help="Fixed value of a parameter that is not searched; can be repeated.",
        group=SEARCH,
        parser=parse_assignment,
    ),
]
BatchOption = Annotated[
    int | None,
    option(
        "--batch",
        metavar="B",
        help=f"Number of candidates per batch. {default(StudyDefaults.batch)}",
        group=SEARCH,
        parser=integer(),
    ),
]
TimeoutOption = Annotated[
    float | None,
    option(
        "--timeout",
        metavar="S",
        help="Time limit in seconds; rerun the same command to resume.",
        group=SEARCH,
        parser=parse_number,
    ),
]
SelectionOption = Annotated[
    int | None,
    option(
        "--selection",
        metavar="R",
        help=f"Number of held-out worlds that select the recommendation. {default(StudyDefaults.selection)}",
        group=VALIDATION,
        parser=integer(),
    ),
]
ReportOption = Annotated[
    int | None,
    option(
        "--report",
        metavar="R",
        help=f"Number of held-out worlds that its regret is reported on. {default(StudyDefaults.report)}",
        group=VALIDATION,
        parser=integer(),
    ),
]

# One setting for several scenarios

RobustOption = Annotated[
    bool, option("--robust", help="Search one setting for all scenarios instead of one each.", group=ROBUST)
]
MeasureOption = Annotated[
    str | None,
    option(
        "--measure",
        help=f"Relative regret to minimize: {join_words(format_choices(MEASURES))}. {default(StudyDefaults.measure)}",
        group=ROBUST,
        complete=completion.choices(MEASURES),
    ),
]
ParetoOption = Annotated[bool, option("--pareto", help="Search the Pareto front of the scenarios.", group=ROBUST)]
RobustCsvOption = Annotated[
    Path | None,
    option("--csv", metavar="FILE", help="Write the regret of each setting in each scenario to a file.", group=ROBUST),
]

# Workers

JobsOption = Annotated[
    int | None,
    option(
        "--jobs",
        metavar="N",
        help="Number of workers; results do not depend on it. [default: all cores]",
        group=WORKERS,
        parser=integer(least=1, most=MAX_JOBS),
    ),
]
BackendOption = Annotated[
    str,
    option(
        "--backend",
        help=f"Workers on this machine: {join_words(list(BACKENDS))}.",
        group=WORKERS,
        complete=completion.names(BACKENDS),
    ),
]
ClusterOption = Annotated[
    str | None,
    option(
        "--cluster",
        metavar="ADDRESS",
        help="Dask scheduler, such as tcp://host:8786, or 'local' to start one on this machine.",
        group=WORKERS,
        complete=completion.words("local", "tcp://"),
    ),
]
DryRunOption = Annotated[bool, option("--dry-run", help="Print the plan and run nothing.", group=WORKERS)]

# Output

FolderOption = Annotated[Path, option("-o", "--output", metavar="DIR", help="Output folder.", group=OUTPUT)]
NameOption = Annotated[
    str | None, option("--name", help="Name of the study. [default: derived from its settings]", group=OUTPUT)
]
StorageOption = Annotated[
    str | None,
    option(
        "--storage",
        metavar="URL",
        help=f"Database of the studies. {default(f'{STORAGE_VARIABLE}, or {DEFAULT_URL}')}",
        group=OUTPUT,
    ),
]
QuietOption = Annotated[bool, option("--quiet", "-q", help="Print no progress and no hints.", group=OUTPUT)]
JsonOption = Annotated[bool, option("--json", help="Print JSON to stdout, and nothing else.", group=OUTPUT)]

# Stored studies

STUDY_PATTERNS = "Names, prefixes, or patterns such as 'raven-ucb/*'."
StudyArgument = Annotated[str, argument("STUDY", "Name of a study, or a prefix of it.", complete=completion.studies)]
StudiesArgument = Annotated[list[str], argument("STUDY", STUDY_PATTERNS, complete=completion.studies)]
OptionalStudiesArgument = Annotated[
    list[str] | None, argument("STUDY", f"{STUDY_PATTERNS} [default: all]", complete=completion.studies)
]
