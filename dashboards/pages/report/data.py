"""What a search in the same world recommends, to be marked in the heat map of a grid."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from environments import Scenario, find_scenario
from environments.errors import InputError
from environments.recorded.trace_world import TraceScenario
from environments.streams import Stream
from environments.view import change_steps
from environments.world import Floats
from policies import find_policy
from policies.engine.simulation import Simulation, simulate
from studies.results.grid import Grid
from studies.results.recommendation import Recommendation
from studies.results.robust import Front, RobustRecommendation
from studies.spec.distributions import from_trial_params, trial_param_name
from studies.spec.grid import GRID_POLICY, GridSpec
from studies.spec.objective import parse_objective
from studies.spec.source import LogSource, ScenarioSource, TraceSource
from studies.spec.study import ResolvedStudy, StudySpec
from studies.storage.keys import (
    COMPARISON,
    GRID,
    ROBUST,
    STDERR,
    read_grid_spec,
    read_recommendation,
    read_robust,
    read_spec,
)
from studies.storage.library import find_studies
from studies.storage.trials import read_grid

if TYPE_CHECKING:
    from optuna.storages import RDBStorage
    from optuna.study._frozen import FrozenStudy

    from dashboards.figures import HistoryPoint


def recommended_in(grid: GridSpec, found: Iterable[Recommendation]) -> Recommendation | None:
    """The recommendation for the world of a grid, by mean regret as a grid measures it; the first by name if several.

    >>> recommended_in(GridSpec(scenario="blips"), []) is None
    True
    """
    spec = grid.resolved()
    wanted = (GRID_POLICY, spec.scenario, dict(spec.settings), spec.horizon, spec.arms, "mean")
    fitting = [
        each
        for each in found
        if (each.policy, each.scenario, dict(each.settings), each.horizon, each.arms, each.objective) == wanted
    ]
    return min(fitting, key=lambda each: each.study, default=None)


def point_of(
    spec: StudySpec, number: int, value: float, state: str, stderr: float | None, given: Mapping[str, Any]
) -> HistoryPoint:
    """A trial with its parameters under their own names; one that lacks some is no trial of ours and stays as it is.

    >>> point_of(StudySpec(scenario="blips", policy="d-ucb", fixed={"xi": 1}), 0, 9.0, "COMPLETE", 0.5,
    ...          {"one_minus_gamma": 0.25}).params
    {'gamma': 0.75}
    """
    from dashboards.figures import HistoryPoint

    wanted = {trial_param_name(name, range_) for name, range_ in spec.resolved().space.items()}
    params = from_trial_params(spec, given) if wanted <= given.keys() else dict(given)
    return HistoryPoint(number, value, stderr, state, params)


WORK = 300_000_000
"""Steps × arms that all curves of a report may take together: some seconds."""

SHARE = 30_000_000
"""At most this much for one study."""

MOST_WORLDS, LEAST_WORLDS = 100, 4
CHECKPOINTS = 60
BEST_CELLS = 5


@dataclass(frozen=True)
class Played:
    """The recommended parameters and their rivals in the same worlds."""

    results: dict[str, Simulation]
    changes: list[int]


def play_recommendation(each: Recommendation, studies: int, spec: StudySpec) -> Played | None:
    """Recommended, paper's and default parameters over time; None where that would take too long.

    Args:
        each: What a study recommends.
        studies: How many studies share the time.
        spec: What the study asked: it knows where a trace lies. Windows are then those that are reported on.
    """
    contenders = {"recommended": each.params} | {rival.name: rival.params for rival in each.versus}
    try:
        match spec.source:
            case LogSource():
                return None
            case TraceSource() as trace:
                scenario: Scenario | TraceScenario = trace.open()
            case ScenarioSource():
                scenario = find_scenario(each.scenario, dict(each.settings))
        scenario.check(each.horizon, each.arms)
        find_policy(each.policy)
    except InputError:
        return None
    one = each.horizon * (each.arms + scenario.extra_arms) * len(contenders)
    worlds = _affordable(one, studies)
    if worlds < LEAST_WORLDS:
        return None
    results = {}
    for name, params in contenders.items():
        results[name] = simulate(
            each.policy,
            scenario,
            horizon=each.horizon,
            arms=each.arms,
            replications=worlds,
            seed=each.seed,
            params=params,
            checkpoints=CHECKPOINTS,
            stream=Stream.SIMULATE if isinstance(scenario, Scenario) else Stream.REPORT,
        )
    return Played(results, change_steps(scenario, each.horizon) if isinstance(scenario, Scenario) else [])


def play_best_cells(grid: Grid, grids: int) -> dict[str, Floats]:
    """Regrets of a grid's best cells, each in the same few fresh worlds; empty where that would take too long."""
    spec = grid.spec
    order = np.argsort(grid.mean, axis=None, kind="stable")[:BEST_CELLS]
    scenario = spec.open_scenario()
    one = spec.horizon * (spec.arms + scenario.extra_arms) * order.size
    worlds = _affordable(one, grids)
    if worlds < LEAST_WORLDS:
        return {}
    samples = {}
    for place in order:
        row, column = np.unravel_index(int(place), grid.mean.shape)
        params = {"alpha0": spec.alpha0[int(row)], "beta0": spec.beta0[int(column)], "epsilon": spec.epsilon}
        played = simulate(
            "raven-ucb",
            scenario,
            horizon=spec.horizon,
            arms=spec.arms,
            replications=worlds,
            seed=spec.seed,
            params=params,
        )
        samples[f"α₀ {params['alpha0']:g}, β₀ {params['beta0']:g}"] = played.regret
    return samples


