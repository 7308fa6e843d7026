"""Specification of a study: one search over the parameters of one policy on one source of rewards."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import Field, StrictFloat, field_validator, model_validator

from ravenlab.common.errors import InputError
from ravenlab.common.text import format_count
from ravenlab.environments.recorded.log_world import MIN_REPLAYS
from ravenlab.environments.reward_scale import RewardScale, scale_value
from ravenlab.environments.streams import Stream
from ravenlab.policies import find_policy
from ravenlab.policies.engine.base import MAX_POLICY_BYTES, Policy
from ravenlab.policies.engine.parameters import Param, ParamContext, Value
from ravenlab.studies.paper.advice import paper_advice
from ravenlab.studies.registry import (
    DEFAULT_ESTIMATOR,
    LOG_DEFAULTS,
    OBJECTIVES,
    StudyDefaults,
    choices_pattern,
    known_alternatives,
)
from ravenlab.studies.spec.descriptions import STUDY, list_choices
from ravenlab.studies.spec.fields import (
    MAX_RESULTS,
    EstimatorName,
    FileName,
    FrozenModel,
    ParamName,
    PrunerName,
    Replications,
    SamplerName,
    ScenarioName,
    Seed,
    Settings,
    ShortText,
    Size,
    Specification,
    StudyName,
    Trials,
    Whole,
    describe_differences,
    drop_absent_sizes,
    format_override,
    name_suffix,
)
from ravenlab.studies.spec.objective import parse_objective
from ravenlab.studies.spec.source import (
    LogSource,
    ScenarioSource,
    Source,
    TraceSource,
    make_source,
    name_scenario_after_file,
    resolve_size,
)
from ravenlab.studies.spec.space import Range, default_range

UNSCALED = RewardScale(low=0.0, high=1.0, factor=1.0)
"""The scale of the rewards that default ranges and parameters are made for."""


class StudyFields(FrozenModel):
    """The fields of a study. For a trace or a log, the scenario is named after its file.

    >>> StudyFields.model_validate({"log": "/data/ads.csv"}).scenario
    'log:ads'
    """

    name: StudyName = Field(default=None, description=STUDY["name"])
    policy: str = Field(default=StudyDefaults.policy, max_length=100, description=STUDY["policy"])
    scenario: ScenarioName = Field(description=STUDY["scenario"])
    settings: Settings = Field(default_factory=dict, description=STUDY["settings"])
    horizon: Size = Field(default_factory=int, description=STUDY["horizon"])
    arms: Size = Field(default_factory=int, description=STUDY["arms"])
    trace: FileName | None = Field(default=None, description=STUDY["trace"])
    log: FileName | None = Field(default=None, description=STUDY["log"])
    minimize: bool = Field(default=False, strict=True, description=STUDY["minimize"])
    estimator: EstimatorName | None = Field(
        default=None, description=f"{STUDY['estimator'].removesuffix('.')}; {DEFAULT_ESTIMATOR} if absent."
    )
    digest: str | None = Field(default=None, max_length=64, description=STUDY["digest"])
    scale: float | None = Field(default=None, gt=0, description=STUDY["scale"])
    space: dict[ParamName, Range] = Field(default_factory=dict, max_length=100, description=STUDY["space"])
    fixed: dict[ParamName, StrictFloat | ShortText] = Field(
        default_factory=dict, max_length=100, description=STUDY["fixed"]
    )
    objective: str = Field(
        default=StudyDefaults.objective,
        max_length=100,
        description=list_choices(STUDY["objective"], OBJECTIVES),
        json_schema_extra=lambda schema: schema.update(pattern=choices_pattern(OBJECTIVES)),
    )
    sampler: SamplerName = Field(default=StudyDefaults.sampler, description=STUDY["sampler"])
    pruner: PrunerName = Field(default=StudyDefaults.pruner, description=STUDY["pruner"])
    trials: Trials = Field(default=StudyDefaults.trials, ge=1, description=STUDY["trials"])
    batch: Whole = Field(default=StudyDefaults.batch, ge=1, le=10_000, description=STUDY["batch"])
    replications: Replications = Field(default=StudyDefaults.replications, description=STUDY["replications"])
    candidates: Whole = Field(
        default=StudyDefaults.candidates,
        ge=1,
        le=1000,
        description=STUDY["candidates"],
    )
    selection: Replications = Field(default=StudyDefaults.selection, description=STUDY["selection"])
    report: Replications = Field(default=StudyDefaults.report, description=STUDY["report"])
    seed: Seed = Field(default=StudyDefaults.seed, description=STUDY["seed"])

    @field_validator("objective")
    @classmethod
    def _check_objective(cls, text: str) -> str:
        parse_objective(text)
        return text

    @model_validator(mode="before")
    @classmethod
    def _fill_in_fields_of_files(cls, fields: Any) -> Any:
        named = name_scenario_after_file(drop_absent_sizes(fields))
        return {**LOG_DEFAULTS, **named} if isinstance(named, Mapping) and named.get("log") is not None else named

    @property
    def source(self) -> Source:
        """The source of rewards: a scenario, a trace or a log."""
        recorded = (self.trace, self.log, self.minimize, self.digest, self.scale, self.estimator or DEFAULT_ESTIMATOR)
        return make_source(self.scenario, self.settings, *recorded)


def check_results_fit(spec: StudySpec, scenarios: int = 1) -> None:
    """Raise ValueError if the results of one batch or of the selection do not fit into memory."""
    counts = {
        f"batch × replications ({spec.batch} × {spec.replications})": spec.batch * spec.replications,
        f"candidates × selection ({spec.candidates} × {spec.selection})": spec.candidates * spec.selection,
    }
    for product, count in counts.items():
        if count * scenarios > MAX_RESULTS:
            over = f" over {scenarios} scenarios" if scenarios > 1 else ""
            raise ValueError(
                f"{product}{over} must be at most {format_count(MAX_RESULTS)} but got {format_count(count * scenarios)}"
            )


def _check_source(spec: StudySpec, policy: type[Policy], horizon: int, arms: int) -> None:
    """Raise ValueError for fields that the scenario, trace or log does not allow."""
    match spec.source:
        case ScenarioSource() as scenario:
            scenario.open().check(horizon, arms)
            if spec.minimize:
                raise ValueError("minimize must be false for a simulated scenario but got true")
            _check_no_estimator(spec)
        case TraceSource() as trace:
            _check_no_estimator(spec)
            _check_recorded(spec, trace, policy, horizon, arms)
        case LogSource() as log:
            _check_recorded(spec, log, policy, horizon, arms)
            for name, count in (("selection", spec.selection), ("report", spec.report)):
                if count < MIN_REPLAYS:
                    raise ValueError(f"{name} must be at least {MIN_REPLAYS} on a log but got {count}")


def _check_no_estimator(spec: StudySpec) -> None:
    if spec.estimator is not None:
        raise ValueError(f"estimator requires a log but got {spec.estimator}")


def _check_recorded(
    spec: StudySpec, source: TraceSource | LogSource, policy: type[Policy], horizon: int, arms: int
) -> None:
    """Check what traces and logs have in common. A resolved study's file is not opened again."""
    if source.digest is None:
        source.open().check(horizon, arms)
    secret = policy.hidden_knowledge()
    if secret is not None:
        raise ValueError(f"{policy.name} {secret}, which are unknown for a {source.kind}")
    if spec.objective != StudyDefaults.objective:
        raise ValueError(f"objective must be {StudyDefaults.objective} on a {source.kind} but got {spec.objective}")


