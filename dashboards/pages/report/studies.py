"""Sections of the report on grids, searches and robust recommendations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pandas import DataFrame

from dashboards import figures
from dashboards.pages.html import PageTable, Panel, Slugs, make_panel
from dashboards.pages.report.data import GridData, ReportData, StudyData
from environments.text import (
    format_count,
    format_number,
    format_percent,
    format_settings,
    join_words,
    keep_pairs_together,
    plural,
)
from studies.results.describe import describe_front, describe_price, describe_recommendation, describe_robust
from studies.results.grid import Grid
from studies.results.robust import EvaluatedSetting, Front, RobustRecommendation
from studies.spec.grid import GRID_POLICY
from studies.spec.objective import parse_objective
from studies.symbols import format_params

MAX_SUFFIX_LENGTH = 40
MAX_TABLE_CELLS = 100  # larger grids are shown as figures only


@dataclass(frozen=True)
class ReportSection:
    """Section of one grid, search or robust recommendation. `short` is its title in headings and contents."""

    id: str
    title: str
    short: str
    lines: list[str]
    panels: list[Panel]
    table: PageTable | None = None


@dataclass(frozen=True)
class StudyLabel:
    """Fields of a study that distinguish it from other studies in a short title."""

    name: str
    scenario: str
    horizon: int
    arms: int
    settings: Mapping[str, int | float | str] = field(default_factory=dict)
    policy: str = GRID_POLICY

    @property
    def suffix(self) -> str:
        """The part of the name that the other fields do not state: overrides, a hash or a user's own name.

        >>> StudyLabel("raven-ucb/blips/T500/K10/seed=3", "blips", 500, 10).suffix
        'seed=3'
        >>> StudyLabel("compare/blips/T500/K10/raven-ucb", "blips", 500, 10).suffix
        'compare'
        """
        known = ("grid", self.scenario, self.policy, f"T{self.horizon}", f"K{self.arms}")
        parts = []
        for part in self.name.split("/"):
            prefix = next((each for each in known if part == each or part.startswith(f"{each}~")), "")
            parts.append(part.removeprefix(prefix))
        text = " ".join(part for part in parts if part)
        return text if len(text) <= MAX_SUFFIX_LENGTH else f"{text[: MAX_SUFFIX_LENGTH - 1]}…"


def make_short_titles(labels: Sequence[StudyLabel]) -> list[str]:
    """Make unique short titles from scenario and horizon, with further fields only where they are needed.

    >>> labels = [("a", "blips", 500, 10), ("b", "blips", 500, 4), ("c", "periodic", 500, 4)]
    >>> make_short_titles([StudyLabel(*fields) for fields in labels])
    ['blips, T = 500, K = 10', 'blips, T = 500, K = 4', 'periodic, T = 500']
    """
    titles = [f"{_without_hash(label.scenario)}, T = {format_count(label.horizon)}" for label in labels]
    if len({label.policy for label in labels}) > 1:
        titles = [
            title if label.policy == GRID_POLICY else f"{title}, {_without_hash(label.policy)}"
            for title, label in zip(titles, labels, strict=True)
        ]
    for details in (
        [f"K = {label.arms}" for label in labels],
        [format_settings(label.settings) for label in labels],
        [label.suffix for label in labels],
    ):
        by_title = defaultdict(set)
        for title, detail in zip(titles, details, strict=True):
            by_title[title].add(detail)
        titles = [
            f"{title}, {detail}" if detail and len(by_title[title]) > 1 else title
            for title, detail in zip(titles, details, strict=True)
        ]
    return titles


def _without_hash(name: str) -> str:
    return name.partition("~")[0]


def make_grid_sections(data: ReportData, slugs: Slugs) -> list[ReportSection]:
    """Make one section per grid."""
    specs = [(part.grid.study, part.grid.spec) for part in data.grids]
    labels = [StudyLabel(name, spec.scenario, spec.horizon, spec.arms, spec.settings) for name, spec in specs]
    return [
        _grid_section(part, title, slugs) for part, title in zip(data.grids, make_short_titles(labels), strict=True)
    ]


def _grid_section(part: GridData, title: str, slugs: Slugs) -> ReportSection:
    grid, spec = part.grid, part.grid.spec
    drawn = {
        "map": figures.plot_heat_map(grid, part.recommendation, part.played),
        "lines": figures.plot_sensitivity_lines(grid),
    }
    if min(grid.mean.shape) > 1:
        drawn["surface"] = figures.plot_surface(grid)
    if part.samples:
        drawn["distributions"] = figures.plot_distributions(
            part.samples, scenario=spec.scenario, horizon=spec.horizon, arms=spec.arms
        )
    i, j = grid.best
    line = (
        f"Lowest mean regret: {format_number(float(grid.mean[i, j]))} ± {format_number(float(grid.stderr[i, j]))}"
        f" (standard error) at α₀ = {format_number(spec.alpha0[i])}, β₀ = {format_number(spec.beta0[j])}."
        f" {_describe_other_cells(grid)} {format_count(spec.replications)} worlds per cell,"
        f" ε = {format_number(spec.epsilon)}."
    )
    return ReportSection(
        id=slugs.new(grid.study),
        title=grid.study,
        short=title,
        lines=[line],
        panels=[make_panel(slugs, f"{kind} {grid.study}", figure) for kind, figure in drawn.items()],
        table=_grid_table(grid) if grid.mean.size <= MAX_TABLE_CELLS else None,
    )


def _describe_other_cells(grid: Grid) -> str:
    others, close = grid.mean.size - 1, int(grid.indistinguishable.sum()) - 1
    if not others:
        return "The grid has no other cell."
    if not close:
        return "All other cells are significantly worse."
    verb = "is" if close == 1 else "are"
    return f"{close:,} of the other {others:,} cells {verb} statistically indistinguishable from it."


def _grid_table(grid: Grid) -> PageTable:
    spec = grid.spec
    rows = []
    for i, alpha0 in enumerate(spec.alpha0):
        cells = [
            f"{format_number(float(grid.mean[i, j]))} ± {format_number(float(grid.stderr[i, j]))}"
            f"{'*' if grid.indistinguishable[i, j] else ''}"
            for j in range(len(spec.beta0))
        ]
        rows.append([f"α₀ = {format_number(alpha0)}", *cells])
    columns = ["", *(f"β₀ = {format_number(beta0)}" for beta0 in spec.beta0)]
    caption = "Mean regret ± standard error (*: statistically indistinguishable from the best cell)"
    return PageTable(caption, DataFrame(rows, columns=columns))


def make_search_sections(data: ReportData, ids: Mapping[str, str], slugs: Slugs) -> list[ReportSection]:
    """Make one section per search; `ids` are the slugs of the studies."""
    labels = [
        StudyLabel(
            study.name,
            study.spec.scenario,
            study.spec.horizon,
            study.spec.arms,
            study.spec.settings,
            study.spec.policy,
        )
        for study in data.studies
    ]
    return [
        _search_section(study, title, f"search-{ids[study.name]}", slugs)
        for study, title in zip(data.studies, make_short_titles(labels), strict=True)
    ]


def _search_section(study: StudyData, title: str, link: str, slugs: Slugs) -> ReportSection:
    spec, trials, recommendation = study.spec, study.trials, study.recommendation
    pruned = f" ({format_count(trials.pruned)} pruned)" if trials.pruned else ""
    failed = f"; {format_count(trials.failed)} failed" if trials.failed else ""
    progress = [
        f"{format_count(trials.finished)} of {plural(spec.trials, 'trial')}{pruned}{failed},"
        f" {format_count(spec.replications)} worlds per trial. Sampler: {spec.sampler}. Pruner: {spec.pruner}."
        f" Objective: {spec.objective}."
    ]
    if recommendation is not None:
        lines = describe_recommendation(recommendation) + progress
    else:
        lines = [*progress, study.missing, *_describe_best_trial(study)]
    panels = []
    if trials.drawn:
        states = {"COMPLETE": trials.complete, "PRUNED": trials.pruned}
        history = figures.plot_search_history(trials.drawn, recommendation, spec, states)
        panels.append(make_panel(slugs, f"history {study.name}", history))
    if recommendation is not None and recommendation.importance:
        importances = figures.plot_param_importances(recommendation)
        panels.append(make_panel(slugs, f"importances {study.name}", importances))
    return ReportSection(link, study.name, title, lines, panels)


def _describe_best_trial(study: StudyData) -> list[str]:
    """Describe the best trial of a study without a recommendation, with a warning."""
    complete = [
        (point.value, point) for point in study.trials.drawn if point.state == "COMPLETE" and point.value is not None
    ]
    if not complete:
        return []
    choose = max if parse_objective(study.spec.objective).maximize else min
    value, best = choose(complete, key=lambda pair: pair[0])
    return [
        f"Best trial so far: {format_params(best.params)} with {study.spec.objective} {format_number(value)}. This"
        " value is optimistically biased, because it is the best of many noisy values."
    ]


def make_robust_sections(data: ReportData, slugs: Slugs) -> list[ReportSection]:
    """Make one section per search over several scenarios."""
    return [_robust_section(result, slugs) for result in data.robust]


def _robust_section(result: RobustRecommendation | Front, slugs: Slugs) -> ReportSection:
    short = f"{join_words(result.scenarios, 'and')}, T = {format_count(result.horizon)}"
    if isinstance(result, Front):
        short += " (Pareto front)"
        lines, settings = describe_front(result), list[EvaluatedSetting](result.kept())
        figure = figures.plot_pareto_front(result)
    else:
        first, second, *rest = describe_robust(result)
        lines, settings = [second, first, *rest], result.contenders
        figure = figures.plot_prices(result)
    link = slugs.new(result.study)
    panels = [make_panel(slugs, f"worlds {result.study}", figure)]
    return ReportSection(link, result.study, short, lines, panels, _robust_table(result.scenarios, settings))


def _robust_table(scenarios: list[str], settings: list[EvaluatedSetting]) -> PageTable:
    rows = []
    for setting in settings:
        cells = [
            f"{format_number(world.regret.mean)} ({format_percent(world.price.mean)},"
            f" {format_percent(world.price.low)} to {format_percent(world.price.high)})"
            for world in setting.worlds
        ]
        rows.append([setting.name, keep_pairs_together(format_params(setting.params)), *cells])
    caption = "Mean regret; in parentheses the excess over the tuned setting with its 95 % confidence interval"
    return PageTable(caption, DataFrame(rows, columns=["setting", "parameters", *scenarios]))


def summarize_robust(result: RobustRecommendation) -> str:
    """Summarize a robust recommendation in one sentence."""
    return (
        f"{result.policy} with {format_params(result.params)} for {join_words(result.scenarios, 'and')} at"
        f" T = {format_count(result.horizon)}. {describe_price(result)}"
    )
