"""Storages with studies and small grids for tests of figures and pages, written without a search."""

from pathlib import Path
from typing import Any

import numpy as np
import optuna

from ravenlab.studies.kinds import TUNE
from ravenlab.studies.registry import PAPER_VALUES
from ravenlab.studies.spec.grid import GridSpec
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.storage.database import open_storage
from ravenlab.studies.storage.keys import write_recommendation
from tests.studies.examples import LOG_DISTRIBUTION, WILD, make_recommendation, store_grid, store_recommendations

RECOMMENDATIONS = [
    make_recommendation(scenario="blips", study=WILD, arms=5, horizon=300, importance={"alpha0": 0.75, "beta0": 0.25}),
    make_recommendation(scenario="variance-drift", horizon=1000),
    make_recommendation(scenario="variance-drift", horizon=400),
]
BASE = {"alpha0": 0.004567, "beta0": 0.04337, "epsilon": 0.006933}
LONG_PARAMS = {"raven-ucb": BASE, "sw-raven": {**BASE, "tau": 1234}, "d-raven": {**BASE, "gamma": 0.99998}}
"""Recommended parameters of several policies, with as many digits as are shown."""
EPSILON = optuna.distributions.FloatDistribution(0.001, 0.5, log=True)


def store_small_grid(url: str, horizon: int, name: str | None = None, cells: int | None = None) -> None:
    """Store a 2 × 3 grid as `ravenlab grid` does; with `cells`, only its first cells."""
    spec = GridSpec(
        scenario="blips", horizon=horizon, arms=4, alpha0=(0.5, 1.0), beta0=(0.5, 1.0, 5.0), replications=8, name=name
    )
    storage = open_storage(url, create=True)
    store_grid(storage, spec, cells, alike=(0, 1) if cells is None else None)
    storage.engine.dispose()


def store_examples(path: Path, grids: int = 1) -> str:
    """Store three studies with recommendations, one of them with a hostile name, and some grids."""
    url = store_recommendations(path, *RECOMMENDATIONS)
    for number in range(grids):
        store_small_grid(url, 100 + number, name=f"grid {number} {WILD[:60]}" if number == 1 else None)
    return url


def store_search(storage: Any, done: int = 12, name: str | None = None, **more: Any) -> optuna.Study:
    """Store a finished search whose trials have all three parameters."""
    spec = StudySpec(scenario="variance-drift", horizon=1000, trials=done, name=name, **more)
    result = make_recommendation(study=spec.study_name(), trials=done, importance={"alpha0": 0.7, "beta0": 0.3})
    study = optuna.create_study(study_name=spec.study_name(), storage=storage)
    TUNE.write_spec(study, spec)
    for number in range(done):
        study.add_trial(
            optuna.trial.create_trial(
                params={"alpha0": 0.01 + number % 90 / 10, "beta0": 1.0 + number % 7, "epsilon": 0.1},
                distributions={"alpha0": LOG_DISTRIBUTION, "beta0": LOG_DISTRIBUTION, "epsilon": EPSILON},
                value=50.0 + 7 * np.sin(number),
                user_attrs={"stderr": 1.5, "replications": 200, "seconds": 0.01},
            )
        )
    write_recommendation(study, result)
    return study


def store_search_grid(storage: Any, finished: bool = True, **changes: Any) -> optuna.Study:
    cells = {"alpha0": PAPER_VALUES, "beta0": PAPER_VALUES}
    spec = GridSpec(**{"scenario": "variance-drift", "horizon": 1000, "replications": 20, **cells, **changes})
    return store_grid(storage, spec, alike=(0, 1) if finished else None)[0]
