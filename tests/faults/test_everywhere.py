"""The same study on threads, loky and a Dask cluster, kept in SQLite or PostgreSQL: the same bytes, in every pair."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from tests.cluster import DaskCluster
from tests.faults.studies import SMALL, exported, states, storage_in
from tests.postgres import Server
from tuning.cli import app

SMALLER = ["--trials=20", "--selection=300", "--report=300"]


def test_crews_and_storages_do_not_show(cluster: DaskCluster, postgres: Server, tmp_path: Path) -> None:
    crews = {
        "threads": ["--jobs=2"],
        "loky": ["--jobs=2", "--backend=loky"],
        "dask": [f"--cluster={cluster.address}"],
    }
    found = {}
    for (crew, words), kind in product(crews.items(), ("sqlite", "postgres")):
        (tmp_path / crew).mkdir(exist_ok=True)
        place = tmp_path / crew if kind == "sqlite" else postgres.new_database()
        assert app.run([*SMALL, *SMALLER, *words, f"--storage={storage_in(place)}"]) == app.DONE, (crew, kind)
        assert states(place) == {"COMPLETE": 20}
        found[crew, kind] = exported(place)
    assert len(found) == 6
    assert len(set(found.values())) == 1
