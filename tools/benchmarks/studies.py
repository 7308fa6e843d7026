"""A complete study compared with `study.optimize`, the cost of a trial besides its simulation, and cold starts."""

import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from itertools import count
from pathlib import Path

import optuna

from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.storage.database import open_storage
from ravenlab.tuning.search.loop import search
from ravenlab.tuning.workers.problem import Evaluator
from tools.benchmarks.measure import Claim, Figure, Race
from tools.benchmarks.plain_raven import numpy_loop
from tools.benchmarks.raven import incremental

TRIALS = 200
REPLICATIONS = 200
HORIZON = 10_000
MEASURED_REPLICATIONS = 8
"""Number of replications on which `study.optimize` is measured."""

SEEDS = count()  # every round runs another study: rare failures decide how many worlds a report needs


def optimize_share() -> float:
    """Run `study.optimize` with the plain NumPy loop on SQLite and return the completed fraction of the study."""
    worlds = incremental(HORIZON, 10, MEASURED_REPLICATIONS)

    def objective(trial: optuna.Trial) -> float:
        alpha0 = trial.suggest_float("alpha0", 0.01, 10.0, log=True)
        beta0 = trial.suggest_float("beta0", 0.01, 10.0, log=True)
        epsilon = trial.suggest_float("epsilon", 0.001, 0.5, log=True)
        return (
            sum(numpy_loop(worlds, alpha0, beta0, epsilon, HORIZON, r) for r in range(MEASURED_REPLICATIONS))
            / MEASURED_REPLICATIONS
        )

    with tempfile.TemporaryDirectory() as folder:
        study = optuna.create_study(storage=f"sqlite:///{folder}/plain.sqlite3")
        study.optimize(objective, n_trials=1)
    return MEASURED_REPLICATIONS / (TRIALS * REPLICATIONS)


def whole_command() -> float:
    """Run `ravenlab tune --jobs 2` from start to recommendation."""
    words = [
        "tune",
        "incremental-drift",
        f"--horizon={HORIZON}",
        f"--trials={TRIALS}",
        f"--replications={REPLICATIONS}",
        f"--seed={next(SEEDS)}",
    ]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [Path(sys.executable).parent / "ravenlab", *words, "--jobs=2", "--quiet"],
            cwd=folder,
            check=True,
            capture_output=True,
        )
    return 1.0


def cold_start() -> float:
    """Return the seconds from the start of the command to the first stored trials, with an empty numba cache."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": f"{folder}/cache"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has bytecode
        begin = time.perf_counter()
        process = subprocess.Popen(
            [Path(sys.executable).parent / "ravenlab", "tune", "incremental-drift", "--quiet"],
            cwd=folder,
            env=environment,
            stdout=subprocess.DEVNULL,
        )
        try:
            while not has_trials(Path(folder, "studies.sqlite3")):
                assert process.poll() is None, "the command ended before its first trial"
                time.sleep(0.02)
            return time.perf_counter() - begin
        finally:
            process.kill()
            process.wait()


def has_trials(path: Path) -> bool:
    """Whether an SQLite file holds trials."""
    if not path.exists():
        return False
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)) as connection:
        return connection.execute("SELECT 1 FROM trials LIMIT 1").fetchone() is not None


def sample_and_store(trials: int) -> float:
    """Return the CPU milliseconds per trial on SQLite with a minimal simulation."""
    spec = StudySpec(scenario="stationary", horizon=10, arms=2, replications=2, trials=trials)
    with tempfile.TemporaryDirectory() as folder:
        storage = open_storage(f"sqlite:///{folder}/studies.sqlite3", create=True)
        study = optuna.create_study(storage=storage, study_name="storing")
        evaluator = Evaluator(spec)
        evaluator.play([spec.resolve_params({})], 1, 0, 2)
        begin = time.process_time()
        search(spec, study, evaluator)
        return (time.process_time() - begin) / trials * 1e3


def races() -> list[Race | Figure]:
    """Return the race of the complete study, the costs of a trial, and the time of a cold start."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return [
        Race(
            f"study of {TRIALS} trials × {REPLICATIONS} replications, T={HORIZON} K=10",
            {"command": whole_command, "optimize": optimize_share},
            [Claim("command", "optimize", 1500.0, "× study.optimize around a plain NumPy loop, on SQLite")],
        ),
        Figure("sampling and storing, 200 trials", lambda: sample_and_store(200), 8.0, "ms of CPU per trial", 3),
        Figure("sampling and storing, 2000 trials", lambda: sample_and_store(2000), 20.0, "ms of CPU per trial", 1),
        Figure("cold start, empty numba cache", cold_start, 5.0, "seconds until the first trials are stored", 3),
    ]
