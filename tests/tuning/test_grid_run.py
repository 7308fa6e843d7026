"""Grids: known values, the same worlds for all cells, independence of workers and interruptions."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import optuna
import pytest

import ravenlab
from ravenlab.environments import InputError
from ravenlab.environments.streams import Stream
from ravenlab.policies.engine.simulation import simulate
from ravenlab.studies.registry import PAPER_VALUES
from ravenlab.studies.results.grid import Grid
from ravenlab.studies.spec.fields import Specification
from ravenlab.studies.spec.grid import GridSpec
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.statistics.intervals import indistinguishable
from ravenlab.studies.storage import keys
from ravenlab.studies.storage.database import open_storage
from ravenlab.studies.storage.library import list_studies
from ravenlab.studies.storage.lock import lock_studies
from ravenlab.tuning import grid_run
from ravenlab.tuning.grid_run import grid_problem, run_grid
from ravenlab.tuning.listener import Listener
from ravenlab.tuning.search.loop import Progress
from ravenlab.tuning.study_run import run_study
from ravenlab.tuning.workers.local import LocalWorkers
from ravenlab.tuning.workers.problem import Evaluator
from tests.messages import raises_naming
from tests.tuning.plain_grid import regrets

PUBLISHED = "published-variance-drift"


def small(**fields: Any) -> GridSpec:
    usual: dict[str, Any] = {
        "scenario": "localized-jump", "horizon": 200, "arms": 4, "replications": 60,
        "alpha0": (0.1, 0.5, 1.0, 5.0), "beta0": (0.5, 1.0, 5.0, 7.0, 10.0), "seed": 3,
    }  # fmt: skip
    return GridSpec(**{**usual, **fields})


def assert_same(one: Grid, other: Grid) -> None:
    np.testing.assert_array_equal(one.mean, other.mean)
    np.testing.assert_array_equal(one.stderr, other.stderr)
    np.testing.assert_array_equal(one.indistinguishable, other.indistinguishable)


class RecordingListener(Listener):
    """Records what it is told, and may stop a run after a batch."""

    def __init__(self, stop: bool = False) -> None:
        self.said: list[Any] = []
        self.stop = stop

    def begin(self, spec: Specification, stored: int) -> None:
        self.said.append(("begin", stored))

    def batch(self, progress: Progress) -> None:
        self.said.append(("batch", progress.trials))
        if self.stop:
            raise KeyboardInterrupt

    def validate(self, replayed: int = 0) -> None:
        self.said.append(("compare", replayed))

    def finish(self) -> None:
        self.said.append("finish")

    def complete(self, spec: Specification) -> None:
        self.said.append(("complete", spec.study_name()))


@pytest.mark.parametrize(
    ("horizon", "replications", "known"),
    [
        (1000, 4000, {(1.0, 1.0): (13.55, 0.25)}),
        (10_000, 1000, {(5.0, 1.0): (120.7, 0.4), (10.0, 10.0): (331.8, 0.7)}),
    ],
)
def test_known_values(horizon: int, replications: int, known: dict[tuple[float, float], tuple[float, float]]) -> None:
    """Values of an independent implementation with 4,000 replications, within 4 standard errors of both."""
    for (alpha0, beta0), (value, error) in known.items():
        spec = GridSpec(
            scenario=PUBLISHED, horizon=horizon, alpha0=(alpha0,), beta0=(beta0,), replications=replications
        )
        evaluator = Evaluator(grid_problem(spec), LocalWorkers(2))
        sample = evaluator.play([spec.resolve_params(spec.cells()[0])], Stream.GRID, 0, replications).regret[0]
        combined = np.hypot(error, sample.std(ddof=1) / replications**0.5)
        assert abs(sample.mean() - value) < 4.0 * combined


def agrees(url: str, horizon: int, replications: int) -> None:
    """Every cell of the paper's grid against plain NumPy, within 4 standard errors of the difference."""
    spec = GridSpec(
        scenario=PUBLISHED, horizon=horizon, replications=replications, alpha0=PAPER_VALUES, beta0=PAPER_VALUES
    )
    ours = run_grid(spec, url, LocalWorkers(2)).result
    cells = ours.spec.cells()
    alpha0, beta0 = (np.array([cell[name] for cell in cells]) for name in ("alpha0", "beta0"))
    theirs = regrets(alpha0, beta0, 0.1, horizon, replications, seed=11)
    error = np.hypot(ours.stderr.ravel(), theirs.std(axis=1, ddof=1) / replications**0.5)
    assert (abs(ours.mean.ravel() - theirs.mean(axis=1)) / error).max() < 4.0


def test_every_cell_agrees_with_plain_numpy(url: str) -> None:
    agrees(url, 1000, 500)


@pytest.mark.stress
def test_every_cell_agrees_with_plain_numpy_at_length(url: str) -> None:
    agrees(url, 10_000, 1000)


