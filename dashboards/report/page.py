"""The page before it is HTML: every section with its words and figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dashboards.report.gather import Material, StudyPart
from dashboards.report.grid_sections import grid_sections
from dashboards.report.methods import NOT_CLAIMED, methods
from dashboards.report.panels import Panel
from dashboards.report.scenario_sections import scenario_sections, summary_groups
from dashboards.report.search_sections import search_sections
from dashboards.report.sections import Entry, GridSection, ScenarioSection, SearchSection, SummaryGroup
from dashboards.report.slugs import Slugs
from dashboards.report.summary import summarize_all
from dashboards.report.table import Column, Row, table
from dashboards.report.worlds import WorldsSection, said_of, worlds_sections
from environments.own_scenarios import BROUGHT as SCENARIOS
from environments.text import format_range
from policies.own import BROUGHT as POLICIES
from studies.keys import project_version
from studies.recommendation import Recommendation
from studies.robust_recommendation import RobustRecommendation
from studies.source import LogSource, TraceSource

STRANGE = "Not a study of ravenlab, of a version that this one can't read, or a grid of its user's own scenario"


@dataclass(frozen=True)
class Missing:
    """Something that the storage does not have yet."""

    name: str
    text: str


@dataclass(frozen=True)
class Page:
    """All that the template shows."""

    title: str
    subtitle: str
    version: str
    lead: list[str]
    sentences: list[SummaryGroup]
    missing: list[Missing]
    columns: list[Column]
    rows: list[Row]
    scenarios: list[ScenarioSection]
    grids: list[GridSection]
    over_worlds: list[WorldsSection]
    searches: list[SearchSection]
    methods: list[tuple[str, list[str]]]
    not_claimed: Sequence[str] = NOT_CLAIMED
    contents: list[Entry] = field(default_factory=list)
    on_a_log: bool = False
    """Whether any study is on a log, where regret means something else."""

    @property
    def all_panels(self) -> list[Panel]:
        """Every figure in the order of the page."""
        parts: list[ScenarioSection | WorldsSection | GridSection | SearchSection] = []
        parts += [*self.scenarios, *self.over_worlds, *self.grids, *self.searches]
        return [panel for part in parts for panel in part.panels]


def build(material: Material) -> Page:
    """Draw the figures and write the words."""
    slugs = Slugs()
    ids = {part.name: slugs.new(part.name) for part in material.studies}
    found = material.recommendations
    columns, rows = table(found, [ids[part.name] for part in material.studies if part.recommendation is not None])
    scenarios = scenario_sections(material, slugs)
    page = Page(
        title=_title(material),
        subtitle=f"From {material.where}",
        version=project_version(),
        lead=_lead(material),
        sentences=summary_groups(material, scenarios),
        on_a_log=any(isinstance(part.spec.source, LogSource) for part in material.studies),
        missing=_missing(material),
        columns=columns,
        rows=rows,
        scenarios=scenarios,
        grids=grid_sections(material, slugs),
        over_worlds=worlds_sections(material, slugs),
        searches=search_sections(material, ids, slugs),
        methods=methods(material),
    )
    page.contents.extend(_contents(page))
    return page


def _title(material: Material) -> str:
    names = sorted({part.spec.scenario for part in material.studies} | {g.grid.spec.scenario for g in material.grids})
    names = names or sorted({name for each in material.over_worlds for name in each.scenarios})
    if not names:
        return "No studies yet"
    policies = sorted({part.spec.policy for part in material.studies} | {each.policy for each in material.over_worlds})
    policies = policies or ["raven-ucb"]
    who = policies[0] if len(policies) == 1 else f"{len(policies)} policies"
    where = names[0] if len(names) == 1 else " and ".join(names) if len(names) == 2 else f"{len(names)} scenarios"
    return f"Parameters of {who} in {where}"


def _lead(material: Material) -> list[str]:
    """How much there is, and what holds over all of it."""
    count, grids = len(material.studies), len(material.grids)
    if not count and not grids and not material.over_worlds:
        return [
            "There is nothing to report yet: this storage holds no study and no finished grid of ravenlab.",
            "Begin with: ravenlab tune variance-drift --horizon 10000, or ravenlab grid variance-drift; then ask for"
            " the report again.",
        ]
    lines = []
    if count:
        horizons = format_range(part.spec.horizon for part in material.studies)
        recommended = len(material.recommendations)
        how = "a recommendation" if recommended == 1 else f"{recommended or 'no'} recommendations"
        lines.append(f"{_count(count, 'study', 'studies')} at T = {horizons}, with {how}.")
    if grids:
        lines.append(f"{_count(grids, 'sensitivity grid', 'sensitivity grids')} of α₀ and β₀.")
    several = [each for each in material.over_worlds if isinstance(each, RobustRecommendation)]
    return [" ".join(lines), *summarize_all(material.recommendations), *map(said_of, several)]


def _count(number: int, one: str, many: str) -> str:
    return f"1 {one}" if number == 1 else f"{number} {many}"


def _missing(material: Material) -> list[Missing]:
    """What is unfinished or can't be read, a line each."""
    lines = [Missing(part.name, part.missing) for part in material.studies if part.missing]
    lines += [
        Missing(part.name, _no_curves(part, part.recommendation))
        for part in material.studies
        if part.recommendation is not None and part.played is None
    ]
    lines += [
        Missing(name, "The grid is unfinished; the same ravenlab grid command goes on with it.")
        for name in material.unfinished_grids
    ]
    lines += [
        Missing(name, "The search over several scenarios is unfinished; the same command goes on with it.")
        for name in material.unfinished_over_worlds
    ]
    lines += [Missing(name, f"{STRANGE}; it was left out.") for name in material.strangers]
    if material.studies and not material.grids and not material.unfinished_grids:
        lines.append(Missing("", "No sensitivity grid has been played (ravenlab grid)."))
    return lines


def _no_curves(part: StudyPart, recommendation: Recommendation) -> str:
    match part.spec.source:
        case LogSource():
            return "No curves over time: of a log only the matched events are known."
        case TraceSource(path=path) as trace if trace.find() is None:
            return f"No curves over time: {path} is not at hand or holds something else by now."
    if recommendation.scenario != part.spec.scenario:
        return "No curves over time: what it recommends is for a scenario that this version does not know."
    if POLICIES.absent(part.spec.policy) or SCENARIOS.absent(part.spec.scenario):
        return "No curves over time: it plays something of its user's own, which is not run for a report."
    return "No curves over time: even a few worlds of this size would take too long for a report."


def _contents(page: Page) -> list[Entry]:
    entries = [Entry("summary", "Summary")]
    if page.rows:
        entries.append(Entry("parameters", "Recommended parameters"))
    if page.scenarios:
        entries.append(Entry("scenarios", "Scenarios", [Entry(each.id, each.title) for each in page.scenarios]))
    if page.over_worlds:
        children = [Entry(each.id, each.short) for each in page.over_worlds]
        entries.append(Entry("unknown-worlds", "Unknown worlds", children))
    entries.append(Entry("grids", "Sensitivity grids", [Entry(each.id, each.short) for each in page.grids]))
    if page.searches:
        entries.append(Entry("search", "Search", [Entry(each.id, each.short) for each in page.searches]))
    return [*entries, Entry("methods", "Methods and honesty")]
