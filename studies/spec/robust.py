"""Specification of a robust search: one setting for several scenarios, and the measure that combines their regrets.

Regrets of different scenarios are on different scales. Each is therefore divided by the regret of the setting tuned for
that scenario, on the same replications. A relative regret of 1 equals knowing the scenario in advance.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from pydantic import Field, ValidationError, model_validator

from ravenlab.common.text import join_words
from ravenlab.environments import InputError, find_scenario
from ravenlab.environments.world import Floats
from ravenlab.studies.registry import (
    MEASURES,
    StudyDefaults,
    choices_pattern,
    parse_choice,
    parse_level,
    robust_samplers,
)
from ravenlab.studies.spec.descriptions import ROBUST as DESCRIPTIONS
from ravenlab.studies.spec.descriptions import list_choices
from ravenlab.studies.spec.fields import Specification, checked_by, describe_differences, name_suffix
from ravenlab.studies.spec.objective import mean_of_largest, tail_count
from ravenlab.studies.spec.parse import parse_study_spec, prefix_errors, to_input_error
from ravenlab.studies.spec.source import ScenarioSource
from ravenlab.studies.spec.study import StudySpec


@dataclass(frozen=True)
class Measure:
    """A registered measure with its level."""

    kind: str
    level: float = 0.0

    def worst_count(self, scenarios: int) -> int:
        """Return how many of the worst scenarios are averaged."""
        return WORST_COUNTS[self.kind](scenarios, self.level)

    def value(self, relative: Floats) -> Floats:
        """Compute the measure over the last axis, the scenarios.

        >>> float(Measure("cvar", 0.5).value(np.array([1.0, 4.0, 2.0, 2.0])))
        3.0
        """
        return mean_of_largest(relative, self.worst_count(relative.shape[-1]))

    def sample(self, relative: Floats) -> Floats:
        """Return, for regrets [..., R, S], the mean over the worst scenarios per replication; its mean is the value."""
        scenarios = relative.shape[-1]
        order = np.argsort(relative.mean(axis=-2), axis=-1, kind="stable")
        worst = order[..., scenarios - self.worst_count(scenarios) :]
        return np.asarray(np.take_along_axis(relative, worst[..., None, :], axis=-1).mean(axis=-1))


# How many of the worst scenarios each registered measure averages.
WORST_COUNTS: dict[str, Callable[[int, float], int]] = {
    "worst": lambda scenarios, level: 1,
    "mean": lambda scenarios, level: scenarios,
    "cvar": tail_count,
}


def parse_measure(text: str) -> Measure:
    """Parse a measure as written in study files.

    >>> parse_measure("cvar:0.5")
    Measure(kind='cvar', level=0.5)
    """
    kind, argument = parse_choice("measure", text, MEASURES)
    return Measure(kind, parse_level("measure", kind, argument)) if argument else Measure(kind)


MAX_SCENARIOS = 20
MAX_NAME_LENGTH = 400


class RobustSpec(Specification):
    """A search for one setting over several scenarios; `base` holds all other fields, for the first scenario.

    >>> spec = parse_robust_spec({"scenarios": ["blips", "periodic"], "horizon": 1000})
    >>> spec.study_name()
    'robust/raven-ucb/blips,periodic/T1000/K10'
    >>> [study.study_name() for study in spec.scenario_specs()]
    ['raven-ucb/blips/T1000/K10', 'raven-ucb/periodic/T1000/K10']
    """

    base: StudySpec
    scenarios: tuple[str, ...] = Field(max_length=MAX_SCENARIOS, description=DESCRIPTIONS["scenarios"])
    measure: Annotated[str, checked_by(parse_measure)] = Field(
        default=StudyDefaults.measure,
        max_length=100,
        description=list_choices(DESCRIPTIONS["measure"], MEASURES),
        json_schema_extra=lambda schema: schema.update(pattern=choices_pattern(MEASURES)),
    )

    @model_validator(mode="before")
    @classmethod
    def _drop_former_field(cls, fields: Any) -> Any:
        """Drop a field of earlier versions, which is false except for Pareto fronts."""
        if not isinstance(fields, Mapping) or fields.get("pareto") is not False:
            return fields
        return {name: value for name, value in fields.items() if name != "pareto"}

    @model_validator(mode="after")
    def _check_consistency(self) -> Self:
        names = self.scenarios
        if len(names) < 2:
            raise ValueError(f"robust must have at least 2 scenarios but got {len(names)}")
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"robust must have distinct scenarios but got {name} twice")
        if self.base.scenario != names[0]:
            raise ValueError(f"base must be for the first scenario, {names[0]}, but got {self.base.scenario}")
        if not isinstance(self.base.source, ScenarioSource):
            source = self.base.source
            raise ValueError(f"robust must have simulated scenarios but got the {source.kind} {source.path}")
        allowed = {
            "objective": [StudyDefaults.objective],
            "pruner": [StudyDefaults.pruner],
            "sampler": robust_samplers(),
        }
        for field, names_allowed in allowed.items():
            value = getattr(self.base, field)
            if value not in names_allowed:
                raise ValueError(f"{field} must be {join_words(names_allowed)} with robust but got {value}")
        for field in ("horizon", "arms"):
            defaults = {getattr(find_scenario(name, dict(self.base.settings)), field) for name in names}
            if field not in self.base.model_fields_set and len(defaults) > 1:
                raise ValueError(f"{field} must be given because the scenarios have different defaults")
        self.base.check_results_fit(len(names))
        self.scenario_specs()
        if len(self.study_name()) > MAX_NAME_LENGTH:
            raise ValueError(f"name must be given because the default name of {len(names)} scenarios is too long")
        return self

    def scenario_specs(self) -> list[StudySpec]:
        """Return one study per scenario, with the same policy, search space, size, budget and seed."""
        fields = self.base.model_dump()
        specs = []
        for scenario in self.scenarios:
            name = None if self.base.name is None else f"{self.base.name}/{scenario}"
            try:
                specs.append(StudySpec.model_validate({**fields, "scenario": scenario, "name": name}))
            except ValidationError as error:
                raise InputError(f"{scenario}: {to_input_error(error)}") from None
        return specs

    @classmethod
    def unchecked(cls, stored: Mapping[str, Any]) -> Self:
        """Read a stored search for display; its policy and scenarios need not be loaded."""
        if not isinstance(stored.get("measure"), str):
            raise ValueError("a stored specification must have a measure")
        scenarios = tuple(map(str, stored["scenarios"]))
        return cls.model_construct(
            base=StudySpec.unchecked(stored["base"]), scenarios=scenarios, measure=stored["measure"]
        )

    @property
    def planned(self) -> int:
        return self.base.trials

    def worlds(self) -> int:
        return self.base.replications

    def simulated_steps(self) -> int:
        own = self.base.trials * self.base.replications * self.base.horizon * len(self.scenarios)
        return own + sum(study.simulated_steps() for study in self.scenario_specs())

    def validation_steps(self) -> int:
        return self.base.validation_steps()

    def summary(self) -> dict[str, Any]:
        return {**self.base.summary(), "scenario": ",".join(self.scenarios)}

    def first_studies(self) -> list[StudySpec]:
        return self.scenario_specs()

    def problems(self) -> list[StudySpec]:
        return self.scenario_specs()

    def searched_policies(self) -> list[str]:
        return self.base.searched_policies()

    def compiled_policies(self) -> list[str]:
        return self.base.compiled_policies()

    def budget(self) -> dict[str, int]:
        return self.base.budget()

    def with_trials(self, least: int) -> Self:
        return self.model_copy(update={"base": self.base.with_trials(least)})

    def study_name(self) -> str:
        """Return `robust/policy/scenario,scenario/T…/K…`, followed by what differs from the defaults."""
        if self.base.name is not None:
            return self.base.name
        base = self.base
        name = f"robust/{base.policy}/{','.join(self.scenarios)}/T{base.horizon}/K{base.arms}"
        return f"{name}{name_suffix({**base.overrides(), **self.changed_fields(['measure'])})}"

    def differences(self, stored: Self) -> list[str]:
        requested, existing = (
            {"scenarios": ",".join(spec.scenarios), "measure": spec.measure} for spec in (self, stored)
        )
        return [*describe_differences(requested, existing), *self.base.differences(stored.base)]


def parse_robust_spec(fields: Mapping[str, Any], where: str = "") -> RobustSpec:
    """Parse the fields of a robust search: `scenarios`, `measure`, and those of a study.

    >>> parse_robust_spec({"scenarios": ["blips"]})
    Traceback (most recent call last):
    ...
    ravenlab.common.errors.InputError: robust must have at least 2 scenarios but got 1.
    """
    options = {key: fields[key] for key in ("measure",) if key in fields}
    rest = {key: value for key, value in fields.items() if key not in ("scenarios", *options)}
    scenarios = fields.get("scenarios")
    with prefix_errors(where):
        if "scenario" in rest or not isinstance(scenarios, Sequence) or isinstance(scenarios, str):
            raise InputError("scenarios must be a list of at least 2 names.")
        if len(scenarios) < 2:
            raise InputError(f"robust must have at least 2 scenarios but got {len(scenarios)}.")
        base = parse_study_spec({**rest, "scenario": scenarios[0]})
        known = [find_scenario(str(name), dict(base.settings)).name for name in scenarios]
        try:
            return RobustSpec.model_validate({"base": base, "scenarios": known, **options})
        except ValidationError as error:
            raise to_input_error(error) from None
