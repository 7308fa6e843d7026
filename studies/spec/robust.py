"""How the regrets of a setting in several worlds make one number.

Regrets of different worlds can't be added: a lost reward is dear in one and cheap in another. So each is divided by
the regret of the setting that was tuned for that very world, in the same replications; 1 is as good as knowing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from pydantic import Field, ValidationError, field_validator, model_validator

from environments import InputError, find_scenario
from environments.text import join_words
from environments.world import Floats
from studies.registry import (
    MEASURES,
    StudyDefaults,
    choices_pattern,
    format_choices,
    parse_choice,
    parse_level,
    robust_samplers,
)
from studies.spec.fields import FrozenModel, describe_differences, short_hash
from studies.spec.objective import mean_of_largest, tail_count
from studies.spec.parse import parse_study_spec, prefix_errors, to_input_error
from studies.spec.source import ScenarioSource
from studies.spec.study import NOT_IN_NAME, ResolvedStudy, StudySpec, check_results_fit


@dataclass(frozen=True)
class Measure:
    """One of the registered measures with its level."""

    kind: str
    level: float = 0.0

    def counted(self, scenarios: int) -> int:
        """How many of the worst worlds count."""
        return WORST_COUNTS[self.kind](scenarios, self.level)

    def value(self, relative: Floats) -> Floats:
        """Over the last axis, worlds.

        >>> float(Measure("cvar", 0.5).value(np.array([1.0, 4.0, 2.0, 2.0])))
        3.0
        """
        return mean_of_largest(relative, self.counted(relative.shape[-1]))

    def sample(self, relative: Floats) -> Floats:
        """Of [..., R, S] the mean over the worlds that count, replication by replication; its mean is the value."""
        kinds = relative.shape[-1]
        order = np.argsort(relative.mean(axis=-2), axis=-1, kind="stable")[..., kinds - self.counted(kinds) :]
        return np.asarray(np.take_along_axis(relative, order[..., None, :], axis=-1).mean(axis=-1))


WORST_COUNTS: dict[str, Callable[[int, float], int]] = {
    "worst": lambda scenarios, level: 1,
    "mean": lambda scenarios, level: scenarios,
    "cvar": tail_count,
}
"""How many of the worst scenarios each registered measure averages."""


def parse_measure(text: str) -> Measure:
    """Read a measure as users write it.

    >>> parse_measure("cvar:0.5")
    Measure(kind='cvar', level=0.5)
    """
    kind, argument = parse_choice("measure", text, MEASURES)
    return Measure(kind, parse_level("measure", kind, argument)) if argument else Measure(kind)


MAX_SCENARIOS = 20
MAX_NAME_LENGTH = 400


class RobustSpec(FrozenModel):
    """One search over several scenarios: `base` says all the rest, for the first of them.

    >>> spec = parse_robust_spec({"scenarios": ["blips", "periodic"], "horizon": 1000})
    >>> spec.study_name()
    'robust/raven-ucb/blips,periodic/T1000/K10'
    >>> [own.study_name() for own in spec.scenario_specs()]
    ['raven-ucb/blips/T1000/K10', 'raven-ucb/periodic/T1000/K10']
    """

    base: StudySpec
    scenarios: tuple[str, ...] = Field(max_length=MAX_SCENARIOS)
    measure: str = Field(
        default=StudyDefaults.measure,
        max_length=100,
        description=f"How relative regrets are combined: {join_words(format_choices(MEASURES))}.",
        json_schema_extra=lambda schema: schema.update(pattern=choices_pattern(MEASURES)),
    )
    pareto: bool = Field(default=False, strict=True, description="All that no other beats, instead of one setting.")

    @field_validator("measure")
    @classmethod
    def _known_measure(cls, text: str) -> str:
        parse_measure(text)
        return text

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        names = self.scenarios
        if len(names) < 2:
            raise ValueError(f"robust must have at least 2 scenarios but got {len(names)}")
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"robust must name each scenario once but got {name} twice")
        if self.base.scenario != names[0]:
            raise ValueError(f"base must be for the first scenario, {names[0]}, but got {self.base.scenario}")
        if not isinstance(self.base.source, ScenarioSource):
            raise ValueError(f"robust takes scenarios but got the {self.base.source.kind} {self.base.source.path}")
        if self.pareto and self.measure != StudyDefaults.measure:
            raise ValueError(f"pareto keeps each scenario apart, so it takes no measure but got {self.measure}")
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
            own = {getattr(find_scenario(name, dict(self.base.settings)), field) for name in names}
            if getattr(self.base, field) is None and len(own) > 1:
                raise ValueError(f"{field} must be given where scenarios have different ones of their own")
        check_results_fit(self.base, len(names))
        self.scenario_specs()
        if len(self.study_name()) > MAX_NAME_LENGTH:
            raise ValueError(f"name must be given: that of {len(names)} scenarios would be too long")
        return self

    def scenario_specs(self) -> list[ResolvedStudy]:
        """Each scenario's own study: same policy, box, size, budget and seed."""
        return [self._own(name) for name in self.scenarios]

    def _own(self, scenario: str) -> ResolvedStudy:
        fields = self.base.resolved().model_dump()
        name = None if self.base.name is None else f"{self.base.name}/{scenario}"
        try:
            return StudySpec.model_validate({**fields, "scenario": scenario, "name": name}).resolved()
        except ValidationError as error:
            raise InputError(f"{scenario}: {to_input_error(error)}") from None

    def resolved(self) -> ResolvedRobustSpec:
        """The same with every default written out, as it is stored."""
        return ResolvedRobustSpec.model_construct(**{**dict(self), "base": self.base.resolved()})

    def study_name(self) -> str:
        """`robust/policy/scenario,scenario/T…/K…`, with a short hash as that of a study; `pareto/…` for a front."""
        if self.base.name is not None:
            return self.base.name
        here = self.base.resolved()
        kind = "pareto" if self.pareto else "robust"
        name = f"{kind}/{here.policy}/{','.join(self.scenarios)}/T{here.horizon}/K{here.arms}"
        if self.measure == StudyDefaults.measure and "~" not in here.study_name().rpartition("/")[2]:
            return name
        mine = [here.model_dump(mode="json", exclude=set(NOT_IN_NAME)), self.measure]
        return f"{name}{short_hash(json.dumps(mine, sort_keys=True))}"

    def differences(self, stored: RobustSpec) -> list[str]:
        """In words, where a stored study's trials would not be comparable with this one's."""
        mine = {"scenarios": ",".join(self.scenarios), "measure": self.measure, "pareto": self.pareto}
        theirs = {"scenarios": ",".join(stored.scenarios), "measure": stored.measure, "pareto": stored.pareto}
        return [*describe_differences(mine, theirs), *self.base.differences(stored.base)]


