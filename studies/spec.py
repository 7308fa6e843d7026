"""What is to be done, in one frozen object: everything else takes it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    field_validator,
    model_validator,
)

from environments import InputError, find_scenario
from environments.any_world import AnyScenario, RecordedScenario
from environments.log_world import FEWEST_REPLAYS, open_log
from environments.recorded import own_name
from environments.scenario import LONGEST_HORIZON
from environments.trace_world import open_trace
from policies import find_policy
from policies.base import Param, Policy, Setting, Value
from studies.fields import MOST_PLAYED, Name, OwnName, Real, Text, Whole
from studies.identity import differences_in_words, short_hash
from studies.objective import parse_objective

Sampler = Literal["tpe", "gp", "cmaes", "qmc", "random", "grid"]
Pruner = Literal["none", "hyperband", "race"]

BUDGET = ("trials", "candidates", "selection", "report")
"""Fields that may change between runs of one study: more of the same."""

RECORDED = ("trace", "log", "minimize", "digest", "scale")
"""Fields of studies on a trace or a log alone."""

NOT_IN_NAME = (*BUDGET, "policy", "scenario", "horizon", "arms", "name", "seed", "replications", "batch", *RECORDED)
"""Fields that a study's name does not hash: they stand in it, or are the budget of the search."""

MOST_MEMORY = 256_000_000
"""Bytes that a policy's statistics may take before its parameters are refused."""