def _affordable(one: int, sharing: int) -> int:
    """How many worlds may be played where each takes so many steps × arms and so many parts share the time."""
    return min(MOST_WORLDS, min(SHARE, WORK // max(1, sharing)) // one)


def worlds_played(played: Sequence[Played | None]) -> tuple[int, int] | None:
    """Fewest and most worlds of all curves; None where there are none."""
    counts = [next(iter(each.results.values())).replications for each in played if each is not None]
    return (min(counts), max(counts)) if counts else None


MOST_POINTS = 400


@dataclass(frozen=True)
class Trials:
    """How many there are of each kind, and those to be shown."""

    complete: int
    pruned: int
    failed: int
    shown: list[HistoryPoint]

    @property
    def finished(self) -> int:
        """Complete or pruned: what counts towards the number asked for."""
        return self.complete + self.pruned


def read_trials(storage: RDBStorage, study_id: int, spec: StudySpec, most: int = MOST_POINTS) -> Trials:
    """Count the trials of a study and give at most so many: all that were the best so far, the rest evenly."""
    from sqlalchemy import text

    with storage.engine.connect() as connection:
        rows = connection.execute(
            text(
                "SELECT t.trial_id, t.number, t.state, v.value FROM trials t LEFT JOIN trial_values v"
                " ON v.trial_id = t.trial_id AND v.objective = 0 AND v.value_type = 'FINITE'"
                " WHERE t.study_id = :study AND t.state IN ('COMPLETE', 'PRUNED', 'FAIL') ORDER BY t.number"
            ),
            {"study": study_id},
        ).all()
    maximize = parse_objective(spec.objective).maximize
    states = [str(row[2]) for row in rows]
    with_value = [row for row in rows if row[3] is not None]
    kept = [with_value[place] for place in thinned([_key(row, maximize) for row in with_value], most)]
    return Trials(states.count("COMPLETE"), states.count("PRUNED"), states.count("FAIL"), _points(storage, kept, spec))


def _key(row: Any, maximize: bool) -> float | None:
    """What a trial competes with: None where it was pruned."""
    if row[2] != "COMPLETE":
        return None
    return -row[3] if maximize else float(row[3])


def thinned(values: Sequence[float | None], most: int) -> list[int]:
    """Places of at most `most` values: the last improvements, both ends, and the rest evenly.

    >>> thinned([9.0, 10.0, 3.0, None, 5.0], 3)
    [0, 2, 4]
    """
    if len(values) <= most:
        return list(range(len(values)))
    best: float | None = None
    records = []
    for place, value in enumerate(values):
        if value is not None and (best is None or value < best):
            best = value
            records.append(place)
    kept = {0, len(values) - 1, *records[-max(1, most // 2) :]}
    rest = [place for place in range(len(values)) if place not in kept]
    room = most - len(kept)
    kept |= {rest[index * len(rest) // room] for index in range(max(0, room))}
    return sorted(kept)


def _points(storage: RDBStorage, rows: Sequence[Any], spec: StudySpec) -> list[HistoryPoint]:
    """The rows with their parameters and standard errors."""
    from optuna.distributions import json_to_distribution
    from sqlalchemy import bindparam, text

    ids = [row[0] for row in rows]
    params: dict[int, dict[str, Any]] = {}
    errors: dict[int, float] = {}
    if ids:
        with storage.engine.connect() as connection:
            of_params = text(
                "SELECT trial_id, param_name, param_value, distribution_json FROM trial_params"
                " WHERE trial_id IN :ids ORDER BY param_id"
            ).bindparams(bindparam("ids", expanding=True))
            for trial, name, value, distribution in connection.execute(of_params, {"ids": ids}):
                params.setdefault(trial, {})[name] = json_to_distribution(distribution).to_external_repr(value)
            of_errors = text(
                "SELECT trial_id, value_json FROM trial_user_attributes WHERE key = :key AND trial_id IN :ids"
            ).bindparams(bindparam("ids", expanding=True))
            for trial, value in connection.execute(of_errors, {"key": STDERR, "ids": ids}):
                error = json.loads(value)
                if isinstance(error, int | float):
                    errors[trial] = float(error)
    return [
        point_of(spec, number, value, str(state), errors.get(trial), params.get(trial, {}))
        for trial, number, state, value in rows
    ]


@dataclass(frozen=True)
class StudyPart:
    """One study: what was asked, how far it is, what it recommends."""

    name: str
    spec: ResolvedStudy
    recommendation: Recommendation | None
    trials: Trials
    played: Played | None = None

    @property
    def missing(self) -> str:
        """What this study still lacks, in a sentence; empty where it lacks nothing."""
        trials = self.trials
        if self.recommendation is not None:
            return ""
        if not trials.finished:
            return f"No trial has finished yet; {self.spec.trials} are asked for."
        if not trials.complete:
            pruned = "the one trial was" if trials.pruned == 1 else f"all {trials.pruned:,} trials were"
            return f"Nothing to recommend: {pruned} pruned, so no candidate was played to the end."
        if trials.finished < self.spec.trials:
            return (
                f"The search is unfinished: {trials.finished:,} of {self.spec.trials:,} trials. Its results are not"
                " validated, so there is no recommendation yet."
            )
        return "The search is done but was not validated, so nothing is recommended yet."


@dataclass(frozen=True)
class GridPart:
    """One finished grid, and the regrets of its best cells in a few fresh worlds."""

    grid: Grid
    samples: dict[str, Floats]


@dataclass(frozen=True)
class ReportData:
    """What a report is made of."""

    where: str
    """The storage, without a password."""
    studies: list[StudyPart]
    grids: list[GridPart] = field(default_factory=list)
    unfinished_grids: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)
    """Studies that are not ours, or that this version can't read."""
    over_worlds: list[RobustRecommendation | Front] = field(default_factory=list)
    """What searches over several scenarios found."""
    unfinished_over_worlds: list[str] = field(default_factory=list)

    @property
    def recommendations(self) -> list[Recommendation]:
        """All recommendations in the order of the export."""
        return [part.recommendation for part in self.studies if part.recommendation is not None]


def load_report_data(storage: RDBStorage | None, where: str, names: Sequence[str] | None = None) -> ReportData:
    """Read the named studies and grids, or all of them; without a storage there is nothing yet.

    >>> load_report_data(None, "sqlite:///studies.sqlite3").studies
    []
    """
    if storage is None:
        return ReportData(where, [])
    studies = storage.get_all_studies() if names is None else find_studies(storage, names)
    parts, grids, unfinished, strangers = [], [], [], []
    over_worlds: list[RobustRecommendation | Front] = []
    begun: list[str] = []
    for study in sorted(studies, key=lambda each: each.study_name):
        if COMPARISON in study.user_attrs:  # has a page of its own
            continue
        try:
            if GRID in study.user_attrs and read_grid_spec(study) is not None:
                grid = read_grid(study, storage.get_all_trials(study._study_id, deepcopy=False))
                if grid is None:
                    unfinished.append(study.study_name)
                else:
                    grids.append(grid)
                continue
            if ROBUST in study.user_attrs:
                several = read_robust(study)
                if several is None:
                    begun.append(study.study_name)
                else:
                    over_worlds.append(several)
                continue
            spec = read_spec(study)
            if spec is not None:
                parts.append(_study(storage, study, spec))
                continue
        except InputError:
            pass
        strangers.append(study.study_name)
    parts.sort(key=_order)
    count = sum(part.recommendation is not None for part in parts)
    grids.sort(key=lambda grid: (grid.spec.scenario, grid.spec.arms, grid.spec.horizon, grid.study))
    return ReportData(
        where,
        [_with_curves(part, count) for part in parts],
        [GridPart(grid, play_best_cells(grid, len(grids))) for grid in grids],
        unfinished,
        strangers,
        over_worlds,
        begun,
    )


def _study(storage: RDBStorage, study: FrozenStudy, spec: ResolvedStudy) -> StudyPart:
    found, trials = read_recommendation(study), read_trials(storage, study._study_id, spec)
    return StudyPart(study.study_name, spec, found, trials)


def _with_curves(part: StudyPart, studies: int) -> StudyPart:
    if part.recommendation is None:
        return part
    played = play_recommendation(part.recommendation, studies, part.spec)
    return StudyPart(part.name, part.spec, part.recommendation, part.trials, played)


def _order(part: StudyPart) -> tuple[str, str, int, int, str]:
    """The order of the export."""
    return part.spec.policy, part.spec.scenario, part.spec.arms, part.spec.horizon, part.name
