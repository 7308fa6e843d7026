"""Model and rendering of the reproduction page: the scoreboard of verdicts and one section per experiment."""

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

CONCLUSIONS = "Conclusions of the paper"
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

    @property
    def differ(self) -> bool:
        """Whether the protocols have different verdicts."""
        return len({result.verdict for result in self.verdicts}) > 1

    def find(self, protocol: str) -> ClaimResult | None:
        """Return the verdict under a protocol; None if it was not tested."""
        return next((result for result in self.verdicts if result.protocol == protocol), None)


@dataclass(frozen=True)
class ClaimGroup:
    """Claims that are shown together."""

    title: str
    claims: list[JudgedClaim]

    @property
    def large(self) -> bool:
        """Whether these are many similar claims, of which the terminal prints counts only."""
        return bool(self.claims[0].claim.group)

    def summary(self, protocol: str | None = None) -> str:
        """Count the verdicts of each kind, of one protocol or of all."""
        verdicts = [verdict for claim in self.claims for verdict in claim.verdicts]
        return count_verdicts([verdict for verdict in verdicts if protocol in (None, verdict.protocol)])


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
    titles = {part.id: part.section.title for part in parts}
    used_rules = {verdict.rule for verdict in verdicts}
    contents = [ContentsEntry(part.id, part.section.title) for part in parts]
    if verdicts:
        contents.insert(0, ContentsEntry("verdicts", "Verdicts"))
    return render_page(
        "reproduction",
        [panel for part in parts for panel in part.panels],
        result=result,
        version=project_version(),
        tally=[(verdict, sum(each.verdict == verdict for each in verdicts)) for verdict in ClaimVerdict],
        groups=group_verdicts(result, titles),
        conclusions=CONCLUSIONS,
        protocols={name: PROTOCOLS[name] for name in result.protocols},
        sections=parts,
        rules={name: text for name, text in read_rules().items() if name in used_rules},
        entries=[*contents, ContentsEntry("method", "Methods")],
    )


def group_verdicts(result: ReproductionResult, titles: Mapping[str, str] | None = None) -> list[ClaimGroup]:
    """Group the claims: the paper's conclusions in their order, then by experiment, then many similar ones.

    Args:
        result: The result of a reproduction.
        titles: Titles of the experiments; their names by default.
    """
    titles = titles or {name: name for name in result.experiments}
    groups: dict[str, list[JudgedClaim]] = {CONCLUSIONS: [], **{title: [] for title in titles.values()}}
    for name, experiment in result.experiments.items():
        for claim, verdicts in groupby(experiment.verdicts, key=lambda verdict: verdict.claim):
            title = CONCLUSIONS if claim.rank else claim.group or titles[name]
            groups.setdefault(title, []).append(JudgedClaim(claim, name, list(verdicts)))
    groups[CONCLUSIONS].sort(key=lambda judged: judged.claim.rank)
    return [ClaimGroup(title, claims) for title, claims in groups.items() if claims]


def count_verdicts(verdicts: Sequence[ClaimResult]) -> str:
    """Count the verdicts of each kind, in words.

    >>> count_verdicts([])
    'no verdicts'
    """
    counts = Counter(result.verdict for result in verdicts)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in ClaimVerdict if counts[verdict]) or "no verdicts"
