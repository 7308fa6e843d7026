"""Claims of the paper and their verdicts.

Each experiment states its own claims in `tuning/reproduction/<experiment>.toml`.
"""

from dataclasses import dataclass
from enum import StrEnum

from ravenlab.common.interval import Interval
from ravenlab.common.text import format_number, format_p_value


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

    @property
    def sign(self) -> str:
        """A symbol that distinguishes verdicts without color."""
        return {"confirmed": "✓", "within sampling noise": "≈", "refuted": "✗", "inconclusive": "?"}[self.value]


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
    rule: str = ""
    """Key of the rule that judges it, in `studies/paper/rules.toml`."""
    reason: str = ""
    """Template of the sentences that state the numbers behind a verdict."""
    rank: int = 0
    """Place among the paper's conclusions, of which 1 has the largest consequences; 0 if it is none of them."""

    @property
    def printed_number(self) -> float:
        """The printed number of a claim that has one."""
        if self.printed is None:
            raise ValueError(f"the paper prints no number for {self.key}")
        return self.printed

    def show(self, number: float | None) -> str:
        """Format a number with its percent sign, or as a probability; other units are shown separately.

        >>> Claim("k", "Section 1", "It is 84 %.", unit="%").show(84.0)
        '84 %'
        >>> Claim("k", "Figure 3", "It is noise.", unit="probability").show(6.2e-08)
        '< 0.0001'
        """
        if number is None:
            return ""
        if self.unit == "probability":
            return format_p_value(number)
        return f"{format_number(number)} %" if self.unit == "%" else format_number(number)


@dataclass(frozen=True)
class ClaimResult:
    """The verdict on a claim under one protocol."""

    claim: Claim
    protocol: str
    """published or defined."""
    measurement: Interval | None
    verdict: ClaimVerdict
    rule: str
    """Key of the rule in `studies/paper/rules.toml`."""
    reason: str
    """One sentence with the numbers behind the verdict."""

    @property
    def ours(self) -> str:
        """The measured number; empty if there is none."""
        return self.claim.show(None if self.measurement is None else self.measurement.mean)

    @property
    def interval(self) -> str:
        """Its interval; empty if there is none."""
        ours = self.measurement
        if ours is None or ours.low == ours.high:
            return ""
        return f"{format_number(ours.low)} to {format_number(ours.high)}"
