"""A model of 1,000 workers: costs of driver, scheduler and database, measured on a small scale and extrapolated.

    python -m tools.benchmarks.thousand [--markdown docs/cluster.md]

A batch of B candidates on R worlds of T steps is w = B·R·T / s seconds of work for a worker with s steps per second. It
is divided into n tasks, as in `tuning/workers/cluster.py`. The driver needs d = B·(sample and store) + n·(task) seconds
of one core, and the next batch waits for it. So a driver can use w / d workers; N workers need N·d / w drivers,
N·n/w·(task) cores of the scheduler and N·B/w·(trial) cores of the database.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import optuna
import psutil

from environments.world import Floats
from policies.engine.parameters import Value
from studies.spec.study import StudySpec
from studies.storage.lock import run_as_driver
from tests.cluster import dask_cluster
from tests.postgres import server
from tools.benchmarks.page import short
from tools.benchmarks.raven import incremental, random_candidates
from tools.benchmarks.scaling import nothing
from tools.docs.marks import filled, table
from tuning.search.loop import search
from tuning.workers.cluster import open_cluster, task_seconds
from tuning.workers.problem import Evaluator

WORKERS = 1000
TRIALS, BATCH, TASKS = 200, 16, 1000


@dataclass(frozen=True)
class Costs:
    """Measured costs in seconds of one core."""

    trial: float
    """Driver: sampling and storing one trial."""
    database: float
    """PostgreSQL: the same trial."""
    driver_task: float
    scheduler_task: float
    rates: Mapping[int, float]
    """Steps per second on one thread, by the number of arms."""


@dataclass(frozen=True)
class Load:
    """Load caused by N busy workers, for batches of one kind."""

    work: float
    """Seconds of work per batch."""
    driver: float
    """Driver seconds per batch."""
    drivers: float
    scheduler: float
    database: float
    """Cores of drivers, scheduler and database."""

    def bottleneck(self) -> str:
        """Return the component that is overloaded first."""
        one_core = {"driver": self.drivers, "scheduler": self.scheduler}
        return max(one_core, key=lambda name: one_core[name])


def load(costs: Costs, horizon: int, arms: int, replications: int, workers: int = WORKERS) -> Load:
    """Apply the model above.

    >>> batch = load(Costs(0.01, 0.001, 0.001, 0.002, {10: 1e8}), 10_000, 10, 200)
    >>> round(batch.work, 2), round(batch.driver, 3), batch.bottleneck()
    (0.32, 0.161, 'driver')
    """
    work = BATCH * replications * horizon / costs.rates[arms]
    tasks = work / min(work, task_seconds(workers, work))
    driver = BATCH * costs.trial + tasks * costs.driver_task
    batches = workers / work
    return Load(
        work, driver, batches * driver, batches * tasks * costs.scheduler_task, batches * BATCH * costs.database
    )


class NoSimulation(Evaluator):
    """Evaluator without simulation, to measure sampling and storing."""

    def play(self, candidates: Sequence[Mapping[str, Value]], stream: int, first: int, count: int) -> Floats:
        """Return artificial regrets that depend on the candidate."""
        distances = [
            sum(abs(float(value) - 1.0) for value in values.values() if isinstance(value, float))
            for values in candidates
        ]
        return np.repeat(np.array(distances)[:, None, None], count * 3, axis=1).reshape(len(candidates), count, 3)


def measure_trial() -> tuple[float, float]:
    """Return driver and PostgreSQL seconds per trial with TPE, averaged over a study."""
    spec = StudySpec(scenario="stationary", horizon=100, arms=10, trials=TRIALS, batch=BATCH, replications=10)
    with server() as postgres:
        assert postgres.process is not None
        url = postgres.new_database()

        def body(storage: optuna.storages.RDBStorage) -> tuple[float, float]:
            study = optuna.create_study(storage=storage)
            assert postgres.process is not None
            database_start, driver_start = _cpu(postgres.process.pid), time.process_time()
            search(spec, study, NoSimulation(spec))
            driver_seconds = time.process_time() - driver_start
            return driver_seconds / TRIALS, (_cpu(postgres.process.pid) - database_start) / TRIALS

        return run_as_driver(url, "measured", body)


def measure_task() -> tuple[float, float]:
    """Return driver and scheduler seconds per task."""
    with tempfile.TemporaryDirectory() as folder, dask_cluster(Path(folder)) as cluster:
        assert cluster.scheduler is not None
        with open_cluster(cluster.address) as workers:
            workers.run(nothing, [(i,) for i in range(50)])
            scheduler_start, driver_start = _cpu(cluster.scheduler.pid), time.process_time()
            workers.run(nothing, [(i,) for i in range(TASKS)])
            return (time.process_time() - driver_start) / TASKS, (_cpu(cluster.scheduler.pid) - scheduler_start) / TASKS


def steps_per_second(arms: int) -> float:
    """Return the steps per second of RAVEN-UCB on one thread, for random candidates."""
    from policies.engine.leader_run import leader_run

    worlds, candidates = incremental(10_000, arms, 20), random_candidates(40)
    leader_run(worlds, candidates)
    begin = time.thread_time()
    leader_run(worlds, candidates)
    return 20 * 40 * 10_000 / (time.thread_time() - begin)


def _cpu(pid: int) -> float:
    """Return the CPU seconds of a process and its children."""
    processes = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    return sum(sum(process.cpu_times()[:2]) for process in processes)


def main() -> None:
    """Measure, print, and optionally write the tables into a page."""
    parser = argparse.ArgumentParser(prog="python -m tools.benchmarks.thousand", description=__doc__)
    parser.add_argument("--markdown", type=Path, help="page whose tables are replaced")
    options = parser.parse_args()
    trial, database = measure_trial()
    driver_task, scheduler_task = measure_task()
    costs = Costs(trial, database, driver_task, scheduler_task, {arms: steps_per_second(arms) for arms in (10, 100)})
    cost_rows = [
        ["driver: sample and store a trial (TPE, mean of 200)", f"{1e3 * trial:.2f} ms"],
        ["PostgreSQL: the same trial", f"{1e3 * database:.2f} ms"],
        ["driver: one task", f"{1e3 * driver_task:.2f} ms"],
        ["scheduler: one task", f"{1e3 * scheduler_task:.2f} ms"],
        *([f"worker: RAVEN-UCB, K {arms}", f"{rate / 1e6:.0f} M steps/s"] for arms, rate in costs.rates.items()),
    ]
    kinds = [(10_000, 10, 200), (10_000, 10, 2000), (50_000, 10, 2000), (50_000, 100, 2000), (200_000, 100, 2000)]
    load_rows = []
    for horizon, arms, replications in kinds:
        batch = load(costs, horizon, arms, replications)
        cells = [f"T {horizon:,}, K {arms}, R {replications:,}", f"{short(batch.work)} s", f"{batch.driver:.2f} s"]
        workers = short(batch.work / batch.driver)
        load_rows.append(
            [*cells, workers, *map(short, (batch.drivers, batch.scheduler, batch.database)), batch.bottleneck()]
        )
    columns = ["study", "work per batch", "driver time per batch", "workers per driver", "drivers for 1,000 workers"]
    pages = {
        "measured small": table(["operation", "time on one core"], cost_rows),
        "a thousand workers": table([*columns, "scheduler, cores", "database, cores", "bottleneck"], load_rows),
    }
    for name, lines in pages.items():
        print(*lines, "", sep="\n")
        if options.markdown is not None:
            page = options.markdown.read_text(encoding="utf-8")
            options.markdown.write_text(filled(page, name, lines), encoding="utf-8")


if __name__ == "__main__":
    main()
