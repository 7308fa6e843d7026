"""The sections of the page, each with its words and figures."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field

from dashboards import figures
from dashboards.report.definitions import Definition, define, settings_in_words
from dashboards.report.gather import GridPart, Material, StudyPart
from dashboards.report.logs import define_log
from dashboards.report.panels import Panel, panel
from dashboards.report.recorded import recorded_of, shares_by_arm
from dashboards.report.slugs import Slugs
from dashboards.report.summary import Sentence, sentence
from dashboards.report.traces import define_trace
from environments import find_scenario
from environments.errors import InputError
from environments.log_world import LogScenario
from environments.trace_world import TraceScenario
from studies.grid import Grid
from studies.recommendation import Recommendation
from studies.words import in_words, params_in_words, short

MOST_CELLS = 100
"""Grids of at most so many cells are also written out as a table."""

CONTENDERS = {"recommended": "recommended", "paper": "the paper's advice", "defaults": "the policy's defaults"}

WORLD_STEPS = 20_000_000
"""Steps × arms of a world beyond which it is not drawn."""


@dataclass(frozen=True)
class Entry:
    """A line of the table of contents."""

    id: str
    title: str
    children: list[Entry] = field(default_factory=list)


@dataclass(frozen=True)
class SaidOf:
    """A sentence and the study it is about."""

    study: str
    sentence: Sentence


@dataclass(frozen=True)
class SummaryGroup:
    """The sentences on one scenario."""

    title: str
    link: str
    sentences: list[SaidOf]


@dataclass(frozen=True)
class ScenarioSection:
    """What a scenario is, its world, and what its studies found over time and over horizons."""

    id: str
    title: str
    key: str
    definition: Definition | None
    panels: list[Panel]
    notes: list[str]
    table: Numbers | None = None
    counted: str = "Missing cells"
    """What the table counts."""


@dataclass(frozen=True)
class Numbers:
    """A small table."""

    columns: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class GridSection:
    """One grid."""

    id: str
    title: str
    short: str
    lines: list[str]
    panels: list[Panel]
    table: Numbers | None


@dataclass(frozen=True)
class SearchSection:
    """How one search went."""

    id: str
    title: str
    short: str
    lines: list[str]
    panels: list[Panel]


def _key(scenario: str, settings: dict[str, int | float | str], arms: int | None) -> str:
    """What is one scenario on the page: its name, its settings and its arms."""
    return json.dumps([scenario, settings, arms], sort_keys=True)


def _key_of(part: StudyPart | GridPart) -> str:
    if isinstance(part, StudyPart):
        spec, digest = part.spec, part.spec.digest
        return _key(spec.scenario, {**spec.settings, **({"digest": digest} if digest else {})}, spec.arms)
    grid = part.grid.spec.resolved()
    return _key(grid.scenario, dict(grid.settings), grid.arms)


def summary_groups(material: Material, scenarios: Iterable[ScenarioSection]) -> list[SummaryGroup]:
    """Every recommendation in a sentence, by scenario."""
    sections = {section.key: section for section in scenarios}
    groups: dict[str, SummaryGroup] = {}
    for part in material.studies:
        if part.recommendation is None:
            continue
        section = sections[_key_of(part)]
        group = groups.setdefault(section.key, SummaryGroup(section.title, section.id, []))
        usual = _usual_arms(part)
        group.sentences.append(SaidOf(part.name, sentence(part.recommendation, usual)))
    return list(groups.values())


def _usual_arms(part: StudyPart) -> int:
    """The arms that go without saying; of a scenario that is not at hand, those that were played."""
    try:
        return part.spec.world().arms
    except InputError:
        return part.spec.arms or 0


def scenario_sections(material: Material, slugs: Slugs) -> list[ScenarioSection]:
    """A section a scenario, in the order of the studies; those of grids alone come after."""
    parts: list[StudyPart | GridPart] = [*material.studies, *material.grids]
    keys = dict.fromkeys(_key_of(part) for part in parts)
    return [_scenario(key, material, slugs) for key in keys]


def _scenario(key: str, material: Material, slugs: Slugs) -> ScenarioSection:
    name, settings, arms = json.loads(key)
    studies = [part for part in material.studies if _key_of(part) == key]
    grids = [part.grid.spec.resolved() for part in material.grids if _key_of(part) == key]
    if studies and studies[0].spec.trace is not None:
        return _trace(key, studies, slugs)
    if studies and studies[0].spec.log is not None:
        return _log(key, studies, slugs)
    horizon = max([part.spec.horizon or 1 for part in studies] + [spec.horizon or 1 for spec in grids])
    try:
        scenario = find_scenario(name, dict(settings))
    except InputError:
        scenario = None
    usual = scenario is None or scenario.arms == arms
    words = [*([] if usual else [f"K = {arms}"]), *([settings_in_words(settings)] if settings else [])]
    title = f"{name} ({', '.join(words)})" if words else name
    panels, notes = [], []
    if scenario is not None:
        if horizon * (arms + scenario.extra_arms) <= WORLD_STEPS:
            seed = studies[0].spec.seed if studies else grids[0].seed
            panels.append(panel(slugs, f"world {title}", figures.world(scenario, horizon, arms, seed=seed)))
        else:
            notes.append("The world is too large to be drawn here.")
    panels += _horizons(title, studies, slugs)
    for part in studies:
        if part.played is not None:
            names = [CONTENDERS[name] for name in part.played.results]
            drawn = figures.curves(list(part.played.results.values()), part.played.changes, names)
            panels.append(panel(slugs, f"curves {part.name}", drawn))
    definition = None if scenario is None else define(scenario, horizon)
    return ScenarioSection(slugs.new(f"scenario {title}"), title, key, definition, panels, notes)


def _trace(key: str, studies: list[StudyPart], slugs: Slugs) -> ScenarioSection:
    """The section of studies on one trace: what it is, its picture, and what came about over time."""
    title, first = studies[0].spec.scenario, studies[0]
    panels, notes, table, definition = [], [], None, None
    scenario = recorded_of(first, TraceScenario)
    if scenario is not None:
        panels.append(panel(slugs, f"trace {title}", figures.recorded(scenario, first.spec.horizon or 1)))
    else:
        notes.append(f"{first.spec.trace} is not at hand or holds something else by now, so it is not drawn.")
    panels += _horizons(title, studies, slugs)
    for part in studies:
        found = part.recommendation
        if found is not None and found.trace is not None and definition is None:
            definition = define_trace(found, found.trace)
            rows = shares_by_arm(found.trace.arms, found.trace.rows)
            table = Numbers(["arm", "missing cells", "of its rows"], rows) if rows else None
        if part.played is not None:
            names = [CONTENDERS[name] for name in part.played.results]
            results = list(part.played.results.values())
            drawn = figures.curves(results, names=names, costs=part.spec.minimize, bands=False)
            panels.append(panel(slugs, f"curves {part.name}", drawn))
    return ScenarioSection(slugs.new(f"scenario {title}"), title, key, definition, panels, notes, table)


def _log(key: str, studies: list[StudyPart], slugs: Slugs) -> ScenarioSection:
    """The section of studies on one log: what it is, its picture, and what came of the replays."""
    title, first = studies[0].spec.scenario, studies[0]
    panels, notes, table, definition = [], [], None, None
    scenario = recorded_of(first, LogScenario)
    if scenario is not None:
        panels.append(panel(slugs, f"log {title}", figures.logged(scenario)))
    else:
        notes.append(f"{first.spec.log} is not at hand or holds something else by now, so it is not drawn.")
    for part in studies:
        if part.recommendation is not None and part.recommendation.log is not None:
            facts = part.recommendation.log
            definition = define_log(facts)
            table = Numbers(["arm", "events", "of all"], shares_by_arm(facts.arms, facts.events))
            break
    return ScenarioSection(slugs.new(f"scenario {title}"), title, key, definition, panels, notes, table, "Events")


def _horizons(title: str, studies: list[StudyPart], slugs: Slugs) -> list[Panel]:
    """How the recommended parameters move with the horizon, a figure a policy."""
    by_policy: dict[str, dict[int, Recommendation]] = {}
    for part in studies:
        if part.recommendation is not None and part.recommendation.scenario == part.spec.scenario:
            by_policy.setdefault(part.spec.policy, {}).setdefault(part.recommendation.horizon, part.recommendation)
    return [
        panel(slugs, f"horizons {policy} {title}", figures.horizons(list(found.values())))
        for policy, found in by_policy.items()
        if len(found) > 1
    ]


def grid_sections(material: Material, slugs: Slugs) -> list[GridSection]:
    """A section a grid."""
    return [_grid(part, material.recommendations, slugs) for part in material.grids]


def _grid(part: GridPart, found: list[Recommendation], slugs: Slugs) -> GridSection:
    grid, name = part.grid, part.grid.study
    spec = grid.spec.resolved()
    mine = next((each for each in found if each.policy == "raven-ucb" and _fits(each, grid)), None)
    drawn = {
        "map": figures.heat_map(grid, mine),
        "lines": figures.sensitivity_lines(grid),
        "surface": figures.surface(grid),
    }
    if min(grid.mean.shape) < 2:
        del drawn["surface"]
    if part.samples:
        assert spec.horizon is not None
        assert spec.arms is not None
        drawn["distributions"] = figures.distributions(
            part.samples, scenario=spec.scenario, horizon=spec.horizon, arms=spec.arms
        )
    first, second = grid.best
    among = int(grid.indistinguishable.sum())
    apart = "no other cell is" if among == 1 else f"{among - 1} of the other {grid.mean.size - 1} cells are"
    lines = [
        f"Lowest mean regret {short(float(grid.mean[first, second]))} ± {grid.stderr[first, second]:.2g}"
        f" (standard error) at α₀ {short(spec.alpha0[first])}, β₀ {short(spec.beta0[second])};"
        f" {apart} indistinguishable from it. {spec.replications} worlds a cell, ε {short(spec.epsilon)}."
    ]
    return GridSection(
        id=slugs.new(name),
        title=name,
        short=_short(spec.scenario, spec.horizon, name, spec.name),
        lines=lines,
        panels=[panel(slugs, f"{kind} {name}", figure) for kind, figure in drawn.items()],
        table=_numbers(grid) if grid.mean.size <= MOST_CELLS else None,
    )


def _fits(each: Recommendation, grid: Grid) -> bool:
    spec = grid.spec.resolved()
    return (each.scenario, each.settings, each.horizon, each.arms) == (
        spec.scenario,
        dict(spec.settings),
        spec.horizon,
        spec.arms,
    )


def _numbers(grid: Grid) -> Numbers:
    spec = grid.spec
    rows = []
    for i, alpha0 in enumerate(spec.alpha0):
        cells = [
            f"{short(float(grid.mean[i, j]))} ± {grid.stderr[i, j]:.2g}{'*' if grid.indistinguishable[i, j] else ''}"
            for j in range(len(spec.beta0))
        ]
        rows.append([f"α₀ {short(alpha0)}", *cells])
    return Numbers(["", *(f"β₀ {short(beta0)}" for beta0 in spec.beta0)], rows)


def search_sections(material: Material, ids: dict[str, str], slugs: Slugs) -> list[SearchSection]:
    """A section a study."""
    return [_search(part, f"search-{ids[part.name]}", slugs) for part in material.studies]


def _search(part: StudyPart, link: str, slugs: Slugs) -> SearchSection:
    spec, trials, found = part.spec, part.trials, part.recommendation
    pruned = f", {trials.pruned} of them pruned" if trials.pruned else ""
    failed = f"; {trials.failed} failed" if trials.failed else ""
    lines = [
        f"{trials.finished} of {spec.trials} trials{pruned}{failed}, {spec.replications} worlds each, sampler"
        f" {spec.sampler}, pruner {spec.pruner}, objective {spec.objective}."
    ]
    panels = []
    if found is not None:
        lines += in_words(found)
    elif part.missing:
        lines.append(part.missing)
        lines += _so_far(part)
    if trials.shown:
        panels.append(panel(slugs, f"history {part.name}", figures.history(trials.shown, found)))
    if found is not None and found.importance:
        panels.append(panel(slugs, f"importances {part.name}", figures.importances(found)))
    return SearchSection(link, part.name, _short(spec.scenario, spec.horizon, part.name, spec.name), lines, panels)


def _so_far(part: StudyPart) -> list[str]:
    """The best trial of a study without a recommendation, with a warning."""
    complete = [point for point in part.trials.shown if point.state == "COMPLETE" and point.value is not None]
    if not complete:
        return []
    best = (max if part.spec.objective == "reward" else min)(complete, key=lambda point: point.value or 0.0)
    return [
        f"Its best trial so far: {params_in_words(best.params)} with {short(best.value or 0.0)}"
        f" ({part.spec.objective});"
        " too good to be true, as the best of a search always is."
    ]


def _short(scenario: str, horizon: int | None, name: str, given: str | None) -> str:
    """What the table of contents calls a study: scenario and horizon, or the name that it was given."""
    return given if given is not None else f"{scenario}, T = {horizon}{' ~' + name[-4:] if '~' in name else ''}"
