"""Claims of the paper and their verdicts.

Each experiment declares its own claims in `tuning/reproduction/<experiment>/verdicts.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class ClaimVerdict(StrEnum):
    """The result of testing a claim."""

    CONFIRMED = "confirmed"
    """The measurements support the claim."""
    NOISE = "within sampling noise"
    """The measurements contradict the claim, but the paper's few replications can explain it."""
    REFUTED = "refuted"
    """The measurements contradict the claim."""
    INCONCLUSIVE = "inconclusive"
    """The measurements are not precise enough to decide."""


@dataclass(frozen=True)
class Claim:
    """One claim of the paper, paraphrased."""

    key: str
    place: str
    """Section, figure or table of the paper."""
    text: str
    printed: float | None = None
    """The number that the paper prints, if any."""
    unit: str = ""
    """The unit of the printed and the measured number."""
    group: str = ""
    """Heading under which many similar claims are shown together."""

    @property
    def printed_number(self) -> float:
        """The printed number of a claim that has one."""
        if self.printed is None:
            raise ValueError(f"the paper prints no number for {self.key}")
        return self.printed


def index_claims(claims: list[Claim]) -> dict[str, Claim]:
    """Index claims by key; keys must be unique."""
    by_key = {claim.key: claim for claim in claims}
    if len(by_key) != len(claims):
        raise ValueError("claims have duplicate keys")
    return by_key


class Measurement(NamedTuple):
    """A measured value with its 95 % confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class ClaimResult:
    """The verdict on a claim under one protocol."""

    claim: Claim
    protocol: str
    """published or defined."""
    measurement: Measurement | None
    verdict: ClaimVerdict
    rule: str
    """Key of the rule in `studies.paper.criteria.RULES`."""
    reason: str
    """One sentence with the numbers behind the verdict."""
