"""Storages made by hand for the report: studies and small grids, without playing anything for long."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import optuna

from studies.grid import GridSpec
from studies.grid_storage import land_cell
from studies.keys import write_grid_spec, write_indistinguishable
from studies.storage import open_storage
from tests.studies.made import WILD, recommendation, stored

SCENARIOS = ("variance-drift", "blips", "periodic")
GIVEN = [
    recommendation(scenario="blips", study=WILD, arms=5, horizon=300, importance={"alpha0": 0.75, "beta0": 0.25}),
    recommendation(scenario="variance-drift", horizon=1000),
    recommendation(scenario="variance-drift", horizon=400),
]


def add_grid(url: str, horizon: int, name: str | None = None, cells: int | None = None) -> None:
    """A 2 × 3 grid as `ravenlab grid` leaves it; with `cells`, one that stopped after so many."""
    spec = GridSpec(
        scenario="blips", horizon=horizon, arms=4, alpha0=(0.5, 1.0), beta0=(0.5, 1.0, 5.0), replications=8, name=name
    )
    storage = open_storage(url, create=True)
    study = optuna.create_study(study_name=spec.study_name(), storage=storage)
    write_grid_spec(study, spec)
    draws = np.random.default_rng(horizon).gamma(4.0, 5.0, (6, 8))
    for number in range(6 if cells is None else cells):
        land_cell(study, spec, number, draws[number], 0.1)
    if cells is None:
        write_indistinguishable(study, [int(draws.mean(axis=1).argmin())])
    storage.engine.dispose()


def full(path: Path, grids: int = 1) -> str:
    """Three studies with recommendations, one of them with a wild name, and some grids."""
    url = stored(path, *GIVEN)
    for number in range(grids):
        add_grid(url, 100 + number, name=f"grid {number} {WILD[:60]}" if number == 1 else None)
    return url
