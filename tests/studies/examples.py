"""Stored studies for tests, written without a search."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import optuna

from ravenlab.environments.world import Floats
from ravenlab.studies.kinds import COMPARISON, GRID, TUNE
from ravenlab.studies.results.comparison import Comparison, ComparisonEntry, RegretCurve
from ravenlab.studies.results.grid import Grid, make_map_spec
from ravenlab.studies.results.recommendation import (
    Baseline,
    Edge,
    Estimate,
    Recommendation,
    RewardStatistics,
    TraceFacts,
)
from ravenlab.studies.results.verdict import Excess, Verdict
from ravenlab.studies.spec.comparison import ComparisonSpec
from ravenlab.studies.spec.grid import GridSpec
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.storage.database import open_storage
from ravenlab.studies.storage.keys import (
    write_indistinguishable,
    write_recommendation,
)
from ravenlab.studies.storage.trials import store_cells, store_entry, store_further_worlds

WILD = "<script>alert('\"1\"')</script>|../../etc/passwd\\&%$#_{}~^[b]`x` 🦅 ".ljust(200, "ä")
"""A name of 200 characters."""

LINES = f"{WILD[:99]}\n\x1b[31m"
"""A name with a line break and a terminal control code."""

LOG_DISTRIBUTION = optuna.distributions.FloatDistribution(0.01, 10.0, log=True)


def url(path: Path) -> str:
    return f"sqlite:///{path}"


def finished_trials(place: str) -> dict[str, list[tuple[int, Any]]]:
    """Return number and time of every stored trial by study, to check that a command stores nothing."""
    studies = [optuna.load_study(study_name=name, storage=place) for name in optuna.get_all_study_names(place)]
    return {study.study_name: [(trial.number, trial.datetime_complete) for trial in study.trials] for study in studies}


def make_recommendation(**changes: Any) -> Recommendation:
    fields: dict[str, Any] = {
        "policy": "raven-ucb",
        "scenario": "variance-drift",
        "horizon": 1000,
        "arms": 10,
        "verdict": Verdict(
            decision="use these values",
            set=["alpha0", "beta0", "epsilon"],
            defaults=Excess(mean=0.3, low=0.2, high=0.4, worlds=500, tied=False, worse=True),
            reason=None,
        ),
        "params": {"alpha0": 0.25, "beta0": 4.0, "epsilon": 0.0001},
        "regret": Estimate(mean=41.5, low=40.25, high=42.75, replications=2000),
        "search_estimate": 38.125,
        "indistinguishable": [{"alpha0": 0.25, "beta0": 4.0, "epsilon": 0.0001}, {"alpha0": 0.5, "beta0": 3.0}],
        "box": {"alpha0": (0.25, 0.5), "beta0": (3.0, 4.0)},
        "versus": [
            Baseline(name="paper", params={"alpha0": 5.0}, regret=60.0, difference=18.5, low=16.0, high=21.0),
            Baseline(name="defaults", params={"alpha0": 1.0}, regret=41.0, difference=-0.5, low=-2.0, high=1.0),
        ],
        "importance": None,
        "edge": [Edge(param="epsilon", value=0.0001, low=1e-06, high=0.5)],
        "scale": RewardStatistics(mean=0.5, spread=0.3),
        "trials": 20,
        "seed": 0,
        "version": "0.1.0",
        **changes,
    }
    fields.setdefault("study", "{policy}/{scenario}/T{horizon}/K{arms}".format(**fields))
    return Recommendation(**fields)


MAP_ALPHA0 = (0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 8.0)
MAP_BETA0 = (0.1, 0.5, 1.0, 2.0, 4.0, 5.0, 10.0)


def make_map(recommendation: Recommendation) -> Grid:
    """Make the sensitivity map of a recommendation, which must be one of its cells; it is not the lowest one."""
    chosen = recommendation.params
    axes = {"alpha0": MAP_ALPHA0, "beta0": MAP_BETA0}
    spec = make_map_spec(
        policy=recommendation.policy,
        scenario=recommendation.scenario,
        settings=recommendation.settings,
        horizon=recommendation.horizon,
        arms=recommendation.arms,
        seed=recommendation.seed,
        unit=recommendation.unit,
        axes=axes,
        fixed={"epsilon": chosen["epsilon"]},
        replications=650,
    )
    recommended = MAP_ALPHA0.index(float(chosen["alpha0"])), MAP_BETA0.index(float(chosen["beta0"]))
    a, b = np.meshgrid(np.log(MAP_ALPHA0), np.log(MAP_BETA0), indexing="ij")
    mean = 40.0 + 12.0 * (a - a[recommended]) ** 2 + 2.0 * (b - b[recommended] - 1.0) ** 2
    difference = mean - mean[recommended]
    low = np.where(difference == 0.0, 0.0, difference - 1.5)
    high = np.where(difference == 0.0, 0.0, difference + 1.5)
    return Grid(spec, recommendation.study, mean, mean / 50, difference < 0.85, recommended, low, high)


def make_trace_facts(names: Sequence[str], *, minimize: bool = False) -> TraceFacts:
    """Make plausible facts of a trace with these arms."""
    return TraceFacts(
        file="trace.csv",
        digest="0" * 64,
        rows=1000,
        empty_rows=0,
        arms=dict.fromkeys(names, 0),
        minimize=minimize,
        segments={"search": (1, 500), "selection": (501, 700), "report": (701, 1000)},
        block=1,
        effective=300.0,
        enough=True,
        regret_fixed=Estimate(mean=1.0, low=0.5, high=1.5, replications=100),
        reach=6,
        per_step=9.5,
        scale=2.0,
    )


def store_study(storage: Any, spec: StudySpec, done: int, recommendation: Recommendation | None = None) -> optuna.Study:
    """Store a study with trials, one of them pruned if there are more than two."""
    study = optuna.create_study(study_name=spec.study_name(), storage=storage, direction="minimize")
    TUNE.write_spec(study, spec)
    for number in range(done):
        pruned = done > 2 and number == 1
        study.add_trial(
            optuna.trial.create_trial(
                state=optuna.trial.TrialState.PRUNED if pruned else optuna.trial.TrialState.COMPLETE,
                params={"alpha0": 0.1 * (number % 99 + 1), "beta0": 1.0},
                distributions={"alpha0": LOG_DISTRIBUTION, "beta0": LOG_DISTRIBUTION},
                value=1.0 if pruned else 50.0 - number,
                intermediate_values={0: 3.0, 1: 2.0} if pruned else {},
                user_attrs={"stderr": 1.5, "replications": 200, "seconds": 0.01},
                system_attrs={"batch": number // 16},
            )
        )
    if recommendation is not None:
        write_recommendation(study, recommendation)
    return study


def store_recommendations(path: Path, *recommendations: Recommendation) -> str:
    """Create a storage with a study per recommendation and return its URL."""
    storage = open_storage(url(path), create=True)
    for recommendation in recommendations:
        name = (
            None
            if recommendation.study.startswith(f"{recommendation.policy}/{recommendation.scenario}/T")
            else recommendation.study
        )
        spec = StudySpec(
            name=name,
            policy=recommendation.policy,
            scenario=recommendation.scenario,
            settings=recommendation.settings,
            horizon=recommendation.horizon,
            arms=recommendation.arms,
            trials=4,
        )
        store_study(storage, spec, 4, recommendation)
    storage.engine.dispose()
    return url(path)


def store_grid(
    storage: Any, spec: GridSpec, cells: int | None = None, alike: Sequence[int] | None = (0, 1)
) -> tuple[optuna.Study, Floats]:
    """Store a grid and return its samples; with `alike` None, an unfinished one."""
    study = optuna.create_study(study_name=spec.study_name(), storage=storage)
    GRID.write_spec(study, spec)
    levels = np.array([20.0 + float(cell["alpha0"]) for cell in spec.cells()])[:, None]
    samples = levels + np.random.default_rng(3).normal(0.0, 1.0, (len(levels), spec.replications))
    store_cells(study, spec, 0, samples[:cells], 0.1)
    if alike is not None:
        write_indistinguishable(study, list(alike))
    return study, samples


def make_comparison(spec: ComparisonSpec, means: Mapping[str, float]) -> Comparison:
    """Make a comparison whose tuned policies have about these mean regrets; at their defaults they have 20 more."""
    steps = list(range(100, spec.horizon + 1, 100))
    entries = []
    for number, (policy, setting) in enumerate(spec.entries()):
        rng = np.random.default_rng(number)
        worlds = np.random.default_rng(99).gamma(25.0, 0.2, spec.replications)
        regret = worlds + means[policy] + 20.0 * (setting == "defaults") + rng.normal(0.0, 1.0, worlds.size)
        curve = RegretCurve.of(steps, regret[:, None] * np.sqrt(np.array(steps) / spec.horizon))
        params = spec.resolve_params(policy, {})
        entries.append(ComparisonEntry(policy, setting, params, regret, curve, spec.tune, 100, 0, 0.0, 50.0))
    return Comparison(spec, spec.study_name(), tuple(entries))


def store_comparison(storage: Any, comparison: Comparison, done: int | None = None) -> optuna.Study:
    study = optuna.create_study(study_name=comparison.study, storage=storage)
    COMPARISON.write_spec(study, comparison.spec)
    for entry in comparison.entries[:done]:
        store_entry(study, comparison.spec, entry, 0.1)
    if done is None:
        store_further_worlds(study, [])
    return study


def snapshot(storage: Any, name: str) -> list[dict[str, Any]]:
    """Return the content of all trials except for their ids."""
    trials: list[dict[str, Any]] = []
    for trial in optuna.load_study(study_name=name, storage=storage).get_trials():
        trials.append(
            {
                "number": trial.number,
                "state": trial.state,
                "values": trial.values,
                "params": trial.params,
                "distributions": trial.distributions,
                "user": trial.user_attrs,
                "system": trial.system_attrs,
                "intermediate": trial.intermediate_values,
                "times": (str(trial.datetime_start), str(trial.datetime_complete)),
            }
        )
    return trials
