"""Model and rendering of the reproduction page: the verdict table and one section per experiment."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from ravenlab.common.documents import Table
from ravenlab.dashboards.figures.style import Figure
from ravenlab.dashboards.pages.html import ContentsEntry, Panel, Slugs, make_panel, render_page
from ravenlab.studies.paper.claims import Claim, ClaimResult, ClaimVerdict
from ravenlab.studies.paper.criteria import read_rules
from ravenlab.studies.paper.results import ReproductionResult
from ravenlab.studies.storage.keys import project_version

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
    figures: list[tuple[str, Figure]] = field(default_factory=list)
    """Each with a name for its link."""
    tables: list[Table] = field(default_factory=list)


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with its verdicts."""

    claim: Claim
    link: str
    """Identifier of the section."""
    verdicts: list[ClaimResult]

    @property
    def unit(self) -> str:
        """The unit of our number, unless the claim states it."""
        return "" if self.claim.unit in IMPLIED_UNITS else self.claim.unit


@dataclass(frozen=True)
class ClaimGroup:
    """Claims that are shown together; the first group has no title and is never folded."""

    title: str
    claims: list[JudgedClaim]

    @property
    def summary(self) -> str:
        """The number of verdicts of each kind."""
        return count_verdicts([verdict for claim in self.claims for verdict in claim.verdicts])


@dataclass(frozen=True)
class SectionOnPage:
    """A section with its figures prepared for the page."""

    id: str
    section: ReproductionSection
    panels: list[Panel]


def render_reproduction(result: ReproductionResult, sections: Mapping[str, ReproductionSection]) -> str:
    """Render `reproduction.html`, one self-contained file."""
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
    return render_page(
        "reproduction",
        [panel for part in parts for panel in part.panels],
        result=result,
        version=project_version(),
        tally=count_verdicts(verdicts),
        groups=group_verdicts(result),
        titles={part.id: part.section.title for part in parts},
        protocols={name: PROTOCOLS[name] for name in result.protocols},
        sections=parts,
        rules={name: text for name, text in read_rules().items() if name in used_rules},
        entries=[*contents, ContentsEntry("method", "Methods")],
    )


def group_verdicts(result: ReproductionResult) -> list[ClaimGroup]:
    """Group the claims of the verdict table: those without a group first."""
    groups: dict[str, list[JudgedClaim]] = {"": []}
    for name, experiment in result.experiments.items():
        for claim, verdicts in groupby(experiment.verdicts, key=lambda verdict: verdict.claim):
            groups.setdefault(claim.group, []).append(JudgedClaim(claim, name, list(verdicts)))
    return [ClaimGroup(title, claims) for title, claims in groups.items() if claims]


def count_verdicts(verdicts: Sequence[ClaimResult]) -> str:
    """Count the verdicts of each kind, in words.

    >>> count_verdicts([])
    'no verdicts'
    """
    counts = Counter(result.verdict for result in verdicts)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in ClaimVerdict if counts[verdict]) or "no verdicts"