class Range(BaseModel):
    """Where a parameter is searched."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    low: Real = Field(description="Smallest value; of 1 − x where the scale is one-minus.")
    high: Real = Field(description="Largest value.")
    scale: Literal["log", "linear", "one-minus"] = Field(default="log", description="How it is searched.")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not self.low < self.high:
            raise ValueError(f"low must be below high but got {self.low:.15g} and {self.high:.15g}")
        if self.scale != "linear" and self.low <= 0:
            raise ValueError(f"low must be above 0 on a {self.scale} scale but got {self.low:.15g}")
        if self.scale == "one-minus" and self.high > 1:
            raise ValueError(f"high must be at most 1 on a one-minus scale but got {self.high:.15g}")
        return self

    def ends(self) -> tuple[float, float]:
        """The values at both ends, of x itself on any scale.

        >>> Range(low=0.25, high=0.5, scale="one-minus").ends()
        (0.75, 0.5)
        """
        return (1.0 - self.low, 1.0 - self.high) if self.scale == "one-minus" else (self.low, self.high)


class StudySpec(BaseModel):
    """One search: a policy's parameters in one scenario at one horizon.

    >>> spec = StudySpec(scenario="variance-drift", horizon=10000).resolved()
    >>> spec.study_name()
    'raven-ucb/variance-drift/T10000/K10'
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: OwnName = Field(default=None, min_length=1, max_length=400, description="Overrides the study's own name.")
    policy: str = Field(default="raven-ucb", max_length=100, description="Whose parameters are searched.")
    scenario: str = Field(max_length=300, description="A scenario's name, or effects joined by '+'.")
    settings: dict[Name, Whole | Real | Text] = Field(
        default_factory=dict, max_length=100, description="The scenario's parameters, such as every or noise."
    )
    horizon: int | None = Field(
        default=None, strict=True, ge=1, le=LONGEST_HORIZON, description="Steps T; the scenario's own if absent."
    )
    arms: int | None = Field(
        default=None, strict=True, ge=1, le=LONGEST_HORIZON, description="Arms K; the scenario's own if absent."
    )
    trace: str | None = Field(
        default=None, min_length=1, max_length=1000, description="A CSV or Parquet file in place of a scenario."
    )
    log: str | None = Field(
        default=None, min_length=1, max_length=1000, description="A CSV or Parquet file of events, to be replayed."
    )
    minimize: bool = Field(default=False, strict=True, description="What the trace or log holds are costs.")
    digest: str | None = Field(default=None, max_length=64, description="SHA-256 of what the file held.")
    scale: float | None = Field(
        default=None, gt=0, description="Size of the file's rewards against those that ranges are made for."
    )
    space: dict[Name, Range] = Field(
        default_factory=dict, max_length=100, description="Where each parameter is searched."
    )
    fixed: dict[Name, Real | Text] = Field(
        default_factory=dict, max_length=100, description="Parameters that are not searched."
    )
    objective: str = Field(
        default="mean",
        max_length=100,
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

    @model_validator(mode="before")
    @classmethod
    def _named_by_its_file(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        names = [own_name(kind, given[kind]) for kind in ("trace", "log") if isinstance(given.get(kind), str)]
        if names and given.get("scenario", names[0]) != names[0]:
            names.append(given["scenario"])
        if len(names) > 1:
            raise ValueError(f"a study has a scenario, a trace or a log but got {names[1]} and {names[0]}")
        return {**given, "scenario": names[0]} if names else given

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        policy = find_policy(self.policy)
        horizon, arms = self._size()
        if self.file is None or self.digest is None:
            self.world().check(horizon, arms)
        if self.file is not None:
            self._check_on_a_file(policy)
        elif self.minimize:
            raise ValueError("minimize is for a trace or log of costs; a scenario pays rewards")
        both = sorted(set(self.space) & set(self.fixed))
        if both:
            raise ValueError(f"{both[0]} is both searched and fixed")
        known = {param.name: param for param in policy.parameters}
        setting = Setting(horizon, arms + self.extra_arms, {})
        for name in (*self.space, *self.fixed):
            if name not in known:
                policy.resolve({name: 0.0}, arms, horizon)
        for name, value in self.fixed.items():
            known[name].resolve(value, setting)
        for name, range_ in self.space.items():
            if known[name].choices:
                raise ValueError(f"{name} is one of {', '.join(known[name].choices)}: it can be fixed, not searched")
            for end in range_.ends():
                known[name].resolve(end, setting)
        space = self.resolved_space(policy, horizon, arms)
        if space == {}:
            raise ValueError(f"space is empty: {self.policy} has nothing left to search")
        self._check_corners(policy, space, setting)
        self.check_played()
        parse_objective(self.objective).check(horizon)
        return self

    def _size(self) -> tuple[int, int]:
        """Horizon and arms, the scenario's own where none are given."""
        if self.horizon is not None and self.arms is not None:
            return self.horizon, self.arms
        world = self.world()
        return self.horizon or world.horizon, self.arms or world.arms

    @property
    def file(self) -> str | None:
        """The user's own data, trace or log, in place of a scenario."""
        return self.trace if self.trace is not None else self.log

    @property
    def extra_arms(self) -> int:
        """Arms that the world holds beyond K."""
        return 0 if self.file is not None else self.world().extra_arms

    def _check_on_a_file(self, policy: type[Policy]) -> None:
        kind = "trace" if self.log is None else "log"
        if policy.peeks:
            raise ValueError(f"{policy.name} reads the true means, which a {kind} does not tell")
        if self.objective != "mean":
            raise ValueError(f"objective must be mean on a {kind} but got {self.objective}")
        for name, count in (("selection", self.selection), ("report", self.report)):
            if self.log is not None and count < FEWEST_REPLAYS:
                raise ValueError(f"{name} must be at least {FEWEST_REPLAYS} on a log but got {count}")

    def check_played(self, scenarios: int = 1) -> None:
        """What a batch or a validation gives must fit into memory at once."""
        played = {
            f"batch × replications ({self.batch} × {self.replications})": self.batch * self.replications,
            f"candidates × selection ({self.candidates} × {self.selection})": self.candidates * self.selection,
        }
        for what, count in played.items():
            if count * scenarios > MOST_PLAYED:
                over = f" over {scenarios} scenarios" if scenarios > 1 else ""
                raise ValueError(f"{what}{over} must be at most {MOST_PLAYED} but got {count * scenarios}")

    def _check_corners(self, policy: type[Policy], space: dict[str, Range], setting: Setting) -> None:
        """What is allowed one by one must also be so together, and fit into memory, in every corner of the box."""
        for corner in itertools.product(*(range_.ends() for range_ in space.values())):
            given: dict[str, Value] = {**self.resolved_fixed(), **dict(zip(space, corner, strict=True))}
            values = policy.resolve(given, setting.arms, setting.horizon)
            sizes = policy.sizes(setting.arms, values)
            if 8 * (sizes.rows * setting.arms + sizes.cells + sizes.memory) > MOST_MEMORY:
                what = ", ".join(f"{name} {value:.15g}" for name, value in values.items() if isinstance(value, float))
                raise ValueError(f"{self.policy} would need too much memory with {what}")

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
                space[param.name] = _own_range(param, setting, factor**param.power)
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
        horizon, arms = self._size()
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
        """A specification to show, not to run: what it plays may not be at hand."""
        space = {name: Range.model_validate(range_) for name, range_ in stored.get("space", {}).items()}
        here = cls.model_construct(**{**stored, "space": space})
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
        from studies.advice import paper_advice

        here = self.resolved()
        assert here.horizon is not None
        rivals = 1 + (self.policy == "raven-ucb" and paper_advice(here.scenario, here.horizon) is not None)
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


def _own_range(param: Param, setting: Setting, factor: float = 1.0) -> Range:
    low, high = (end(setting) if callable(end) else end for end in (param.low, param.high))
    assert low is not None
    assert high is not None
    low, high = (end if factor == 1.0 else float(f"{end * factor:.3g}") for end in (low, high))
    if low >= high:
        raise InputError(f"{param.name} has no range to search at horizon {setting.horizon}; give one or fix it.")
    return Range(low=low, high=high, scale=param.scale)  # type: ignore[arg-type]
