"""What a study ends in: parameters that one can trust, and why."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from studies.spec.fields import FrozenModel

Parameters = dict[str, float | str]

MIN_EFFECTIVE_ROWS = 15
"""Effective rows below which intervals miss too often to decide anything: those of an AR(1) series of correlation 0.95
and 100 rows, worth 3, miss in 17 %."""

MIN_EFFECTIVE_EVENTS = 100
"""Effective matched events below which nothing is concluded."""


class Estimate(FrozenModel):
    """A mean with its 95 % interval."""

    mean: float
    low: float
    high: float
    replications: int


class Baseline(FrozenModel):
    """What other parameters cost against the recommended ones, in the same worlds."""

    name: Literal["paper", "defaults"]
    params: Parameters
    regret: float = Field(description="Mean regret on the report stream.")
    difference: float = Field(description="Its regret minus the recommended one's, paired.")
    low: float = Field(description="Lower end of the 95 % interval of the difference.")
    high: float = Field(description="Upper end.")
    decidable: bool | None = Field(
        default=None, description="On a trace or log: whether the held-out stretch is worth enough to decide."
    )

    @property
    def same(self) -> bool:
        """Whether it lost just as much, everywhere."""
        return self.difference == self.low == self.high == 0.0

    @property
    def significant(self) -> bool:
        """Whether it can be told from the recommended parameters."""
        return self.decidable is not False and not self.low <= 0.0 <= self.high


class RewardScale(FrozenModel):
    """The size of the rewards that were tuned on: mean of the arms' means, and spread of a reward around its mean."""

    mean: float
    spread: float


class Edge(FrozenModel):
    """A recommended value that lies on the edge of the box, and the range that would settle it."""

    param: str
    value: float
    low: float
    high: float


class TraceFacts(FrozenModel):
    """What a recommendation that was tuned on a trace hangs on."""

    file: str = Field(description="The file's name.")
    digest: str = Field(description="SHA-256 of its names and values.")
    rows: int
    empty_rows: int = Field(description="Rows without any value, left out before.")
    arms: dict[str, int] = Field(description="Missing cells of each arm, at which it is closed.")
    minimize: bool = Field(description="Cells are costs: give the policy their negatives as rewards.")
    segments: dict[str, tuple[int, int]] = Field(description="First and last row, from 1, of each stretch of time.")
    block: int = Field(description="Rows of a block of the bootstrap.")
    effective: float = Field(description="Of how many independent rows the mean regret would be as sure.")
    enough: bool = Field(description="Whether that is enough for the interval of the regret to be believed.")
    regret_fixed: Estimate = Field(description="Regret against the best fixed arm of each window.")
    per_step: float = Field(description="Mean cell that was obtained, in the units of the file.")
    scale: float = Field(description="What ranges and defaults that follow the size of rewards were multiplied by.")


class RequiredSample(FrozenModel):
    """How much of a log would settle a difference: n·(half-width / difference)², for errors shrink as 1/√n."""

    matched: float | None = Field(description="Matched events; none where the difference is nothing.")
    events: float | None = Field(description="Events of the whole log, of which three tenths are reported on.")


class LogFacts(FrozenModel):
    """What a recommendation that was tuned on a log hangs on. Scores are in the units of the file, events from 1."""

    file: str = Field(description="The file's name.")
    digest: str = Field(description="SHA-256 of its events.")
    events: int
    arms: dict[str, int] = Field(description="Events of each arm.")
    minimize: bool = Field(description="Rewards are costs: give the policy their negatives as rewards.")
    propensities: bool = Field(description="Whether matched events are weighted by their inverse propensities.")
    clipped: int = Field(description="Reported events whose weight was clipped.")
    clip: float = Field(description="The largest weight.")
    segments: dict[str, tuple[int, int]] = Field(description="First and last event, from 1, of each stretch of time.")
    block: int = Field(description="Events of a block of the bootstrap.")
    matched: int = Field(description="Reported events at which the policy picked the logged arm.")
    effective: float = Field(description="(Σ w)² / Σ w² of their weights.")
    enough: bool = Field(description="Whether enough events match to conclude anything.")
    score: Estimate = Field(description="Mean reward of the matched events.")
    logged: Estimate = Field(description="The logging policy's own mean reward in the same stretch.")
    versus_logged: RequiredSample | None = Field(
        description="To tell the score from the logging policy's; none if told."
    )
    versus_defaults: RequiredSample | None = Field(
        description="To tell it from the defaults'; none if told or the same."
    )
    scale: float = Field(description="What ranges and defaults that follow the size of rewards were multiplied by.")


class Recommendation(FrozenModel):
    """One recommendation, as it is stored and exported. No time of day in it."""

    study: str
    policy: str
    scenario: str
    settings: dict[str, int | float | str] = Field(default_factory=dict)
    horizon: int
    arms: int
    params: Parameters = Field(description="What to use: searched and fixed parameters.")
    objective: str = "mean"
    regret: Estimate = Field(description="Mean regret on fresh worlds that chose nothing.")
    search_estimate: float = Field(description="The objective as the search saw it: too good, mostly.")
    indistinguishable: list[Parameters] = Field(description="Candidates that the selection can't tell from the best.")
    box: dict[str, tuple[float, float]] = Field(description="Smallest box around them.")
    versus: list[Baseline]
    importance: dict[str, float] | None = Field(description="PED-ANOVA; none below 20 trials.")
    edge: list[Edge] = Field(default_factory=list)
    scale: RewardScale
    trials: int
    seed: int
    version: str
    trace: TraceFacts | None = Field(default=None, description="Where it was tuned on a trace.")
    log: LogFacts | None = Field(
        default=None,
        description="Where it was tuned on a log; regret: the logging policy's mean less the score.",
    )

    @property
    def recorded(self) -> TraceFacts | LogFacts | None:
        """What the user's own data were, where it was tuned on them."""
        return self.trace if self.trace is not None else self.log

    def as_object(self) -> dict[str, Any]:
        """Plain JSON, fields in their order; what is of traces or logs alone is left out elsewhere."""
        out = self.model_dump(mode="json")
        for kind in ("trace", "log"):
            if out[kind] is None:
                del out[kind]
        for rival in out["versus"]:
            if rival["decidable"] is None:
                del rival["decidable"]
        return out
