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

    def as_object(self) -> dict[str, Any]:
        """Plain JSON, fields in their order."""
        return self.model_dump(mode="json")
