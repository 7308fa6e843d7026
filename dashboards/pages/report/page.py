"""The table of recommended parameters: its columns and rows."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dashboards.figures import apply_theme
from dashboards.pages.html import ContentsEntry, Panel, Slugs, render_page, slugify
from dashboards.pages.report.data import ReportData, StudyPart
from dashboards.pages.report.grid_sections import (
    WorldsSection,
    grid_sections,
    said_of,
    search_sections,
    worlds_sections,
)
from dashboards.pages.report.methods import NOT_CLAIMED, methods
from dashboards.pages.report.scenario_sections import scenario_sections, summary_groups
from dashboards.pages.sections import (
    GridSection,
    ScenarioSection,
    SearchSection,
    SummaryGroup,
    judge_baseline,
    relative_difference,
    summarize_all,
)
from environments.catalog import SCENARIO_PLUGINS as SCENARIOS
from environments.errors import InputError
from environments.text import (
    format_count,
    format_number,
    format_percent,
    format_range,
    format_settings,
    format_signed,
    keep_pairs_together,
)
from policies.engine.plugins import POLICY_PLUGINS as POLICIES
from studies.export import export
from studies.results.recommendation import Recommendation
from studies.results.robust import RobustRecommendation
from studies.spec.source import LogSource, TraceSource
from studies.storage.keys import project_version
from studies.symbols import format_params, format_symbol

MOST_COLUMNS = 4
"""With more columns of policies and parameters than these, which would not fit, parameters share one cell."""


@dataclass(frozen=True)
class Column:
    """A column; numbers stand to the right."""

    title: str
    number: bool = False


@dataclass(frozen=True)
class Cell:
    """What is shown, and what is sorted by."""

    text: str
    value: float | str
    number: bool = False
    more: str = ""
    field: str = ""


@dataclass(frozen=True)
class Row:
    """One recommendation."""

    study: str
    id: str
    link: str
    file: str
    cells: list[Cell] = field(default_factory=list)


def table(found: Sequence[Recommendation], ids: Sequence[str]) -> tuple[list[Column], list[Row]]:
    """Columns and rows; `ids` are the slugs of the recommendations' studies on this page."""
    names = list(dict.fromkeys(name for each in found for name in each.params))
    policies = len({each.policy for each in found}) > 1
    apart = len(names) + policies <= MOST_COLUMNS
    columns = [Column("Scenario"), *([Column("Policy")] if policies else [])]
    columns += [Column("T", True), Column("K", True)]
    columns += [Column(format_symbol(name), True) for name in names] if apart else [Column("Parameters")]
    columns += [Column("Regret (95 %)", True), Column("Paper's advice", True), Column("Defaults", True)]
    rows = []
    for each, here in zip(found, ids, strict=True):
        title = f"{each.scenario} ({format_settings(each.settings)})" if each.settings else each.scenario
        cells = [Cell(title, title), *([Cell(each.policy, each.policy, field="policy")] if policies else [])]
        cells += [_number(each.horizon, "horizon"), _number(each.arms, "arms")]
        if apart:
            cells += [_param(each, name) for name in names]
        else:
            said = format_params(each.params)
            cells.append(Cell(keep_pairs_together(said), said))
        regret = each.regret
        interval = f"({format_number(regret.low)} to {format_number(regret.high)})"
        cells.append(Cell(format_number(regret.mean), regret.mean, True, interval, "regret.mean"))
        cells += [_rival(each, name) for name in ("paper", "defaults")]
        rows.append(Row(each.study, f"row-{here}", f"search-{here}", slugify(each.study), cells))
    return columns, rows


def _number(value: int, name: str) -> Cell:
    return Cell(format_count(value), value, number=True, field=name)


def _param(each: Recommendation, name: str) -> Cell:
    value = each.params.get(name)
    if value is None:
        return Cell("–", "", number=True)
    return Cell(format_number(value), value, number=True, field=f"params.{name}")


def _rival(each: Recommendation, name: str) -> Cell:
    """Format the extra regret of a baseline; ≈ marks differences within sampling noise."""
    rival = next((rival for rival in each.versus if rival.name == name), None)
    if rival is None:
        return Cell("–", "", number=True)
    verdict, share = judge_baseline(each, rival), relative_difference(each, rival.difference)
    if verdict == "same":
        return Cell("identical", 0.0, number=True)
    more = "≈" if verdict == "unclear" else ""
    if share is None:
        return Cell(format_signed(rival.difference), rival.difference, number=True, more=more)
    return Cell(format_percent(share, signed=True), 100.0 * share, number=True, more=more)


STRANGE = "Not a study of ravenlab, of a version that this one can't read, or a grid of its user's own scenario"


@dataclass(frozen=True)
class Missing:
    """Something that the storage does not have yet."""

    name: str
    text: str


@dataclass(frozen=True)
class ReportPage:
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
    contents: list[ContentsEntry] = field(default_factory=list)
    on_a_log: bool = False
    """Whether any study is on a log, where regret means something else."""

    @property
    def all_panels(self) -> list[Panel]:
        """Every figure in the order of the page."""
        parts: list[ScenarioSection | WorldsSection | GridSection | SearchSection] = []
        parts += [*self.scenarios, *self.over_worlds, *self.grids, *self.searches]
        return [panel for part in parts for panel in part.panels]


