"""The comparison page: an overview, then one section per scenario and horizon."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ravenlab.common.documents import Table
from ravenlab.common.text import capitalize_first, format_count, format_range
from ravenlab.dashboards import figures
from ravenlab.dashboards.pages.html import ContentsEntry, Panel, Slugs, make_panel, render_page
from ravenlab.studies.export.comparison import ComparisonDocument
from ravenlab.studies.results.comparison import ComparisonResult
from ravenlab.studies.results.describe_comparison import (
    board_table,
    comparison_card,
    describe_overview,
    describe_result,
    describe_search,
    no_tuning_table,
    order_by_relative_regret,
    overview_table,
)
from ravenlab.studies.spec.comparison import ComparisonSpec
from ravenlab.studies.spec.source import LogSource, ScenarioSource, TraceSource
from ravenlab.studies.storage.keys import project_version


@dataclass(frozen=True)
class BoardSection:
    """Leaderboard of one setting with its table and figures."""

    id: str
    title: str
    table: Table
    panels: list[Panel]


@dataclass(frozen=True)
class CaseSection:
    """Results in one scenario at one horizon."""

    id: str
    title: str
    meaning: str
    answer: str
    results: list[str]
    note: str | None
    ranking: Panel
    standings: Panel
    boards: list[BoardSection]
    command: str


@dataclass(frozen=True)
class ComparisonPage:
    """Everything that the template shows."""

    title: str
    subtitle: str
    version: str
    lead: str
    overview: Table | None
    no_tuning: Table | None
    """Policies that are not tuned, relative to the best tuned one."""
    winners: Panel | None
    cases: list[CaseSection]
    kind: str
    """Kind of the source of rewards: scenario, trace or log."""
    contents: list[ContentsEntry]

    @property
    def all_panels(self) -> list[Panel]:
        """All figures in the order of the page."""
        panels = [] if self.winners is None else [self.winners]
        for case in self.cases:
            panels += [case.ranking, case.standings, *(panel for board in case.boards for panel in board.panels)]
        return panels


def build_comparison(document: ComparisonDocument) -> ComparisonPage:
    """Build the page: draw the figures and write the text."""
    slugs = Slugs()
    results = document.results
    several = len(results) > 1
    winners = make_panel(slugs, "relative-regret", figures.plot_relative_regret(results)) if several else None
    order = order_by_relative_regret(results)
    cases = [_case_section(slugs, result, order) for result in results]
    policies = len(results[0].comparison.spec.policies)
    contents = [
        ContentsEntry(case.id, case.title, [ContentsEntry(board.id, board.title) for board in case.boards])
        for case in cases
    ]
    untuned = no_tuning_table(results)
    return ComparisonPage(
        title="Comparison of policies" + ("" if several else f" in {results[0].comparison.spec.scenario}"),
        subtitle=_subtitle(results, policies),
        version=project_version(),
        lead=describe_overview(results) if several else cases[0].answer,
        overview=overview_table(results) if several else None,
        no_tuning=untuned[0] if untuned else None,
        winners=winners,
        cases=cases,
        kind=results[0].comparison.spec.source.kind,
        contents=[ContentsEntry("result", "Result"), *contents, ContentsEntry("method", "Methods")],
    )


def _subtitle(results: Sequence[ComparisonResult], policies: int) -> str:
    spec = results[0].comparison.spec
    worlds = format_range(result.comparison.worlds for result in results)
    where = f"T = {format_count(spec.horizon)} steps, K = {spec.arms} arms"
    if len(results) > 1:
        where = f"{len(results)} scenarios and horizons"
    tuned = f"{format_count(spec.tune)} trials per policy, " if spec.tune else ""
    return f"{policies} policies, {tuned}{where}, {worlds} {spec.replications_name} per case, seed {spec.seed}"


def _case_section(slugs: Slugs, result: ComparisonResult, order: Sequence[str]) -> CaseSection:
    """Make the section of a case; `order` determines the color of each policy on the whole page."""
    spec = result.comparison.spec
    name = slugs.new(result.label)
    boards = []
    for board in result.boards:
        drawn = []
        if board.best.entry.curve.steps:
            curves = figures.plot_comparison_curves(result, board.setting, order=order)
            drawn.append(make_panel(slugs, f"{name}-{board.setting}-over-time", curves))
        if board.ranks is not None:
            ranks = figures.plot_critical_difference(result, board.setting, order=order)
            drawn.append(make_panel(slugs, f"{name}-{board.setting}-ranks", ranks))
        boards.append(
            BoardSection(
                id=slugs.new(f"{name}-{board.setting}"),
                title=capitalize_first(board.description),
                table=_show_parameters(board_table(result, board)),
                panels=drawn,
            )
        )
    return CaseSection(
        id=name,
        title=f"{spec.scenario}, T = {spec.horizon:,}, K = {spec.arms}",
        meaning=_describe_source(spec),
        answer=_answer(result),
        results=describe_result(result),
        note=describe_search(result),
        ranking=make_panel(slugs, f"{name}-ranking", figures.plot_ranking(result, order=order)),
        standings=make_panel(slugs, f"{name}-standings", figures.plot_standings(result, order=order)),
        boards=boards,
        command=_command(spec),
    )


def _answer(result: ComparisonResult) -> str:
    """State the decision in one sentence."""
    card = comparison_card(result)
    return f"{card.headline}: {card.explanation}" if card.explanation else f"{card.headline}."


def _show_parameters(table: Table) -> Table:
    """Put the parameters beside the policy, and leave out the search budget, which the page states once."""
    rest = [name for name in table.columns if name not in ("Policy", "Parameters", "Search")]
    return table.select("Policy", "Parameters", *rest)


def _describe_source(spec: ComparisonSpec) -> str:
    """Describe where rewards come from, without the final period."""
    match spec.source:
        case ScenarioSource() as source:
            return source.open().meaning
        case TraceSource() as trace:
            return (
                f"Windows of {format_count(spec.horizon)} rows of the trace {Path(trace.path).name}. Policies are"
                " tuned on its first seven tenths and compared on the rest. Regret is relative to the arm that is best"
                " in nearby rows, without the row itself, so it may be negative"
            )
        case LogSource() as log:
            return (
                f"The log {Path(log.path).name}. Policies are tuned on its first seven tenths and compared on the rest."
                " Regret is the mean reward of the logging policy minus that of the policy, so it may be negative"
            )


def _command(spec: ComparisonSpec) -> str:
    """Return the command that reproduces the comparison."""
    options = {
        "horizon": spec.horizon,
        "arms": spec.arms,
        "policies": ",".join(spec.policies),
        "tune": spec.tune,
        "replications": spec.replications,
        "search-replications": spec.search_replications,
        "defaults": spec.defaults,
        "seed": spec.seed,
    }
    words = ["ravenlab", "compare"]
    match spec.source:
        case ScenarioSource() as source:
            words.append(source.name)
        case recorded:
            words += [f"--{recorded.kind}", recorded.path, *(["--minimize"] if recorded.minimize else [])]
            del options["arms"]
            window = options.pop("horizon")
            words += ["--window", str(window)] if recorded.kind == "trace" else []
    words += [word for name, value in options.items() for word in (f"--{name}", str(value))]
    words += [word for key, value in spec.settings.items() for word in ("--set", f"{key}={value}")]
    return shlex.join([*words, *([] if spec.name is None else ["--name", spec.name])])


def render_comparison(document: ComparisonDocument) -> str:
    """Render the comparison as one self-contained HTML file."""
    page = build_comparison(document)
    return render_page("comparison", page.all_panels, page=page)
