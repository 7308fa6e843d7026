"""Storages made by hand for what is drawn from them: studies and small grids, without playing anything for long."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import optuna

from studies.spec.grid import GridSpec
from studies.spec.study import StudySpec
from studies.storage.database import open_storage
from studies.storage.keys import write_recommendation, write_spec
from tests.studies.examples import LOG_DISTRIBUTION, WILD, make_recommendation, store_grid, store_recommendations

GIVEN = [
    make_recommendation(scenario="blips", study=WILD, arms=5, horizon=300, importance={"alpha0": 0.75, "beta0": 0.25}),
    make_recommendation(scenario="variance-drift", horizon=1000),
    make_recommendation(scenario="variance-drift", horizon=400),
]
EPSILON = optuna.distributions.FloatDistribution(0.001, 0.5, log=True)


def add_grid(url: str, horizon: int, name: str | None = None, cells: int | None = None) -> None:
    """A 2 × 3 grid as `ravenlab grid` leaves it; with `cells`, one that stopped after so many."""
    spec = GridSpec(
        scenario="blips", horizon=horizon, arms=4, alpha0=(0.5, 1.0), beta0=(0.5, 1.0, 5.0), replications=8, name=name
    )
    storage = open_storage(url, create=True)
    store_grid(storage, spec, cells, alike=(0, 1) if cells is None else None)
    storage.engine.dispose()


def full(path: Path, grids: int = 1) -> str:
    """Three studies with recommendations, one of them with a wild name, and some grids."""
    url = store_recommendations(path, *GIVEN)
    for number in range(grids):
        add_grid(url, 100 + number, name=f"grid {number} {WILD[:60]}" if number == 1 else None)
    return url


def searched(storage: Any, done: int = 30, name: str | None = None, **more: Any) -> optuna.Study:
    """A finished search whose trials hold all three parameters."""
    spec = StudySpec(scenario="variance-drift", horizon=1000, trials=done, name=name, **more)
    found = make_recommendation(study=spec.study_name(), trials=done, importance={"alpha0": 0.7, "beta0": 0.3})
    study = optuna.create_study(study_name=spec.study_name(), storage=storage)
    write_spec(study, spec)
    for number in range(done):
        study.add_trial(
            optuna.trial.create_trial(
                params={"alpha0": 0.01 + number % 90 / 10, "beta0": 1.0, "epsilon": 0.1},
                distributions={"alpha0": LOG_DISTRIBUTION, "beta0": LOG_DISTRIBUTION, "epsilon": EPSILON},
                value=50.0 + 7 * np.sin(number),
                user_attrs={"stderr": 1.5, "replications": 200, "seconds": 0.01},
            )
        )
    write_recommendation(study, found)
    return study


def gridded(storage: Any, finished: bool = True, **changes: Any) -> optuna.Study:
    """The grid that goes with it."""
    spec = GridSpec(**{"scenario": "variance-drift", "horizon": 1000, "replications": 20, **changes})
    return store_grid(storage, spec, alike=(0, 1) if finished else None)[0]
