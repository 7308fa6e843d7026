"""What a study may say, field by field; `studies.spec.study` has what follows from it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import Any, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from environments.blocks import AnyScenario
from environments.recorded.log_world import MIN_REPLAYS
from environments.scenario import MAX_HORIZON
from environments.text import join_words
from policies import find_policy
from policies.engine.base import ParamContext, Policy, Value
from studies.paper.advice import paper_advice
from studies.registry import OBJECTIVES, StudyDefaults, choices_pattern, format_choices
from studies.spec.fields import (
    MAX_RESULTS,
    FrozenModel,
    ParamName,
    PrunerName,
    Real,
    SamplerName,
    ShortText,
    StudyName,
    Whole,
    describe_differences,
    short_hash,
)
from studies.spec.objective import parse_objective
from studies.spec.source import (
    LogSource,
    ScenarioSource,
    Source,
    TraceSource,
    check_one_source,
    make_source,
    resolve_size,
)
from studies.spec.space import Range, default_range


class StudyFields(FrozenModel):
    """The fields of a study; one on a trace or a log has the name of its file for a scenario.

    >>> StudyFields.model_validate({"log": "/data/ads.csv"}).scenario
    'log:ads'
    """

    name: StudyName = Field(default=None, min_length=1, max_length=400, description="Overrides the study's own name.")
    policy: str = Field(default=StudyDefaults.policy, max_length=100, description="Whose parameters are searched.")
    scenario: str = Field(max_length=300, description="A scenario's name, or effects joined by '+'.")
    settings: dict[ParamName, Whole | Real | ShortText] = Field(
        default_factory=dict, max_length=100, description="The scenario's parameters, such as every or noise."
    )
    horizon: int | None = Field(
        default=None, strict=True, ge=1, le=MAX_HORIZON, description="Steps T; the scenario's own if absent."
    )
    arms: int | None = Field(
        default=None, strict=True, ge=1, le=MAX_HORIZON, description="Arms K; the scenario's own if absent."
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
    space: dict[ParamName, Range] = Field(
        default_factory=dict, max_length=100, description="Where each parameter is searched."
    )
    fixed: dict[ParamName, Real | ShortText] = Field(
        default_factory=dict, max_length=100, description="Parameters that are not searched."
    )
    objective: str = Field(
        default=StudyDefaults.objective,
        max_length=100,
        description=f"What is optimised: {join_words(format_choices(OBJECTIVES))}.",
        json_schema_extra=lambda schema: schema.update(pattern=choices_pattern(OBJECTIVES)),
    )
    sampler: SamplerName = Field(default=StudyDefaults.sampler, description="How candidates are chosen.")
    pruner: PrunerName = Field(default=StudyDefaults.pruner, description="Whether poor candidates stop early.")
    trials: int = Field(
        default=StudyDefaults.trials, strict=True, ge=1, le=1_000_000, description="How many candidates."
    )
    batch: int = Field(
        default=StudyDefaults.batch, strict=True, ge=1, le=10_000, description="Candidates asked for at a time."
    )
    replications: int = Field(
        default=StudyDefaults.replications, strict=True, ge=2, le=10_000_000, description="Worlds each one plays."
    )
    candidates: int = Field(
        default=StudyDefaults.candidates, strict=True, ge=1, le=1000, description="How many of the best are validated."
    )
    selection: int = Field(
        default=StudyDefaults.selection, strict=True, ge=2, le=10_000_000, description="Fresh worlds to choose on."
    )
    report: int = Field(
        default=StudyDefaults.report, strict=True, ge=2, le=10_000_000, description="Fresh worlds to report on."
    )
    seed: int = Field(
        default=StudyDefaults.seed, strict=True, ge=0, le=2**63 - 1, description="Names the worlds and the search."
    )

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
        name = check_one_source(given)
        return given if name is None else {**given, "scenario": name}

    @property
    def source(self) -> Source:
        """Where the rewards come from: a scenario, a trace or a log."""
        return make_source(self.scenario, self.settings, self.trace, self.log, self.minimize, self.digest, self.scale)


MAX_POLICY_BYTES = 256_000_000
"""Bytes that a policy's statistics may take before its parameters are refused."""


def check_study(spec: StudySpec) -> None:
    """Raise ValueError, with one clear line, for a study that could not be played."""
    policy = find_policy(spec.policy)
    horizon, arms = spec.size()
    _check_source(spec, policy, horizon, arms)
    setting = ParamContext(horizon, arms + spec.source.extra_arms, {})
    _check_given(spec, policy, setting)
    space = spec.resolved_space(policy, horizon, arms)
    if space == {}:
        hint = "" if policy.parameters else "; a class of your own lists them as parameters = (ravenlab.Param(…), …)"
        raise ValueError(f"space is empty: {spec.policy} has nothing left to search{hint}")
    _check_corners(spec, policy, space, setting)
    check_results_fit(spec)
    parse_objective(spec.objective).check(horizon)


