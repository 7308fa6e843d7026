"""`ravenlab doctor`: whether this machine, a storage and a cluster are fit for work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from tuning.commands.options import ClusterOption, JsonOption, StorageOption

if TYPE_CHECKING:
    from tuning.doctor.nodes import Node
    from tuning.doctor.rows import Check


def doctor(storage: StorageOption = None, cluster: ClusterOption = None, as_json: JsonOption = False) -> None:
    """Check this machine, the storage and a cluster.

    Versions, numba, speed, rights. Nothing is made or changed but numba's cache. A note works and is worth knowing; a
    problem does not work, and makes the exit code 1.

    Examples:
        # this machine, and the storage in this folder
        ravenlab doctor
        # a cluster as well: whether its workers run what you run
        ravenlab doctor --cluster tcp://localhost:8786
    """
    from dataclasses import asdict

    from environments.text import plural
    from tuning.commands.tables import print_json, print_table, say
    from tuning.doctor.rows import problems

    rows, workers = _checked(storage, cluster)
    count = problems(rows)
    if as_json:
        told = {
            "problems": count,
            "checks": [asdict(row) for row in rows],
            "workers": [asdict(each) for each in workers],
        }
        print_json(told)
    else:
        columns = ["check", "found", "verdict", "what to do"]
        print_table("ravenlab doctor", columns, [[row.check, row.found, row.verdict, row.advice] for row in rows])
        say("No problems." if count == 0 else f"{plural(count, 'problem')}.")
    if count:
        raise typer.Exit(1)


def _checked(storage: str | None, cluster: str | None) -> tuple[list[Check], list[Node]]:
    """All rows. Whatever needs numba is imported after numba was seen to work."""
    from environments.identity import identity
    from studies.urls import storage_url
    from tuning.doctor.machine import core_check, kernel_checks, memory_check
    from tuning.doctor.rows import NOTE, Check
    from tuning.doctor.storage import storage_checks
    from tuning.doctor.versions import version_checks

    rows = version_checks()
    kernel, speed = kernel_checks()
    rows += [*kernel, core_check(), memory_check(), *storage_checks(storage_url(storage))]
    if cluster is None:
        return rows, []
    if speed is None:
        return [*rows, Check("cluster", "not looked at", NOTE, "mend numba here first")], []
    from tuning.cluster import connected
    from tuning.commands.words import workers as cores
    from tuning.doctor.cluster import cluster_checks
    from tuning.doctor.nodes import ask_cluster

    with connected(cluster, cores(None), to_look=True) as crew:
        found = ask_cluster(crew.client)
    return rows + cluster_checks(found, identity(), speed.millions), found.workers