class ResolvedRobustSpec(RobustSpec):
    """A search over several scenarios with every default filled in: the form that is stored, searched and shown."""

    base: ResolvedStudy

    def resolved(self) -> ResolvedRobustSpec:
        """Itself."""
        return self


def parse_robust_spec(fields: Mapping[str, Any], where: str = "") -> RobustSpec:
    """The specification of fields as people write them: `scenarios`, `measure`, `pareto`, and those of a study.

    >>> parse_robust_spec({"scenarios": ["blips"]})
    Traceback (most recent call last):
    ...
    environments.errors.InputError: robust must have at least 2 scenarios but got 1.
    """
    own = {key: fields[key] for key in ("measure", "pareto") if key in fields}
    rest = {key: value for key, value in fields.items() if key not in ("scenarios", *own)}
    scenarios = fields.get("scenarios")
    with prefix_errors(where):
        if "scenario" in rest or not isinstance(scenarios, Sequence) or isinstance(scenarios, str):
            raise InputError("scenarios must be a list of at least 2 names.")
        if len(scenarios) < 2:
            raise InputError(f"robust must have at least 2 scenarios but got {len(scenarios)}.")
        base = parse_study_spec({**rest, "scenario": scenarios[0]})
        known = [find_scenario(str(name), dict(base.settings)).name for name in scenarios]
        try:
            return RobustSpec.model_validate({"base": base, "scenarios": known, **own})
        except ValidationError as error:
            raise to_input_error(error) from None