def _check_params(spec: StudySpec, policy: type[Policy]) -> None:
    """Raise ValueError for unknown parameters and for values that the policy does not allow."""
    both = sorted(set(spec.space) & set(spec.fixed))
    if both:
        raise ValueError(f"{both[0]} is both searched and fixed")
    context = spec.context()
    known = {param.name: param for param in policy.parameters}
    for name in (*spec.space, *spec.fixed):
        if name not in known:
            policy.resolve({name: 0.0}, context.arms, context.horizon)
    for name, value in spec.fixed.items():
        known[name].resolve(value, context)
    for name, range_ in spec.space.items():
        if known[name].choices:
            raise ValueError(f"{name} cannot be searched; fix it to one of {', '.join(known[name].choices)}")
        for end in range_.bounds():
            known[name].resolve(end, context)


def _check_corners(spec: StudySpec, policy: type[Policy]) -> None:
    """Raise ValueError if a corner of the search space is not allowed or needs too much memory."""
    context = spec.context()
    for corner in itertools.product(*(range_.bounds() for range_ in spec.space.values())):
        params: dict[str, Value] = {**spec.fixed, **dict(zip(spec.space, corner, strict=True))}
        values = policy.resolve(params, context.arms, context.horizon)
        if policy.sizes(context.arms, values).bytes(context.arms) > MAX_POLICY_BYTES:
            numbers = ", ".join(f"{name} {value:.15g}" for name, value in values.items() if isinstance(value, float))
            raise ValueError(f"{spec.policy} needs too much memory with {numbers}")


