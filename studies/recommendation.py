"""What a study ends in: parameters that one can trust, and why."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Parameters = dict[str, float | str]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Estimate(_Frozen):
    """A mean with its 95 % interval."""

    mean: float
    low: float
    high: float
    replications: int


class Rival(_Frozen):
    """What other parameters cost against the recommended ones, in the same worlds."""

    name: Literal["paper", "defaults"]
    params: Parameters
    regret: float = Field(description="Mean regret on the report stream.")
    difference: float = Field(description="Its regret minus the recommended one's, paired.")
    low: float = Field(description="Lower end of the 95 % interval of the difference.")
    high: float = Field(description="Upper end.")
    decidable: bool | None = Field(
        default=None, description="On a trace: whether the held-out stretch is worth enough independent rows to decide."
    )

    @property
    def same(self) -> bool:
        """Whether it lost just as much, everywhere."""
        return self.difference == self.low == self.high == 0.0

    @property
    def told(self) -> bool:
        """Whether it can be told from the recommended parameters."""
        return self.decidable is not False and not self.low <= 0.0 <= self.high


class Scale(_Frozen):
    """The size of the rewards that were tuned on: mean of the arms' means, and spread of a reward around its mean."""

    mean: float
    spread: float


class Edge(_Frozen):
    """A recommended value that lies on the edge of the box, and the range that would settle it."""

    param: str
    value: float
    low: float
    high: float


class TraceFacts(_Frozen):
    """What a recommendation that was tuned on a trace hangs on."""

    file: str = Field(description="The file's name.")
    digest: str = Field(description="SHA-256 of its names and values.")
    rows: int
    empty_rows: int = Field(description="Rows without any value, left out before.")
    arms: dict[str, int] = Field(description="Missing cells of each arm, at which it is closed.")
    minimize: bool = Field(description="Cells are costs: give the policy their negatives as rewards.")
    stretches: dict[str, tuple[int, int]] = Field(description="First and last row, from 1, of each stretch of time.")
    block: int = Field(description="Rows of a block of the bootstrap.")
    effective: float = Field(description="Of how many independent rows the mean regret would be as sure.")
    enough: bool = Field(description="Whether that is enough for the interval of the regret to be believed.")
    regret_fixed: Estimate = Field(description="Regret against the best fixed arm of each window.")
    per_step: float = Field(description="Mean cell that was obtained, in the units of the file.")
    scale: float = Field(description="What ranges and defaults that follow the size of rewards were multiplied by.")


class Recommendation(_Frozen):
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
    search_estimate: float = Field(description="The objective as the search saw it: too good to be true.")
    indistinguishable: list[Parameters] = Field(description="Candidates that the selection can't tell from the best.")
    box: dict[str, tuple[float, float]] = Field(description="Smallest box around them.")
    versus: list[Rival]
    importance: dict[str, float] | None = Field(description="PED-ANOVA; none below 20 trials.")
    edge: list[Edge] = Field(default_factory=list)
    scale: Scale
    trials: int
    seed: int
    version: str
    trace: TraceFacts | None = Field(default=None, description="Where it was tuned on a trace.")

    def as_object(self) -> dict[str, Any]:
        """Plain JSON, fields in their order; what is of traces alone is left out elsewhere."""
        out = self.model_dump(mode="json")
        if self.trace is None:
            del out["trace"]
        for rival in out["versus"]:
            if rival["decidable"] is None:
                del rival["decidable"]
        return out
