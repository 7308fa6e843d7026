"""The result of a diagnosis, and its description in sentences and tables."""

from __future__ import annotations

from collections.abc import Sequence
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
    variant: str = ""
    """What distinguishes it from other changes of this kind, such as "a common cycle"."""
    found_in_halves: int = 0
    """Number of random halves of the rows in which it was found."""

    @property
    def modeled(self) -> bool:
        """Whether it was found and there is a scenario that resembles it."""
        return self.found and bool(self.settings)

    @property
    def label(self) -> str:
        """The kind, and in parentheses what distinguishes it."""
        return f"{self.kind} ({self.variant})" if self.variant else self.kind


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
    mismatch: str = ""
    """How the data differ from simulated worlds of a scenario with these kinds; empty if they resemble them."""
    agreeing_halves: int = 0
    """Number of random halves of the rows with the same result."""
    halves: int = 0
    files: dict[str, str] = field(default_factory=dict)
    """Result of each file of a collection of traces; the others describe one with the most common result."""
    kind: str = "trace"
    """Whether the rewards are those of a trace or a log."""
    notes: tuple[str, ...] = ()
    """What was recognized, sorted or dropped when the file was read."""
    plot_data: PlotData | None = field(default=None, compare=False, repr=False)
    """None if the diagnosis is inconclusive."""

    @property
    def conclusive(self) -> bool:
        """Whether the data sufficed for a diagnosis."""
        return not self.reason

    @property
    def proposes(self) -> bool:
        """Whether there is a scenario that resembles the data."""
        return not self.reason and not self.mismatch

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
            "mismatch": self.mismatch,
            "notes": list(self.notes),
            "halves": self.halves,
            **({"files": self.files} if self.files else {}),
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
                    "variant": finding.variant,
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
CONFIRMED = 0.5  # share of the random halves from which a kind is confirmed
MAX_NAMES = 6  # maximal number of arms listed by name


def describe_diagnosis(diagnosis: Diagnosis) -> list[str]:
    """Describe the result and its reliability, one sentence per item.

    >>> describe_diagnosis(Diagnosis(("a", "b"), 100, (), reason="100 rows are too few."))
    ['Inconclusive: 100 rows are too few.']
    """
    notes = [f"{capitalize_first(note)}." for note in diagnosis.notes]
    if not diagnosis.conclusive:
        return [f"Inconclusive: {diagnosis.reason}", *notes]
    lines = [_describe_kinds(diagnosis)]
    if diagnosis.halves:
        lines.append(
            f"{diagnosis.agreeing_halves} of {diagnosis.halves} random halves of the rows give the same result."
        )
    if diagnosis.files:
        results = list(diagnosis.files.values())
        counts = sorted(dict.fromkeys(results), key=results.count, reverse=True)
        found = [f"{plural(results.count(verdict), 'file')} {verdict}" for verdict in counts]
        lines.append(f"Of {plural(len(results), 'file')}: {join_words(found, 'and')}. One of the first is described.")
    return [*lines, f"Noise distribution that fits best: {diagnosis.noise}.", *notes]


def _describe_kinds(diagnosis: Diagnosis) -> str:
    """Say which kinds the data show, and how sure that is."""
    found = [finding for finding in diagnosis.findings if finding.found]
    kinds = join_words([finding.label for finding in found] or ["constant means"], "and")
    if diagnosis.mismatch:
        return f"It is not known how the data change: {kinds} fit best, but {diagnosis.mismatch}."
    if not found:
        return "The data are stationary: no change exceeds sampling noise."
    sure = [finding for finding in found if finding.found_in_halves >= CONFIRMED * diagnosis.halves]
    unsure = [finding for finding in found if finding not in sure]
    halves = "random halves of the rows"
    if not sure:
        counts = f"{_count_halves(unsure)} of {diagnosis.halves} {halves}"
        return f"It is not known how the data change: {kinds} fit best, but only in {counts}."
    confidence = f" (found in {_count_halves(sure)} of {diagnosis.halves} {halves})" if diagnosis.halves else ""
    text = f"The data show {join_words([finding.label for finding in sure], 'and')}{confidence}"
    if unsure:
        verb = "is" if len(unsure) == 1 else "are"
        names = join_words([finding.label for finding in unsure], "and")
        text += f"; {names} {verb} uncertain ({_count_halves(unsure)} of {diagnosis.halves})"
    return f"{text}."


def _count_halves(findings: Sequence[Finding]) -> str:
    """Format the numbers of halves in which kinds were found."""
    counts = [finding.found_in_halves for finding in findings]
    return f"{min(counts)} to {max(counts)}" if min(counts) < max(counts) else str(max(counts))


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
