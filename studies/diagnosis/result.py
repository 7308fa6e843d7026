"""The result of a diagnosis, and its description in sentences and tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ravenlab.common.documents import Document, Result, Table, make_frame
from ravenlab.common.text import capitalize_first, format_p_value, join_words, plural
from ravenlab.environments.noise import DEFAULT_NOISE
from ravenlab.environments.world import Floats, Ints

if TYPE_CHECKING:
    from pandas import DataFrame


STATIONARY = "stationary"
INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True)
class Finding:
    """The result for one kind of change."""

    kind: str
    found: bool
    p: float
    """p-value adjusted for arms, places and kinds, given the other kinds that were found."""
    strength: str
    """Strength in words."""
    arms: tuple[str, ...] = ()
    """Names of the arms with a significant change."""
    numbers: dict[str, Any] = field(default_factory=dict)
    """Strength in numbers, for programs."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Settings of a scenario with a similar change."""
    found_in_halves: int = 0
    """Number of random halves of the rows in which it was found."""


@dataclass(frozen=True)
class ChangeMark:
    """A step, or a span if `until` is given, to be marked in a figure. Steps are counted from 1."""

    kind: str
    at: int
    until: int | None = None
    arm: str = ""


@dataclass(frozen=True)
class PlotData:
    """Block means and variances, measured and fitted, for a figure."""

    starts: Ints
    """First row of each block, counted from 0, followed by N."""
    means: Floats
    """[B, K], NaN without observations."""
    fitted: Floats
    """[B, K] means according to the model."""
    variances: Floats
    fitted_variances: Floats
    marks: tuple[ChangeMark, ...] = ()


@dataclass(frozen=True, repr=False)
class Diagnosis(Result):
    """The kinds of change that a table of rewards shows."""

    names: tuple[str, ...]
    rows: int
    kinds: tuple[str, ...]
    """Kinds found, in order of selection; empty if stationary or inconclusive."""
    findings: tuple[Finding, ...] = ()
    noise: str = DEFAULT_NOISE
    base: dict[str, float] = field(default_factory=dict)
    """Ranges of the arms' means and variances, as settings of a scenario."""
    reason: str = ""
    """Why the diagnosis is inconclusive; empty otherwise."""
    agreeing_halves: int = 0
    """Number of random halves of the rows with the same result."""
    halves: int = 0
    plot_data: PlotData | None = field(default=None, compare=False, repr=False)
    """None if the diagnosis is inconclusive."""

    @property
    def conclusive(self) -> bool:
        """Whether the data sufficed for a diagnosis."""
        return not self.reason

    @property
    def verdict(self) -> str:
        """The kinds as a scenario name, joined by "+", or "stationary", or "inconclusive".

        >>> Diagnosis(("a", "b"), 1000, ("periodic", "blips")).verdict
        'periodic+blips'
        """
        return INCONCLUSIVE if self.reason else "+".join(self.kinds) or STATIONARY

    @property
    def arms(self) -> int:
        """Number of arms."""
        return len(self.names)

    def finding(self, kind: str) -> Finding:
        """Return the finding of one kind."""
        return next(finding for finding in self.findings if finding.kind == kind)

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain JSON data, without the data of the figure."""
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
                    "kind": finding.kind,
                    "found": finding.found,
                    "p": finding.p,
                    "in_halves": finding.found_in_halves,
                    "strength": finding.strength,
                    "arms": list(finding.arms),
                    **finding.numbers,
                    "settings": finding.settings,
                }
                for finding in self.findings
            ],
        }

    def to_frame(self) -> DataFrame:
        """Tabulate all kinds of change in pandas, one row each."""
        return make_frame(
            {
                "kind": finding.kind,
                "found": finding.found,
                "p": finding.p,
                "strength": finding.strength,
                "arms": list(finding.arms),
                "halves": finding.found_in_halves,
                "settings": finding.settings,
            }
            for finding in self.findings
        )

    def to_document(self) -> Document:
        answer, *facts = describe_diagnosis(self)
        columns = [name if name == "p" else capitalize_first(name) for name in FINDING_COLUMNS]
        text = tuple(columns[:3])
        return Document(
            answer=answer,
            facts=facts,
            label=f"Diagnosis of {plural(self.rows, 'step')}, {plural(self.arms, 'arm')}",
            tables=[Table(columns, tabulate_findings(self), text=text)] if self.findings else [],
        )


FINDING_COLUMNS = ("kind", "found", "strength", "p", "halves")  # columns of `tabulate_findings`
MAX_NAMES = 6  # maximal number of arms listed by name


def describe_diagnosis(diagnosis: Diagnosis) -> list[str]:
    """Describe the result and its reliability, one sentence per item.

    >>> describe_diagnosis(Diagnosis(("a", "b"), 100, (), reason="100 rows are too few."))
    ['Inconclusive: 100 rows are too few.']
    """
    if not diagnosis.conclusive:
        return [f"Inconclusive: {diagnosis.reason}"]
    if diagnosis.kinds:
        lines = [f"The data show {join_words(diagnosis.kinds, 'and')}."]
    else:
        lines = ["The data are stationary: no change exceeds sampling noise."]
    if diagnosis.halves:
        lines.append(
            f"{diagnosis.agreeing_halves} of {diagnosis.halves} random halves of the rows give the same result."
        )
    return [*lines, f"Noise distribution that fits best: {diagnosis.noise}."]


def tabulate_findings(diagnosis: Diagnosis) -> list[list[str]]:
    """Return one row per kind of change, with the columns `FINDING_COLUMNS`."""
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
    return ", ".join(finding.arms) if len(finding.arms) <= MAX_NAMES else f"{len(finding.arms)} of {total}"
