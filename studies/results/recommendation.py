"""The recommendation of a study: parameters, their regret on held-out data, and the evidence for them."""

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema, model_validator

from ravenlab.common.documents import Document, Result, make_frame
from ravenlab.common.interval import Interval
from ravenlab.common.text import format_count, format_interval, plural
from ravenlab.studies.results.assumptions import KEEP_STATE, describe_feedback, describe_windows
from ravenlab.studies.results.baselines import TITLES, BaselineComparison, name_defaults, relate
from ravenlab.studies.results.grid import Grid
from ravenlab.studies.results.verdict import Verdict
from ravenlab.studies.spec.fields import FrozenModel, optional
from ravenlab.studies.tables import DataFrame

Parameters = dict[str, float | str]
FIXED_ARM = "fixed arm"
LOGGING_POLICY = "logging policy"
BaselineName = Literal["paper", "as constructed", "defaults"]


@dataclass(frozen=True, kw_only=True)
class Estimate(Interval):
    """A mean with its 95 % confidence interval."""

    replications: int


class Baseline(FrozenModel):
    """A baseline compared with the recommended parameters on the same worlds."""

    name: BaselineName
    params: Parameters
    regret: float = Field(description="Mean regret on the report stream.")
    difference: float = Field(description="Regret of the baseline minus that of the recommendation, paired.")
    low: float = Field(description="Lower end of the 95 % confidence interval of the difference.")
    high: float = Field(description="Upper end of the 95 % confidence interval of the difference.")
    decidable: bool | None = optional("On recorded data: whether the effective sample size suffices for a conclusion.")
    failure_rate: float | None = optional(
        "Share of the report worlds in which the baseline fails; none on recorded data."
    )

    @property
    def interval(self) -> Interval:
        """The difference with its interval."""
        return Interval(self.difference, self.low, self.high, of="difference")


class Failures(FrozenModel):
    """Report worlds that fail: in the last tenth of the steps, the regret exceeds half that of uniform choice."""

    rate: float = Field(description="Share of the worlds that fail.")
    count: int = Field(description="Number of worlds that fail.")
    highest_rate: float = Field(description="Upper 95 % confidence bound of the failure rate.")
    unseen: float = Field(description="Largest plausible amount that unseen failures add to the mean regret.")
    reliable: bool = Field(
        description="Whether there are enough failures in the sample, or too few unseen ones to matter."
    )


class RewardStatistics(FrozenModel):
    """Scale of the rewards: mean over the arms' means, and standard deviation of a reward around its mean."""

    mean: float
    spread: float


class Edge(FrozenModel):
    """A recommended value at the edge of the search space, and the wider range to search."""

    param: str
    value: float
    low: float
    high: float


class FixedArm(FrozenModel):
    """The arm with the best mean on the search rows of a trace, used at every step of the report windows."""

    name: str
    difference: Estimate = Field(description="Its regret minus that of the recommendation, per window, paired.")
    decidable: bool = Field(description="Whether the effective sample size of the difference suffices.")


class Alternative(FrozenModel):
    """What may be used instead of the tuned policy without tuning, measured on the same held-out data."""

    name: str = Field(description="Name of an untuned policy, 'fixed arm' or 'logging policy'.")
    params: Parameters = Field(default_factory=dict, description="Parameters of the policy; empty if it has none.")
    arm: str | None = optional("The best arm of the search rows or events, for 'fixed arm'.")
    difference: float = Field(description="Its regret minus that of the recommendation, paired.")
    low: float = Field(description="Lower end of the interval; those of all alternatives hold together at 95 %.")
    high: float = Field(description="Upper end.")
    decidable: bool = Field(description="Whether the effective sample size suffices for a conclusion.")

    @property
    def interval(self) -> Interval:
        """The difference with its simultaneous interval."""
        return Interval(self.difference, self.low, self.high, of="difference")

    @property
    def wins(self) -> bool:
        """Whether it has significantly less regret than the recommendation."""
        return self.decidable and self.high < 0.0

    def title(self, defaults: str) -> str:
        """Return its name in texts; `defaults` is what default parameters are called."""
        if self.name == FIXED_ARM:
            return f"always using {self.arm!r}, the best arm of the search segment"
        if self.name == LOGGING_POLICY:
            return "the logging policy"
        return f"{self.name} with its {defaults}" if self.params else f"{self.name}, which has nothing to set"


class Outcome(NamedTuple):
    """The regret of recommended parameters in one scenario."""

    scenario: str
    regret: Interval
    scale: RewardStatistics | None = None


class WithoutBaselines:
    """What a recommendation without recorded data, failures and baselines states about them."""

    recorded: ClassVar[None] = None
    failures: ClassVar[None] = None
    alternatives: ClassVar[Sequence[Alternative]] = ()
    comparisons: ClassVar[Sequence[BaselineComparison]] = ()
    alternative_comparisons: ClassVar[Sequence[BaselineComparison]] = ()
    regret_unit: ClassVar[str] = ""


