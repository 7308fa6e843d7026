"""Threads, loky and Dask with SQLite and PostgreSQL give the same bytes."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from tests.cluster import DaskCluster
from tests.faults.studies import SMALL, export_json, storage_in, trial_states
from tests.postgres import Server
from tuning.cli import app

SMALLER = ["--trials=20", "--selection=300", "--report=300"]


def test_results_do_not_depend_on_workers_and_storage(cluster: DaskCluster, postgres: Server, tmp_path: Path) -> None:
    workers_by_name = {
        "threads": ["--jobs=2"],
        "loky": ["--jobs=2", "--backend=loky"],
        "dask": [f"--cluster={cluster.address}"],
    }
    exports = {}
    for (name, words), kind in product(workers_by_name.items(), ("sqlite", "postgres")):
        (tmp_path / name).mkdir(exist_ok=True)
        place = tmp_path / name if kind == "sqlite" else postgres.new_database()
        assert app.run([*SMALL, *SMALLER, *words, f"--storage={storage_in(place)}"]) == app.DONE, (name, kind)
        assert trial_states(place) == {"COMPLETE": 20}
        exports[name, kind] = export_json(place)
    assert len(exports) == 6
    assert len(set(exports.values())) == 1