def check_results_fit(spec: StudySpec, scenarios: int = 1) -> None:
    """What a batch or a validation gives, in so many scenarios, must fit into memory at once."""
    played = {
        f"batch × replications ({spec.batch} × {spec.replications})": spec.batch * spec.replications,
        f"candidates × selection ({spec.candidates} × {spec.selection})": spec.candidates * spec.selection,
    }
    for what, count in played.items():
        if count * scenarios > MAX_RESULTS:
            over = f" over {scenarios} scenarios" if scenarios > 1 else ""
            raise ValueError(f"{what}{over} must be at most {MAX_RESULTS} but got {count * scenarios}")


def _check_source(spec: StudySpec, policy: type[Policy], horizon: int, arms: int) -> None:
    """What a scenario, a trace or a log does not allow."""
    match spec.source:
        case ScenarioSource() as scenario:
            scenario.open().check(horizon, arms)
            if spec.minimize:
                raise ValueError("minimize must be false for a scenario, which pays rewards, but got true")
        case TraceSource() as trace:
            _check_recorded(spec, trace, policy, horizon, arms)
        case LogSource() as log:
            _check_recorded(spec, log, policy, horizon, arms)
            for name, count in (("selection", spec.selection), ("report", spec.report)):
                if count < MIN_REPLAYS:
                    raise ValueError(f"{name} must be at least {MIN_REPLAYS} on a log but got {count}")


def _check_recorded(
    spec: StudySpec, source: TraceSource | LogSource, policy: type[Policy], horizon: int, arms: int
) -> None:
    """What holds for a trace and a log alike. The file of a study that was checked before is not opened again."""
    if source.digest is None:
        source.open().check(horizon, arms)
    if policy.uses_true_means:
        raise ValueError(f"{policy.name} reads the true means, which a {source.kind} does not tell")
    if spec.objective != StudyDefaults.objective:
        raise ValueError(f"objective must be {StudyDefaults.objective} on a {source.kind} but got {spec.objective}")


def _check_given(spec: StudySpec, policy: type[Policy], setting: ParamContext) -> None:
    """What is searched or fixed must be the policy's, and each value one that it takes."""
    both = sorted(set(spec.space) & set(spec.fixed))
    if both:
        raise ValueError(f"{both[0]} is both searched and fixed")
    known = {param.name: param for param in policy.parameters}
    for name in (*spec.space, *spec.fixed):
        if name not in known:
            policy.resolve({name: 0.0}, setting.arms, setting.horizon)
    for name, value in spec.fixed.items():
        known[name].resolve(value, setting)
    for name, range_ in spec.space.items():
        if known[name].choices:
            raise ValueError(f"{name} is one of {', '.join(known[name].choices)}: it can be fixed, not searched")
        for end in range_.bounds():
            known[name].resolve(end, setting)


def _check_corners(spec: StudySpec, policy: type[Policy], space: dict[str, Range], setting: ParamContext) -> None:
    """What is allowed one by one must also be so together, and fit into memory, in every corner of the box."""
    for corner in itertools.product(*(range_.bounds() for range_ in space.values())):
        given: dict[str, Value] = {**spec.resolved_fixed(), **dict(zip(space, corner, strict=True))}
        values = policy.resolve(given, setting.arms, setting.horizon)
        sizes = policy.sizes(setting.arms, values)
        if 8 * (sizes.rows * setting.arms + sizes.cells + sizes.memory) > MAX_POLICY_BYTES:
            what = ", ".join(f"{name} {value:.15g}" for name, value in values.items() if isinstance(value, float))
            raise ValueError(f"{spec.policy} would need too much memory with {what}")


BUDGET_FIELDS = ("trials", "candidates", "selection", "report")
"""Fields that may change between runs of one study: more of the same."""

RECORDED_FIELDS = ("trace", "log", "minimize", "digest", "scale")
"""Fields of studies on a trace or a log alone."""

NOT_IN_NAME = (
    *BUDGET_FIELDS,
    "policy",
    "scenario",
    "horizon",
    "arms",
    "name",
    "seed",
    "replications",
    "batch",
    *RECORDED_FIELDS,
)
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
        given: dict[str, Value] = {**fixed, **{name: range_.bounds()[0] for name, range_ in self.space.items()}}
        values: dict[str, Value] = {}
        space = {}
        for param in policy.parameters:
            setting = ParamContext(horizon, arms, values)
            if param.name in self.space:
                space[param.name] = self.space[param.name]
            elif param.name not in fixed and param.low is not None and param.high is not None:
                space[param.name] = default_range(param, setting, factor**param.power)
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
        return self.resolved().model_dump(mode="json", exclude={"name", "trace", "log", *BUDGET_FIELDS})

    def differences(self, stored: StudySpec) -> list[str]:
        """In words, where a stored study's trials would not be comparable with this one's."""
        mine, theirs = self.identity(), stored.identity()
        match self.source:
            case TraceSource() | LogSource() as file if mine["digest"] != theirs["digest"]:
                return [f"the {file.kind} {file.path} holds something else than it did"]
            case _:
                return describe_differences(mine, theirs)

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
