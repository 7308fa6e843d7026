"""What is said of a trace: each kind of change with its strength and how sure one may be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from environments.noise import DEFAULT_NOISE
from environments.text import format_p_value
from environments.world import Floats, Ints

STATIONARY = "stationary"
NOT_DECIDABLE = "not decidable"


@dataclass(frozen=True)
class Finding:
    """One of the seven kinds of change."""

    kind: str
    found: bool
    p: float
    """Corrected for arms, places and kinds; beside the other kinds that were found."""
    strength: str
    """In plain words and units."""
    arms: tuple[str, ...] = ()
    """Names of the arms in which it shows."""
    numbers: dict[str, Any] = field(default_factory=dict)
    """The same for programs."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Parameters of the scenario that would do the same."""
    found_in_halves: int = 0
    """In how many random halves of the rows it was found."""


@dataclass(frozen=True)
class ChangeMark:
    """Something to point at in a picture: a moment, or a span where `until` is given. Steps count from 1."""

    kind: str
    at: int
    until: int | None = None
    arm: str = ""


@dataclass(frozen=True)
class PlotData:
    """What a picture of the trace needs."""

    starts: Ints
    """First rows of the blocks, counted from 0, and N at the end."""
    means: Floats
    """[B, K], NaN where an arm was not seen."""
    fitted: Floats
    """[B, K] what the model says."""
    variances: Floats
    fitted_variances: Floats
    marks: tuple[ChangeMark, ...] = ()


@dataclass(frozen=True)
class Diagnosis:
    """What the world of a trace is like."""

    names: tuple[str, ...]
    rows: int
    kinds: tuple[str, ...]
    """What was found, strongest first; nothing where the world stands still or nothing can be said."""
    findings: tuple[Finding, ...] = ()
    noise: str = DEFAULT_NOISE
    base: dict[str, float] = field(default_factory=dict)
    """Ranges that levels and variances are drawn from."""
    spread: float = 1.0
    """Distance between the quartiles of all rewards."""
    reason: str = ""
    """Why nothing can be said."""
    agreeing_halves: int = 0
    """How many random halves of the rows gave the same answer …"""
    halves: int = 0
    """… of how many that were asked."""
    plot_data: PlotData | None = field(default=None, compare=False, repr=False)

    @property
    def conclusive(self) -> bool:
        """Whether there was enough to say anything."""
        return not self.reason

    @property
    def verdict(self) -> str:
        """The kinds as a scenario's name: effects joined by "+", or "stationary", or "not decidable".

        >>> Diagnosis(("a", "b"), 1000, ("periodic", "blips")).verdict
        'periodic+blips'
        """
        return NOT_DECIDABLE if self.reason else "+".join(self.kinds) or STATIONARY

    @property
    def arms(self) -> int:
        """K."""
        return len(self.names)

    def finding(self, kind: str) -> Finding:
        """What was found of one kind."""
        return next(each for each in self.findings if each.kind == kind)

    def to_dict(self) -> dict[str, Any]:
        """For JSON: everything but the picture."""
        return {
            "verdict": self.verdict,
            "kinds": list(self.kinds),
            "reason": self.reason,
            "rows": self.rows,
            "arms": list(self.names),
            "agreeing_halves": self.agreeing_halves,
            "halves": self.halves,
            "noise": self.noise,
            "base": self.base,
            "findings": [
                {
                    "kind": each.kind,
                    "found": each.found,
                    "p": each.p,
                    "in_halves": each.found_in_halves,
                    "strength": each.strength,
                    "arms": list(each.arms),
                    **each.numbers,
                    "settings": each.settings,
                }
                for each in self.findings
            ],
        }


FINDING_COLUMNS = ("kind", "found", "strength", "p", "halves")
"""Columns of `tabulate_findings`."""

MOST_NAMES = 6
"""Names of arms that are listed before they are only counted."""


def describe_diagnosis(diagnosis: Diagnosis) -> list[str]:
    """Describe the result and its reliability, one sentence per item.

    >>> describe_diagnosis(Diagnosis(("a", "b"), 100, (), reason="100 rows are too few."))
    ['Inconclusive: 100 rows are too few.']
    """
    if not diagnosis.conclusive:
        return [f"Inconclusive: {diagnosis.reason}"]
    if diagnosis.kinds:
        lines = [f"The data show {' and '.join(diagnosis.kinds)}."]
    else:
        lines = ["The data are stationary: no change exceeds sampling noise."]
    if diagnosis.halves:
        lines.append(
            f"{diagnosis.agreeing_halves} of {diagnosis.halves} random halves of the rows give the same result."
        )
    return [*lines, f"Noise distribution that fits best: {diagnosis.noise}."]


def tabulate_findings(diagnosis: Diagnosis) -> list[list[str]]:
    """Return one row per kind of change, with the columns `COLUMNS`."""
    return [
        [
            finding.kind,
            "yes" if finding.found else "no",
            finding.strength,
            format_p_value(finding.p),
            f"{finding.found_in_halves}/{diagnosis.halves}" if diagnosis.halves else "–",
        ]
        for finding in diagnosis.findings
    ]


def format_arms(finding: Finding, total: int) -> str:
    """Format the names of the arms that show a kind of change, or their number if there are many."""
    if not finding.found or not finding.arms:
        return "–"
    if len(finding.arms) == total:
        return "all"
    return ", ".join(finding.arms) if len(finding.arms) <= MOST_NAMES else f"{len(finding.arms)} of {total}"