class TraceFacts(FrozenModel):
    """The trace that a recommendation was tuned on, and how regret was estimated from it."""

    file: str = Field(description="File name.")
    digest: str = Field(description="SHA-256 of the arms' names and the values.")
    rows: int
    empty_rows: int = Field(description="Rows without any value, which were dropped.")
    notes: list[str] | None = optional("What was recognized, sorted or dropped when the file was read.")
    arms: dict[str, int] = Field(
        description="Missing cells by arm, in the order of the columns; the arm is unavailable there."
    )
    minimize: bool = Field(description="Whether cells are costs.")
    segments: dict[str, tuple[int, int]] = Field(description="First and last row of each segment, counted from 1.")
    files: dict[str, list[str]] | None = optional("Files of a collection of traces by segment.")
    block: int = Field(description="Block length of the bootstrap, in rows.")
    effective: float = Field(description="Effective sample size of the rows.")
    enough: bool = Field(description="Whether the effective sample size suffices for a reliable interval.")
    regret_fixed: Estimate = Field(description="Regret relative to the best fixed arm of each window, in hindsight.")
    fixed_arm: FixedArm | None = optional("The best arm of the search rows as a baseline.")
    reach: int | None = Field(
        default=None, description="Rows before and after each row whose means determine the benchmark arm."
    )
    gap: int = Field(default=0, description="Rows next to each row that these means leave out: their noise is similar.")
    per_step: float = Field(description="Mean reward per step, in the units of the file.")
    scale: float = Field(description="Factor applied to ranges and defaults that depend on the reward scale.")


class KeptState(FrozenModel):
    """The trace that parameters for a policy that keeps running are for, and what decided between them."""

    file: str = Field(description="File name.")
    digest: str = Field(description="SHA-256 of the arms' names and the values.")
    rows: int
    arms: dict[str, int] = Field(description="Missing cells by arm, in the order of the columns.")
    minimize: bool = Field(description="Whether cells are costs.")
    model: str = Field(description="The simulated scenario, which resembles the trace.")
    refits: int = Field(description="Diagnoses of resampled rows, whose spread is in the intervals.")
    evidence: Literal["replay", "simulation"] = Field(description="What decided.")
    replayed: tuple[int, int] = Field(description="First and last replayed row, counted from 1.")
    measured: int = Field(description="Number of the last replayed rows, over which regret is summed.")
    difference: float = Field(description="Regret of the defaults minus that of the parameters on these rows.")
    low: float = Field(description="Lower end of its 95 % confidence interval.")
    high: float = Field(description="Upper end.")
    decidable: bool = Field(description="Whether the effective sample size of the difference suffices.")

    @property
    def interval(self) -> Interval:
        """The difference with its interval."""
        return Interval(self.difference, self.low, self.high, of="difference")

    def describe(self) -> list[str]:
        """Describe the simulated scenario and the replay."""
        first, last = map(format_count, self.replayed)
        outcome = "which decides" if self.evidence == "replay" else "which does not decide, so the simulation does"
        return [
            f"Simulated in worlds that resemble {self.file} ({format_count(self.rows)} rows): {self.model}. Intervals"
            f" contain the uncertainty of this diagnosis ({plural(self.refits, 'refit')} to resampled rows).",
            f"Replayed with its state kept on rows {first} to {last}: on the last {format_count(self.measured)} rows"
            f" the regret of the defaults is {format_interval(self.interval)} higher, {outcome}.",
        ]


class RequiredSample(FrozenModel):
    """Sample size at which a difference would be significant: n·(half-width / difference)²."""

    effective: float | None = Field(description="Effective events; none if the estimated difference is zero.")
    events: float | None = Field(description="Events of the whole log; the report segment is three tenths of it.")


class LogFacts(FrozenModel):
    """The log that a recommendation was tuned on, and how the score was estimated, in the units of the file."""

    file: str = Field(description="File name.")
    digest: str = Field(description="SHA-256 of the events.")
    events: int
    notes: list[str] | None = optional("What was recognized, sorted or dropped when the file was read.")
    arms: dict[str, int] = Field(description="Events by arm, in alphabetical or numerical order.")
    minimize: bool = Field(description="Whether rewards in the log are costs.")
    segments: dict[str, tuple[int, int]] = Field(description="First and last event of each segment, counted from 1.")
    estimator: str = Field(description="Events that the reward of an arm at a step is drawn from, and the reason.")
    block: int = Field(description="Block length of the bootstrap, in events; 1 unless rewards are autocorrelated.")
    matched: int = Field(description="Steps of the report segment at which the policy selects the logged arm.")
    effective: float = Field(description="Effective number of events in the score, (Σ w)² / Σ w².")
    enough: bool = Field(description="Whether the log supports a conclusion.")
    inconclusive: str | None = Field(description="Why it does not, and what would be needed; none if it does.")
    score: Estimate = Field(description="Mean reward per step of the policy, deployed for the report segment.")
    logged: Estimate = Field(description="Mean reward of the logging policy in the report segment.")
    versus_logged: RequiredSample | None = Field(
        description="Sample needed for a significant difference from the logging policy; none if it is significant."
    )
    versus_defaults: RequiredSample | None = Field(
        description="Sample needed for a significant difference from the defaults; none if significant or identical."
    )
    scale: float = Field(description="Factor applied to ranges and defaults that depend on the reward scale.")


