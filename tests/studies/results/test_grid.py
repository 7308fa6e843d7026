"""Grids: specification, storage and CSV."""

from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest
from pydantic import ValidationError

from ravenlab.common.compat.optuna import storage_of, study_id
from ravenlab.environments import InputError
from ravenlab.studies.export import csv_table
from ravenlab.studies.kinds import GRID
from ravenlab.studies.registry import PAPER_VALUES
from ravenlab.studies.results.grid import Grid
from ravenlab.studies.spec.grid import FINE_VALUES, GridSpec
from ravenlab.studies.spec.parse import parse_grid_spec
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.storage import keys
from ravenlab.studies.storage.copy import read_study_rows, write_study_rows
from ravenlab.studies.storage.database import open_storage
from ravenlab.studies.storage.library import list_studies, read_recommendations
from ravenlab.studies.storage.trials import grid_distributions
from tests.messages import assert_names, raises_naming
from tests.studies.examples import WILD, store_grid, store_study, url


def read_result(study: optuna.Study) -> Grid | None:
    return GRID.read_result(storage_of(study), study)


SMALL: dict[str, Any] = {"scenario": "blips", "horizon": 100, "alpha0": (0.5, 1.0), "beta0": (1.0, 5.0, 10.0)}


def test_a_stored_grid_is_read_back(tmp_path: Path) -> None:
    storage = open_storage(url(tmp_path / "s.sqlite3"), create=True)
    spec = GridSpec(**SMALL, replications=50)
    study, samples = store_grid(storage, spec, alike=[1, 4])
    trials = study.get_trials()
    assert [trial.params for trial in trials] == spec.cells()
    assert trials[0].params == {"alpha0": 0.5, "beta0": 1.0, "epsilon": 0.1}
    assert set(trials[0].user_attrs) == {"stderr", "replications", "seconds"}
    grid = read_result(optuna.load_study(study_name=study.study_name, storage=storage))
    assert grid is not None
    assert grid.spec == spec
    np.testing.assert_array_equal(grid.mean, samples.mean(axis=1).reshape(2, 3))
    np.testing.assert_allclose(grid.stderr, (samples.std(axis=1, ddof=1) / 50**0.5).reshape(2, 3))
    assert grid.indistinguishable.tolist() == [[False, True, False], [False, True, False]]


def test_only_complete_grids_are_read(tmp_path: Path) -> None:
    storage = open_storage(url(tmp_path / "s.sqlite3"), create=True)
    half, _ = store_grid(storage, GridSpec(**SMALL), 3, alike=None)
    bare, _ = store_grid(storage, GridSpec(**SMALL, name="bare"), alike=None)
    store_study(storage, StudySpec(scenario="blips", horizon=1000), 2)
    for study in (half, bare, optuna.create_study(study_name="theirs", storage=storage)):
        assert read_result(study) is None
    complete, _ = store_grid(storage, GridSpec(**{**SMALL, "horizon": 2000}))
    grid = read_result(complete)
    assert grid is not None
    assert (grid.study, grid.spec.horizon) == (complete.study_name, 2000)


def test_the_library_lists_grids(tmp_path: Path) -> None:
    storage = open_storage(url(tmp_path / "s.sqlite3"), create=True)
    store_grid(storage, GridSpec(**SMALL), 4, alike=None)
    (row,) = list_studies(storage)
    assert (row.kind, row.state, row.finished, row.planned) == ("grid", "interrupted", 4, 6)
    assert (row.scenario, row.horizon, row.seed) == ("blips", 100, 0)
    assert row.regret is None
    assert read_recommendations(storage) == []


def test_a_grid_is_copied_under_another_name(tmp_path: Path) -> None:
    source = open_storage(url(tmp_path / "a.sqlite3"), create=True)
    target = open_storage(url(tmp_path / "b.sqlite3"), create=True)
    study, _ = store_grid(source, GridSpec(**SMALL, replications=20))
    write_study_rows(read_study_rows(source, study_id(study)), target, WILD)
    copied, original = read_result(optuna.load_study(study_name=WILD, storage=target)), read_result(study)
    assert copied is not None
    assert original is not None
    assert copied.study == copied.spec.study_name() == WILD
    np.testing.assert_array_equal(copied.mean, original.mean)


