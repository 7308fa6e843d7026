"""Scenario sections of the report: definition, one world or recording, and recommendations over horizons."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from ravenlab.common.checks import parse_steps
from ravenlab.common.documents import Table
from ravenlab.common.errors import InputError
from ravenlab.common.text import (
    capitalize_first,
    format_count,
    format_interval,
    format_number,
    format_percent,
    format_settings,
    format_value,
    plural,
)
from ravenlab.dashboards import figures
from ravenlab.dashboards.pages.html import Panel, Slugs, make_panel
from ravenlab.dashboards.pages.report.data import GridData, ReportData, StudyData
from ravenlab.environments import Scenario, find_scenario
from ravenlab.environments.base import Effect
from ravenlab.studies.results.describe_recorded import (
    SAMPLE_SIZE_RULE,
    describe_needed_events,
    format_segment,
    warn_inconclusive,
)
from ravenlab.studies.results.recommendation import (
    LogFacts,
    Recommendation,
    TraceFacts,
)
from ravenlab.studies.spec.grid import GridSpec
from ravenlab.studies.spec.source import LogSource, ScenarioSource, TraceSource
from ravenlab.studies.statistics.bootstrap import MIN_EFFECTIVE_ROWS

CATEGORIES = {"DPC": "distribution parameters change", "PC": "periodic change", "TF": "temporary fluctuation"}
MAX_WORLD_SIZE = 20_000_000  # steps × arms up to which a world is drawn


@dataclass(frozen=True)
class Definition:
    """Definition of a scenario in words."""

    meaning: str
    formulas: list[str]
    parameters: list[tuple[str, str]]
    category: str


@dataclass(frozen=True)
class ScenarioSection:
    """Section of one scenario. `key` identifies the scenario with its settings and arms."""

    id: str
    title: str
    key: str
    where: str
    """The scenario, or the name of the recorded file."""
    definition: Definition | None
    panels: list[Panel]
    notes: list[str]
    table: Table | None = None

    @property
    def filters(self) -> dict[str, list[str]]:
        """Values of the filters under which the section is shown."""
        return {"scenario": [self.where]}


def make_scenario_sections(data: ReportData, slugs: Slugs) -> list[ScenarioSection]:
    """Make one section per scenario: first those of studies, then those that only have grids."""
    keys = dict.fromkeys([*map(_study_key, data.studies), *map(_grid_key, data.grids)])
    sections = []
    for key in keys:
        studies = [study for study in data.studies if _study_key(study) == key]
        grids = [each.grid.spec for each in data.grids if _grid_key(each) == key]
        match (studies[0].spec if studies else grids[0]).source:
            case TraceSource() as source:
                sections.append(_trace_section(key, source, studies, slugs))
            case LogSource() as source:
                sections.append(_log_section(key, source, studies, slugs))
            case ScenarioSource():
                sections.append(_simulated_section(key, studies, grids, slugs))
    return sections


def _study_key(study: StudyData) -> str:
    spec = study.spec
    settings = {**spec.settings, **({"digest": spec.digest} if spec.digest else {})}
    return json.dumps([spec.scenario, settings, spec.arms], sort_keys=True)


def _grid_key(part: GridData) -> str:
    spec = part.grid.spec
    return json.dumps([spec.scenario, dict(spec.settings), spec.arms], sort_keys=True)


def _simulated_section(key: str, studies: list[StudyData], grids: list[GridSpec], slugs: Slugs) -> ScenarioSection:
    name, settings, arms = json.loads(key)
    horizon = max([study.spec.horizon for study in studies] + [spec.horizon for spec in grids])
    try:
        scenario = find_scenario(name, dict(settings))
    except InputError:
        scenario = None
    details = [f"K = {arms}"] if scenario is not None and scenario.arms != arms else []
    details += [format_settings(settings)] if settings else []
    title = f"{name} ({', '.join(details)})" if details else name
    panels = []
    notes = []
    if scenario is None:
        notes.append("This version of ravenlab does not define this scenario.")
    elif horizon * (arms + scenario.extra_arms) <= MAX_WORLD_SIZE:
        seed = studies[0].spec.seed if studies else grids[0].seed
        panels.append(make_panel(slugs, f"world {title}", figures.plot_world(scenario, horizon, arms, seed=seed)))
    else:
        notes.append("The world is too large to be drawn.")
    panels += _horizon_panels(title, studies, slugs)
    definition = None if scenario is None else define_scenario(scenario, horizon)
    return ScenarioSection(slugs.new(f"scenario {title}"), title, key, name, definition, panels, notes)


def _trace_section(key: str, source: TraceSource, studies: list[StudyData], slugs: Slugs) -> ScenarioSection:
    title = studies[0].where
    scenario = source.find()
    panels = []
    if scenario is not None:
        panels.append(make_panel(slugs, f"trace {title}", figures.plot_trace(scenario, studies[0].spec.horizon, title)))
    panels += _horizon_panels(title, studies, slugs)
    definition = None
    table = None
    for recommendation in _recommendations(studies):
        if recommendation.trace is not None:
            facts = recommendation.trace
            definition = define_trace(recommendation, facts)
            table = _arm_table(
                "Missing cells by arm", ["arm", "missing cells", "share of rows"], facts.arms, facts.rows
            )
            break
    notes = [] if scenario is not None else [_describe_absent_file(source.path)]
    return ScenarioSection(slugs.new(f"scenario {title}"), title, key, title, definition, panels, notes, table)


def _log_section(key: str, source: LogSource, studies: list[StudyData], slugs: Slugs) -> ScenarioSection:
    title = studies[0].where
    scenario = source.find()
    panels = []
    if scenario is not None:
        panels.append(make_panel(slugs, f"log {title}", figures.plot_log(scenario, title)))
    definition = None
    table = None
    for recommendation in _recommendations(studies):
        if recommendation.log is not None:
            facts = recommendation.log
            definition = define_log(recommendation, facts)
            table = _arm_table("Events by arm", ["arm", "events", "share"], facts.arms, facts.events)
            break
    notes = [] if scenario is not None else [_describe_absent_file(source.path)]
    return ScenarioSection(slugs.new(f"scenario {title}"), title, key, title, definition, panels, notes, table)


def _describe_absent_file(path: object) -> str:
    return f"{path} does not exist or has changed since the study, so it is not drawn."


def _recommendations(studies: list[StudyData]) -> list[Recommendation]:
    return [study.recommendation for study in studies if study.recommendation is not None]


def _arm_table(caption: str, columns: list[str], counts: Mapping[str, int], total: int) -> Table | None:
    rows = share_by_arm(counts, total)
    return Table(columns, rows, caption, text=None) if rows else None


def share_by_arm(counts: Mapping[str, int], total: int) -> list[list[str]]:
    """List the name, count and share of every arm with a positive count, the largest first.

    >>> share_by_arm({"paris": 1, "oslo": 3, "rome": 0}, total=8)
    [['oslo', '3', '38 %'], ['paris', '1', '12 %']]
    """
    ordered = sorted((-count, name) for name, count in counts.items() if count)
    return [[name, format_count(-negative), format_percent(-negative / total)] for negative, name in ordered]


def _horizon_panels(title: str, studies: list[StudyData], slugs: Slugs) -> list[Panel]:
    """Draw the recommended parameters against the horizon, one figure per policy."""
    by_policy: dict[str, dict[int, Recommendation]] = {}
    for study in studies:
        recommendation = study.recommendation
        if recommendation is not None and recommendation.scenario == study.spec.scenario:
            named = recommendation.model_copy(update={"scenario": study.where})
            by_policy.setdefault(study.spec.policy, {}).setdefault(recommendation.horizon, named)
    return [
        make_panel(slugs, f"horizons {policy} {title}", figures.plot_params_by_horizon(list(by_horizon.values())))
        for policy, by_horizon in by_policy.items()
        if len(by_horizon) > 1
    ]


def define_scenario(scenario: Scenario, horizon: int) -> Definition:
    """Define a simulated scenario; times that are shares of the horizon are also given in steps.

    >>> from ravenlab.environments import find_scenario
    >>> define_scenario(find_scenario("blips"), 1000).parameters[0]
    ('every', '10% (100 steps at T = 1,000)')
    """
    base = scenario.base
    initial = (
        f"Initially μ ~ U({format_value(base.mean_low)}, {format_value(base.mean_high)}) and"
        f" σ² ~ U({format_value(base.variance_low)}, {format_value(base.variance_high)}), independently for each arm;"
        f" the noise is {scenario.noise}."
    )
    parameters = [(key, _format_parameter(key, value, horizon)) for key, value in scenario.parameters().items()]
    categories = [CATEGORIES.get(code, "") for code in scenario.category.split("+")]
    return Definition(
        meaning=f"{capitalize_first(scenario.meaning)}.",
        formulas=[*map(_effect_formula, scenario.effects), initial],
        parameters=[*parameters, ("noise", scenario.noise)],
        category=", ".join(category for category in categories if category),
    )


def _effect_formula(effect: Effect) -> str:
    """The docstring of an effect's module; that of its class if the effect is a plugin."""
    name = type(effect).__module__
    built_in = name.startswith("ravenlab.environments.effects.")
    text = (sys.modules[name].__doc__ if built_in else type(effect).__doc__) or ""
    return " ".join(text.split())


