"""What sections of studies that were tuned on a user's own data share."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from pandas import DataFrame

from dashboards import figures
from dashboards.pages.html import PageTable, Panel, Slugs, make_panel
from dashboards.pages.report.data import GridPart, ReportData, StudyPart
from dashboards.pages.sections import (
    BASELINES,
    Definition,
    SaidOf,
    ScenarioSection,
    SummaryGroup,
    define,
    summarize,
)
from environments import find_scenario
from environments.errors import InputError
from environments.text import format_count, format_number, format_settings
from studies.results.describe import (
    SAMPLE_SIZE_RULE,
    describe_needed_events,
    format_estimate,
    format_segment,
    warn_few_events,
)
from studies.results.recommendation import (
    MIN_EFFECTIVE_EVENTS,
    LogFacts,
    Recommendation,
    TraceFacts,
)
from studies.spec.grid import ResolvedGridSpec
from studies.spec.source import LogSource, ScenarioSource, TraceSource
from studies.statistics.bootstrap import MIN_EFFECTIVE_ROWS


def shares_by_arm(counts: Mapping[str, int], of: int) -> list[list[str]]:
    """Name, count and share of each arm that has any, most first.

    >>> shares_by_arm({"paris": 1, "oslo": 3, "rome": 0}, of=8)
    [['oslo', '3', '37.5 %'], ['paris', '1', '12.5 %']]
    """
    ordered = sorted((-count, name) for name, count in counts.items() if count)
    return [[name, str(-less), f"{-100 * less / of:.3g} %"] for less, name in ordered]


def define_trace(each: Recommendation, facts: TraceFacts) -> Definition:
    """Rows, arms, stretches and how regret was measured."""
    missing = sum(facts.arms.values())
    cells = facts.rows * len(facts.arms)
    unit = "cost" if facts.minimize else "reward"
    warning = "" if facts.enough else f" That is too small for a reliable interval ({MIN_EFFECTIVE_ROWS} are needed)."
    return Definition(
        meaning=f"a recorded trace, {facts.file}: one row per step, one column per arm",
        plain=[
            "All rewards are known, so the regret of any policy is exact."
            " How well the trace represents the future is unknown."
        ],
        formulas=[
            "Regret at a row is the centred mean over 25 rows of the best available arm minus that of the pulled arm."
            " An arm is unavailable where its cell is missing.",
            f"Replications are windows of {each.horizon:,} rows from random offsets. The search used"
            f" {format_segment(facts, 'search')}, the selection {format_segment(facts, 'selection')}; reported regrets"
            f" are from {format_segment(facts, 'report')}, which were not used before.",
            f"Intervals are from a moving-block bootstrap of these rows (blocks of {facts.block}); effective sample"
            f" size {format_number(round(facts.effective))}.{warning}",
            f"Regret against the best fixed arm of each window: {format_estimate(facts.regret_fixed)}; where that arm"
            f" is unavailable, the mean of the available arms is used. Mean {unit} per step:"
            f" {format_number(facts.per_step)}.",
        ],
        parameters=[
            ("rows", format_count(facts.rows)),
            ("arms", str(len(facts.arms))),
            ("window", format_count(each.horizon)),
            ("missing cells", f"{missing:,} ({format_number(100 * missing / cells)} %)" if missing else "none"),
            *([("empty rows", str(facts.empty_rows))] if facts.empty_rows else []),
            ("cells are", "costs" if facts.minimize else "rewards"),
            ("scale", format_number(facts.scale)),
        ],
        category="",
    )


def define_log(facts: LogFacts) -> Definition:
    """Events, arms, stretches, how scores were measured, and what is not known."""
    unit = "cost" if facts.minimize else "reward"
    weights = (
        f" Matched events are weighted by the inverse of their propensity, at most {format_number(facts.clip)}"
        f" ({facts.clipped:,} reported events are clipped); effective sample size"
        f" {format_count(round(facts.effective))}."
        if facts.propensities
        else ""
    )
    return Definition(
        meaning=f"a log, {facts.file}: one row per event, with the pulled arm and its reward",
        plain=[
            "Only the reward of the pulled arm is known, so policies are replayed: the policy sees an event, and the"
            " event counts, only if the policy chooses the logged arm.",
            *([] if facts.enough else [warn_few_events(facts)]),
        ],
        formulas=[
            f"{facts.matched:,} of the reported events match. Replay score, the mean {unit} of matched events over"
            f" resampled orders of the log: {format_estimate(facts.score)}; mean {unit} of the logging policy:"
            f" {format_estimate(facts.logged)}.{weights}",
            "Regret in this report is the mean of the logging policy minus the replay score, per event. It is negative"
            " where the policy is better than the logging policy.",
            f"The search used {format_segment(facts, 'search')}, the selection"
            f" {format_segment(facts, 'selection')}; reported values are from {format_segment(facts, 'report')},"
            " which were not used before.",
            f"Intervals are from replays of resampled logs (local block bootstrap, blocks of {facts.block}), each in"
            f" several orders; below {MIN_EFFECTIVE_EVENTS} effective events results are inconclusive. The sample"
            f" size needed is {SAMPLE_SIZE_RULE}.",
            *describe_needed_events(facts, rule=""),
        ],
        parameters=[
            ("events", str(facts.events)),
            ("arms", str(len(facts.arms))),
            ("propensities", "known" if facts.propensities else "not known"),
            ("matched events", str(facts.matched)),
            ("effective", format_number(round(facts.effective))),
            ("rewards are", "costs" if facts.minimize else "rewards"),
            ("scale", format_number(facts.scale)),
        ],
        category="",
    )


CONTENDERS = {"recommended": "recommended", **BASELINES}

WORLD_STEPS = 20_000_000
"""Steps × arms of a world beyond which it is not drawn."""


def _key(scenario: str, settings: dict[str, int | float | str], arms: int | None) -> str:
    """What is one scenario on the page: its name, its settings and its arms."""
    return json.dumps([scenario, settings, arms], sort_keys=True)


def _key_of(part: StudyPart | GridPart) -> str:
    if isinstance(part, StudyPart):
        spec, digest = part.spec, part.spec.digest
        return _key(spec.scenario, {**spec.settings, **({"digest": digest} if digest else {})}, spec.arms)
    grid = part.grid.spec
    return _key(grid.scenario, dict(grid.settings), grid.arms)


def summary_groups(material: ReportData, scenarios: Iterable[ScenarioSection]) -> list[SummaryGroup]:
    """Every recommendation in a sentence, by scenario."""
    sections = {section.key: section for section in scenarios}
    groups: dict[str, SummaryGroup] = {}
    for part in material.studies:
        if part.recommendation is None:
            continue
        section = sections[_key_of(part)]
        group = groups.setdefault(section.key, SummaryGroup(section.title, section.id, []))
        usual = _usual_arms(part)
        group.sentences.append(SaidOf(part.name, summarize(part.recommendation, usual)))
    return list(groups.values())


def _usual_arms(part: StudyPart) -> int:
    """The arms that go without saying; of a scenario that is not at hand, those that were played."""
    try:
        return part.spec.open_scenario().arms
    except InputError:
        return part.spec.arms


def scenario_sections(material: ReportData, slugs: Slugs) -> list[ScenarioSection]:
    """A section a scenario, in the order of the studies; those of grids alone come after."""
    parts: list[StudyPart | GridPart] = [*material.studies, *material.grids]
    keys = dict.fromkeys(_key_of(part) for part in parts)
    return [_scenario(key, material, slugs) for key in keys]


def _scenario(key: str, material: ReportData, slugs: Slugs) -> ScenarioSection:
    studies = [part for part in material.studies if _key_of(part) == key]
    grids = [part.grid.spec for part in material.grids if _key_of(part) == key]
    source = (studies[0].spec if studies else grids[0]).source
    match source:
        case TraceSource():
            return _trace(key, source, studies, slugs)
        case LogSource():
            return _log(key, source, studies, slugs)
        case ScenarioSource():
            return _simulated(key, studies, grids, slugs)


def _simulated(key: str, studies: list[StudyPart], grids: list[ResolvedGridSpec], slugs: Slugs) -> ScenarioSection:
    """The section of studies and grids of one scenario: its definition, a world, and regret over time."""
    name, settings, arms = json.loads(key)
    horizon = max([part.spec.horizon for part in studies] + [spec.horizon for spec in grids])
    try:
        scenario = find_scenario(name, dict(settings))
    except InputError:
        scenario = None
    usual = scenario is None or scenario.arms == arms
    words = [*([] if usual else [f"K = {arms}"]), *([format_settings(settings)] if settings else [])]
    title = f"{name} ({', '.join(words)})" if words else name
    panels, notes = [], []
    if scenario is None:
        notes.append("This version does not know a scenario of this name, so it can't say what it is.")
    elif horizon * (arms + scenario.extra_arms) <= WORLD_STEPS:
        seed = studies[0].spec.seed if studies else grids[0].seed
        panels.append(make_panel(slugs, f"world {title}", figures.plot_world(scenario, horizon, arms, seed=seed)))
    else:
        notes.append("The world is too large to be drawn here.")
    panels += [*_horizons(title, studies, slugs), *_curves(studies, slugs)]
    definition = None if scenario is None else define(scenario, horizon)
    return ScenarioSection(slugs.new(f"scenario {title}"), title, key, definition, panels, notes)


def _trace(key: str, source: TraceSource, studies: list[StudyPart], slugs: Slugs) -> ScenarioSection:
    """The section of studies on one trace: what it is, its picture, and what came about over time."""
    title = studies[0].spec.scenario
    panels, notes, table, definition = [], [], None, None
    scenario = source.find()
    if scenario is not None:
        panels.append(make_panel(slugs, f"trace {title}", figures.plot_trace(scenario, studies[0].spec.horizon)))
    else:
        notes.append(f"{source.path} is not at hand or holds something else by now, so it is not drawn.")
    panels += [*_horizons(title, studies, slugs), *_curves(studies, slugs)]
    for found in _found(studies):
        if found.trace is not None:
            definition = define_trace(found, found.trace)
            rows = shares_by_arm(found.trace.arms, found.trace.rows)
            columns = ["arm", "missing cells", "of its rows"]
            table = PageTable("Missing cells by arm", DataFrame(rows, columns=columns)) if rows else None
            break
    return ScenarioSection(slugs.new(f"scenario {title}"), title, key, definition, panels, notes, table)


def _log(key: str, source: LogSource, studies: list[StudyPart], slugs: Slugs) -> ScenarioSection:
    """The section of studies on one log: what it is, its picture, and what came of the replays."""
    title = studies[0].spec.scenario
    panels, notes, table, definition = [], [], None, None
    scenario = source.find()
    if scenario is not None:
        panels.append(make_panel(slugs, f"log {title}", figures.plot_log(scenario)))
    else:
        notes.append(f"{source.path} is not at hand or holds something else by now, so it is not drawn.")
    for found in _found(studies):
        if found.log is not None:
            definition = define_log(found.log)
            rows = shares_by_arm(found.log.arms, found.log.events)
            table = PageTable("Events by arm", DataFrame(rows, columns=["arm", "events", "of all"]))
            break
    return ScenarioSection(slugs.new(f"scenario {title}"), title, key, definition, panels, notes, table)


def _found(studies: list[StudyPart]) -> list[Recommendation]:
    return [part.recommendation for part in studies if part.recommendation is not None]


def _curves(studies: list[StudyPart], slugs: Slugs) -> list[Panel]:
    """What was recommended and its rivals over time, a figure a study; windows of a trace overlap, so without bands."""
    panels = []
    for part in studies:
        if part.played is not None:
            names = [CONTENDERS[name] for name in part.played.results]
            drawn = figures.plot_curves(
                list(part.played.results.values()),
                part.played.changes,
                names,
                costs=part.spec.minimize,
                bands=not isinstance(part.spec.source, TraceSource),
            )
            panels.append(make_panel(slugs, f"curves {part.name}", drawn))
    return panels


def _horizons(title: str, studies: list[StudyPart], slugs: Slugs) -> list[Panel]:
    """How the recommended parameters move with the horizon, a figure a policy."""
    by_policy: dict[str, dict[int, Recommendation]] = {}
    for part in studies:
        if part.recommendation is not None and part.recommendation.scenario == part.spec.scenario:
            by_policy.setdefault(part.spec.policy, {}).setdefault(part.recommendation.horizon, part.recommendation)
    return [
        make_panel(slugs, f"horizons {policy} {title}", figures.plot_params_by_horizon(list(found.values())))
        for policy, found in by_policy.items()
        if len(found) > 1
    ]
