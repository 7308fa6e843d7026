"""`ravenlab doctor`: check this machine, a storage and a cluster."""

from dataclasses import asdict

import typer

from ravenlab.common.documents import Table
from ravenlab.common.terminal import print_line, print_table
from ravenlab.common.text import plural
from ravenlab.studies.storage.urls import storage_url
from ravenlab.tuning.cli.options import ClusterOption, JsonOption, StorageOption
from ravenlab.tuning.cli.output import print_json
from ravenlab.tuning.workers.local import worker_count


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
    from ravenlab.tuning.doctor import (
        NOTE,
        PROBLEM,
        Check,
        Node,
        check_cluster,
        check_machine,
        check_storage,
        inspect_cluster,
    )

    rows = check_machine()
    usable = all(row.verdict != PROBLEM for row in rows)
    rows += check_storage(storage_url(storage))
    workers: list[Node] = []
    if cluster is not None and not usable:
        rows.append(Check("cluster", "not checked", NOTE, "repair numba on this machine first"))
    elif cluster is not None:
        from ravenlab.common.fingerprint import identity
        from ravenlab.tuning.workers.cluster import open_cluster

        with open_cluster(cluster, worker_count(None), inspect_only=True) as opened:
            scheduler, workers = inspect_cluster(opened.client)
        rows += check_cluster(scheduler, workers, identity())
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