def _format_parameter(key: str, value: int | float | str, horizon: int) -> str:
    if isinstance(value, str) and value.endswith("%") and not key.endswith("fraction"):
        try:
            return f"{value} ({format_count(parse_steps(key, value, horizon))} steps at T = {format_count(horizon)})"
        except InputError:
            return value
    return format_value(value)


def _describe_nearby_rows(facts: TraceFacts) -> str:
    if facts.reach is None:
        return "neighbouring rows"
    gap = f", except the {plural(facts.gap, 'nearest row')} on each side, whose noise is similar" if facts.gap else ""
    return f"every other row of the {format_count(facts.reach)} rows before and after in the same segment{gap}"


def define_trace(recommendation: Recommendation, facts: TraceFacts) -> Definition:
    """Define a trace: rows, arms, segments and how regret is measured."""
    missing = sum(facts.arms.values())
    cells = facts.rows * len(facts.arms)
    unit = "cost" if facts.minimize else "reward"
    warning = "" if facts.enough else f" That is too small for a reliable interval ({MIN_EFFECTIVE_ROWS} are needed)."
    return Definition(
        meaning=f"A recorded trace, {facts.file}: one row per step, one column per arm. All rewards are known, so any"
        " policy can be played. How well the trace represents the future is unknown.",
        formulas=[
            "Regret at a row is the reward of the benchmark arm minus that of the pulled arm, so it may be negative."
            f" The benchmark arm is the available arm with the best mean over {_describe_nearby_rows(facts)}. It does"
            " not depend on the row itself, so the noise of the row does not bias the regret. An arm is unavailable"
            " where its cell is missing.",
            f"Replications are windows of {recommendation.horizon:,} rows from random offsets. The search used"
            f" {format_segment(facts, 'search')}, the selection {format_segment(facts, 'selection')}; reported regrets"
            f" are from {format_segment(facts, 'report')}, which were not used before.",
            f"Intervals are from a moving-block bootstrap (blocks of {facts.block} rows). The variation of the regret"
            " is estimated on all rows, because the report rows may contain few changes. Effective sample size of the"
            f" report rows: {format_number(round(facts.effective))}.{warning}",
            f"Regret against the best fixed arm of each window, in hindsight: {format_interval(facts.regret_fixed)};"
            f" where that arm is unavailable, the mean of the available arms is used. Mean {unit} per step:"
            f" {format_number(facts.per_step)}.",
        ],
        parameters=[
            ("rows", format_count(facts.rows)),
            ("arms", format_count(len(facts.arms))),
            ("window", format_count(recommendation.horizon)),
            ("missing cells", f"{missing:,} ({format_percent(missing / cells)})" if missing else "none"),
            *([("empty rows", format_count(facts.empty_rows))] if facts.empty_rows else []),
            ("cells are", "costs" if facts.minimize else "rewards"),
            ("scale", format_number(facts.scale)),
        ],
        category="",
    )


