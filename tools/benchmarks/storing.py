"""Finished trials stored per second on SQLite and PostgreSQL by the driver of a study."""

from __future__ import annotations

import itertools
import statistics
import tempfile

import optuna

from studies.storage import keys
from studies.storage.lock import run_as_driver
from tests.postgres import server
from tools.benchmarks.measure import Race

TRIALS = 200
SPACE: dict[str, optuna.distributions.BaseDistribution] = {
    name: optuna.distributions.FloatDistribution(0.001, 10.0, log=True) for name in ("alpha0", "beta0", "epsilon")
}
NUMBERS = itertools.count()


def store(url: str) -> float:
    """Store trials in a new study and return their number."""
    name = f"storing {next(NUMBERS)}"

    def body(storage: optuna.storages.RDBStorage) -> float:
        study = optuna.create_study(storage=storage, study_name=name)
        for number in range(TRIALS):
            study.add_trial(
                optuna.trial.create_trial(
                    value=float(number),
                    params=dict.fromkeys(SPACE, 0.01 + number / TRIALS),
                    distributions=SPACE,
                    user_attrs={keys.STDERR: 1.5, keys.REPLICATIONS: 200, keys.SECONDS: 0.01},
                )
            )
        return float(TRIALS)

    return run_as_driver(url, name, body)


class Storing(Race):
    """Race of SQLite and a temporary local PostgreSQL server."""

    def run(self, rounds: int) -> list[dict[str, object]]:
        """Measure both storages and return one row per storage."""
        with tempfile.TemporaryDirectory() as folder, server() as postgres:
            sqlite_url, postgres_url = f"sqlite:///{folder}/studies.sqlite3", postgres.new_database()
            self.contenders = {"SQLite": lambda: store(sqlite_url), "PostgreSQL": lambda: store(postgres_url)}
            super().run(rounds)
        return [
            {
                "race": self.name,
                "claim": f"trials per second on {name}",
                "ratio": statistics.median(speeds),
                "lowest": min(speeds),
                "highest": max(speeds),
                "floor": 0.0,
                "per_second": statistics.median(speeds),
                "rounds": len(speeds),
            }
            for name, speeds in self.speeds.items()
        ]


def races() -> list[Race]:
    """Return the race of both storages."""
    return [Storing(f"storing {TRIALS} trials in a new study", {}, [])]
