"""Options and arguments that commands share, those of `ravenlab tune`, and the types of their values."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from ravenlab.common.checks import parse_count
from ravenlab.common.text import shorten_value
from ravenlab.studies.registry import (
    MEASURES,
    StudyDefaults,
)
from ravenlab.studies.spec.descriptions import ROBUST as ROBUST_FIELDS
from ravenlab.studies.spec.descriptions import STUDY, list_choices
from ravenlab.studies.storage.urls import DEFAULT_URL, STORAGE_VARIABLE
from ravenlab.tuning.cli import completion
from ravenlab.tuning.workers.local import BACKENDS

PROBLEM = "Problem"
DATA = "Recorded data"
CELLS = "Cells"
COMPARISON = "Comparison"
DESCRIPTION = "Description in plain quantities"
SEARCH = "Search"
VALIDATION = "Validation"
ROBUST = "One setting for several scenarios"
WORKERS = "Workers"
OUTPUT = "Output"

MAX_JOBS = 1024


class OptionValueError(typer.BadParameter):
    """A value that an option can't take. The message continues the name of the option: 'must be …'."""


class Values(list[Any]):
    """Values separated by commas. Typer would read a plain list as an option that can be repeated."""


@dataclass(frozen=True)
class Assignment:
    """The value of an option of the form NAME=VALUE or NAME=LOW:HIGH."""

    name: str
    value: Any


def integer(least: int | None = None, most: int | None = None) -> Callable[[str], int]:
    """Return a parser of whole numbers within bounds; underscores may separate digits.

    >>> integer()("10_000"), integer()("1e4"), integer()("10k")
    (10000, 10000, 10000)
    """

    def parse(text: str) -> int:
        number = parse_count(text)
        if not isinstance(number, int):
            raise OptionValueError(f"must be a whole number such as 10000, 1e4 or 10k but got {shorten_value(text)}.")
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


def parse_quantity(text: str) -> float:
    """Parse a number that may be written as a percentage.

    >>> parse_quantity("3%")
    0.03
    """
    try:
        return float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
    except ValueError:
        raise OptionValueError(f"must be a number such as 0.03 or 3% but got {text!r}.") from None


def separated(parse: Callable[[str], Any]) -> Callable[[str], Values]:
    """Return a parser of values separated by commas.

    >>> separated(integer())("1000, 10_000"), separated(parse_number)("0.5,1")
    ([1000, 10000], [0.5, 1.0])
    """
    return lambda text: Values(parse(word.strip()) for word in text.split(","))


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
    name: str,
    help: str,
    group: str | None = None,
    *,
    short: str | None = None,
    metavar: str | None = None,
    parser: Callable[[str], Any] | None = None,
    complete: Callable[..., list[str]] | None = None,
) -> Any:
    """Return an option of a command: its name, help text and heading, and how its value is shown, parsed, completed."""
    names = [name] if short is None else [name, short]
    return typer.Option(
        *names, help=help, rich_help_panel=group, metavar=metavar, parser=parser, autocompletion=complete
    )


def integer_option(
    name: str, metavar: str, help: str, group: str | None = None, least: int | None = None, most: int | None = None
) -> Any:
    """Return an option whose value is a whole number."""
    return option(name, help, group, metavar=metavar, parser=integer(least, most))


def choice_option(
    name: str,
    description: str,
    registry: Mapping[str, object],
    group: str | None = None,
    default_choice: str | None = None,
) -> Any:
    """Return an option whose value is registered; its help text lists the registered values."""
    note = "" if default_choice is None else f" {default(default_choice)}"
    return option(name, f"{list_choices(description, registry)}{note}", group, complete=completion.choices(registry))


def argument(
    metavar: str,
    help: str,
    group: str | None = None,
    complete: Callable[..., list[str]] | None = None,
) -> Any:
    """Return a positional argument of a command."""
    return typer.Argument(metavar=metavar, help=help, rich_help_panel=group, autocompletion=complete)


# Problem