def define_log(recommendation: Recommendation, facts: LogFacts) -> Definition:
    """Define a log: events, arms, segments and how the replay score is measured."""
    unit = "cost" if facts.minimize else "reward"
    warning = "".join(f" {line}" for line in warn_inconclusive(facts))
    return Definition(
        meaning=f"A log, {facts.file}: one row per event, with the pulled arm and its reward. Only the reward of the"
        " pulled arm is known. At each step the policy selects any arm and receives the reward of a random logged event"
        " of that arm close to that step. It is evaluated as if deployed for as many steps as there are events."
        f" Estimator: {facts.estimator}.{warning}",
        formulas=[
            f"Replay score, the mean {unit} per step: {format_interval(facts.score)}; mean {unit} of the logging"
            f" policy: {format_interval(facts.logged)}.",
            f"The gain in this report is the {unit} per step that the policy {'saves' if facts.minimize else 'adds'}"
            " compared with the logging policy: the difference of these means.",
            f"The search used {format_segment(facts, 'search')}, the selection"
            f" {format_segment(facts, 'selection')}; reported values are from {format_segment(facts, 'report')},"
            " which were not used before.",
            "Scores are corrected for bias, and intervals are computed, by means of resampled logs, in which the reward"
            f" of each event is redrawn from events close to it. The sample size needed is {SAMPLE_SIZE_RULE}.",
            *describe_needed_events(recommendation, facts, rule=""),
        ],
        parameters=[
            ("events", format_count(facts.events)),
            ("arms", format_count(len(facts.arms))),
            ("matched steps", format_count(facts.matched)),
            ("effective events", format_number(round(facts.effective))),
            ("rewards are", "costs" if facts.minimize else "rewards"),
            ("scale", format_number(facts.scale)),
        ],
        category="",
    )