MAP_ARRAYS = ("mean", "stderr", "low", "high", "tied")
StoredMap = Annotated[
    Grid,
    PlainValidator(Grid.read_map),
    PlainSerializer(Grid.as_object),
    WithJsonSchema(
        {
            "type": "object",
            "description": "Mean regret over two parameters and its standard error, with the others at `fixed`, and the"
            " ends of the 95 % interval of the difference from the cell with the indices `recommended`. Cells are in"
            " the order of `axes`; `tied` are those that cost at most 2 %.",
            "properties": {
                "axes": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "number"}}},
                "fixed": {"type": "object", "additionalProperties": {"type": ["number", "string"]}},
                "replications": {"type": "integer"},
                "recommended": {"type": "array", "items": {"type": "integer"}},
                **{name: {"type": "array"} for name in MAP_ARRAYS},
            },
            "required": ["axes", "fixed", "replications", "recommended", *MAP_ARRAYS],
        }
    ),
]


class Recommendation(Result, FrozenModel):
    """The recommendation of one study, as stored and exported; it contains no timestamps."""

    export_key: ClassVar[str] = "recommendations"

    study: str
    policy: str
    scenario: str
    settings: dict[str, int | float | str] = Field(default_factory=dict)
    horizon: int
    arms: int
    verdict: Verdict
    params: Parameters = Field(description="Recommended values of the searched and the fixed parameters.")
    objective: str = "mean"
    regret: Estimate = Field(description="Mean regret on held-out worlds not used for selection.")
    attainable: float | None = optional("Mean reward of the best arms over the horizon; none on recorded data.")
    search_estimate: float = Field(description="Objective value in the search; optimistically biased (selection bias).")
    indistinguishable: list[Parameters] = Field(description="Candidates statistically indistinguishable from the best.")
    box: dict[str, tuple[float, float]] = Field(
        description="Range of each parameter that costs at most 2 %, if the others have the recommended values. On"
        " recorded data and with fewer than 200 selection worlds: its range over these candidates."
    )
    versus: list[Baseline]
    alternatives: list[Alternative] = Field(
        default_factory=list,
        exclude_if=operator.not_,
        description="What may be used instead of the policy; on recorded data only.",
    )
    importance: dict[str, float] | None = Field(description="Parameter importance by PED-ANOVA; none below 20 trials.")
    edge: list[Edge] = Field(default_factory=list)
    widened: dict[str, tuple[float, float]] = Field(
        default_factory=dict,
        exclude_if=operator.not_,
        description="Search ranges that were widened because the best trials were at their edge.",
    )
    scale: RewardStatistics
    unit: float = Field(default=1.0, description="Scale c of the rewards, by which ranges and defaults are multiplied.")
    trials: int
    seed: int
    version: str
    trace: TraceFacts | None = optional("Present if tuned on a trace.")
    log: LogFacts | None = optional(
        "Present if tuned on a log; `regret` is then the mean of the logging policy minus the score."
    )
    kept: KeptState | None = optional("Present if tuned for a policy that keeps running on a trace.")
    failures: Failures | None = optional("Present if tuned on simulated worlds.")
    sensitivity: StoredMap | None = optional("Sensitivity map; none on recorded data, or if the study was small.")

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, fields: Any) -> Any:
        """Add the scale to results of earlier versions, which stated it for recorded data only."""
        recorded = isinstance(fields, dict) and (fields.get("trace") or fields.get("log"))
        if not recorded or "unit" in fields:
            return fields
        return {**fields, "unit": recorded["scale"] if isinstance(recorded, dict) else recorded.scale}

    @property
    def recorded(self) -> TraceFacts | LogFacts | None:
        """The recorded data it was tuned on; None for simulated worlds."""
        return self.trace if self.trace is not None else self.log

    @property
    def outcomes(self) -> list[Outcome]:
        """The regret in its scenario, or on its recording."""
        return [Outcome(self.scenario, self.regret, self.scale)]

    @property
    def holds_for(self) -> list[str]:
        """What the parameters hold for, in sentences."""
        starts = [] if self.trace is None else [describe_windows(self.horizon)]
        starts += [KEEP_STATE] if self.trace is not None and self.trace.files is None else []
        starts += [] if self.kept is None else [f"The policy keeps its state over {format_count(self.horizon)} steps."]
        return [*starts, describe_feedback([self.scenario])]

    @property
    def evidence(self) -> list[str]:
        """What decided for a policy that keeps running on a trace, in sentences; empty otherwise."""
        return [] if self.kept is None else self.kept.describe()

    @property
    def source(self) -> TraceFacts | LogFacts | KeptState | None:
        """The file it was tuned on or for; None for simulated worlds."""
        return self.recorded if self.kept is None else self.kept

    @property
    def stated(self) -> tuple[str, Interval]:
        """The name of the estimate that the export states, and the estimate."""
        return ("mean regret", self.regret) if self.log is None else ("replay score", self.log.score)

    @property
    def regret_unit(self) -> str:
        """What the regret is measured for, after a space; empty in simulated worlds, where it is the horizon."""
        match self.recorded:
            case TraceFacts():
                return f" per window of {format_count(self.horizon)} steps"
            case LogFacts():
                return " per step"
        return ""

    @property
    def defaults_name(self) -> str:
        """What the defaults are called: scaled ones are not those of the class as constructed."""
        return name_defaults(self.unit)

    @property
    def comparisons(self) -> list[BaselineComparison]:
        """The baselines compared with the recommended parameters."""
        titles = TITLES | {"defaults": f"the {self.defaults_name}"}
        return [
            self._compare(
                baseline.name,
                titles[baseline.name],
                baseline.interval,
                conclusive=baseline.decidable is not False,
                params=baseline.params,
            )
            for baseline in self.versus
        ]

    @property
    def alternative_comparisons(self) -> list[BaselineComparison]:
        """What may be used instead of the policy: untuned policies, the best fixed arm, the logging policy.

        Results of earlier versions have the best fixed arm of a trace or the logging policy only.
        """
        if self.alternatives:
            several = len(self.alternatives) > 1
            return [
                self._compare(
                    each.name,
                    each.title(self.defaults_name),
                    each.interval,
                    conclusive=each.decidable,
                    params=each.params or None,
                    simultaneous=several,
                )
                for each in self.alternatives
            ]
        match self.recorded:
            case TraceFacts(fixed_arm=FixedArm() as arm):
                title = f"always using {arm.name!r}, the best arm of the search rows"
                return [self._compare(FIXED_ARM, title, arm.difference.as_difference(), conclusive=arm.decidable)]
            case LogFacts() as facts:
                gain = -self.regret.as_difference()
                return [self._compare(LOGGING_POLICY, "the logging policy", gain, conclusive=facts.enough)]
        return []

    def _compare(
        self,
        name: str,
        title: str,
        difference: Interval,
        *,
        conclusive: bool,
        params: Mapping[str, float | str] | None = None,
        simultaneous: bool = False,
    ) -> BaselineComparison:
        """Compare a baseline with the recommended parameters."""
        log = self.log
        reference = self.regret.mean if log is None and self.regret.mean > 0.0 else None
        earned: Literal["mean reward", "mean cost"] = "mean cost" if log is not None and log.minimize else "mean reward"
        same_params = (
            name in TITLES
            and bool(params)
            and all(self.params.get(key) == value for key, value in (params or {}).items())
        )
        return BaselineComparison(
            name=name,
            title=title,
            relation=relate(
                difference,
                self.regret.mean if log is None else log.score.mean,
                same_params=same_params,
                conclusive=conclusive,
            ),
            difference=difference,
            reference=reference,
            unit=self.regret_unit,
            quantity="regret" if log is None else earned,
            params=params,
            same_params=same_params,
            simultaneous=simultaneous,
        )

    def to_frame(self) -> DataFrame:
        """Tabulate the recommended parameters and the baselines in pandas, one row each."""
        problem = {name: getattr(self, name) for name in ("study", "policy", "scenario", "horizon", "arms", "seed")}
        rows: list[dict[str, Any]] = [
            {
                **problem,
                "setting": "recommended",
                **self.params,
                **self.regret.as_columns("regret"),
                **Interval(0.0, 0.0, 0.0).as_columns("difference"),
                "significant": False,
                "relation": "same",
                "decision": self.verdict.decision,
            }
        ]
        for baseline, comparison in zip(self.versus, self.comparisons, strict=True):
            rows.append(
                {
                    **problem,
                    "setting": baseline.name,
                    **baseline.params,
                    "regret": baseline.regret,
                    **comparison.difference.as_columns("difference"),
                    "significant": comparison.relation in ("better", "worse"),
                    "relation": comparison.relation,
                    "decision": self.verdict.decision,
                }
            )
        return make_frame(rows)

    def to_document(self) -> Document:
        from ravenlab.studies.results.documents import recommendation_document

        return recommendation_document(self)