def test_trials_that_are_not_cells_are_rejected(tmp_path: Path) -> None:
    storage = open_storage(url(tmp_path / "s.sqlite3"), create=True)
    spec = GridSpec(**SMALL)
    study, _ = store_grid(storage, spec)
    study.enqueue_trial({"alpha0": 1.0})
    with raises_naming(InputError, "6"):
        read_result(study)
    study.set_user_attr(keys.GRID, {"scenario": "blips", "cells": 3})
    with pytest.raises(InputError, match="cannot read"):
        read_result(study)
    (row,) = list_studies(storage)
    assert row.state == "external"


def test_distributions_contain_every_cell() -> None:
    spec = GridSpec(scenario="blips", alpha0=(0.0, 1.0), beta0=(2.0,))
    distributions = grid_distributions(spec)
    assert all(distributions[name]._contains(float(value)) for cell in spec.cells() for name, value in cell.items())
    assert ["log=True" in repr(distributions[name]) for name in ("alpha0", "beta0", "epsilon")] == [False, True, True]


def test_the_fine_grid_spans_the_range_of_the_paper() -> None:
    assert (len(FINE_VALUES), FINE_VALUES[0], FINE_VALUES[12], FINE_VALUES[-1]) == (25, 0.01, 0.316228, 10.0)
    ratios = np.diff(np.log(FINE_VALUES))
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-4)


def test_grids_as_csv() -> None:
    spec = GridSpec(scenario="blips", horizon=100, alpha0=(1.0,), beta0=(1.0, 10.0), replications=7)
    grid = Grid(spec, "g", np.array([[1.0 / 3.0, 2.0]]), np.array([[0.5, 0.25]]), np.array([[True, False]]))
    assert csv_table.write_grids([grid]).splitlines() == [
        "scenario,horizon,alpha0,beta0,epsilon,regret,stderr,replications,indistinguishable",
        "blips,100,1,1,0.1,0.3333333333333333,0.5,7,true",
        "blips,100,1,10,0.1,2.0,0.25,7,false",
    ]


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"alpha0": [1, 1]}, ["alpha0", "1, 1"]),
        ({"beta0": [5, 1]}, ["beta0", "5", "1"]),
        ({"alpha0": []}, ["alpha0"]),
        ({"alpha0": [-1.0]}, ["alpha0"]),
        ({"alpha0": ["x"]}, ["alpha0"]),
        ({"alpha0": [float("inf")]}, ["alpha0", "inf"]),
        ({"alpha0": [True]}, ["alpha0"]),
        ({"epsilon": -0.5}, ["epsilon"]),
        ({"replications": 1}, ["replications", "2", "1"]),
        ({"replications": 10_000_000}, ["replications", "1587301", "63", "10000000"]),
        ({"alpha0": list(range(1, 60)), "beta0": list(range(1, 60))}, ["2500", "3481"]),
        ({"horizon": 0}, ["horizon", "1", "0"]),
        ({"scenario": "blip"}, ["'blips'"]),
        ({"settings": {"evry": 3}}, ["evry"]),
        ({"alhpa0": [1]}, ["'alpha0'"]),
        ({"name": "a\n"}, ["name"]),
        ({"seed": -1}, ["seed", "0"]),
    ],
)
def test_errors_name_field_and_value_on_one_line(fields: dict[str, Any], names: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        parse_grid_spec({"scenario": "blips", **fields})
    assert_names(str(caught.value), *names)
    assert "\n" not in str(caught.value)


def test_study_names() -> None:
    usual = GridSpec(scenario="blips", horizon=1000)
    assert usual.study_name() == "grid/raven-ucb/blips/T1000/K10"
    assert GridSpec(scenario="blips", horizon=1000, replications=4).study_name() == usual.study_name()
    others: dict[str, dict[str, Any]] = {
        "epsilon=0.2": {"epsilon": 0.2},
        "alpha0=1:5": {"alpha0": (1.0, 5.0)},
        "noise=laplace,seed=3": {"settings": {"noise": "laplace"}, "seed": 3},
        "cells=paper": {"alpha0": PAPER_VALUES, "beta0": PAPER_VALUES},
        "seed=3,cells=fine": {"alpha0": FINE_VALUES, "beta0": FINE_VALUES, "seed": 3},
    }
    for suffix, fields in others.items():
        name = GridSpec(scenario="blips", horizon=1000, **fields).study_name()
        assert name == f"{usual.study_name()}/{suffix}"
    assert parse_grid_spec({"scenario": "blips", "noise": "laplace"}).settings == {"noise": "laplace"}
    with pytest.raises(ValidationError):
        GridSpec(scenario="blips", cells=3)  # type: ignore[call-arg]
