"""The page before it is HTML."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from pandas import DataFrame

from dashboards import figures
from dashboards.pages.html import ContentsEntry, PageTable, Panel, Slugs, make_panel, render_page
from environments.text import capitalize_first, format_count, keep_pairs_together
from studies.export.comparison import (
    ComparisonDocument,
    TextTable,
    board_table,
    order_by_relative_regret,
    overview_table,
)
from studies.results.comparison import (
    SETTINGS,
    ComparisonResult,
    Leaderboard,
    describe_overview,
    describe_result,
    describe_search,
)
from studies.spec.comparison import ComparisonSpec
from studies.storage.keys import project_version


@dataclass(frozen=True)
class BoardPart:
    """One board: its table and pictures."""

    id: str
    title: str
    table: PageTable
    panels: list[Panel]


@dataclass(frozen=True)
class WorldPart:
    """What was found in one world."""

    id: str
    title: str
    meaning: str
    found: list[str]
    note: str | None
    standings: Panel
    boards: list[BoardPart]
    command: str


@dataclass(frozen=True)
class ComparisonPage:
    """All that the template shows."""

    title: str
    subtitle: str
    version: str
    lead: list[str]
    overview: PageTable | None
    winners: Panel | None
    worlds: list[WorldPart]
    contents: list[ContentsEntry]

    @property
    def all_panels(self) -> list[Panel]:
        """Every figure in the order of the page."""
        found = [] if self.winners is None else [self.winners]
        for world in self.worlds:
            found += [world.standings, *(each for board in world.boards for each in board.panels)]
        return found


def build(document: ComparisonDocument) -> ComparisonPage:
    """Draw the figures and write the words."""
    slugs, results = Slugs(), document.results
    several = len(results) > 1
    winners = make_panel(slugs, "who-wins-where", figures.plot_relative_regret(results)) if several else None
    order = order_by_relative_regret(results)
    worlds = [_world(slugs, result, order) for result in results]
    policies = len(results[0].comparison.spec.policies)
    contents = [
        ContentsEntry(part.id, part.title, [ContentsEntry(board.id, board.title) for board in part.boards])
        for part in worlds
    ]
    return ComparisonPage(
        title="Comparison of policies"
        if several
        else f"Comparison of policies in {results[0].comparison.spec.scenario}",
        subtitle=_subtitle(results, policies),
        version=project_version(),
        lead=[describe_overview(results)] if several else describe_result(results[0]),
        overview=_page_table(overview_table(results)) if several else None,
        winners=winners,
        worlds=worlds,
        contents=[ContentsEntry("result", "Result"), *contents, ContentsEntry("method", "Method")],
    )


def _subtitle(results: Sequence[ComparisonResult], policies: int) -> str:
    spec = results[0].comparison.spec
    where = f"T = {spec.horizon:,} steps, K = {spec.arms} arms"
    if len(results) > 1:
        where = f"{len(results)} scenarios and horizons"
    tuned = f"{format_count(spec.tune)} trials per policy, " if spec.tune else ""
    return f"{policies} policies, {tuned}{where}, {format_count(spec.replications)} worlds per case, seed {spec.seed}"


def _world(slugs: Slugs, result: ComparisonResult, order: Sequence[str]) -> WorldPart:
    """`order` gives every policy one look on the whole page."""
    spec = result.comparison.spec
    name = slugs.new(result.label)
    boards = []
    for board in result.boards:
        drawn = [
            make_panel(slugs, f"{name}-{board.setting}-over-time", figures.plot_comparison_curves(result, board, order))
        ]
        if board.ranks is not None:
            ranks = figures.plot_critical_difference(result, board, order)
            drawn.append(make_panel(slugs, f"{name}-{board.setting}-ranks", ranks))
        boards.append(
            BoardPart(
                id=slugs.new(f"{name}-{board.setting}"),
                title=capitalize_first(SETTINGS[board.setting]),
                table=_table(result, board),
                panels=drawn,
            )
        )
    return WorldPart(
        id=name,
        title=f"{spec.scenario}, T = {spec.horizon:,}, K = {spec.arms}",
        meaning=spec.open_scenario().meaning,
        found=describe_result(result),
        note=describe_search(result),
        standings=make_panel(slugs, f"{name}-standings", figures.plot_standings(result, order)),
        boards=boards,
        command=_command(spec),
    )


def _table(result: ComparisonResult, board: Leaderboard) -> PageTable:
    """The board's table; its last column, the parameters, breaks between them only."""
    table = board_table(result, board, timed=True)
    page_table = _page_table(table)
    page_table.frame["Parameters"] = page_table.frame["Parameters"].map(keep_pairs_together)
    return page_table


def _page_table(table: TextTable) -> PageTable:
    return PageTable(table.caption, DataFrame(list(table.rows), columns=list(table.columns)))


def _command(spec: ComparisonSpec) -> str:
    """What makes this very comparison again."""
    options = {
        "horizon": spec.horizon,
        "arms": spec.arms,
        "policies": ",".join(spec.policies),
        "tune": spec.tune,
        "replications": spec.replications,
        "search-replications": spec.search_replications,
        "seed": spec.seed,
    }
    words = ["ravenlab", "compare", spec.scenario]
    words += [word for name, value in options.items() for word in (f"--{name}", str(value))]
    words += [word for key, value in spec.settings.items() for word in ("--set", f"{key}={value}")]
    return shlex.join([*words, *([] if spec.name is None else ["--name", spec.name])])


def render_comparison(document: ComparisonDocument) -> str:
    """The text of `compare.html`: one file that asks nothing of any network."""
    page = build(document)
    return render_page("comparison", page.all_panels, page=page)
