"""CPU time per stored trial on SQLite and PostgreSQL, side by side with Optuna's own writer."""

import itertools
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence

import optuna
from optuna.trial import FrozenTrial

from ravenlab.studies.registry import StudyDefaults
from ravenlab.studies.storage import keys
from ravenlab.studies.storage.lock import run_as_driver
from ravenlab.studies.storage.rows import store_trials
from tests.postgres import server
from tools.benchmarks.measure import Race

TRIALS = 200
CEILINGS = {"SQLite": 2.0, "PostgreSQL": 3.0}
"""Most milliseconds of CPU per trial, without those of the PostgreSQL server."""
SPACE: dict[str, optuna.distributions.BaseDistribution] = {
    name: optuna.distributions.FloatDistribution(0.001, 10.0, log=True) for name in ("alpha0", "beta0", "epsilon")
}
NUMBERS = itertools.count()

Store = Callable[[optuna.Study, Sequence[FrozenTrial]], None]


def measure(url: str, store: Store) -> float:
    """Store trials in batches in a new study and return the CPU milliseconds per trial."""
    name = f"storing {next(NUMBERS)}"
    trials = [
        optuna.trial.create_trial(
            value=float(number),
            params=dict.fromkeys(SPACE, 0.01 + number / TRIALS),
            distributions=SPACE,
            user_attrs={keys.STDERR: 1.5, keys.REPLICATIONS: 200, keys.SECONDS: 0.01},
        )
        for number in range(TRIALS)
    ]

    def body(storage: optuna.storages.RDBStorage) -> float:
        study = optuna.create_study(storage=storage, study_name=name)
        begin = time.process_time()
        for first in range(0, TRIALS, StudyDefaults.batch):
            store(study, trials[first : first + StudyDefaults.batch])
        return (time.process_time() - begin) / TRIALS * 1e3

    return run_as_driver(url, name, body)


class Storing(Race):
    """Race of both writers on SQLite and on a temporary local PostgreSQL server."""

    def run(self, rounds: int) -> list[dict[str, object]]:
        """Measure both writers on both storages and return two rows per storage."""
        rows = []
        with tempfile.TemporaryDirectory() as folder, server() as postgres:
            urls = {"SQLite": f"sqlite:///{folder}/studies.sqlite3", "PostgreSQL": postgres.new_database()}
            for name, url in urls.items():
                measure(url, store_trials)
                pairs = [(measure(url, store_trials), measure(url, optuna.Study.add_trials)) for _ in range(rounds)]
                race = f"storing {TRIALS} trials on {name}"
                times = [ours for ours, _ in pairs]
                ratios = [theirs / ours for ours, theirs in pairs]
                rows += [
                    {"race": race, "claim": claim, "rounds": rounds, **mark, **_summary(values)}
                    for claim, mark, values in (
                        ("ms of CPU per trial", {"ceiling": CEILINGS[name]}, times),
                        ("× Optuna's own writer", {"floor": 5.0}, ratios),
                    )
                ]
        return rows


def _summary(values: Sequence[float]) -> dict[str, object]:
    return {"ratio": statistics.median(values), "lowest": min(values), "highest": max(values)}


def races() -> list[Race]:
    """Return the race of both writers."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return [Storing("storing", {}, [])]
