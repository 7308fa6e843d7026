"""Concurrent access to one SQLite file: dashboard readers during a run, and several drivers."""

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.dashboards.dashboard_process import send_request, start_dashboard
from tests.faults.studies import count_trials, query, start, trial_states
from tests.studies.examples import make_recommendation, store_recommendations

READERS = 20
PAUSE = 0.25
"""Seconds between the requests of a reader, so that the writer and the server get CPU time."""

REFRESH_SECONDS = 20
"""Seconds to wait: Optuna's dashboard reads trials again after at most 10."""

TRIALS = int(os.environ.get("RAVENLAB_READ_TRIALS", "20"))
DRIVERS = int(os.environ.get("RAVENLAB_DRIVERS", "2"))

SMALL = ["--horizon=200", "--arms=3", "--replications=10", "--selection=20", "--report=20", "--jobs=1", "--quiet"]
PAGES = ("/api/studies", "/api/studies/1", "/api/studies/2", "/csv/1")


def test_dashboard_readers_during_a_run(tmp_path: Path) -> None:
    """All responses are 200, or 404 for a study that does not exist yet, and the study completes normally."""
    path = tmp_path / "studies.sqlite3"
    url = store_recommendations(path, make_recommendation())
    with start_dashboard(url, folder=tmp_path) as site:
        writer = start("tune", "blips", *SMALL, f"--trials={TRIALS}", "--name=written", folder=tmp_path)
        before = count_trials(tmp_path)

        def read(number: int) -> tuple[int, list[tuple[str, int]]]:
            unexpected, count = [], 0
            while writer.poll() is None:
                page = PAGES[(number + count) % len(PAGES)]
                status = send_request(site.port, "GET", page).status
                count += 1
                if status != 200 and (page, status) != ("/api/studies/2", 404):
                    unexpected.append((page, status))
                time.sleep(PAUSE)
            return count, unexpected

        with ThreadPoolExecutor(READERS) as threads:
            answers = list(threads.map(read, range(READERS)))
        _, err = writer.communicate(timeout=120)
        assert (writer.returncode, err) == (0, "")
        assert [unexpected for _, unexpected in answers if unexpected] == []
        assert sum(count for count, _ in answers) >= READERS
        assert count_trials(tmp_path) == before + TRIALS
        assert count_shown_trials(site.port, before=time.monotonic() + REFRESH_SECONDS) == TRIALS


def count_shown_trials(port: int, before: float) -> int:
    """Return the number of trials that the dashboard shows, once it has read the study again."""
    count = 0
    while count < TRIALS and time.monotonic() < before:
        count = len(json.loads(send_request(port, "GET", "/api/studies/2").body)["trials"])
        time.sleep(PAUSE)
    return count


def test_concurrent_studies_in_one_file(tmp_path: Path) -> None:
    """All drivers start before the file exists."""
    words = ["tune", "blips", *SMALL, "--trials=12", "--batch=4"]
    drivers = [start(*words, f"--name=study {number}", folder=tmp_path) for number in range(DRIVERS)]
    limit = time.monotonic() + 300
    for driver in drivers:
        _, err = driver.communicate(timeout=limit - time.monotonic())
        assert (driver.returncode, err) == (0, "")
    assert trial_states(tmp_path) == {"COMPLETE": 12 * DRIVERS}
    counts = "SELECT study_name, count(*) FROM trials JOIN studies USING (study_id) GROUP BY study_name"
    assert sorted(query(f"sqlite:///{tmp_path}/studies.sqlite3", counts)) == [
        (f"study {number}", 12) for number in range(DRIVERS)
    ]
