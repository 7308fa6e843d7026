"""Short names of studies: what the contents and the headings call them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pandas import DataFrame

from dashboards import figures
from dashboards.pages.html import PageTable, Panel, Slugs, make_panel
from dashboards.pages.report.data import GridPart, ReportData, StudyPart, recommended_in
from dashboards.pages.sections import GridSection, SearchSection
from environments.text import (
    format_count,
    format_number,
    format_percent,
    format_settings,
    join_words,
    keep_pairs_together,
)
from studies.results.describe import describe_front, describe_price, describe_recommendation, describe_robust
from studies.results.grid import Grid
from studies.results.recommendation import Recommendation
from studies.results.robust import EvaluatedSetting, Front, RobustRecommendation
from studies.spec.objective import parse_objective
from studies.symbols import format_params

OURS = "raven-ucb"
"""The policy that goes without saying."""

LONGEST = 24
"""Letters of a name that someone gave."""


@dataclass(frozen=True)
class Titled:
    """What there is to say of a study in its title."""

    name: str
    scenario: str
    horizon: int | None
    arms: int | None
    settings: Mapping[str, int | float | str] = field(default_factory=dict)
    policy: str = OURS

    @property
    def own(self) -> str:
        """What its name says beyond the other fields: a hash, or what someone called it.

        >>> Titled("raven-ucb/blips/T500/K10~1a2b", "blips", 500, 10).own
        '~1a2b'
        >>> Titled("compare/blips/T500/K10/raven-ucb", "blips", 500, 10).own
        'compare'
        """
        known = ("grid", self.scenario, self.policy, f"T{self.horizon}", f"K{self.arms}")
        parts = []
        for part in self.name.split("/"):
            said = next((each for each in known if part == each or part.startswith(f"{each}~")), "")
            parts.append(part.removeprefix(said))
        text = " ".join(part for part in parts if part)
        return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def short_titles(studies: Sequence[Titled]) -> list[str]:
    """Scenario and horizon of each, and its policy where it is one of several and not RAVEN-UCB itself.

    Those that would read alike also say what tells them apart.

    >>> short_titles([Titled("a", "blips", 500, 10), Titled("b", "blips", 500, 4), Titled("c", "periodic", 500, 4)])
    ['blips, T = 500, K = 10', 'blips, T = 500, K = 4', 'periodic, T = 500']
    """
    titles = [f"{_plain(each.scenario)}, T = {each.horizon or 0:,}" for each in studies]
    several = len({each.policy for each in studies}) > 1
    titles = [
        f"{title}, {_plain(each.policy)}" if several and each.policy != OURS else title
        for title, each in zip(titles, studies, strict=True)
    ]
    for more in (
        [f"K = {each.arms}" for each in studies],
        [format_settings(each.settings) for each in studies],
        [each.own for each in studies],
    ):
        apart = defaultdict(set)
        for title, said in zip(titles, more, strict=True):
            apart[title].add(said)
        titles = [
            f"{title}, {said}" if said and len(apart[title]) > 1 else title
            for title, said in zip(titles, more, strict=True)
        ]
    return titles


def _plain(name: str) -> str:
    """Without the hash of its user's own."""
    return name.partition("~")[0]


MOST_CELLS = 100
"""Grids of at most so many cells are also written out as a table."""


def grid_sections(material: ReportData, slugs: Slugs) -> list[GridSection]:
    """A section a grid."""
    titles = short_titles([_titled(part.grid) for part in material.grids])
    return [
        _grid(part, title, material.recommendations, slugs) for part, title in zip(material.grids, titles, strict=True)
    ]


def _titled(grid: Grid) -> Titled:
    spec = grid.spec
    return Titled(grid.study, spec.scenario, spec.horizon, spec.arms, spec.settings)


def _grid(part: GridPart, title: str, found: list[Recommendation], slugs: Slugs) -> GridSection:
    grid, name = part.grid, part.grid.study
    spec = grid.spec
    drawn = {
        "map": figures.plot_heat_map(grid, recommended_in(spec, found)),
        "lines": figures.plot_sensitivity_lines(grid),
        "surface": figures.plot_surface(grid),
    }
    if min(grid.mean.shape) < 2:
        del drawn["surface"]
    if part.samples:
        drawn["distributions"] = figures.plot_distributions(
            part.samples, scenario=spec.scenario, horizon=spec.horizon, arms=spec.arms
        )
    first, second = grid.best
    lines = [
        f"Lowest mean regret {format_number(float(grid.mean[first, second]))} ± {grid.stderr[first, second]:.2g}"
        f" (standard error) at α₀ {format_number(spec.alpha0[first])}, β₀ {format_number(spec.beta0[second])};"
        f" {_others(grid)}. {spec.replications:,} worlds a cell, ε {format_number(spec.epsilon)}."
    ]
    return GridSection(
        id=slugs.new(name),
        title=name,
        short=title,
        lines=lines,
        panels=[make_panel(slugs, f"{kind} {name}", figure) for kind, figure in drawn.items()],
        table=_numbers(grid) if grid.mean.size <= MOST_CELLS else None,
    )


