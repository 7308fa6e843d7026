"""Model and rendering of the reproduction page: the verdict table and one section per experiment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from ravenlab.common.text import format_number
from ravenlab.dashboards.pages.html import ContentsEntry, PageTable, Panel, Slugs, make_panel, render_page
from ravenlab.studies.paper.claims import Claim, ClaimResult, ClaimVerdict, Measurement
from ravenlab.studies.paper.criteria import RULES
from ravenlab.studies.paper.results import ReproductionResult
from ravenlab.studies.storage.keys import project_version

if TYPE_CHECKING:
    import plotly.graph_objects as go


TITLE = "Reproduction of the RAVEN-UCB paper"

PROTOCOLS = {
    "published": (
        "the authors' scripts, which produced the printed numbers: their scenarios, their versions of the "
        "policies, their variance estimators and their definition of regret."
    ),
    "defined": (
        "the definitions in the paper's text, in Table 1 and in the papers of the other policies, with every number "
        "measured on held-out worlds not used for selection."
    ),
}

SIGNS = {
    ClaimVerdict.CONFIRMED: "✓",
    ClaimVerdict.NOISE: "≈",
    ClaimVerdict.REFUTED: "✗",
    ClaimVerdict.INCONCLUSIVE: "?",
}
"""Symbols that distinguish verdicts without color."""

IMPLIED_UNITS = ("%", "regret", "reward", "pulls")
"""Units that are shown with the number or stated in the claim."""


@dataclass(frozen=True)
class ReproductionSection:
    """The section of one figure or table of the paper."""

    title: str
    claims: list[str]
    """What the paper claims, for readers who have not read it."""
    methods: list[str]
    """What was run, as published and as defined."""
    results: list[str]
    """What was measured; every number comes from the tables."""
    figures: list[tuple[str, go.Figure]] = field(default_factory=list)
    """Each with a name for its link."""
    tables: list[PageTable] = field(default_factory=list)


@dataclass(frozen=True)
class ClaimRow:
    """The verdict on a claim under one protocol, as text."""

    protocol: str
    ours: str
    interval: str
    verdict: str
    sign: str
    css_class: str
    reason: str


@dataclass(frozen=True)
class ClaimRows:
    """A claim with its verdicts."""

    key: str
    text: str
    place: str
    printed: str
    unit: str
    """The unit of our number, unless the claim states it."""
    link: str
    """Identifier of the section."""
    verdicts: list[ClaimRow]


@dataclass(frozen=True)
class ClaimGroup:
    """Claims that are shown together; the first group has no title and is never folded."""

    title: str
    summary: str
    claims: list[ClaimRows]


@dataclass(frozen=True)
class SectionOnPage:
    """A section with its figures prepared for the page."""

    id: str
    section: ReproductionSection
    panels: list[Panel]


@dataclass(frozen=True)
class ReproductionPage:
    """Everything that the template shows."""

    title: str
    subtitle: str
    version: str
    tally: str
    groups: list[ClaimGroup]
    titles: dict[str, str]
    """Titles of sections by identifier."""
    protocols: list[tuple[str, str]]
    sections: list[SectionOnPage]
    rules: list[tuple[str, str]]
    command: str
    contents: list[ContentsEntry]

    @property
    def all_panels(self) -> list[Panel]:
        """All figures in the order of the page."""
        return [each for section in self.sections for each in section.panels]


def render_reproduction(result: ReproductionResult, sections: Mapping[str, ReproductionSection]) -> str:
    """Render `reproduction.html`, one self-contained file."""
    page = build_page(result, sections)
    return render_page("reproduction", page.all_panels, page=page)


def build_page(result: ReproductionResult, sections: Mapping[str, ReproductionSection]) -> ReproductionPage:
    """Build the page from a result and the sections of its experiments."""
    slugs = Slugs()
    verdicts = result.verdicts()
    parts = [
        SectionOnPage(slugs.new(name), section, [make_panel(slugs, key, figure) for key, figure in section.figures])
        for name, section in sections.items()
    ]
    used_rules = {verdict.rule for verdict in verdicts}
    contents = [ContentsEntry(part.id, part.section.title) for part in parts]
    if verdicts:
        contents.insert(0, ContentsEntry("verdicts", "Verdicts"))
    protocols = " and ".join(f"as {name}" for name in result.protocols)
    return ReproductionPage(
        title=TITLE,
        subtitle=f"{result.replications} replications of Table 3, other experiments in proportion; seed {result.seed};"
        f" protocols: {protocols}",
        version=project_version(),
        tally=count_verdicts(verdicts),
        groups=group_verdicts(result),
        titles={part.id: part.section.title for part in parts},
        protocols=[(f"as {name}", PROTOCOLS[name]) for name in result.protocols],
        sections=parts,
        rules=[(name, text) for name, text in RULES.items() if name in used_rules],
        command=_command(result),
        contents=[*contents, ContentsEntry("method", "Methods")],
    )


def group_verdicts(result: ReproductionResult) -> list[ClaimGroup]:
    """Group the rows of the verdict table: claims without a group first."""
    rows: dict[str, list[ClaimRows]] = {"": []}
    counted: dict[str, list[ClaimResult]] = {"": []}
    for name, experiment in result.experiments.items():
        for claim, verdicts in groupby(experiment.verdicts, key=lambda verdict: verdict.claim):
            results = list(verdicts)
            rows.setdefault(claim.group, []).append(_claim_rows(claim, name, results))
            counted.setdefault(claim.group, []).extend(results)
    return [ClaimGroup(title, count_verdicts(counted[title]), rows[title]) for title in rows if rows[title]]


def count_verdicts(verdicts: Sequence[ClaimResult]) -> str:
    """Count the verdicts of each kind, in words.

    >>> count_verdicts([])
    'no verdicts'
    """
    counts = Counter(each.verdict for each in verdicts)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in ClaimVerdict if counts[verdict]) or "no verdicts"


def _claim_rows(claim: Claim, link: str, verdicts: Sequence[ClaimResult]) -> ClaimRows:
    return ClaimRows(
        key=claim.key,
        text=claim.text,
        place=claim.place,
        printed="" if claim.printed is None else _with_unit(claim.printed, claim.unit),
        unit="" if claim.unit in IMPLIED_UNITS else claim.unit,
        link=link,
        verdicts=[
            ClaimRow(
                protocol=f"as {each.protocol}",
                ours="" if each.measurement is None else _with_unit(each.measurement.value, claim.unit),
                interval=_interval(each.measurement),
                verdict=each.verdict,
                sign=SIGNS[each.verdict],
                css_class=each.verdict.replace(" ", "-"),
                reason=each.reason,
            )
            for each in verdicts
        ],
    )


def _interval(ours: Measurement | None) -> str:
    return "" if ours is None or ours.low == ours.high else f"{format_number(ours.low)} to {format_number(ours.high)}"


def _with_unit(number: float, unit: str) -> str:
    """Format a number with its percent sign; other units are shown separately.

    >>> _with_unit(80.0, "%"), _with_unit(27.1, "regret")
    ('80 %', '27.1')
    """
    return f"{format_number(number)} %" if unit == "%" else format_number(number)


def _command(result: ReproductionResult) -> str:
    """The command that reproduces this page."""
    protocol = "both" if len(result.protocols) > 1 else result.protocols[0]
    options = f"--protocol {protocol} --replications {result.replications} --seed {result.seed}"
    return f"ravenlab reproduce {' '.join(result.experiments)} {options}"
