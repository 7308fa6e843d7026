"""Threads, loky and Dask with SQLite and PostgreSQL give the same bytes."""

from itertools import product
from pathlib import Path

from ravenlab.tuning.cli import app
from tests.cluster import DaskCluster
from tests.faults.studies import KILLS, SMALL, export_json, storage_in, trial_states
from tests.postgres import Server

SMALLER = ["--trials=20", "--selection=300", "--report=300"]
ALL = list(product(("threads", "loky", "dask"), ("sqlite", "postgres")))
TESTED_ELSEWHERE = {("loky", "sqlite"): "test_kill.py", ("threads", "postgres"): "test_postgres_connection.py"}
"""Combinations that other tests compare with the same study; a stress run repeats them here."""


def test_results_do_not_depend_on_workers_and_storage(cluster: DaskCluster, postgres: Server, tmp_path: Path) -> None:
    workers_by_name = {
        "threads": ["--jobs=2"],
        "loky": ["--jobs=2", "--backend=loky"],
        "dask": [f"--cluster={cluster.address}"],
    }
    exports = {}
    for name, kind in ALL:
        if (name, kind) in TESTED_ELSEWHERE and KILLS < 10:
            continue
        (tmp_path / name).mkdir(exist_ok=True)
        place = tmp_path / name if kind == "sqlite" else postgres.new_database()
        words = [*SMALL, *SMALLER, *workers_by_name[name], f"--storage={storage_in(place)}"]
        assert app.run(words) == app.DONE, (name, kind)
        assert trial_states(place) == {"COMPLETE": 20}
        exports[name, kind] = export_json(place)
    assert len(exports) >= 4
    assert len(set(exports.values())) == 1
