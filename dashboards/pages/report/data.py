"""Data of the report: studies, grids and robust recommendations of a storage, and short simulations of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ravenlab.common.compat.optuna import study_id
from ravenlab.common.errors import InputError
from ravenlab.common.text import format_number
from ravenlab.dashboards.figures.grid_marks import PlayedPoint
from ravenlab.environments import Scenario, find_scenario
from ravenlab.environments.recorded.trace_world import TraceScenario
from ravenlab.environments.streams import Stream
from ravenlab.environments.view import change_steps
from ravenlab.environments.world import Floats
from ravenlab.policies import find_policy, policy_names
from ravenlab.policies.engine.simulation import Simulation, simulate
from ravenlab.studies.kinds import COMPARISON, GRID, ROBUST, TUNE, find_kind
from ravenlab.studies.results.alternatives import BetterPolicy
from ravenlab.studies.results.grid import Grid
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.results.robust import RobustRecommendation
from ravenlab.studies.spec.distributions import from_trial_params, trial_param_name
from ravenlab.studies.spec.grid import GRID_POLICY, GridSpec
from ravenlab.studies.spec.source import LogSource, ScenarioSource, Source, TraceSource
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.statistics.intervals import paired_interval
from ravenlab.studies.storage.faults import reading_study
from ravenlab.studies.storage.keys import is_front
from ravenlab.studies.storage.library import find_better_policies, read_best_trials, select_studies
from ravenlab.studies.storage.trials import is_number

if TYPE_CHECKING:
    from optuna.storages import RDBStorage

    from ravenlab.common.compat.optuna import FrozenStudy

MAX_WORK = 300_000_000  # steps × arms of all curves of a report, a few seconds
MAX_STUDY_WORK = 30_000_000
MAX_WORLDS = 100
MIN_WORLDS = 4
CHECKPOINTS = 60
ORACLE = "oracle"  # prefix of the policies that are restarted at the true changes, and name of their curve
BEST_CELLS = 5
MAX_POINT_STEPS = 20_000_000  # steps of the recommended point in the worlds of a grid, a few seconds


def name_source(source: Source) -> str:
    """Return the name of a scenario or of a recorded file.

    >>> name_source(LogSource("/data/clicks.csv", minimize=False, settings={}))
    'clicks.csv'
    >>> name_source(TraceSource("/data/runs/*.csv", minimize=False, settings={}))
    'runs/*.csv'
    """
    if isinstance(source, ScenarioSource):
        return source.name
    path = Path(source.path)
    return "/".join(path.parts[-2:]) if "*" in path.name else path.name


@dataclass(frozen=True)
class BestTrial:
    """Value and parameters of the best complete trial; optimistically biased."""

    value: float
    params: Mapping[str, float]


@dataclass(frozen=True)
class Trials:
    """Numbers of trials by state, and the best one."""

    complete: int
    pruned: int
    failed: int
    best: BestTrial | None

    @property
    def finished(self) -> int:
        """Trials that count towards the budget."""
        return self.complete + self.pruned


@dataclass(frozen=True)
class Curves:
    """Simulations of the recommended parameters, the baselines and the restart oracle on the same worlds, by name."""

    simulations: dict[str, Simulation]
    changes: list[int]


@dataclass(frozen=True)
class StudyData:
    """A study: its specification, trials and recommendation, and curves over time if they are affordable."""

    name: str
    spec: StudySpec
    recommendation: Recommendation | None
    trials: Trials
    curves: Curves | None = None
    better: BetterPolicy | None = None
    """Another policy that a stored comparison shows to be better."""

    @property
    def where(self) -> str:
        """The scenario, or the name of the recorded file."""
        return name_source(self.spec.source)

    @property
    def keeps_state(self) -> bool:
        """Whether a trace is simulated for a policy that keeps running."""
        return isinstance(self.spec.source, TraceSource) and self.spec.source.keep_state

    @property
    def missing(self) -> str:
        """Why the study has no recommendation; empty if it has one."""
        trials = self.trials
        budget = self.spec.trials
        if self.recommendation is not None:
            return ""
        if not trials.finished:
            return f"No trial has finished yet (0 of {budget:,})."
        if not trials.complete:
            return f"No recommendation: all finished trials ({trials.pruned:,}) were pruned."
        if trials.finished < budget:
            return (
                f"The search is unfinished ({trials.finished:,} of {budget:,} trials). Its results are not validated,"
                " so there is no recommendation yet."
            )
        return "The search is finished but not validated, so there is no recommendation yet."


@dataclass(frozen=True)
class GridData:
    """A finished grid, samples of the regret of its best cells by label, and the recommendation for its problem."""

    grid: Grid
    samples: dict[str, Floats]
    recommendation: Recommendation | None = None
    played: PlayedPoint | None = None
    """The recommendation in the worlds of the grid."""


@dataclass(frozen=True)
class ReportData:
    """Contents of a storage for the report. `where` is its URL without the password."""

    where: str
    studies: list[StudyData]
    grids: list[GridData] = field(default_factory=list)
    unfinished_grids: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    robust: list[RobustRecommendation] = field(default_factory=list)
    unfinished_robust: list[str] = field(default_factory=list)
    fronts: list[str] = field(default_factory=list)

    @property
    def recommendations(self) -> list[Recommendation]:
        """All recommendations in the order of the export."""
        return [study.recommendation for study in self.studies if study.recommendation is not None]


def load_report_data(
    storage: RDBStorage | None, where: str, names: Sequence[str] | None = None, internal: bool = False
) -> ReportData:
    """Load the named studies and grids, or all of them, and simulate their recommendations briefly.

    Searches of comparisons are loaded if they are named in full, or with `internal`.

    >>> load_report_data(None, "sqlite:///studies.sqlite3").studies
    []
    """
    data = ReportData(where, [])
    if storage is None:
        return data
    grids: list[Grid] = []
    for study in sorted(select_studies(storage, names, internal), key=lambda study: study.study_name):
        if find_kind(study) is COMPARISON:  # they have their own page
            continue
        try:
            with reading_study(study.study_name):
                known = _load_study(storage, study, data, grids)
        except InputError:
            known = False
        if not known:
            data.unreadable.append(study.study_name)
    data.studies.sort(key=_sort_key)
    grids.sort(key=lambda grid: (grid.spec.scenario, grid.spec.arms, grid.spec.horizon, grid.study))
    for grid in grids:
        recommendation = find_recommendation(grid.spec, data.recommendations)
        played = play_recommendation(grid, recommendation)
        data.grids.append(GridData(grid, simulate_best_cells(grid, len(grids)), recommendation, played))
    count = len(data.recommendations)
    better = find_better_policies(storage, data.recommendations)
    data.studies[:] = [_complete(study, count, better) for study in data.studies]
    return data


def _load_study(storage: RDBStorage, study: FrozenStudy, data: ReportData, grids: list[Grid]) -> bool:
    """Add a study to the report data; return False if it is not a study of ravenlab."""
    kind = find_kind(study)
    if is_front(study):
        data.fronts.append(study.study_name)
        return True
    spec = None if kind is None else kind.read_spec(study)
    if kind is None or spec is None:
        return False
    result = kind.read_result(storage, study)
    if kind is TUNE:
        data.studies.append(StudyData(study.study_name, spec, result, read_trials(storage, study, spec)))
    elif kind is GRID or kind is ROBUST:
        unfinished = data.unfinished_grids if kind is GRID else data.unfinished_robust
        finished = grids if kind is GRID else data.robust
        if result is None:
            unfinished.append(study.study_name)
        else:
            finished.append(result)
    else:
        return False
    return True


def _complete(study: StudyData, count: int, better: Mapping[str, BetterPolicy]) -> StudyData:
    """Add what follows from the recommendation of a study."""
    if study.recommendation is None:
        return study
    curves = simulate_recommendation(study.recommendation, count, study.spec)
    return replace(study, curves=curves, better=better.get(study.recommendation.study))


def _sort_key(study: StudyData) -> tuple[str, str, int, int, str]:
    """The order of the export."""
    spec = study.spec
    return spec.policy, spec.scenario, spec.arms, spec.horizon, study.name


def find_recommendation(grid: GridSpec, recommendations: Iterable[Recommendation]) -> Recommendation | None:
    """Find the recommendation for the problem of a grid by mean regret: that of its seed, or the first by name.

    >>> find_recommendation(GridSpec(scenario="blips"), []) is None
    True
    """
    problem = (GRID_POLICY, grid.scenario, dict(grid.settings), grid.horizon, grid.arms, "mean")
    matches = [
        each
        for each in recommendations
        if (each.policy, each.scenario, dict(each.settings), each.horizon, each.arms, each.objective) == problem
    ]
    return min(matches, key=lambda match: (match.seed != grid.seed, match.study), default=None)


def simulate_recommendation(recommendation: Recommendation, studies: int, spec: StudySpec) -> Curves | None:
    """Simulate the recommended parameters and the baselines over time; None if that would take too long.

    Args:
        recommendation: The recommendation.
        studies: Number of studies that share the time.
        spec: Specification of the study. On a trace, windows of the report segment are simulated.
    """
    candidates = {"recommended": recommendation.params} | {each.name: each.params for each in recommendation.versus}
    horizon = recommendation.horizon
    arms = recommendation.arms
    try:
        match spec.source:
            case LogSource():
                return None
            case TraceSource() as trace:
                scenario: Scenario | TraceScenario = trace.simulated(horizon) if trace.keep_state else trace.open()
            case ScenarioSource():
                scenario = find_scenario(recommendation.scenario, dict(recommendation.settings))
        scenario.check(horizon, arms)
        find_policy(recommendation.policy)
    except InputError:
        return None
    worlds = _affordable_worlds(horizon * (arms + scenario.extra_arms) * len(candidates), studies)
    if worlds < MIN_WORLDS:
        return None
    simulations = {
        name: simulate(
            recommendation.policy,
            scenario,
            horizon=horizon,
            arms=arms,
            replications=worlds,
            seed=recommendation.seed,
            params=params,
            checkpoints=CHECKPOINTS,
            stream=Stream.SIMULATE if isinstance(scenario, Scenario) else Stream.REPORT,
        )
        for name, params in candidates.items()
    }
    if not isinstance(scenario, Scenario):
        return Curves(simulations, [])
    oracle = _simulate_oracle(simulations.get("defaults", simulations["recommended"]), scenario, recommendation.seed)
    return Curves(simulations | oracle, change_steps(scenario, horizon))


def _simulate_oracle(defaults: Simulation, scenario: Scenario, seed: int) -> dict[str, Simulation]:
    """Simulate the policy at its defaults, restarted at the true changes; empty if it is never restarted."""
    if f"{ORACLE}-{defaults.policy}" not in policy_names():
        return {}
    oracle = simulate(
        f"{ORACLE}-{defaults.policy}",
        scenario,
        horizon=defaults.horizon,
        arms=defaults.arms,
        replications=defaults.regret.size,
        seed=seed,
        params=defaults.params,
        checkpoints=CHECKPOINTS,
    )
    return {} if np.allclose(oracle.regret, defaults.regret) else {ORACLE: oracle}


def play_recommendation(grid: Grid, recommendation: Recommendation | None) -> PlayedPoint | None:
    """Play the recommended parameters and the lowest cell in the worlds of a grid; None if that would take too long."""
    spec = grid.spec
    if recommendation is None or grid.recommended or spec.replications * spec.horizon > MAX_POINT_STEPS:
        return None
    i, j = grid.best
    lowest = {"alpha0": spec.alpha0[i], "beta0": spec.beta0[j], "epsilon": spec.epsilon}
    regret, least = (
        _simulate_point(spec, params, spec.replications, Stream.GRID) for params in (recommendation.params, lowest)
    )
    stderr = float(regret.std(ddof=1) / math.sqrt(regret.size))
    return PlayedPoint(float(regret.mean()), stderr, paired_interval(regret, least, spec.seed))


def simulate_best_cells(grid: Grid, grids: int) -> dict[str, Floats]:
    """Simulate the best cells of a grid on a few other worlds; empty if that would take too long."""
    spec = grid.spec
    order = np.argsort(grid.mean, axis=None, kind="stable")[:BEST_CELLS]
    scenario = spec.source.open()
    worlds = _affordable_worlds(spec.horizon * (spec.arms + scenario.extra_arms) * order.size, grids)
    if worlds < MIN_WORLDS:
        return {}
    samples = {}
    for cell in order:
        row, column = np.unravel_index(int(cell), grid.mean.shape)
        params = {"alpha0": spec.alpha0[int(row)], "beta0": spec.beta0[int(column)], "epsilon": spec.epsilon}
        label = f"α₀ {format_number(params['alpha0'])}, β₀ {format_number(params['beta0'])}"
        samples[label] = _simulate_point(spec, params, worlds, Stream.SIMULATE)
    return samples


def _simulate_point(spec: GridSpec, params: Mapping[str, Any], worlds: int, stream: Stream) -> Floats:
    """Return the regret of some parameters in the scenario of a grid."""
    return simulate(
        GRID_POLICY,
        spec.source.open(),
        horizon=spec.horizon,
        arms=spec.arms,
        replications=worlds,
        seed=spec.seed,
        params=params,
        stream=stream,
    ).regret


def _affordable_worlds(work_per_world: int, sharing: int) -> int:
    return min(MAX_WORLDS, min(MAX_STUDY_WORK, MAX_WORK // max(1, sharing)) // work_per_world)


def count_curve_worlds(studies: Sequence[StudyData]) -> tuple[int, int] | None:
    """Return the fewest and most worlds of all curves; None if there are no curves."""
    counts = [next(iter(each.curves.simulations.values())).replications for each in studies if each.curves is not None]
    return (min(counts), max(counts)) if counts else None


def read_trials(storage: RDBStorage, study: FrozenStudy, spec: StudySpec) -> Trials:
    """Count the trials of a study, and read the best one."""
    from sqlalchemy import text

    query = "SELECT state, COUNT(*) FROM trials WHERE study_id = :study GROUP BY state"
    with storage.engine.connect() as connection:
        rows = connection.execute(text(query), {"study": study_id(study)}).all()
    counts = {str(state): int(count) for state, count in rows}
    best = None
    for trial in read_best_trials(storage, study, 1):
        best = BestTrial(trial.values[0], name_params(spec, trial.params))
    return Trials(counts.get("COMPLETE", 0), counts.get("PRUNED", 0), counts.get("FAIL", 0), best)


def name_params(spec: StudySpec, trial_params: Mapping[str, Any]) -> dict[str, float]:
    """Give the parameters of a trial the policy's names unless some are missing. Only numbers are kept.

    >>> name_params(StudySpec(scenario="blips", policy="d-ucb", fixed={"xi": 1}), {"one_minus_gamma": 0.25})
    {'gamma': 0.75}
    """
    expected = {trial_param_name(name, bounds) for name, bounds in spec.space.items()}
    numbers = {name: value for name, value in trial_params.items() if is_number(value)}
    return from_trial_params(spec, numbers) if expected <= numbers.keys() else numbers
