"""What is to be done, in one frozen object: everything else takes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Self

from pydantic import ValidationError, model_validator

from environments.any_world import AnyScenario
from policies import find_policy
from policies.base import Policy, Setting, Value
from studies.advice import paper_advice
from studies.identity import differences_in_words, short_hash
from studies.ranges import Range, own_range
from studies.source import LogSource, TraceSource, resolve_size
from studies.spec_checks import check_study
from studies.study_fields import StudyFields

BUDGET = ("trials", "candidates", "selection", "report")
"""Fields that may change between runs of one study: more of the same."""

RECORDED = ("trace", "log", "minimize", "digest", "scale")
"""Fields of studies on a trace or a log alone."""

NOT_IN_NAME = (*BUDGET, "policy", "scenario", "horizon", "arms", "name", "seed", "replications", "batch", *RECORDED)
"""Fields that a study's name does not hash: they stand in it, or are the budget of the search."""


class StudySpec(StudyFields):
    """One search: a policy's parameters in one scenario at one horizon.

    >>> spec = StudySpec(scenario="variance-drift", horizon=10000).resolved()
    >>> spec.study_name()
    'raven-ucb/variance-drift/T10000/K10'
    """

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        check_study(self)
        return self

    def size(self) -> tuple[int, int]:
        """Horizon and arms, the source's own where none are given."""
        return resolve_size(self.source, self.horizon, self.arms)

    def resolved_space(self, policy: type[Policy], horizon: int, arms: int) -> dict[str, Range]:
        """The ranges given, and the policy's own for parameters that are neither given nor fixed."""
        arms += self.source.extra_arms
        fixed, factor = self.resolved_fixed(), self.source.reward_factor(policy)
        given: dict[str, Value] = {**fixed, **{name: range_.ends()[0] for name, range_ in self.space.items()}}
        values: dict[str, Value] = {}
        space = {}
        for param in policy.parameters:
            setting = Setting(horizon, arms, values)
            if param.name in self.space:
                space[param.name] = self.space[param.name]
            elif param.name not in fixed and param.low is not None and param.high is not None:
                space[param.name] = own_range(param, setting, factor**param.power)
            values[param.name] = param.resolve(given.get(param.name), setting)
        return space

    def resolved_fixed(self) -> dict[str, float | str]:
        """What is fixed. On a file `low` and `high` are the 1st and 99th percentile of the searched stretch."""
        fixed = dict(self.fixed)
        bounds = self.source.reward_bounds()
        free = {param.name for param in find_policy(self.policy).parameters} - {*self.space, *fixed}
        return {**fixed, **bounds} if bounds.keys() <= free else fixed

    def open_scenario(self) -> AnyScenario:
        """The scenario with its settings, or the file, which must hold what it held when the study began."""
        return self.source.open()

    def resolved(self) -> ResolvedStudy:
        """The same with every default written out, as it is stored."""
        horizon, arms = self.size()
        policy = find_policy(self.policy)
        found = {
            "policy": policy.name,
            "horizon": horizon,
            "arms": arms,
            "space": self.resolved_space(policy, horizon, arms),
            "fixed": self.resolved_fixed(),
            **self.source.resolved_fields(),
        }
        return ResolvedStudy.model_construct(**{**dict(self), **found})

    def __eq__(self, other: object) -> bool:
        """By fields alone: whether defaults were looked up before says nothing about the study."""
        return isinstance(other, StudySpec) and self.__dict__ == other.__dict__

    def study_name(self) -> str:
        """`policy/scenario/T…/K…`, with a short hash where anything but the budget is not the default."""
        if self.name is not None:
            return self.name
        return self.resolved().usual_name()

    def simulated_steps(self) -> int:
        """Steps of search, selection and report together, at most: pruning saves some.

        >>> spec = StudySpec(scenario="periodic", horizon=10, trials=3, replications=2, selection=5, report=7)
        >>> spec.simulated_steps()
        400
        """
        here = self.resolved()
        rivals = 1 + (paper_advice(here.scenario, here.horizon, here.policy) is not None)
        played = self.trials * self.replications
        played += (min(self.candidates, self.trials) + rivals) * self.selection + (1 + rivals) * self.report
        return played * here.horizon

    def identity(self) -> dict[str, Any]:
        """What makes trials comparable: all but the name and the budget, every default written out."""
        return self.resolved().model_dump(mode="json", exclude={"name", "trace", "log", *BUDGET})

    def differences(self, stored: StudySpec) -> list[str]:
        """In words, where a stored study's trials would not be comparable with this one's."""
        mine, theirs = self.identity(), stored.identity()
        match self.source:
            case TraceSource() | LogSource() as file if mine["digest"] != theirs["digest"]:
                return [f"the {file.kind} {file.path} holds something else than it did"]
            case _:
                return differences_in_words(mine, theirs)

    def values(self, params: dict[str, float]) -> dict[str, Value]:
        """All parameters of a candidate, checked."""
        here = self.resolved()
        policy = find_policy(self.policy)
        given: dict[str, Value] = {**here.scaled_defaults(policy), **here.fixed, **params}
        return policy.resolve(given, here.arms + self.source.extra_arms, here.horizon)

    def scaled_defaults(self, policy: type[Policy]) -> dict[str, Value]:
        """The policy's own defaults for rewards of the file's size, where that matters."""
        factor = self.source.reward_factor(policy)
        if factor == 1.0:
            return {}
        return {
            param.name: param.default * factor**param.power
            for param in policy.parameters
            if param.power and isinstance(param.default, float) and param.name not in ("low", "high")
        }


class ResolvedStudy(StudySpec):
    """A study with every default filled in: the form that is stored, searched and shown.

    `StudySpec.resolved` creates it from a specification, `from_stored` from a storage.

    >>> StudySpec(scenario="blips").resolved().arms
    10
    """

    horizon: int
    arms: int

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> ResolvedStudy:
        """A study to show, not to run: its policy or scenario may not be loaded. ValueError for an invalid field."""
        fields = StudyFields.model_validate(stored)
        if fields.horizon is None or fields.arms is None:
            raise ValueError("a stored specification must have horizon and arms")
        return cls.model_construct(**dict(fields))

    def resolved(self) -> ResolvedStudy:
        """Itself."""
        return self

    def usual_name(self) -> str:
        """The name of a study that was not given one."""
        name = f"{self.policy}/{self.scenario}/T{self.horizon}/K{self.arms}"
        mine = self.model_dump(mode="json", exclude=set(NOT_IN_NAME))
        if mine == self._usual():
            return name
        return f"{name}{short_hash(json.dumps(mine, sort_keys=True, ensure_ascii=False))}"

    def _usual(self) -> dict[str, Any] | None:
        """What the name hashes, at its defaults; None where this horizon or policy has no valid defaults."""
        try:
            plain = StudySpec(policy=self.policy, horizon=self.horizon, arms=self.arms, **self.source.fields())
        except ValidationError:
            return None
        return plain.resolved().model_dump(mode="json", exclude=set(NOT_IN_NAME))