# Fields that may change when a study is resumed.
BUDGET_FIELDS = ("trials", "candidates", "selection", "report")

# Fields that a study's default name states if they differ from their defaults, besides settings, space and fixed.
NAMED_FIELDS = ("objective", "sampler", "pruner", "estimator", "seed")


class StudySpec(StudyFields, Specification):
    """A study: a search over a policy's parameters on one scenario, trace or log at one horizon.

    Validation fills in every default, so that a specification holds what is stored and run.

    >>> spec = StudySpec(scenario="variance-drift", horizon=10000)
    >>> spec.study_name(), list(spec.space)
    ('raven-ucb/variance-drift/T10000/K10', ['alpha0', 'beta0', 'epsilon'])
    """

    @model_validator(mode="after")
    def _resolve(self) -> Self:
        """Check that the fields fit together, and fill in every default."""
        policy = find_policy(self.policy)
        horizon, arms = resolve_size(self.source, self.horizon, self.arms)
        _check_source(self, policy, horizon, arms)
        self.__dict__.update(policy=policy.name, horizon=horizon, arms=arms)
        _check_params(self, policy)
        space = self.complete_space()
        if space == {}:
            hint = "" if policy.parameters else "; a custom policy declares them as parameters = (ravenlab.Param(…), …)"
            raise ValueError(f"space is empty: {self.policy} has no parameter left to search{hint}")
        self.__dict__.update(space=space, fixed=self.complete_fixed())
        _check_corners(self, policy)
        check_results_fit(self)
        parse_objective(self.objective).check(horizon)
        scale = self.source.reward_scale(horizon).factor if self.scale is None else self.scale
        self.__dict__.update(scale=scale, **self.source.resolved_fields())
        return self

    @classmethod
    def unchecked(cls, stored: Mapping[str, Any]) -> Self:
        """Read a stored study for display; its policy or scenario need not be loaded. Raises ValueError if invalid."""
        fields = StudyFields.model_validate(stored)
        if not fields.horizon or not fields.arms:
            raise ValueError("a stored specification must have horizon and arms")
        # Studies stored before scenarios had a scale were searched with unscaled ranges.
        return cls.model_construct(**{**dict(fields), "scale": 1.0 if fields.scale is None else fields.scale})

    def changed(self, **fields: Any) -> Self:
        """Return the study with other values of some fields, and with the defaults that follow from them.

        >>> StudySpec(scenario="blips").changed(policy="ucb1", space={}).space
        {'c': Range(low=0.001, high=10.0, scale='log')}
        """
        return type(self).model_validate({**dict(self), **fields})

    def context(self, values: Mapping[str, Value] | None = None) -> ParamContext:
        """Return what the parameters of the policy depend on; `values` are those of the parameters before them."""
        return ParamContext(self.horizon, self.arms + self.source.extra_arms, values or {})

    def complete_space(self) -> dict[str, Range]:
        """Return the given ranges, and the policy's default ranges for all other parameters that are not fixed."""
        fixed = self.complete_fixed()
        chosen: dict[str, Value] = {**fixed, **{name: range_.bounds()[0] for name, range_ in self.space.items()}}
        values: dict[str, Value] = {}
        space = {}
        for param in find_policy(self.policy).parameters:
            context = self.context(values)
            if param.name in self.space:
                space[param.name] = self.space[param.name]
            elif param.name not in fixed and param.low is not None and param.high is not None:
                space[param.name] = default_range(param, context, self.unit(param))
            values[param.name] = param.resolve(chosen.get(param.name), context)
        return space

    def reward_factor(self) -> float:
        """Return the scale c of the rewards; 1 for a policy whose parameters cannot be converted."""
        if not find_policy(self.policy).scalable:
            return 1.0
        return self.source.reward_scale(self.horizon).factor if self.scale is None else self.scale

    def unit(self, param: Param) -> float:
        """Return the unit of a parameter: 1 unless it depends on the scale c of the rewards (c for α₀, c² for ε)."""
        return scale_value(1.0, self.reward_factor(), param.power) if param.power else 1.0

    def units(self) -> dict[str, float]:
        """Return the unit of each searched parameter whose unit is not 1.

        >>> StudySpec(scenario="stationary", scale=4.0).units()
        {'alpha0': 4.0, 'epsilon': 16.0}
        """
        units = {param.name: self.unit(param) for param in find_policy(self.policy).parameters}
        return {name: units[name] for name in self.space if units[name] != 1.0}

    def complete_fixed(self) -> dict[str, float | str]:
        """Return the fixed parameters, and those that follow from the scale of the rewards: unit, or low and high."""
        policy = find_policy(self.policy)
        free = {param.name for param in policy.parameters} - {*self.space, *self.fixed}
        followed: dict[str, float] = {}
        if "unit" in free and self.reward_factor() != 1.0:
            followed["unit"] = self.reward_factor()
        if {"low", "high"} <= free and policy.scalable:
            scale = self.source.reward_scale(self.horizon)
            if scale != UNSCALED:
                followed |= {"low": scale.low, "high": scale.high}
        return {**self.fixed, **followed}

    @property
    def planned(self) -> int:
        """Number of trials."""
        return self.trials

    @property
    def direction(self) -> Literal["minimize", "maximize"]:
        """Whether the objective is minimized."""
        return "maximize" if parse_objective(self.objective).maximize else "minimize"

    def summary(self) -> dict[str, Any]:
        """Return policy, scenario, horizon, arms and seed for listings."""
        return self.model_dump(include={"policy", "scenario", "horizon", "arms", "seed"})

    def searched_policies(self) -> list[str]:
        """Return the policy."""
        return [self.policy]

    def compiled_policies(self) -> list[str]:
        """Return the policy, unless recorded data is played, which takes other kernels."""
        return [self.policy] if isinstance(self.source, ScenarioSource) else []

    def budget(self) -> dict[str, int]:
        """Return the fields that may change when the study is resumed."""
        return self.model_dump(include=set(BUDGET_FIELDS))

    def with_trials(self, least: int) -> Self:
        """Return the study with at least so many trials."""
        return self.model_copy(update={"trials": max(self.trials, least)})

    def study_name(self) -> str:
        """Return `policy/scenario/T…/K…`, followed by all fields that differ from their defaults, except the budget."""
        if self.name is not None:
            return self.name
        return f"{self.policy}/{self.scenario}/T{self.horizon}/K{self.arms}{name_suffix(self.overrides())}"

    def worlds(self) -> int:
        """Return the number of worlds per trial."""
        return self.replications

    def simulated_steps(self) -> int:
        """Return the number of steps of search, selection and report; an upper bound with a pruner.

        >>> spec = StudySpec(scenario="periodic", horizon=10, trials=3, replications=2, selection=5, report=7)
        >>> spec.simulated_steps()
        400
        """
        return self.trials * self.replications * self.horizon + self.validation_steps()

    def own_steps(self) -> int:
        """Return the number of steps without those of studies that run first, of which there are none."""
        return self.simulated_steps()

    def alternatives(self) -> tuple[str, ...]:
        """Return the untuned policies that are measured beside the recommendation, on recorded data only."""
        if isinstance(self.source, ScenarioSource):
            return ()
        known = known_alternatives(binary=self.source.read().largest_rate is not None)
        return tuple(policy for policy in known if policy != self.policy)

    def alternative_steps(self) -> int:
        """Return the number of steps in which they are measured."""
        return len(self.alternatives()) * self._report_windows() * self.horizon

    def _report_windows(self) -> int:
        """Return the number of replications of one candidate in the report."""
        if isinstance(self.source, TraceSource):  # the errors of means are estimated from windows over all rows
            return self.report + self.source.read().count_history(self.horizon, self.report, Stream.REPORT)
        return self.report

    def validation_steps(self) -> int:
        """Return the number of steps of selection and report."""
        baselines = 1 + (paper_advice(self.scenario, self.horizon, self.policy) is not None)
        finalists = min(self.candidates, self.trials) + baselines
        # The class as constructed is a baseline if defaults are scaled. On recorded data it may be selected, too.
        if any(self.unit(param) != 1.0 for param in find_policy(self.policy).parameters):
            baselines += 1
            finalists += not isinstance(self.source, ScenarioSource)
        selection = self.selection
        if isinstance(self.source, TraceSource):
            selection += self.source.read().count_history(self.horizon, self.selection, Stream.SELECTION)
        compared = finalists * selection + (1 + baselines) * self._report_windows()
        return compared * self.horizon + self.alternative_steps()

    def identity(self) -> dict[str, Any]:
        """Return the fields that must agree for trials to be comparable: all but name and budget."""
        return self.model_dump(mode="json", exclude={"name", "trace", "log", *BUDGET_FIELDS})

    def differences(self, stored: StudySpec) -> list[str]:
        """List the fields in which the trials of a stored study are not comparable with this one's."""
        requested = self.identity()
        existing = stored.identity()
        match self.source:
            case TraceSource() | LogSource() as file if requested["digest"] != existing["digest"]:
                return [f"the content of the {file.kind} {file.path} has changed"]
            case _:
                return describe_differences(requested, existing)

    def resolve_params(self, params: Mapping[str, Value]) -> dict[str, Value]:
        """Return all parameters of a candidate: searched, fixed and default ones."""
        policy = find_policy(self.policy)
        chosen: dict[str, Value] = {**self.scaled_defaults(policy), **self.fixed, **params}
        context = self.context()
        return policy.resolve(chosen, context.arms, context.horizon)

    def scaled_defaults(self, policy: type[Policy]) -> dict[str, Value]:
        """Return the policy's defaults that depend on the scale of the rewards, converted to that of the problem."""
        return {
            param.name: param.default * self.unit(param)
            for param in policy.parameters
            if param.power and isinstance(param.default, float) and param.name not in ("low", "high")
        }

    def overrides(self) -> dict[str, Any]:
        """Return what differs from the defaults and identifies the trials: settings, ranges, values and other fields.

        >>> StudySpec(scenario="blips", fixed={"epsilon": 0.5}, seed=3).overrides()
        {'epsilon': 0.5, 'seed': 3}
        """
        space, fixed = self.default_ranges_and_values()
        ranges = {
            name: _describe_range(range_, space.get(name))
            for name, range_ in self.space.items()
            if range_ != space.get(name)
        }
        values = {name: value for name, value in self.fixed.items() if value != fixed.get(name)}
        known = type(self).model_fields
        fields = {name: getattr(self, name) for name in NAMED_FIELDS if getattr(self, name) != known[name].default}
        if fields.get("estimator") == DEFAULT_ESTIMATOR:
            del fields["estimator"]
        return {**dict(sorted(self.settings.items())), **ranges, **dict(sorted(values.items())), **fields}

    def default_ranges_and_values(self) -> tuple[dict[str, Range], dict[str, float | str]]:
        """Return the default ranges and fixed values; none if the policy has no defaults at this horizon."""
        fields = {
            name: getattr(self, name) for name in ("policy", "scenario", "horizon", "arms")
        } | self.source.fields()
        if isinstance(self.source, ScenarioSource):
            fields |= {"settings": self.settings, "scale": self.scale}
        plain = StudySpec.model_construct(**fields)  # unchecked: defaults of the scenario may not suit this horizon
        try:
            return plain.complete_space(), plain.complete_fixed()
        except InputError:
            return {}, {}


def _describe_range(range_: Range, default: Range | None) -> str:
    """Describe a range as in `--range`, with its scale unless it is the default one.

    >>> _describe_range(Range(low=1, high=5, scale="linear"), Range(low=1, high=10))
    '1:5:linear'
    """
    bounds = format_override([round(bound, 15) for bound in sorted(range_.bounds())])
    return bounds if default is not None and range_.scale == default.scale else f"{bounds}:{range_.scale}"
