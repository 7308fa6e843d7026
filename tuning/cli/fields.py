"""Options of fields of specifications: a table per kind of study, and the decorator that gives them to a command."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import Annotated, Any, TypeVar

from ravenlab.common.errors import InputError
from ravenlab.environments.noise import NOISES
from ravenlab.studies import registry
from ravenlab.studies.registry import ALL_KEYWORD, PAPER_KEYWORD, StudyDefaults
from ravenlab.studies.spec.descriptions import STUDY, list_choices
from ravenlab.tuning.cli import completion, options
from ravenlab.tuning.cli.options import CELLS, COMPARISON, DATA, DESCRIPTION, PROBLEM, SEARCH, VALIDATION, Assignment

OPTIONS_BY_FIELD = {
    "space": ("--range",),
    "fixed": ("--fix",),
    "settings": ("--set",),
    "name": ("--name", "--as"),
    "map": ("--no-map",),
}
"""Options of fields whose names differ; the option of any other field is --field."""


def option_names(field: str) -> tuple[str, ...]:
    """Return the options that may set a field.

    >>> option_names("space"), option_names("search_replications")
    (('--range',), ('--search-replications',))
    """
    return OPTIONS_BY_FIELD.get(field, (f"--{field.replace('_', '-')}",))


@dataclass(frozen=True)
class Field:
    """How an option sets a field. Its description and its default are those of the specification."""

    group: str
    metavar: str | None = None
    parser: Callable[[str], Any] | None = None
    kind: Any = str
    """Type of the value; a list if the option can be repeated."""
    choices: Mapping[str, object] | None = None
    note: str = ""
    """Follows the description."""
    complete: Callable[..., list[str]] | None = None

    def parameter(self, name: str, description: str, default_value: object) -> inspect.Parameter:
        """Return the parameter of a command with the option of the field."""
        complete = self.complete
        if self.choices is not None:
            description = list_choices(description, self.choices)
            complete = completion.choices(self.choices)
        elif self.kind == list[Assignment]:
            description = f"{description.removesuffix('.')}; can be repeated."
        shown = registry.format_values(default_value) if isinstance(default_value, tuple) else default_value
        help = " ".join(filter(None, [description, self.note, "" if shown is None else options.default(shown)]))
        declared = options.option(
            option_names(name)[0], help, self.group, metavar=self.metavar, parser=self.parser, complete=complete
        )
        unset, kind = (False, bool) if self.kind is bool else (None, self.kind | None)
        return inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=unset, annotation=Annotated[kind, declared]
        )


_number = partial(Field, parser=options.integer(), kind=int)
_assignments = partial(Field, metavar="NAME=VALUE", parser=options.parse_assignment, kind=list[Assignment])

_COLUMNS = Field(DATA, "NAMES")
_MINIMIZE = Field(DATA, kind=bool)
_KEEP_STATE = Field(DATA, kind=bool)

SETTINGS_FIELDS = {
    "arms": _number(PROBLEM, "K"),
    "noise": Field(PROBLEM, choices=NOISES),
    "settings": _assignments(PROBLEM),
}
QUESTION_FIELDS = {
    **SETTINGS_FIELDS,
    "difference": Field(DESCRIPTION, "D", options.parse_quantity, float),
    "sd": Field(DESCRIPTION, "S", kind=float),
    "rate": Field(DESCRIPTION, "P", options.parse_quantity, float),
    "changes": _number(DESCRIPTION, "N"),
    "keep_state": _KEEP_STATE,
    "columns": _COLUMNS,
    "minimize": _MINIMIZE,
}
PROBLEM_FIELDS = {**SETTINGS_FIELDS, "seed": _number(PROBLEM, "S")}
DATA_FIELDS = {
    "trace": Field(DATA, "FILE"),
    "log": Field(DATA, "FILE"),
    "columns": _COLUMNS,
    "window": _number(DATA, "W"),
    "minimize": _MINIMIZE,
}
PLAY_FIELDS = {**PROBLEM_FIELDS, "trace": DATA_FIELDS["trace"], "minimize": _MINIMIZE}
STUDY_FIELDS = {
    **PROBLEM_FIELDS,
    **DATA_FIELDS,
    "keep_state": _KEEP_STATE,
    "estimator": Field(DATA, choices=registry.ESTIMATORS, note=options.default(registry.DEFAULT_ESTIMATOR)),
    "policy": Field(SEARCH, note="A name, or ./file.py:Name.", complete=completion.policies),
    "trials": _number(SEARCH, "N"),
    "replications": _number(SEARCH, "R"),
    "sampler": Field(SEARCH, choices=registry.SAMPLERS),
    "pruner": Field(SEARCH, choices=registry.PRUNERS),
    "objective": Field(SEARCH, choices=registry.OBJECTIVES),
    "space": _assignments(SEARCH, metavar="NAME=LOW:HIGH", parser=options.parse_range),
    "fixed": _assignments(SEARCH),
    "batch": _number(SEARCH, "B"),
    "selection": _number(VALIDATION, "R"),
    "report": _number(VALIDATION, "R"),
}
GRID_FIELDS = {
    **PROBLEM_FIELDS,
    "alpha0": Field(CELLS, "X,X…", options.separated(options.parse_number), options.Values),
    "beta0": Field(CELLS, "X,X…", options.separated(options.parse_number), options.Values),
    "epsilon": Field(CELLS, "X", options.parse_number, float),
    "replications": _number(CELLS, "R"),
}
COMPARISON_FIELDS = {
    **PROBLEM_FIELDS,
    **DATA_FIELDS,
    "policies": Field(
        COMPARISON,
        f"A,B…|{PAPER_KEYWORD}|{ALL_KEYWORD}",
        note=f"Separated by commas; '{PAPER_KEYWORD}' selects those of the paper, which is the default; on a trace or"
        " log, with raven-auto, d-raven and sw-raven.",
        complete=completion.policy_lists,
    ),
    "tune": _number(COMPARISON, "N"),
    "replications": _number(COMPARISON, "R"),
    "search_replications": _number(COMPARISON, "R"),
    "defaults": Field(COMPARISON, "scaled|original"),
}

Command = TypeVar("Command", bound=Callable[..., None])


def takes_fields(
    fields: Mapping[str, Field], descriptions: Mapping[str, str] = STUDY, defaults: type = StudyDefaults
) -> Callable[[Command], Command]:
    """Give a command options of fields after --horizon; its `**fields` are those that are set.

    Fields without a description or default of their own have those of a study.
    """

    def mark(command: Command) -> Command:
        command.__dict__["declare"] = lambda: _declare(command, fields, {**STUDY, **descriptions}, defaults)
        return command

    return mark


def with_options(command: Callable[..., Any]) -> Any:
    """Return a command with the options of its fields. Declaring them takes time, so it is done where they are used."""
    return command.__dict__.get("declare", lambda: command)()


def _declare(
    command: Callable[..., None], fields: Mapping[str, Field], descriptions: Mapping[str, str], defaults: type
) -> Callable[..., None]:
    """Return a command with a parameter for each field instead of `**fields`."""

    @wraps(command)
    def run(**given: Any) -> None:
        values = collect_fields({name: given.pop(name) for name in fields})
        command(**given, **values)

    parameters: list[inspect.Parameter] = []
    for own in inspect.signature(command, eval_str=True).parameters.values():
        if own.kind is not inspect.Parameter.VAR_KEYWORD:
            parameters.append(own.replace(kind=inspect.Parameter.KEYWORD_ONLY))
        if own.name == "horizon":
            for name, field in fields.items():
                default_value = getattr(defaults, name, getattr(StudyDefaults, name, None))
                parameters.append(field.parameter(name, descriptions[name], default_value))
    run.__dict__["__signature__"] = inspect.Signature(parameters)
    return run


def drop_unset(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that have a value.

    >>> drop_unset({"measure": None, "robust": False, "csv": "x", "settings": {}, "trials": 0})
    {'csv': 'x', 'trials': 0}
    """
    return {name: value for name, value in given.items() if value is not None and value is not False and value != {}}


def assignments(option: str, pairs: Sequence[Assignment] | None) -> dict[str, Any]:
    """Collect the values of an option that can be repeated.

    >>> assignments("--set", [Assignment("every", "5%"), Assignment("longest", 7)])
    {'every': '5%', 'longest': 7}
    """
    values: dict[str, Any] = {}
    for pair in pairs or ():
        if pair.name in values:
            raise InputError(f"{option} sets {pair.name} twice: {values[pair.name]} and {pair.value}.")
        values[pair.name] = pair.value
    return values


def collect_fields(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that are given; --noise is one of the parameters of the scenario.

    >>> collect_fields({"trials": 0, "noise": "laplace", "settings": [Assignment("every", "5%")], "fixed": None})
    {'trials': 0, 'settings': {'every': '5%', 'noise': 'laplace'}}
    """
    fields = dict(given)
    for name in {"settings", "space", "fixed"}.intersection(fields):
        fields[name] = assignments(option_names(name)[0], fields[name])
    if "noise" in fields:
        fields["settings"] |= drop_unset({"noise": fields.pop("noise")})
    return drop_unset(fields)
