"""Two drivers start the same study at the same time: one runs it, the other and any later one are refused."""

import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ravenlab.studies.storage.lock import run_as_driver
from tests.faults.studies import (
    KILLS,
    NAME,
    SMALL,
    Place,
    count_trials,
    run_in_process,
    start,
    storage_in,
    trial_states,
    wait_for_trials,
)
from tests.messages import assert_names

ROUNDS = max(1, KILLS // 4)
LONG = [*SMALL, "--trials=2000"]


@pytest.mark.parametrize("turn", range(ROUNDS))
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_one_of_two_drivers_wins(kind: str, turn: int, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    place: Place = request.getfixturevalue("database") if kind == "postgres" else tmp_path
    drivers = [start(*LONG, f"--storage={storage_in(place)}", "--jobs=1", folder=tmp_path) for _ in range(2)]
    limit = time.monotonic() + 90
    while all(driver.poll() is None for driver in drivers):
        assert time.monotonic() < limit
        time.sleep(0.02)
    (loser,) = [driver for driver in drivers if driver.poll() is not None]
    (winner,) = [driver for driver in drivers if driver is not loser]
    out, err = loser.communicate()
    assert (loser.returncode, out) == (2, ""), err
    (line,) = err.strip().splitlines()
    assert_names(line, f"'{NAME}'", "another process")
    stored = count_trials(place)
    wait_for_trials(place, stored + 3, winner)
    late = run_in_process(*LONG, f"--storage={storage_in(place)}", folder=tmp_path)
    assert (late.returncode, late.stdout) == (2, ""), late.stderr
    assert_names(late.stderr, f"'{NAME}'", "another process")
    assert winner.poll() is None
    winner.send_signal(signal.SIGTERM)
    _, err = winner.communicate(timeout=60)
    assert winner.returncode == 130, err
    assert "interrupted" in err
    assert set(trial_states(place)) == {"COMPLETE"}


def test_concurrent_drivers_create_tables_once(database: str) -> None:
    """Several drivers, each with its own connection, start on an empty database."""

    def drive(number: int) -> int:
        return run_as_driver(database, f"study {number}", lambda storage: len(storage.get_all_studies()))

    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(drive, range(6))) == [0] * 6
