"""What is to be done, in one frozen object: everything else takes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Self

from pydantic import PrivateAttr, ValidationError, model_validator

from environments import InputError, find_scenario
from environments.any_world import AnyScenario, RecordedScenario
from environments.log_world import open_log
from environments.trace_world import open_trace
from policies import find_policy
from policies.base import Policy, Setting, Value
from studies.advice import paper_advice
from studies.identity import differences_in_words, short_hash
from studies.ranges import Range, own_range
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

    _is_resolved: bool = PrivateAttr(default=False)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        check_study(self)
        return self

    def size(self) -> tuple[int, int]:
        """Horizon and arms, the scenario's own where none are given."""
        if self.horizon is not None and self.arms is not None:
            return self.horizon, self.arms
        world = self.world()
        return self.horizon or world.horizon, self.arms or world.arms

    @property
    def extra_arms(self) -> int:
        """Arms that the world holds beyond K."""
        return 0 if self.file is not None else self.world().extra_arms

    def resolved_space(self, policy: type[Policy], horizon: int, arms: int) -> dict[str, Range]:
        """The ranges given, and the policy's own for parameters that are neither given nor fixed."""
        arms += self.extra_arms
        fixed, factor = self.resolved_fixed(), self._factor(policy)
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
        if self.file is None or self.digest is not None:
            return fixed
        world = self.world()
        assert isinstance(world, RecordedScenario)
        known = {param.name for param in find_policy(self.policy).parameters} - {*self.space, *fixed}
        if {"low", "high"} <= known:
            fixed |= {"low": world.scale.low, "high": world.scale.high}
        return fixed

    def _factor(self, policy: type[Policy]) -> float:
        """How many times as large as usual rewards are, where the policy can follow that."""
        if self.file is None or not policy.scalable:
            return 1.0
        if self.scale is not None:
            return self.scale
        world = self.world()
        assert isinstance(world, RecordedScenario)
        return world.scale.factor

    def world(self) -> AnyScenario:
        """The scenario with its settings, or the file, which must hold what it held when the study began."""
        if self.trace is not None:
            world: RecordedScenario = open_trace(self.trace, self.minimize)
        elif self.log is not None:
            world = open_log(self.log, self.minimize)
        else:
            return find_scenario(self.scenario, dict(self.settings))
        if self.digest is not None and world.digest != self.digest:
            kind = self.scenario.partition(":")[0]
            raise InputError(f"{kind} {self.file} holds something else than when the study {self.scenario!r} began.")
        return world.with_settings(self.settings)

    def resolved(self) -> StudySpec:
        """The same with every default written out, as it is stored."""
        if self._is_resolved:
            return self
        horizon, arms = self.size()
        policy = find_policy(self.policy)
        update: dict[str, Any] = {"policy": policy.name, "horizon": horizon, "arms": arms}
        update["space"] = self.resolved_space(policy, horizon, arms)
        if self.file is None:
            update["scenario"] = self.world().name
        elif self.digest is None:
            world = self.world()
            assert isinstance(world, RecordedScenario)
            update |= {"digest": world.digest, "scale": world.scale.factor, "fixed": self.resolved_fixed()}
        here = self.model_copy(update=update)
        here._is_resolved = True
        return here

    @classmethod
    def as_stored(cls, stored: Mapping[str, Any]) -> StudySpec:
        """A specification to show, not to run: what it plays may not be at hand. ValueError where a field is wrong."""
        fields = StudyFields.model_validate(stored)
        if fields.horizon is None or fields.arms is None:
            raise ValueError("a stored specification says how many steps and arms there are")
        here = cls.model_construct(**dict(fields))
        here._is_resolved = True
        return here

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy; one that changes something has its defaults to find anew."""
        copy = super().model_copy(update=update, deep=deep)
        if update:
            copy._is_resolved = False
        return copy

    def __eq__(self, other: object) -> bool:
        """By fields alone: whether defaults were looked up before says nothing about the study."""
        return isinstance(other, StudySpec) and self.__dict__ == other.__dict__

    def study_name(self) -> str:
        """`policy/scenario/T…/K…`, with a short hash where anything but the budget is not the default."""
        if self.name is not None:
            return self.name
        here = self.resolved()
        name = f"{here.policy}/{here.scenario}/T{here.horizon}/K{here.arms}"
        mine = here.model_dump(mode="json", exclude=set(NOT_IN_NAME))
        if mine == here._usual():
            return name
        return f"{name}{short_hash(json.dumps(mine, sort_keys=True, ensure_ascii=False))}"

    def _usual(self) -> dict[str, Any] | None:
        """What the name hashes, at its defaults; None where this horizon or policy can't do with defaults."""
        try:
            where: dict[str, Any] = {"scenario": self.scenario}
            if self.file is not None:
                where |= {"trace": self.trace, "log": self.log, "minimize": self.minimize}
            plain = StudySpec(policy=self.policy, horizon=self.horizon, arms=self.arms, **where)
        except ValidationError:
            return None
        return plain.resolved().model_dump(mode="json", exclude=set(NOT_IN_NAME))

    def simulated_steps(self) -> int:
        """Steps of search, selection and report together, at most: pruning saves some.

        >>> spec = StudySpec(scenario="periodic", horizon=10, trials=3, replications=2, selection=5, report=7)
        >>> spec.simulated_steps()
        400
        """
        here = self.resolved()
        assert here.horizon is not None
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
        if mine["digest"] != theirs["digest"]:
            return [f"the {self.scenario.partition(':')[0]} {self.file} holds something else than it did"]
        return differences_in_words(mine, theirs)

    def values(self, params: dict[str, float]) -> dict[str, Value]:
        """All parameters of a candidate, checked."""
        here = self.resolved()
        assert here.arms is not None
        policy = find_policy(self.policy)
        given: dict[str, Value] = {**here.scaled_defaults(policy), **here.fixed, **params}
        return policy.resolve(given, here.arms + self.extra_arms, here.horizon)

    def scaled_defaults(self, policy: type[Policy]) -> dict[str, Value]:
        """The policy's own defaults for rewards of the file's size, where that matters."""
        factor = self._factor(policy)
        if factor == 1.0:
            return {}
        return {
            param.name: param.default * factor**param.power
            for param in policy.parameters
            if param.power and isinstance(param.default, float) and param.name not in ("low", "high")
        }
