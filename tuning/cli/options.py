"""Error lines of the command line: the option of a wrong field, and the nearest name to a misspelled option."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer

from environments.errors import InputError
from environments.noise import NOISES
from environments.text import join_words
from studies.registry import StudyDefaults
from studies.storage.urls import DEFAULT_URL, STORAGE_VARIABLE
from tuning.cli import completion
from tuning.workers.local import BACKENDS

OPTIONS_OF = {
    "space": ("--range",),
    "fixed": ("--fix",),
    "settings": ("--set",),
    "plugin": ("--plugin",),
    "name": ("--name", "--as"),
}
"""Options of fields that have another name on the command line; all others are --field."""


def option_names(field: str) -> tuple[str, ...]:
    """The options that may set a field.

    >>> option_names("space"), option_names("search_replications")
    (('--range',), ('--search-replications',))
    """
    return OPTIONS_OF.get(field, (f"--{field.replace('_', '-')}",))


def with_option(error: InputError, command: Any) -> str:
    """The message of an error with the option for its field, where the command has one.

    A message that begins with the field begins with the option instead; otherwise the option follows in parentheses.

    >>> from typer.core import TyperCommand, TyperOption
    >>> tune = TyperCommand("tune", params=[TyperOption(param_decls=[name]) for name in ("--name", "--range")])
    >>> with_option(InputError("study 'mine' is a grid; choose another name.", field="name"), tune)
    "study 'mine' is a grid; choose another name (--name)."
    >>> with_option(InputError("space.alpha0: low must be below high.", field="space.alpha0"), tune)
    '--range alpha0: low must be below high.'
    """
    message = str(error)
    if error.field is None:
        return message
    head, _, key = error.field.partition(".")
    known = {name for param in command.params for name in param.opts}
    option = next((name for name in option_names(head) if name in known), None)
    if option is None:
        return message
    rest = message.removeprefix(error.field)
    if rest != message and rest[:1] in (" ", ":"):
        return f"{option} {key}".strip() + rest
    return f"{message.rstrip('.')} ({option})."


def in_words(error: Any, arguments: Sequence[str] = ()) -> str:
    """One line for an error of the parser, with a pointer to the help.

    >>> import typer
    >>> in_words(typer.BadParameter("no"), ["tune"])
    'Invalid value: no; see ravenlab tune --help.'
    """
    ctx = getattr(error, "ctx", None)
    command = ctx.command_path if ctx is not None else " ".join(["ravenlab", *arguments[:1]])
    message: str = error.format_message().rstrip(".")
    if ctx is None or not hasattr(error, "possibilities"):
        return f"{message}; see {command} --help."
    known = [name[2:] for param in ctx.command.get_params(ctx) for name in param.opts if name.startswith("--")]
    near = get_close_matches(error.option_name.lstrip("-"), known, n=1)
    return f"unknown option {error.option_name}; {f'did you mean --{near[0]}?' if near else f'see {command} --help.'}"


def whole_number(option: str, text: str) -> int:
    """A whole number as people write it.

    >>> whole_number("--horizon", "10_000")
    10000
    """
    try:
        return int(text)
    except ValueError:
        raise InputError(f"{option} must be a whole number but got {text!r}.") from None


def whole_numbers(option: str, text: str) -> list[int]:
    """Whole numbers with commas between them.

    >>> whole_numbers("--horizon", "1000,10000")
    [1000, 10000]
    """
    return [whole_number(option, word.strip()) for word in text.split(",")]


def number(option: str, text: str) -> float:
    """A number as people write it.

    >>> number("--epsilon", "1e-2")
    0.01
    """
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{option} must be a number but got {text!r}.") from None


def numbers(option: str, text: str) -> list[float]:
    """Numbers with commas between them.

    >>> numbers("--alpha0", "0.5,1")
    [0.5, 1.0]
    """
    return [number(option, word.strip()) for word in text.split(",")]


def workers(jobs: str | None) -> int:
    """How many workers --jobs asks for; as many as there are cores if it does not say.

    >>> workers("2")
    2
    """
    from environments.checks import check_integer

    if jobs is not None:
        return check_integer("--jobs", whole_number("--jobs", jobs), least=1, most=1024)
    from joblib import cpu_count

    return int(cpu_count())


def parse_ranges(texts: Sequence[str]) -> dict[str, list[float]]:
    """Read a list of name=low:high.

    >>> parse_ranges(["alpha0=0.1:5"])
    {'alpha0': [0.1, 5.0]}
    """
    ranges: dict[str, list[float]] = {}
    for name, text in parse_assignments("--range", texts).items():
        low, colon, high = str(text).partition(":")
        try:
            ranges[name] = [float(low), float(high)] if colon else []
        except ValueError:
            ranges[name] = []
        if not ranges[name]:
            raise InputError(f"--range must be written name=low:high but got {name}={text}.")
    return ranges


def parse_assignments(option: str, texts: Sequence[str]) -> dict[str, int | float | str]:
    """Read a list of name=value; numbers become numbers.

    >>> parse_assignments("--set", ["every=5%", "drift=0.5", "longest=7"])
    {'every': '5%', 'drift': 0.5, 'longest': 7}
    """
    values: dict[str, int | float | str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name, value = name.strip(), value.strip()
        if not equals or not name or not value:
            raise InputError(f"{option} must be written name=value but got {text!r}.")
        if name in values:
            raise InputError(f"{option} gives {name} twice: {values[name]} and {value}.")
        values[name] = _number(value)
    return values


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


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
        autocompletion=completion.scenarios,
        rich_help_panel=PROBLEM,
        show_default=False,
    ),
]

ScenarioArgument = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO",
        help="A name, effects joined by '+', or ./yours.py:name.",
        autocompletion=completion.scenarios,
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
        autocompletion=completion.names(NOISES),
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

PluginOption = Annotated[
    list[str] | None,
    typer.Option(
        "--plugin",
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
        autocompletion=completion.names(BACKENDS),
        rich_help_panel=WORKERS,
    ),
]

ClusterOption = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Work on a Dask cluster: its scheduler, such as tcp://host:8786, or local for one of this machine.",
        autocompletion=completion.words("local", "tcp://"),
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
        help=f"Where the studies are. {default(f'{STORAGE_VARIABLE}, or {DEFAULT_URL}')}",
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
        autocompletion=completion.studies,
        show_default=False,
    ),
]

StudiesArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="STUDY",
        help="Names, beginnings, or patterns such as 'raven-ucb/*'.",
        autocompletion=completion.studies,
        show_default=False,
    ),
]

SomeStudiesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="STUDY",
        help="Names, beginnings, or patterns such as 'raven-ucb/*'. [default: all]",
        autocompletion=completion.studies,
        show_default=False,
    ),
]
