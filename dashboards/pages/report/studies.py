"""Sections of the report on studies, grids and robust recommendations."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ravenlab.common.cells import Cell
from ravenlab.common.documents import Table
from ravenlab.common.text import (
    format_count,
    format_ends,
    format_number,
    format_percent,
    format_settings,
    join_words,
    plural,
)
from ravenlab.dashboards import figures
from ravenlab.dashboards.pages.html import Panel, Slugs, make_panel
from ravenlab.dashboards.pages.report.data import ORACLE, Curves, GridData, ReportData, StudyData
from ravenlab.dashboards.pages.report.maps import HEIGHT, StudyMap, draw_map
from ravenlab.dashboards.pages.report.tally import list_decisions
from ravenlab.studies.results.baselines import TITLES
from ravenlab.studies.results.describe_recommendation import (
    describe_recommendation,
    describe_robust,
    list_contenders,
    name_defaults,
)
from ravenlab.studies.results.grid import Grid
from ravenlab.studies.results.robust import EvaluatedSetting, RobustRecommendation
from ravenlab.studies.spec.grid import GRID_POLICY
from ravenlab.studies.spec.source import TraceSource
from ravenlab.studies.statistics.intervals import relative_interval
from ravenlab.studies.symbols import format_params, list_values

MAX_SUFFIX_LENGTH = 40
MAX_TABLE_CELLS = 100  # larger grids are shown as figures only


@dataclass(frozen=True)
class ReportSection:
    """Section of one study, grid or robust recommendation; `title` is short, for headings and contents."""

    id: str
    name: str
    title: str
    lines: list[str]
    panels: list[Panel]
    """Figures whose hover marks are linked, if there are several of the same parameters."""
    filters: dict[str, list[str]]
    """Values of the filters under which the section is shown."""
    table: Table | None = None
    more: list[Panel] = field(default_factory=list)
    """Further figures."""
    map: StudyMap | None = None
    """The sensitivity map of a study, its first picture."""

    @property
    def all_panels(self) -> list[Panel]:
        """All figures in the order of the page."""
        return [*([] if self.map is None else self.map.panels), *self.panels, *self.more]


@dataclass(frozen=True)
class StudyLabel:
    """Fields of a study that distinguish it from other studies in a short title."""

    name: str
    scenario: str
    horizon: int
    arms: int
    settings: Mapping[str, int | float | str] = field(default_factory=dict)
    policy: str = GRID_POLICY
    seed: int = 0
    kind: str = "scenario"
    """Kind of the source of rewards: scenario, trace or log."""

    @property
    def size(self) -> str:
        """The horizon in the terms of the source; empty for a log, which has no choice of it."""
        sizes = {"trace": f"window {format_count(self.horizon)}", "log": ""}
        return sizes.get(self.kind, f"T = {format_count(self.horizon)}")

    @property
    def suffix(self) -> str:
        """The part of the name that the other fields do not state: overrides, a hash or a user's own name.

        >>> StudyLabel("raven-ucb/blips/T500/K10/trials=30,seed=3", "blips", 500, 10, seed=3).suffix
        'trials=30'
        >>> StudyLabel("compare/blips/T500/K10/raven-ucb", "blips", 500, 10).suffix
        'compare'
        """
        known = ("grid", self.scenario, self.policy, f"T{self.horizon}", f"K{self.arms}")
        parts = []
        for part in self.name.split("/"):
            prefix = next((each for each in known if part == each or part.startswith(f"{each}~")), "")
            left = part.removeprefix(prefix).split(",")
            parts.append(",".join(each for each in left if each != f"seed={self.seed}"))
        text = " ".join(part for part in parts if part)
        return text if len(text) <= MAX_SUFFIX_LENGTH else f"{text[: MAX_SUFFIX_LENGTH - 1]}…"


def make_short_titles(labels: Sequence[StudyLabel]) -> list[str]:
    """Make unique short titles from scenario and horizon, with further fields only where titles would be the same.

    >>> labels = [("a", "blips", 500, 10), ("b", "blips", 500, 4), ("c", "periodic", 500, 4)]
    >>> make_short_titles([StudyLabel(*fields) for fields in labels])
    ['blips, T = 500, K = 10', 'blips, T = 500, K = 4', 'periodic, T = 500']
    >>> make_short_titles([StudyLabel("a", "blips", 500, 10, seed=seed) for seed in (0, 3)])
    ['blips, T = 500, seed 0', 'blips, T = 500, seed 3']
    """
    titles = [", ".join(filter(None, (_without_hash(label.scenario), label.size))) for label in labels]
    if len({label.policy for label in labels}) > 1:
        titles = [
            title if label.policy == GRID_POLICY else f"{title}, {_without_hash(label.policy)}"
            for title, label in zip(titles, labels, strict=True)
        ]
    for details in (
        [f"K = {label.arms}" for label in labels],
        [format_settings(label.settings) for label in labels],
        [f"seed {label.seed}" for label in labels],
        [label.suffix for label in labels],
        [label.name for label in labels],
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
    """Make one section per grid, except for grids of the same problem as a study, which are in its section."""
    recommendations = data.recommendations
    parts = [part for part in data.grids if not any(part.recommendation is each for each in recommendations)]
    specs = [(part.grid.study, part.grid.spec) for part in parts]
    labels = [
        StudyLabel(name, spec.scenario, spec.horizon, spec.arms, spec.settings, seed=spec.seed) for name, spec in specs
    ]
    sections = []
    for part, title in zip(parts, make_short_titles(labels), strict=True):
        grid = part.grid
        spec = part.grid.spec
        panels, more = _draw_grid(part, slugs)
        filters = make_filters([spec.scenario], spec.horizon, GRID_POLICY)
        link = slugs.new(grid.study)
        sections.append(
            ReportSection(link, grid.study, title, _describe_grid(grid), panels, filters, _grid_table(grid), more=more)
        )
    return sections


def make_filters(
    scenarios: Sequence[str], horizon: int, policy: str, decisions: Sequence[str] = ()
) -> dict[str, list[str]]:
    """Return the values of the filters under which a study is shown; a grid has no decision."""
    return {
        "scenario": list(scenarios),
        "horizon": [format_count(horizon)],
        "policy": [policy],
        "decision": list(decisions),
    }


def _draw_grid(part: GridData, slugs: Slugs) -> tuple[list[Panel], list[Panel]]:
    """Draw a grid: the heat map and the lines, and further figures."""
    grid = part.grid
    spec = part.grid.spec
    heat_map = figures.plot_heat_map(grid, part.recommendation, part.played)
    lines = figures.plot_sensitivity_lines(grid, part.recommendation, part.played)
    panels = [
        make_panel(slugs, f"map {grid.study}", heat_map, height=HEIGHT),
        make_panel(slugs, f"lines {grid.study}", lines, height=HEIGHT),
    ]
    more = []
    if part.samples:
        boxes = figures.plot_distributions(part.samples, scenario=spec.scenario, horizon=spec.horizon, arms=spec.arms)
        more.append(make_panel(slugs, f"distributions {grid.study}", boxes))
    return panels, more


def _describe_grid(grid: Grid) -> list[str]:
    return grid.to_document().leading


def _grid_table(grid: Grid) -> Table | None:
    if grid.mean.size > MAX_TABLE_CELLS:
        return None
    spec = grid.spec
    rows = []
    for i, alpha0 in enumerate(spec.alpha0):
        cells = [
            f"{format_number(float(grid.mean[i, j]))} ± {format_number(float(grid.stderr[i, j]))}"
            f"{'*' if grid.indistinguishable[i, j] else ''}"
            for j in range(len(spec.beta0))
        ]
        rows.append([format_number(alpha0), *cells])
    columns = ["α₀", *(f"β₀ = {format_number(beta0)}" for beta0 in spec.beta0)]
    caption = "Mean regret ± standard error (*: statistically indistinguishable from the best cell)"
    return Table(columns, rows, caption, text=None)


def make_study_sections(data: ReportData, ids: Mapping[str, str], slugs: Slugs) -> list[ReportSection]:
    """Make one section per study; `ids` are the ids of the sections by name."""
    labels = []
    for study in data.studies:
        spec = study.spec
        kind = "scenario" if study.keeps_state else spec.source.kind
        labels.append(
            StudyLabel(
                study.name, study.where, spec.horizon, spec.arms, spec.settings, spec.policy, spec.seed, kind=kind
            )
        )
    return [
        _study_section(study, title, ids[study.name], data.grids, slugs)
        for study, title in zip(data.studies, make_short_titles(labels), strict=True)
    ]


def _study_section(study: StudyData, title: str, link: str, grids: Sequence[GridData], slugs: Slugs) -> ReportSection:
    spec = study.spec
    trials = study.trials
    recommendation = study.recommendation
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
    panels: list[Panel] = []
    more: list[Panel] = []
    table = None
    for part in grids:
        if recommendation is not None and part.recommendation is recommendation:
            linked, further = _draw_grid(part, slugs)
            panels += linked
            more += further
            lines += _describe_grid(part.grid)
            table = _grid_table(part.grid) if table is None else table
    if study.curves is not None:
        defaults = "defaults" if recommendation is None else name_defaults(recommendation)
        panels.append(_draw_curves(study, study.curves, defaults, slugs))
        lines += _describe_oracle(study.curves, defaults, spec.seed)
    return ReportSection(
        link,
        study.name,
        title,
        lines,
        panels,
        make_filters([study.where], spec.horizon, spec.policy, list_decisions(recommendation)),
        table,
        more,
        None if recommendation is None else draw_map(recommendation, slugs),
    )


def _draw_curves(study: StudyData, curves: Curves, defaults: str, slugs: Slugs) -> Panel:
    """Draw regret over time; without bands on a trace, because its windows overlap."""
    names = TITLES | {"defaults": f"the {defaults}", ORACLE: f"{defaults}, restarted at the true changes"}
    figure = figures.plot_curves(
        [replace(each, scenario=study.where) for each in curves.simulations.values()],
        curves.changes,
        [names.get(name, name) for name in curves.simulations],
        costs=study.spec.minimize,
        bands=not isinstance(study.spec.source, TraceSource),
    )
    return make_panel(slugs, f"curves {study.name}", figure, height=HEIGHT)


def _describe_oracle(curves: Curves, defaults: str, seed: int) -> list[str]:
    """Describe how much of the regret of the recommended parameters knowing the true changes would avoid."""
    oracle = curves.simulations.get(ORACLE)
    recommended = curves.simulations["recommended"]
    if oracle is None or recommended.regret.mean() <= 0.0:
        return []
    excess = relative_interval(oracle.regret, recommended.regret, seed)
    who = f"An oracle that restarts {recommended.policy}, at its {defaults}, at the true changes"
    worlds = plural(oracle.regret.size, "simulated world")
    side = "less" if excess.mean < 0.0 else "more"
    difference = -excess if excess.mean < 0.0 else excess
    noise = "" if excess.excludes_zero else ", which is within sampling noise"
    interval = f"95 % CI {format_ends(difference, format_percent)}"
    return [f"{who} has {format_percent(difference.mean)} {side} regret ({interval}; {worlds}){noise}."]


def _describe_best_trial(study: StudyData) -> list[str]:
    """Describe the best trial of a study without a recommendation, with a warning."""
    best = study.trials.best
    if best is None:
        return []
    return [
        f"Best trial so far: {format_params(best.params)} with {study.spec.objective} {format_number(best.value)}. This"
        " value is optimistically biased, because it is the best of many noisy values."
    ]


def make_robust_sections(data: ReportData, slugs: Slugs) -> list[ReportSection]:
    """Make one section per search over several scenarios."""
    return [_robust_section(result, slugs) for result in data.robust]


def _robust_section(result: RobustRecommendation, slugs: Slugs) -> ReportSection:
    short = f"{join_words(result.scenarios, 'and')}, T = {format_count(result.horizon)}"
    lines = describe_robust(result)
    link = slugs.new(result.study)
    panels = [make_panel(slugs, f"worlds {result.study}", figures.plot_prices(result))]
    filters = make_filters(result.scenarios, result.horizon, result.policy, list_decisions(result))
    table = _robust_table(result.scenarios, list_contenders(result))
    return ReportSection(link, result.study, short, lines, panels, filters, table)


def _robust_table(scenarios: list[str], settings: list[EvaluatedSetting]) -> Table:
    rows: list[list[Cell]] = []
    for setting in settings:
        cells = [
            f"{format_number(world.regret.mean)} ({format_percent(world.price.mean)},"
            f" {format_ends(world.price, format_percent)})"
            for world in setting.worlds
        ]
        rows.append([setting.name, list_values(setting.params), *cells])
    caption = "Mean regret; in parentheses the excess over the tuned setting with its 95 % confidence interval"
    return Table(["setting", "parameters", *scenarios], rows, caption, text=None)