SCENARIO_FORMS = "a name (ravenlab list scenarios), effects joined with '+', or ./file.py:name."
ScenarioArgument = Annotated[str, argument("SCENARIO", f"Scenario: {SCENARIO_FORMS}", PROBLEM, completion.scenarios)]
ScenariosArgument = Annotated[
    list[str] | None, argument("SCENARIO", f"Scenarios, each {SCENARIO_FORMS}", PROBLEM, completion.scenarios)
]
HorizonOption = Annotated[int | None, integer_option("--horizon", "T", STUDY["horizon"], PROBLEM)]
HorizonsOption = Annotated[
    Values | None,
    option(
        "--horizon",
        f"{STUDY['horizon']} Several values define one study each.",
        PROBLEM,
        metavar="T[,T…]",
        parser=separated(integer()),
    ),
]
SeedOption = Annotated[
    int | None, integer_option("--seed", "S", f"{STUDY['seed']} {default(StudyDefaults.seed)}", PROBLEM)
]
StudyFileOption = Annotated[
    str | None,
    option(
        "--study",
        "Read all settings from a study file, or from a bundled one (ravenlab list studies).",
        PROBLEM,
        metavar="FILE",
        complete=completion.study_files,
    ),
]
PluginOption = Annotated[
    list[str] | None,
    option(
        "--plugin",
        "Load a custom policy or scenario that a study file uses; can be repeated.",
        PROBLEM,
        metavar="FILE.py:NAME",
    ),
]

ColumnsOption = Annotated[str | None, option("--columns", STUDY["columns"], DATA, metavar="NAMES")]
MinimizeOption = Annotated[bool, option("--minimize", STUDY["minimize"], DATA)]
TimeoutOption = Annotated[
    float | None,
    option(
        "--timeout",
        "Time limit per study in seconds; rerun the same command to resume.",
        SEARCH,
        metavar="S",
        parser=parse_number,
    ),
]
NoMapOption = Annotated[
    bool, option("--no-map", "Do not measure the regret over the two most important parameters.", VALIDATION)
]

# One setting for several scenarios

RobustOption = Annotated[
    bool, option("--robust", "Search one setting for all scenarios instead of one setting for each.", ROBUST)
]
MeasureOption = Annotated[
    str | None,
    choice_option("--measure", ROBUST_FIELDS["measure"], MEASURES, ROBUST, StudyDefaults.measure),
]
RobustCsvOption = Annotated[
    Path | None,
    option("--csv", "Write the regret of each setting in each scenario to a CSV file.", ROBUST, metavar="FILE"),
]

# Workers

JobsOption = Annotated[
    int | None,
    integer_option(
        "--jobs",
        "N",
        "Number of workers; results do not depend on it. [default: all cores]",
        WORKERS,
        least=1,
        most=MAX_JOBS,
    ),
]
BackendOption = Annotated[str, choice_option("--backend", "Workers on this machine", BACKENDS, WORKERS)]
ClusterOption = Annotated[
    str | None,
    option(
        "--cluster",
        "Dask scheduler, such as tcp://host:8786, or 'local' to start one on this machine.",
        WORKERS,
        metavar="ADDRESS",
        complete=completion.words("local", "tcp://"),
    ),
]

# Output

DryRunOption = Annotated[bool, option("--dry-run", "Print the plan and run nothing.", OUTPUT)]
FolderOption = Annotated[Path, option("--output", "Output folder.", OUTPUT, short="-o", metavar="DIR")]
NameOption = Annotated[str | None, option("--name", STUDY["name"], OUTPUT)]
StorageOption = Annotated[
    str | None,
    option(
        "--storage",
        f"Database of the studies. {default(f'{STORAGE_VARIABLE}, or {DEFAULT_URL}')}",
        OUTPUT,
        metavar="URL",
    ),
]
QuietOption = Annotated[bool, option("--quiet", "Print no progress and no hints.", OUTPUT, short="-q")]
JsonOption = Annotated[bool, option("--json", "Print JSON to stdout, and nothing else.", OUTPUT)]

# Stored studies

STUDY_PATTERNS = "Names, prefixes, or patterns such as 'raven-ucb/*'."
StudyArgument = Annotated[str, argument("STUDY", "Name of a study, or a prefix of it.", complete=completion.studies)]
StudiesArgument = Annotated[list[str], argument("STUDY", STUDY_PATTERNS, complete=completion.studies)]
AllOption = Annotated[bool, option("--all", "Include the searches that ravenlab compare runs for its policies.")]
OptionalStudiesArgument = Annotated[
    list[str] | None, argument("STUDY", f"{STUDY_PATTERNS} [default: all]", complete=completion.studies)
]
