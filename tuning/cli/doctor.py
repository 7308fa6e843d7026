"""`ravenlab doctor`: check this machine, a storage and a cluster."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from ravenlab.common.documents import Table
from ravenlab.common.terminal import print_line, print_table
from ravenlab.common.text import plural
from ravenlab.studies.storage.urls import storage_url
from ravenlab.tuning.cli.options import ClusterOption, JsonOption, StorageOption
from ravenlab.tuning.cli.output import print_json
from ravenlab.tuning.workers.local import worker_count

if TYPE_CHECKING:
    from ravenlab.tuning.doctor import Check
    from ravenlab.tuning.doctor.cluster import Node


def doctor(storage: StorageOption = None, cluster: ClusterOption = None, as_json: JsonOption = False) -> None:
    """Check this machine, a storage and a cluster.

    Checks versions, numba and access rights. Nothing is changed except numba's cache. Rows marked
    "note" are limitations. Rows marked "problem" lead to failures or wrong results; the exit code is then 1.

    Examples:
        # this machine, and the storage in this folder
        ravenlab doctor
        # also a cluster: versions of its workers
        ravenlab doctor --cluster tcp://localhost:8786
    """
    from ravenlab.tuning.doctor import PROBLEM

    rows, workers = _run_checks(storage, cluster)
    problems = sum(row.verdict == PROBLEM for row in rows)
    if as_json:
        checks = [asdict(row) for row in rows]
        nodes = [asdict(worker) for worker in workers]
        print_json({"problems": problems, "checks": checks, "workers": nodes})
    else:
        columns = ["check", "found", "verdict", "what to do"]
        cells = [[row.check, row.found, row.verdict, row.advice] for row in rows]
        print_table(Table(columns, cells, "ravenlab doctor", text=columns))
        print_line("No problems." if problems == 0 else f"{plural(problems, 'problem')}.")
    if problems:
        raise typer.Exit(1)


def _run_checks(storage: str | None, cluster: str | None) -> tuple[list[Check], list[Node]]:
    """Run all checks. Modules that need numba are imported only after numba was found to work."""
    from ravenlab.common.fingerprint import identity
    from ravenlab.tuning.doctor import NOTE, PROBLEM, Check
    from ravenlab.tuning.doctor.machine import check_kernel, check_versions
    from ravenlab.tuning.doctor.storage import check_storage

    rows = check_versions()
    kernel = check_kernel()
    rows += [*kernel, *check_storage(storage_url(storage))]
    if cluster is None:
        return rows, []
    if kernel[0].verdict == PROBLEM:
        return [*rows, Check("cluster", "not checked", NOTE, "repair numba on this machine first")], []
    from ravenlab.tuning.doctor.cluster import check_cluster, inspect_cluster
    from ravenlab.tuning.workers.cluster import open_cluster

    with open_cluster(cluster, worker_count(None), inspect_only=True) as workers:
        inspected = inspect_cluster(workers.client)
    return rows + check_cluster(inspected, identity()), inspected.workers
