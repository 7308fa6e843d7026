"""The verdict table on top of the page: a claim, what the paper prints, what came out, the verdict, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from environments.text import format_number
from studies.reproduction.claims import Claim, claims
from studies.reproduction.rules import WORDS, Measured, Verdict, Word

MANY: dict[Word, str] = {
    "stands": "stand",
    "within noise": "are within noise",
    "does not stand": "do not stand",
    "not decidable": "are not decidable",
}
ONE: dict[Word, str] = {
    "stands": "stands",
    "within noise": "is within noise",
    "does not stand": "does not stand",
    "not decidable": "is not decidable",
}

SIGNS: dict[Word, str] = {"stands": "✓", "within noise": "≈", "does not stand": "✗", "not decidable": "?"}
"""No verdict is told from another by colour alone."""

SAID = ("%", "regret", "reward", "pulls")
"""Units that stand beside the number, or in the claim."""


@dataclass(frozen=True)
class VerdictRow:
    """What is said of a claim under one protocol."""

    protocol: str
    ours: str
    interval: str
    word: Word
    sign: str
    kind: str
    """The verdict as a class of the style sheet."""
    reason: str


@dataclass(frozen=True)
class ClaimRows:
    """A claim with its verdicts."""

    key: str
    text: str
    place: str
    printed: str
    unit: str
    """What our number counts, where the claim's own words do not say."""
    link: str
    """The section that shows it."""
    verdicts: list[VerdictRow]


@dataclass(frozen=True)
class Group:
    """Claims that are shown together; the first group has no title and is never folded."""

    title: str
    summary: str
    claims: list[ClaimRows]


def groups(verdicts: Sequence[Verdict]) -> list[Group]:
    """The rows of the table, claims of one kind together.

    >>> (group,) = groups([Verdict("figure2-84", "defined", None, "does not stand", "number", "It is 80 %.")])
    >>> group.title, group.summary
    ('', '1 does not stand')
    """
    known = claims()
    by_claim = {key: list(found) for key, found in groupby(verdicts, key=lambda verdict: verdict.claim)}
    titles = sorted(dict.fromkeys(known[key].group for key in by_claim), key=lambda title: title != "")
    out = []
    for title in titles:
        keys = [key for key in by_claim if known[key].group == title]
        counted = [verdict for key in keys for verdict in by_claim[key]]
        out.append(Group(title, tally(counted), [_rows(known[key], by_claim[key]) for key in keys]))
    return out


def tally(verdicts: Sequence[Verdict]) -> str:
    """How many of each, in words.

    >>> tally([])
    'no verdict'
    """
    counts = Counter(verdict.word for verdict in verdicts)
    said = [f"{counts[word]} {(ONE if counts[word] == 1 else MANY)[word]}" for word in WORDS if counts[word]]
    return ", ".join(said) or "no verdict"


def _rows(claim: Claim, verdicts: Sequence[Verdict]) -> ClaimRows:
    return ClaimRows(
        key=claim.key,
        text=claim.text,
        place=claim.place,
        printed="" if claim.printed is None else _with_unit(format_number(claim.printed), claim.unit),
        unit="" if claim.unit in SAID else claim.unit,
        link=claim.experiment,
        verdicts=[
            VerdictRow(
                protocol=f"as {verdict.protocol}",
                ours="" if verdict.ours is None else _with_unit(format_number(verdict.ours.value), claim.unit),
                interval=_interval(verdict.ours),
                word=verdict.word,
                sign=SIGNS[verdict.word],
                kind=verdict.word.replace(" ", "-"),
                reason=verdict.reason,
            )
            for verdict in verdicts
        ],
    )


def _interval(ours: Measured | None) -> str:
    return "" if ours is None or ours.low == ours.high else f"{format_number(ours.low)} to {format_number(ours.high)}"


def _with_unit(number: str, unit: str) -> str:
    """Percent signs are shown; other units stand in the claim's own words.

    >>> _with_unit("80", "%"), _with_unit("27.1", "regret")
    ('80 %', '27.1')
    """
    return f"{number} %" if unit == "%" else number
