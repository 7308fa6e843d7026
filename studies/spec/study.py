"""Specification of a study: one search over the parameters of one policy on one source of rewards."""

import itertools
import operator
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, StrictFloat, model_validator

from ravenlab.common.errors import InputError
from ravenlab.common.text import format_count
from ravenlab.environments.blocks import AnyScenario
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
    ColumnNames,
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
    checked_by,
    drop_absent_sizes,
    format_override,
    name_suffix,
    optional,
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

# Steps of the windows of a trace that one candidate plays in the selection or the report. Longer windows overlap more.
MAX_WINDOW_STEPS = 20_000_000
MIN_WINDOWS = 20

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
    keep_state: bool = Field(default=False, strict=True, exclude_if=operator.not_, description=STUDY["keep_state"])
    minimize: bool = Field(default=False, strict=True, description=STUDY["minimize"])
    estimator: EstimatorName | None = Field(
        default=None, description=f"{STUDY['estimator'].removesuffix('.')}; {DEFAULT_ESTIMATOR} if absent."
    )
    columns: ColumnNames | None = optional(STUDY["columns"])
    digest: str | None = Field(default=None, max_length=64, description=STUDY["digest"])
    scale: float | None = Field(default=None, gt=0, description=STUDY["scale"])
    space: dict[ParamName, Range] = Field(default_factory=dict, max_length=100, description=STUDY["space"])
    fixed: dict[ParamName, StrictFloat | ShortText] = Field(
        default_factory=dict, max_length=100, description=STUDY["fixed"]
    )
    objective: Annotated[str, checked_by(parse_objective)] = Field(
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
    map: bool = Field(default=True, strict=True, description=STUDY["map"])
    seed: Seed = Field(default=StudyDefaults.seed, description=STUDY["seed"])

    @model_validator(mode="before")
    @classmethod
    def _fill_in_fields_of_files(cls, fields: Any) -> Any:
        named = name_scenario_after_file(drop_absent_sizes(fields))
        return {**LOG_DEFAULTS, **named} if isinstance(named, Mapping) and named.get("log") is not None else named

    @property
    def source(self) -> Source:
        """The source of rewards: a scenario, a trace or a log."""
        recorded = (self.trace, self.log, self.minimize, self.digest, self.scale, self.estimator or DEFAULT_ESTIMATOR)
        return make_source(self.scenario, self.settings, *recorded, keep_state=self.keep_state, columns=self.columns)


# Fields that a study's default name states if they differ from their defaults, besides settings, space and fixed.
NAMED_FIELDS = ("objective", "sampler", "pruner", "estimator", "keep_state", "seed")


class StudySpec(StudyFields, Specification):
    """A study: a search over a policy's parameters on one scenario, trace or log at one horizon.

    Validation fills in every default, so that a specification holds what is stored and run.

    >>> spec = StudySpec(scenario="variance-drift", horizon=10000)
    >>> spec.study_name(), list(spec.space)
    ('raven-ucb/variance-drift/T10000/K10', ['alpha0', 'beta0', 'epsilon'])
    """

    budget_fields: ClassVar[tuple[str, ...]] = ("trials", "candidates", "selection", "report", "map")

    @model_validator(mode="after")
    def _resolve(self) -> Self:
        """Check that the fields fit together, and fill in every default."""
        policy = find_policy(self.policy)
        horizon, arms = resolve_size(self.source, self.horizon, self.arms)
        self._check_source(policy, horizon, arms)
        self.__dict__.update(policy=policy.name, horizon=horizon, arms=arms)
        self._check_params(policy)
        space = self.complete_space()
        if space == {}:
            hint = "" if policy.parameters else "; a custom policy declares them as parameters = (ravenlab.Param(…), …)"
            raise ValueError(f"space is empty: {self.policy} has no parameter left to search{hint}")
        self.__dict__.update(space=space, fixed=self.complete_fixed())
        self._check_corners(policy)
        self.check_results_fit()
        parse_objective(self.objective).check(horizon)
        scale = self.source.reward_scale(horizon).factor if self.scale is None else self.scale
        self.__dict__.update(scale=scale, **self.source.resolved_fields())
        return self

    def check_results_fit(self, scenarios: int = 1) -> None:
        """Raise ValueError if the results of one batch or of the selection do not fit into memory."""
        counts = {
            f"batch × replications ({self.batch} × {self.replications})": self.batch * self.replications,
            f"candidates × selection ({self.candidates} × {self.selection})": self.candidates * self.selection,
        }
        for product, count in counts.items():
            total = count * scenarios
            if total > MAX_RESULTS:
                over = f" over {scenarios} scenarios" if scenarios > 1 else ""
                raise ValueError(
                    f"{product}{over} must be at most {format_count(MAX_RESULTS)} but got {format_count(total)}"
                )

    def _check_source(self, policy: type[Policy], horizon: int, arms: int) -> None:
        """Raise ValueError for fields that the scenario, trace or log does not allow."""
        source = self.source
        if self.keep_state and not isinstance(source, TraceSource):
            raise ValueError(f"keep_state requires a trace; on a {source.kind} every policy keeps its state")
        if isinstance(source, ScenarioSource):
            source.open().check(horizon, arms)
            if self.minimize:
                raise ValueError("minimize must be false for a simulated scenario but got true")
        else:
            if source.digest is None:  # a resolved study's file is not opened again
                source.check(horizon, arms)
            secret = policy.hidden_knowledge()
            if secret is not None:
                raise ValueError(f"{policy.name} {secret}, which are unknown for a {source.kind}")
            mean = StudyDefaults.objective
            if self.objective != mean:
                raise ValueError(f"objective must be {mean} on a {source.kind} but got {self.objective}")
        if not isinstance(source, LogSource):
            if self.estimator is not None:
                raise ValueError(f"estimator requires a log but got {self.estimator}")
            return
        for name, count in (("selection", self.selection), ("report", self.report)):
            if count < MIN_REPLAYS:
                raise ValueError(f"{name} must be at least {MIN_REPLAYS} on a log but got {count}")

    def _check_params(self, policy: type[Policy]) -> None:
        """Raise ValueError for unknown parameters and for values that the policy does not allow."""
        both = sorted(set(self.space) & set(self.fixed))
        if both:
            raise ValueError(f"{both[0]} is both searched and fixed")
        context = self.context()
        known = {param.name: param for param in policy.parameters}
        for name in (*self.space, *self.fixed):
            if name not in known:
                policy.resolve({name: 0.0}, context.arms, context.horizon)
        for name, value in self.fixed.items():
            known[name].resolve(value, context)
        for name, range_ in self.space.items():
            if known[name].choices:
                raise ValueError(f"{name} cannot be searched; fix it to one of {', '.join(known[name].choices)}")
            for end in range_.bounds():
                known[name].resolve(end, context)

    def _check_corners(self, policy: type[Policy]) -> None:
        """Raise ValueError if a corner of the search space is not allowed or needs too much memory."""
        context = self.context()
        for corner in itertools.product(*(range_.bounds() for range_ in self.space.values())):
            params: dict[str, Value] = {**self.fixed, **dict(zip(self.space, corner, strict=True))}
            values = policy.resolve(params, context.arms, context.horizon)
            if policy.sizes(context.arms, values).bytes(context.arms) > MAX_POLICY_BYTES:
                numbers = ", ".join(
                    f"{name} {value:.15g}" for name, value in values.items() if isinstance(value, float)
                )
                raise ValueError(f"{self.policy} needs too much memory with {numbers}")

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
        return self.trials

    @property
    def direction(self) -> Literal["minimize", "maximize"]:
        return "maximize" if parse_objective(self.objective).maximize else "minimize"

    def summary(self) -> dict[str, Any]:
        return self.model_dump(include={"policy", "scenario", "horizon", "arms", "seed"})

    def searched_policies(self) -> list[str]:
        return [self.policy]

    def compiled_policies(self) -> list[str]:
        """Return the policy, unless recorded data is played, which takes other kernels."""
        return [self.policy] if isinstance(self.source, ScenarioSource) or self.keep_state else []

    def with_trials(self, least: int) -> Self:
        return self.model_copy(update={"trials": max(self.trials, least)})

    def study_name(self) -> str:
        """Return `policy/scenario/T…/K…`, followed by all fields that differ from their defaults, except the budget."""
        if self.name is not None:
            return self.name
        return f"{self.policy}/{self.scenario}/T{self.horizon}/K{self.arms}{name_suffix(self.overrides())}"

    def worlds(self) -> int:
        return self.replications

    def simulated_steps(self) -> int:
        """Return the number of steps of search, selection and report; an upper bound with a pruner.

        >>> spec = StudySpec(scenario="periodic", horizon=10, trials=3, replications=2, selection=5, report=7)
        >>> spec.simulated_steps()
        400
        """
        return self.trials * self.replications * self.horizon + self.validation_steps()

    def alternatives(self) -> tuple[str, ...]:
        """Return the untuned policies that are measured beside the recommendation, on recorded data only."""
        if isinstance(self.source, ScenarioSource):
            return ()
        known = known_alternatives(binary=self.source.read().largest_rate is not None)
        return tuple(policy for policy in known if policy != self.policy)

    def alternative_steps(self) -> int:
        """Return the number of steps in which they are measured."""
        return len(self.alternatives()) * self._held_out_replications(Stream.REPORT) * self.horizon

    def held_out_windows(self, stream: Stream) -> int:
        """Return the number of worlds of the selection or the report; fewer windows of a trace if they are long."""
        count = self.report if stream == Stream.REPORT else self.selection
        if not isinstance(self.source, TraceSource) or self.keep_state:
            return count
        return min(count, max(MIN_WINDOWS, MAX_WINDOW_STEPS // self.horizon))

    def _held_out_replications(self, stream: Stream) -> int:
        """Return the number of replications of one candidate in the selection or the report."""
        count = self.held_out_windows(stream)
        if isinstance(self.source, TraceSource) and not self.keep_state:
            # The errors of means are estimated from windows over all rows.
            count += self.source.read().count_history(self.horizon, count, stream)
        return count

    def validation_steps(self) -> int:
        """Return the number of steps of selection and report."""
        baselines = 1 + (paper_advice(self.scenario, self.horizon, self.policy) is not None)
        finalists = min(self.candidates, self.trials) + baselines
        # The class as constructed is a baseline if defaults are scaled. On recorded data it may be selected, too.
        if any(self.unit(param) != 1.0 for param in find_policy(self.policy).parameters):
            baselines += 1
            finalists += not isinstance(self.source, ScenarioSource)
        compared = finalists * self._held_out_replications(Stream.SELECTION)
        compared += (1 + baselines) * self._held_out_replications(Stream.REPORT)
        return compared * self.horizon + self.alternative_steps()

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

    def open_played(self) -> AnyScenario:
        """Return what candidates play: the source or, for a policy that keeps running, what resembles the trace."""
        source = self.source
        if isinstance(source, TraceSource) and source.keep_state:
            return source.simulated(self.horizon)
        return source.open()

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
        fields = self.changed_fields(NAMED_FIELDS)
        if fields.get("estimator") == DEFAULT_ESTIMATOR:
            del fields["estimator"]
        return {**dict(sorted(self.settings.items())), **ranges, **dict(sorted(values.items())), **fields}

    def default_ranges_and_values(self) -> tuple[dict[str, Range], dict[str, float | str]]:
        """Return the default ranges and fixed values; none if the policy has no defaults at this horizon."""
        fields = self.model_dump(include={"policy", "scenario", "horizon", "arms"}) | self.source.fields()
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