def _others(grid: Grid) -> str:
    """How the other cells stand to the best."""
    others, among = grid.mean.size - 1, int(grid.indistinguishable.sum()) - 1
    if not others:
        return "there is no other cell"
    if not among:
        return "all other cells are worse and can be told from it"
    return f"{among} of the other {others} cells can't be told from it"


def _numbers(grid: Grid) -> PageTable:
    spec = grid.spec
    rows = []
    for i, alpha0 in enumerate(spec.alpha0):
        cells = [
            f"{format_number(float(grid.mean[i, j]))} ±"
            f" {grid.stderr[i, j]:.2g}{'*' if grid.indistinguishable[i, j] else ''}"
            for j in range(len(spec.beta0))
        ]
        rows.append([f"α₀ {format_number(alpha0)}", *cells])
    columns = ["", *(f"β₀ {format_number(beta0)}" for beta0 in spec.beta0)]
    caption = "Mean regret ± standard error; * can't be told from the best cell"
    return PageTable(caption, DataFrame(rows, columns=columns))


def search_sections(material: ReportData, ids: dict[str, str], slugs: Slugs) -> list[SearchSection]:
    """A section a study."""
    titles = short_titles([_search_sections_titled(part) for part in material.studies])
    return [
        _search(part, title, f"search-{ids[part.name]}", slugs)
        for part, title in zip(material.studies, titles, strict=True)
    ]


def _search_sections_titled(part: StudyPart) -> Titled:
    spec = part.spec
    return Titled(part.name, spec.scenario, spec.horizon, spec.arms, spec.settings, spec.policy)


def _search(part: StudyPart, title: str, link: str, slugs: Slugs) -> SearchSection:
    spec, trials, found = part.spec, part.trials, part.recommendation
    pruned = f", {trials.pruned} of them pruned" if trials.pruned else ""
    failed = f"; {trials.failed} failed" if trials.failed else ""
    lines = [
        f"{trials.finished} of {spec.trials:,} trials{pruned}{failed}, {spec.replications:,} worlds each, sampler"
        f" {spec.sampler}, pruner {spec.pruner}, objective {spec.objective}."
    ]
    panels = []
    if found is not None:
        lines += describe_recommendation(found)
    elif part.missing:
        lines.append(part.missing)
        lines += _so_far(part)
    if trials.shown:
        drawn = figures.plot_search_history(
            trials.shown, found, spec, {"COMPLETE": trials.complete, "PRUNED": trials.pruned}
        )
        panels.append(make_panel(slugs, f"history {part.name}", drawn))
    if found is not None and found.importance:
        panels.append(make_panel(slugs, f"importances {part.name}", figures.plot_param_importances(found)))
    return SearchSection(link, part.name, title, lines, panels)


def _so_far(part: StudyPart) -> list[str]:
    """The best trial of a study without a recommendation, with a warning."""
    complete = [point for point in part.trials.shown if point.state == "COMPLETE" and point.value is not None]
    if not complete:
        return []
    choose = max if parse_objective(part.spec.objective).maximize else min
    best = choose(complete, key=lambda point: point.value or 0.0)
    return [
        f"Its best trial so far: {format_params(best.params)} with {format_number(best.value or 0.0)}"
        f" ({part.spec.objective});"
        " too good to be true, as the best of a search always is."
    ]


@dataclass(frozen=True)
class WorldsSection:
    """One setting for several scenarios, or their front."""

    id: str
    title: str
    short: str
    lines: list[str]
    panels: list[Panel]
    table: PageTable


def said_of(found: RobustRecommendation) -> str:
    """The summary's sentence."""
    return (
        f"{found.policy} with {format_params(found.params)}, for {join_words(found.scenarios)} at"
        f" T = {format_count(found.horizon)}. {describe_price(found)}"
    )


def worlds_sections(material: ReportData, slugs: Slugs) -> list[WorldsSection]:
    """A section a search."""
    return [_section(each, slugs) for each in material.over_worlds]


def _section(found: RobustRecommendation | Front, slugs: Slugs) -> WorldsSection:
    name = f"{join_words(found.scenarios)}, T = {format_count(found.horizon)}"
    if isinstance(found, Front):
        lines, settings, drawn = (
            describe_front(found),
            list[EvaluatedSetting](found.kept()),
            figures.plot_pareto_front(found),
        )
        name += " (front)"
    else:
        lines, settings, drawn = describe_robust(found), found.contenders, figures.plot_prices(found)
        lines = [lines[1], lines[0], *lines[2:]]
    link = slugs.new(found.study)
    panels = [make_panel(slugs, f"worlds {found.study}", drawn)]
    return WorldsSection(link, found.study, name, lines, panels, _worlds_numbers(found.scenarios, settings))


def _worlds_numbers(scenarios: list[str], settings: list[EvaluatedSetting]) -> PageTable:
    rows = []
    for each in settings:
        cells = [
            f"{format_number(world.regret.mean)} ({format_percent(world.price.mean)},"
            f" {format_percent(world.price.low)} to {format_percent(world.price.high)})"
            for world in each.worlds
        ]
        rows.append([each.name, keep_pairs_together(format_params(each.params)), *cells])
    columns = ["setting", "parameters", *scenarios]
    caption = "Mean regret, with the price and its 95 % confidence interval in parentheses"
    return PageTable(caption, DataFrame(rows, columns=columns))
