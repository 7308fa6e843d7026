"""Base models, field types and name hashes of all specifications and results."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictFloat,
    StrictInt,
    model_validator,
)

from ravenlab.common.checks import COUNT, parse_count
from ravenlab.common.errors import unknown_name
from ravenlab.environments.recorded.log_file import check_columns, parse_columns
from ravenlab.environments.scenario import MAX_HORIZON
from ravenlab.studies.registry import ESTIMATORS, PRUNERS, SAMPLERS, StudyDefaults
from ravenlab.studies.spec.descriptions import STUDY
from ravenlab.studies.spec.source import HasSource, ScenarioSource, Source, name_scenario_after_file, resolve_size

# Regrets that are held in memory at a time, 24 bytes each.
MAX_RESULTS = 100_000_000


class FrozenModel(BaseModel):
    """An immutable model without extra fields and without infinite numbers, which JSON cannot represent."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def as_object(self) -> dict[str, Any]:
        """Convert to plain JSON data, as stored and exported."""
        return self.model_dump(mode="json")


def optional(description: str) -> Any:
    """Define a field that is None, and absent in plain data, where it does not apply."""
    return Field(default=None, exclude_if=lambda value: value is None, description=description)


class Specification(FrozenModel, ABC):
    """What a study of any kind is to do. Validation fills in every default: it holds what is stored and run."""

    budget_fields: ClassVar[tuple[str, ...]] = ()
    """Fields that may change when a study is resumed."""

    @property
    @abstractmethod
    def planned(self) -> int:
        """Number of trials, cells or entries."""

    @property
    def direction(self) -> Literal["minimize", "maximize"]:
        """Whether the value of a trial is minimized."""
        return "minimize"

    @abstractmethod
    def study_name(self) -> str:
        """Return the name of the study; by default derived from what differs from the defaults."""

    @abstractmethod
    def worlds(self) -> int:
        """Return the number of worlds per trial, cell or entry."""

    @abstractmethod
    def simulated_steps(self) -> int:
        """Return the number of steps that the study simulates."""

    def own_steps(self) -> int:
        """Return the number of steps without those of the studies that run first."""
        return self.simulated_steps() - sum(study.simulated_steps() for study in self.first_studies())

    def validation_steps(self) -> int:
        """Return how many of the steps are for the validation."""
        return 0

    @abstractmethod
    def summary(self) -> dict[str, Any]:
        """Return policy, scenario, horizon, arms and seed for listings."""

    def identity(self) -> dict[str, Any]:
        """Return the fields that must agree for results to be comparable; a file is identified by its content."""
        return self.model_dump(mode="json", exclude={"name", "trace", "log", *self.budget_fields})

    def differences(self, stored: Self) -> list[str]:
        """List the fields in which a stored specification is not comparable with this one."""
        requested = self.identity()
        existing = stored.identity()
        (problem,) = self.problems()
        source = problem.source
        if not isinstance(source, ScenarioSource) and requested["digest"] != existing["digest"]:
            return [f"the content of the {source.kind} {source.path} has changed"]
        return describe_differences(requested, existing)

    def changed_fields(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the named fields whose values differ from their defaults."""
        known = type(self).model_fields
        return {name: getattr(self, name) for name in names if getattr(self, name) != known[name].default}

    def first_studies(self) -> Sequence["Specification"]:
        """Return the specifications of the studies that run first."""
        return ()

    def problems(self) -> Sequence[HasSource]:
        """Return the specifications whose scenarios are simulated."""
        return [self]  # type: ignore[list-item]  # a robust search, which has no source of its own, overrides it

    def searched_policies(self) -> list[str]:
        """Return the policies whose parameters are searched."""
        return []

    def compiled_policies(self) -> list[str]:
        """Return the policies whose fast kernels are needed from the start."""
        return []

    def budget(self) -> dict[str, int]:
        """Return the fields that may change when a study is resumed."""
        return {name: getattr(self, name) for name in self.budget_fields}

    def with_trials(self, least: int) -> Self:
        """Return the specification with at least so many trials."""
        return self

    @classmethod
    def unchecked(cls, stored: Mapping[str, Any]) -> Self | None:
        """Read a stored specification for display, although its plugin is not loaded.

        None if it can't be shown without the plugin. Raises ValueError if it is invalid.
        """
        return None


ShortText = Annotated[str, Field(strict=True, max_length=200)]
ParamName = Annotated[str, Field(min_length=1, max_length=100)]
FileName = Annotated[str, Field(min_length=1, max_length=1000)]
ScenarioName = Annotated[str, Field(max_length=300)]
Settings = Annotated[dict[ParamName, StrictInt | StrictFloat | ShortText], Field(max_length=100)]

# A whole number may also be written 1e4 or, as text, "10k".
COUNT_SCHEMA: dict[str, Any] = {"type": ["integer", "string"], "pattern": f"^{COUNT.pattern}$"}


def _bounds(ge: int | None = None, le: int | None = None) -> Any:
    """Return the bounds of a whole number."""
    return Field(strict=True, ge=ge, le=le, json_schema_extra=COUNT_SCHEMA)


_FORMS = BeforeValidator(parse_count)

Whole = Annotated[int, _bounds(), _FORMS]
Size = Annotated[int, _bounds(ge=1, le=MAX_HORIZON), _FORMS]  # horizon or number of arms
Replications = Annotated[int, _bounds(ge=2, le=10_000_000), _FORMS]
Trials = Annotated[int, _bounds(le=1_000_000), _FORMS]
Seed = Annotated[int, _bounds(ge=0, le=2**63 - 1), _FORMS]


def check_printable(name: str | None) -> str | None:
    """Return the name of a study unchanged. Raises ValueError for control characters and surrounding spaces.

    >>> check_printable("mine")
    'mine'
    """
    if name is not None and (not name.isprintable() or name != name.strip()):
        raise ValueError(f"name must be printable and must not begin or end with a space but got {name!r}")
    return name


StudyName = Annotated[str | None, Field(min_length=1, max_length=400), AfterValidator(check_printable)]


def check_registered(field: str, choices: Mapping[str, object], name: str) -> str:
    """Return the name unchanged. Raises InputError if it is not registered.

    >>> check_registered("sampler", SAMPLERS, "tpe")
    'tpe'
    """
    if name not in choices:
        raise unknown_name(field, name, choices)
    return name


def checked_by(parse: Callable[[str], object]) -> AfterValidator:
    """Return the validator of a text that a function must be able to parse."""

    def check(text: str) -> str:
        parse(text)
        return text

    return AfterValidator(check)


def _add_enum(choices: Mapping[str, object]) -> Callable[[dict[str, Any]], None]:
    """List the names of a registry in the JSON Schema."""
    return lambda schema: schema.update(enum=list(choices))


SamplerName = Annotated[
    str,
    AfterValidator(partial(check_registered, "sampler", SAMPLERS)),
    Field(json_schema_extra=_add_enum(SAMPLERS)),
]
EstimatorName = Annotated[
    str,
    AfterValidator(partial(check_registered, "estimator", ESTIMATORS)),
    Field(json_schema_extra=_add_enum(ESTIMATORS)),
]
ColumnNames = Annotated[
    dict[ParamName, ParamName],
    BeforeValidator(lambda value: parse_columns(value) if isinstance(value, str) else value),
    AfterValidator(check_columns),
]
PrunerName = Annotated[
    str,
    AfterValidator(partial(check_registered, "pruner", PRUNERS)),
    Field(json_schema_extra=_add_enum(PRUNERS)),
]


MAX_SUFFIX = 100  # characters of a name that state what differs from the defaults; a hash replaces more


def short_hash(text: str, letters: int = 4) -> str:
    """Return a suffix that identifies a text.

    >>> short_hash("{}")
    '~4413'
    """
    return f"~{hashlib.sha256(text.encode()).hexdigest()[:letters]}"


def name_suffix(overrides: Mapping[str, object], letters: int = 4) -> str:
    """Return the end of a study's name that states what differs from the defaults; a hash of it if it is long.

    >>> name_suffix({}), name_suffix({"every": "5%", "drift": 0.5, "alpha0": (1.0, 5.0)})
    ('', '/every=5%,drift=0.5,alpha0=1:5')
    >>> name_suffix({"policies": ["published-wls-optimistic-ts", "published-epsilon-greedy", "published-raven-ucb",
    ...                           "published-thompson", "published-ucb1"]})
    '~24c0'
    """
    if not overrides:
        return ""
    text = ",".join(f"{name}={format_override(value)}" for name, value in overrides.items())
    return f"/{text}" if len(text) <= MAX_SUFFIX and text.isprintable() else short_hash(text, letters)


def format_override(value: object) -> str:
    """Format a value for the name of a study without loss of precision.

    >>> format_override(0.1), format_override(1000.0), format_override(["ucb1", "ccb"])
    ('0.1', '1000', 'ucb1:ccb')
    """
    if isinstance(value, list | tuple):
        return ":".join(map(format_override, value))
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value).strip()


def describe_differences(requested: Mapping[str, Any], stored: Mapping[str, Any]) -> list[str]:
    """List the fields whose requested value differs from the stored one.

    >>> describe_differences({"seed": 1, "arms": 3}, {"seed": 0, "arms": 3})
    ['seed was 0, now 1']
    """
    return [f"{key} was {stored.get(key)}, now {value}" for key, value in requested.items() if value != stored.get(key)]


SIZES = ("horizon", "arms")


def drop_absent_sizes(fields: Any) -> Any:
    """Leave out sizes that are None: they are those of the source of rewards.

    >>> drop_absent_sizes({"scenario": "blips", "horizon": None, "arms": 3})
    {'scenario': 'blips', 'arms': 3}
    """
    if not isinstance(fields, Mapping):
        return fields
    return {name: value for name, value in fields.items() if name not in SIZES or value is not None}


class SimulatedSpec(Specification):
    """Fields that grids and comparisons share: a scenario, its size, and a seed."""

    scenario: ScenarioName = Field(description=STUDY["scenario"])
    settings: Settings = Field(default_factory=dict, description=STUDY["settings"])
    horizon: Size = Field(default_factory=int, description=STUDY["horizon"])
    arms: Size = Field(default_factory=int, description=STUDY["arms"])
    seed: Seed = Field(default=StudyDefaults.seed, description=STUDY["seed"])
    name: StudyName = Field(default=None, description=STUDY["name"])

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, fields: Any) -> Any:
        return name_scenario_after_file(drop_absent_sizes(fields))

    @property
    def source(self) -> Source:
        """The source of rewards."""
        return ScenarioSource(self.scenario, self.settings)

    def fill_in_size(self) -> None:
        """Fill in what follows from the source of rewards: horizon, arms, and its name or digest."""
        horizon, arms = resolve_size(self.source, self.horizon, self.arms)
        self.__dict__.update(horizon=horizon, arms=arms, **self.source.resolved_fields())

    def overrides(self, fields: Sequence[str]) -> dict[str, Any]:
        """Return the settings by name, and those of some other fields whose values differ from their defaults."""
        return {**dict(sorted(self.settings.items())), **self.changed_fields(fields)}