def build_report(material: ReportData) -> ReportPage:
    """Draw the figures and write the words."""
    slugs = Slugs()
    ids = {part.name: slugs.new(part.name) for part in material.studies}
    found = material.recommendations
    columns, rows = table(found, [ids[part.name] for part in material.studies if part.recommendation is not None])
    scenarios = scenario_sections(material, slugs)
    page = ReportPage(
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


def _title(material: ReportData) -> str:
    names = sorted({part.spec.scenario for part in material.studies} | {g.grid.spec.scenario for g in material.grids})
    names = names or sorted({name for each in material.over_worlds for name in each.scenarios})
    if not names:
        return "No studies yet"
    policies = sorted({part.spec.policy for part in material.studies} | {each.policy for each in material.over_worlds})
    policies = policies or ["raven-ucb"]
    who = policies[0] if len(policies) == 1 else f"{len(policies)} policies"
    where = names[0] if len(names) == 1 else " and ".join(names) if len(names) == 2 else f"{len(names)} scenarios"
    return f"Parameters of {who} in {where}"


def _lead(material: ReportData) -> list[str]:
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


def _missing(material: ReportData) -> list[Missing]:
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
    if POLICIES.is_missing(part.spec.policy) or SCENARIOS.is_missing(part.spec.scenario):
        return "No curves over time: it plays something of its user's own, which is not run for a report."
    return "No curves over time: even a few worlds of this size would take too long for a report."


def _contents(page: ReportPage) -> list[ContentsEntry]:
    entries = [ContentsEntry("summary", "Summary")]
    if page.rows:
        entries.append(ContentsEntry("parameters", "Recommended parameters"))
    if page.scenarios:
        entries.append(
            ContentsEntry("scenarios", "Scenarios", [ContentsEntry(each.id, each.title) for each in page.scenarios])
        )
    if page.over_worlds:
        children = [ContentsEntry(each.id, each.short) for each in page.over_worlds]
        entries.append(ContentsEntry("unknown-worlds", "Unknown worlds", children))
    entries.append(
        ContentsEntry("grids", "Sensitivity grids", [ContentsEntry(each.id, each.short) for each in page.grids])
    )
    if page.searches:
        entries.append(
            ContentsEntry("search", "Search", [ContentsEntry(each.id, each.short) for each in page.searches])
        )
    return [*entries, ContentsEntry("methods", "Methods and honesty")]


def render_report(material: ReportData, page: ReportPage | None = None) -> str:
    """The text of the HTML file."""
    page = build_report(material) if page is None else page
    return render_page("report", page.all_panels, _exports(material, page), page=page)


def _exports(material: ReportData, page: ReportPage) -> dict[str, dict[str, str]]:
    """What the buttons give: for each row what `ravenlab export` says of its study alone."""
    return {
        row.id: {form: export([each], form) for form in ("json", "toml")}
        for row, each in zip(page.rows, material.recommendations, strict=True)
    }


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
WIDTH = 1000


def write_figures(page: ReportPage, folder: Path) -> tuple[int, str]:
    """Write every figure; gives how many files, and a line about what could not be made, if anything.

    The HTML files share one plotly.min.js beside them. Pictures are SVG, or PNG where a figure is three-dimensional,
    for white paper.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"figures {folder} can't be created: {error.strerror}.", field="figures") from None
    panels = page.all_panels
    for each in panels:
        path = folder / f"{each.id}.html"
        apply_theme(each.figure, dark=False).write_html(path, include_plotlyjs="directory", full_html=True)
    trouble = _without()
    if trouble or not panels:
        return len(panels), trouble
    try:
        _draw(page, folder)
    except Exception as error:  # whatever a browser says: the HTML files are there and the report is whole
        first = " ".join(str(error).split())[:200] or type(error).__name__
        return len(panels), f"figures were written as HTML only: the browser could not draw them ({first})."
    return 2 * len(panels), ""


def _without() -> str:
    """What is missing for pictures, in one line; empty where nothing is."""
    if importlib.util.find_spec("kaleido") is None:
        return "figures were written as HTML only: kaleido is missing (pip install 'ravenlab[images]')."
    if not (os.environ.get("BROWSER_PATH") or any(shutil.which(name) for name in BROWSERS)):
        return "figures were written as HTML only: kaleido needs Chrome or Chromium, and none was found."
    return ""


def _draw(page: ReportPage, folder: Path) -> None:
    """All pictures with one browser: starting it takes longer than drawing."""
    import plotly.io

    panels = page.all_panels
    drawn, paths = [], []
    for each in panels:
        figure = apply_theme(each.figure, dark=False)
        figure.update_layout(paper_bgcolor="#ffffff")
        drawn.append(figure)
        paths.append(folder / f"{each.id}.{'png' if each.webgl_contexts else 'svg'}")
    plotly.io.write_images(drawn, paths, width=WIDTH)