def test_cells_play_the_same_worlds_of_their_own_stream(url: str) -> None:
    spec = small()
    grid = run_grid(spec, url).result
    samples = np.stack(
        [
            simulate(
                "raven-ucb", spec.scenario, horizon=200, arms=4, replications=60, seed=3, params=cell,
                stream=Stream.GRID,
            ).regret
            for cell in spec.cells()
        ]
    )  # fmt: skip
    np.testing.assert_allclose(grid.mean.ravel(), samples.mean(axis=1), rtol=1e-12)
    np.testing.assert_array_equal(grid.indistinguishable.ravel(), indistinguishable(samples, 3))
    assert grid.indistinguishable[grid.best]
    assert not grid.indistinguishable.all()


@pytest.mark.parametrize(("jobs", "backend"), [(2, "threads"), (3, "threads"), (2, "loky")])
def test_grid_does_not_depend_on_workers(jobs: int, backend: str, tmp_path: Path) -> None:
    one = run_grid(small(), f"sqlite:///{tmp_path}/a.sqlite3").result
    assert_same(run_grid(small(), f"sqlite:///{tmp_path}/b.sqlite3", LocalWorkers(jobs, backend)).result, one)


def test_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run_grid(small(), f"sqlite:///{tmp_path}/a.sqlite3").result
    monkeypatch.setattr(grid_run, "BATCH", 3)
    url = f"sqlite:///{tmp_path}/b.sqlite3"
    for landed in (0, 3):
        told = RecordingListener(stop=True)
        with pytest.raises(KeyboardInterrupt):
            run_grid(small(), url, listener=told)
        assert told.said == [("begin", landed), ("batch", landed + 3)]
    monkeypatch.setattr(grid_run, "BATCH", 16)
    told = RecordingListener()
    assert_same(run_grid(small(), url, listener=told).result, whole)
    assert told.said == [("begin", 6), ("batch", 20), ("compare", 0), "finish"]
    told = RecordingListener()
    assert_same(run_grid(small(), url, listener=told).result, whole)
    assert told.said == [("complete", small().study_name())]


def test_stored_cells_are_compared(url: str) -> None:
    whole = run_grid(small(), url).result
    study = optuna.load_study(study_name=whole.study, storage=open_storage(url, create=False))
    study.set_user_attr(keys.INDISTINGUISHABLE, None)
    told = RecordingListener()
    assert_same(run_grid(small(), url, listener=told).result, whole)
    assert told.said == [("begin", 20), ("compare", 20), "finish"]
    assert len(study.get_trials()) == 20


def test_cells_of_another_version_are_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid_run, "BATCH", 3)
    with pytest.raises(KeyboardInterrupt):
        run_grid(small(), url, listener=RecordingListener(stop=True))
    monkeypatch.setattr(grid_run, "Stream", SimpleNamespace(GRID=9))
    with raises_naming(InputError, small().study_name()):
        run_grid(small(), url)
    study = optuna.load_study(study_name=small().study_name(), storage=open_storage(url, create=False))
    assert len(study.get_trials()) == 3  # nothing was stored


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"replications": 61}, ["replications", "60", "61"]),
        ({"seed": 4, "name": "mine"}, ["seed", "3", "4"]),
        ({"epsilon": 0.2, "name": "mine"}, ["epsilon", "0.1", "0.2"]),
        ({"horizon": 300, "name": "mine"}, ["horizon", "200", "300"]),
    ],
)
def test_incomparable_changes_are_refused(fields: dict[str, Any], names: list[str], url: str) -> None:
    first = {"name": fields["name"]} if "name" in fields else {}
    run_grid(small(**first), url)
    with raises_naming(InputError, *names):
        run_grid(small(**fields), url)


def test_names_of_studies_and_grids_do_not_mix(url: str) -> None:
    run_grid(small(name="g"), url)
    search = {"scenario": "blips", "horizon": 100, "arms": 3, "trials": 2, "replications": 5}
    with raises_naming(InputError, "'g'"):
        run_study(StudySpec(name="g", **search), url)  # type: ignore[arg-type]
    run_study(StudySpec(name="s", selection=20, report=20, **search), url)  # type: ignore[arg-type]
    with raises_naming(InputError, "'s'"):
        run_grid(small(name="s"), url)
    theirs = optuna.create_study(study_name="theirs", storage=open_storage(url, create=False))
    theirs.add_trial(optuna.trial.create_trial(value=1.0))
    with raises_naming(InputError, "'theirs'"):
        run_grid(small(name="theirs"), url)


def test_one_driver_at_a_time(url: str) -> None:
    with lock_studies(url, small().study_name()), raises_naming(InputError, small().study_name()):
        run_grid(small(), url)


def test_from_python(url: str) -> None:
    found = ravenlab.grid(
        ["stationary", "blips"], [50, 100], arms=3, replications=8, alpha0=[0.5, 1], noise="laplace", storage=url
    )
    assert [(grid.spec.scenario, grid.spec.horizon) for grid in found] == [
        ("stationary", 50),
        ("stationary", 100),
        ("blips", 50),
        ("blips", 100),
    ]
    assert all(isinstance(grid, ravenlab.Grid) and grid.mean.shape == (2, 7) for grid in found)
    stored = list_studies(open_storage(url, create=False))
    assert {(row.name, row.kind, row.state) for row in stored} == {(grid.study, "grid", "complete") for grid in found}
    with raises_naming(ravenlab.InputError, "alpha0"):
        ravenlab.grid("blips", alpha0=[1, 0.5], storage=url)
