"""What is to be done, in one frozen object: everything else takes it."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, field_validator, model_validator

from environments import InputError, Scenario, find_scenario
from policies import find_policy
from policies.base import Param, Policy, Setting, Value
from studies.objective import parse_objective

Sampler = Literal["tpe", "gp", "cmaes", "qmc", "random", "grid"]
Pruner = Literal["none", "hyperband", "race"]

BUDGET = ("trials", "candidates", "selection", "report")
"""Fields that may change between runs of one study: more of the same."""

NOT_IN_NAME = (*BUDGET, "policy", "scenario", "horizon", "arms", "name", "seed", "replications", "batch")
"""Fields that a study's name does not hash: they stand in it, or are the budget of the search."""


class Range(BaseModel):
    """Where a parameter is searched."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    low: float = Field(description="Smallest value; of 1 − x where the scale is one-minus.")
    high: float = Field(description="Largest value.")
    scale: Literal["log", "linear", "one-minus"] = Field(default="log", description="How it is searched.")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not self.low < self.high:
            raise ValueError(f"low must be below high but got {self.low:g} and {self.high:g}")
        if self.scale != "linear" and self.low <= 0:
            raise ValueError(f"low must be above 0 on a {self.scale} scale but got {self.low:g}")
        if self.scale == "one-minus" and self.high > 1:
            raise ValueError(f"high must be at most 1 on a one-minus scale but got {self.high:g}")
        return self


class StudySpec(BaseModel):
    """One search: a policy's parameters in one scenario at one horizon.

    >>> spec = StudySpec(scenario="variance-drift", horizon=10000).resolved()
    >>> spec.study_name()
    'raven-ucb/variance-drift/T10000/K10'
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: str | None = Field(default=None, min_length=1, max_length=400, description="Overrides the study's own name.")
    policy: str = Field(default="raven-ucb", description="Whose parameters are searched.")
    scenario: str = Field(description="A scenario's name, or effects joined by '+'.")
    settings: dict[str, int | float | str] = Field(
        default_factory=dict, description="The scenario's parameters, such as every or noise."
    )
    horizon: int | None = Field(default=None, strict=True, ge=1, description="Steps T; the scenario's own if absent.")
    arms: int | None = Field(default=None, strict=True, ge=1, description="Arms K; the scenario's own if absent.")
    space: dict[str, Range] = Field(default_factory=dict, description="Where each parameter is searched.")
    fixed: dict[str, float | str] = Field(default_factory=dict, description="Parameters that are not searched.")
    objective: str = Field(
        default="mean",
        description="mean regret, or quantile:0.9, cvar:0.9, after:10% (regret after a burn-in), reward.",
    )
    sampler: Sampler = Field(default="tpe", description="How candidates are chosen.")
    pruner: Pruner = Field(default="none", description="Whether poor candidates stop early.")
    trials: int = Field(default=200, strict=True, ge=1, le=1_000_000, description="How many candidates.")
    batch: int = Field(default=16, strict=True, ge=1, le=10_000, description="Candidates asked for at a time.")
    replications: int = Field(default=200, strict=True, ge=2, le=10_000_000, description="Worlds each one plays.")
    candidates: int = Field(default=16, strict=True, ge=1, le=1000, description="How many of the best are validated.")
    selection: int = Field(default=2000, strict=True, ge=2, le=10_000_000, description="Fresh worlds to choose on.")
    report: int = Field(default=2000, strict=True, ge=2, le=10_000_000, description="Fresh worlds to report on.")
    seed: int = Field(default=0, strict=True, ge=0, le=2**63 - 1, description="Names the worlds and the search.")

    _is_resolved: bool = PrivateAttr(default=False)

    @field_validator("objective")
    @classmethod
    def _known_objective(cls, text: str) -> str:
        parse_objective(text)
        return text

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        policy = find_policy(self.policy)
        world = find_scenario(self.scenario, dict(self.settings))
        horizon, arms = self.horizon or world.horizon, self.arms or world.arms
        world.check(horizon, arms)
        both = sorted(set(self.space) & set(self.fixed))
        if both:
            raise ValueError(f"{both[0]} is both searched and fixed")
        known = {param.name: param for param in policy.parameters}
        policy.resolve(dict(self.fixed.items()), arms + world.extra_arms, horizon)
        for name, range_ in self.space.items():
            if name not in known:
                policy.resolve({name: 0.0}, arms, horizon)
            if known[name].choices:
                raise ValueError(f"{name} is one of {', '.join(known[name].choices)}: it can be fixed, not searched")
            for end in (range_.low, range_.high):
                known[name].resolve(1.0 - end if range_.scale == "one-minus" else end, Setting(horizon, arms, {}))
        if self.resolved_space(policy, horizon, arms) == {}:
            raise ValueError(f"space is empty: {self.policy} has nothing left to search")
        parse_objective(self.objective).check(horizon)
        return self

    def resolved_space(self, policy: type[Policy], horizon: int, arms: int) -> dict[str, Range]:
        """The ranges given, and the policy's own for parameters that are neither given nor fixed."""
        world = self.world()
        space = {}
        values = policy.resolve(dict(self.fixed), arms + world.extra_arms, horizon)
        setting = Setting(horizon, arms + world.extra_arms, values)
        for param in policy.parameters:
            if param.name in self.space:
                space[param.name] = self.space[param.name]
            elif param.name not in self.fixed and param.low is not None and param.high is not None:
                space[param.name] = _own_range(param, setting)
        return space

    def world(self) -> Scenario:
        """The scenario with its settings."""
        return find_scenario(self.scenario, dict(self.settings))

    def resolved(self) -> StudySpec:
        """The same with every default written out, as it is stored."""
        if self._is_resolved:
            return self
        world = self.world()
        horizon, arms = self.horizon or world.horizon, self.arms or world.arms
        space = self.resolved_space(find_policy(self.policy), horizon, arms)
        here = self.model_copy(update={"horizon": horizon, "arms": arms, "space": space})
        here._is_resolved = True
        return here

    def study_name(self) -> str:
        """`policy/scenario/T…/K…`, with a short hash where anything but the budget is not the default."""
        if self.name is not None:
            return self.name
        here = self.resolved()
        plain = StudySpec(policy=here.policy, scenario=here.scenario, horizon=here.horizon, arms=here.arms).resolved()
        name = f"{here.policy}/{here.scenario}/T{here.horizon}/K{here.arms}"
        mine, usual = (spec.model_dump(mode="json", exclude=set(NOT_IN_NAME)) for spec in (here, plain))
        if mine == usual:
            return name
        return f"{name}~{hashlib.sha256(_canonical(mine).encode()).hexdigest()[:4]}"

    def identity(self) -> dict[str, Any]:
        """What makes trials comparable: all but the name and the budget, every default written out."""
        return self.resolved().model_dump(mode="json", exclude={"name", *BUDGET})

    def differences(self, stored: StudySpec) -> list[str]:
        """In words, where a stored study's trials would not be comparable with this one's."""
        mine, theirs = self.identity(), stored.identity()
        return [f"{key} was {theirs.get(key)}, now {mine[key]}" for key in mine if mine[key] != theirs.get(key)]

    def values(self, params: dict[str, float]) -> dict[str, Value]:
        """All parameters of a candidate, checked."""
        here = self.resolved()
        assert here.arms is not None
        given: dict[str, Value] = {**self.fixed, **params}
        return find_policy(self.policy).resolve(given, here.arms + self.world().extra_arms, here.horizon)


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _own_range(param: Param, setting: Setting) -> Range:
    low, high = (end(setting) if callable(end) else end for end in (param.low, param.high))
    assert low is not None
    assert high is not None
    if low >= high:
        raise InputError(f"{param.name} has no range to search at horizon {setting.horizon}; give one or fix it.")
    return Range(low=low, high=high, scale=param.scale)  # type: ignore[arg-type]
