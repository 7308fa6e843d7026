"""The verdict of a recommendation as data: what to do, and why. `describe_recommendation.word_verdict` words it."""

from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field

from ravenlab.common.interval import Difference
from ravenlab.studies.spec.fields import FrozenModel, optional

Decision = Literal[
    "keep the defaults",
    "set one parameter",
    "use these values",
    "use one arm",
    "keep the logging policy",
    "use another policy",
    "inconclusive",
]

INSTEAD = ("use one arm", "keep the logging policy", "use another policy")
"""Decisions against the tuned policy."""

TRIALS_PER_PARAMETER = 10
"""Trials per searched parameter below which a study is too small to recommend the defaults."""


@dataclass(frozen=True, kw_only=True)
class Excess(Difference):
    """Regret of a candidate relative to the best one, minus 1, on the selection worlds or the selection segment.

    On a log it is the loss of mean reward relative to that of the best candidate. The 95 % bounds hold at all looks of
    the race together.
    """

    worlds: int
    tied: bool = field(metadata={"description": "Whether the upper bound is at most 2 %."})
    worse: bool = field(metadata={"description": "Whether the lower bound is above 2 %."})


class Verdict(FrozenModel):
    """What to do: keep the defaults, set one parameter, use the recommended values, or no conclusion.

    On recorded data it may be best not to use the policy: to use one arm, to keep the logging policy (log), or to use
    another policy, which needs no tuning.
    """

    decision: Decision
    set: list[str] = Field(description="Searched parameters whose recommended values differ from their defaults.")
    defaults: Excess | None = optional(
        "Excess of the defaults over the best candidate; none with fewer than 200 selection worlds."
    )
    excess: Excess | None = optional(
        "Excess of the recommended parameters over the best candidate, if simpler ones are recommended."
    )
    arm: str | None = optional("The arm to use, if one arm is better than the policy.")
    policy: str | None = optional("The policy to use, if another one is better untuned.")
    reason: str | None = optional("Why the study is inconclusive.")
