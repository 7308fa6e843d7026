"""Server restarts and lost connections during a study: it continues to the same bytes."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import psycopg
import pytest
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

from ravenlab.dashboards.optuna_dashboard import attach
from ravenlab.dashboards.pages.report import data
from ravenlab.studies.storage import keys
from ravenlab.studies.storage.database import open_storage
from ravenlab.studies.storage.lock import lock_studies, run_as_driver
from ravenlab.studies.storage.postgres import lock_key, open_locked
from ravenlab.studies.storage.urls import mask_url
from ravenlab.tuning import study_run
from ravenlab.tuning.attachments import attach_to_studies
from ravenlab.tuning.cli import app
from ravenlab.tuning.progress import StudyProgress
from tests.command import run_command
from tests.faults.studies import (
    KILLS,
    NAME,
    SMALL,
    TRIALS,
    count_trials,
    export_json,
    start,
    storage_in,
    trial_states,
    wait_for_trials,
)
from tests.messages import assert_names, raises_naming
from tests.postgres import FAST, IMMEDIATE, Server

Captured = pytest.CaptureFixture[str]
Disturb = Callable[[Server, str], object]


def restart(server: Server, _: str) -> None:
    server.restart(FAST)


def crash(server: Server, _: str) -> None:
    server.restart(IMMEDIATE)


def cut(server: Server, url: str) -> None:
    server.cut(url)


def rounds() -> Iterator[list[tuple[int, Disturb]]]:
    """Yield faults by the number of stored trials: one round with each kind, and in a stress run more of each."""
    yield [(2, cut), (9, restart), (18, cut), (27, crash), (TRIALS, cut)]
    if KILLS >= 10:
        rng = np.random.default_rng(3)
        for fault in (restart, crash, cut, cut):
            for _ in range(5):
                yield [(int(count), fault) for count in sorted(rng.choice(TRIALS, 3, replace=False) + 1)]


@pytest.mark.parametrize("faults", list(rounds()), ids=lambda faults: "-".join(str(count) for count, _ in faults))
def test_study_survives_lost_connections(
    faults: list[tuple[int, Disturb]], uninterrupted: str, own_postgres: Server, tmp_path: Path
) -> None:
    database = own_postgres.new_database()
    words = [word for word in SMALL if word != "--quiet"]
    process = start(*words, "--jobs=1", folder=tmp_path, RAVENLAB_STORAGE=database)
    for count, disturb in faults:
        wait_for_trials(database, count, process)
        disturb(own_postgres, database)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, (out, err)
    # A batch is stored within milliseconds, so that one connection may be hit by several faults.
    assert err.count("was lost") == err.count("Reconnecting") >= 1, err
    assert "Traceback" not in err
    assert trial_states(database) == {"COMPLETE": TRIALS}
    assert export_json(database) == uninterrupted


def start_thread(work: Callable[[], object]) -> threading.Thread:
    """Start work that happens while the command runs in this process."""
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def wait_until_stored(url: str, count: int) -> None:
    limit = time.monotonic() + 60
    while count_trials(url) < count:
        assert time.monotonic() < limit
        time.sleep(0.005)


def test_driver_that_lost_its_lock_stops(postgres: Server, database: str, capsys: Captured) -> None:
    """Another session waits for the lock in the database, and gets it when the connection is cut."""
    other = postgres.connect(database)

    def take_lock() -> None:
        wait_until_stored(database, 3)
        waiter = start_thread(lambda: other.execute("SELECT pg_advisory_lock(%s)", (lock_key(NAME),)))
        while not postgres.run("SELECT 1 FROM pg_locks WHERE NOT granted AND locktype = 'advisory'"):
            time.sleep(0.01)
        postgres.cut(database)
        waiter.join()

    thread = start_thread(take_lock)
    assert app.run([*SMALL, f"--storage={database}"]) == 2
    thread.join()
    stored = count_trials(database)
    other.close()
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert_names(line, f"'{NAME}'", "another process")
    assert 3 <= stored < TRIALS
    assert set(trial_states(database)) == {"COMPLETE"}


def test_server_that_does_not_return(own_postgres: Server, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    database = own_postgres.new_database()
    monkeypatch.setenv("RAVENLAB_PATIENCE", "1")

    stopped_at = 0.0

    def stop() -> None:
        nonlocal stopped_at
        wait_until_stored(database, 3)
        own_postgres.stop(IMMEDIATE)
        stopped_at = time.monotonic()

    thread = start_thread(stop)
    try:
        assert app.run([*SMALL, f"--storage={database}"]) == 1
        seconds = time.monotonic() - stopped_at
    finally:
        thread.join()
        own_postgres.start()
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert_names(line, mask_url(database), "1 s", "completed trials are saved")
    assert seconds < 10.0
    assert set(trial_states(database)) == {"COMPLETE"}


PHASES: list[tuple[Any, str]] = [
    (StudyProgress, "begin"),
    (StudyProgress, "batch"),
    (StudyProgress, "validate"),
    (keys, "write_recommendation"),
    (study_run, "run_stored"),
    (attach, "save_study_note"),
    (attach, "save_figure"),
]
"""Functions after whose first call the server restarts."""


def test_server_restarts_in_every_phase(own_postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database, restarts = own_postgres.new_database(), []

    def restart_after(owner: Any, name: str) -> Callable[..., Any]:
        original = getattr(owner, name)

        def call_and_restart(*args: Any, **options: Any) -> Any:
            result = original(*args, **options)
            if name not in restarts:
                restarts.append(name)
                own_postgres.restart(IMMEDIATE)
            return result

        return call_and_restart

    words = [*SMALL, "--trials=16", "--selection=20", "--report=20", "--jobs=1"]
    with monkeypatch.context() as patch:
        for owner, name in PHASES:
            patch.setattr(owner, name, restart_after(owner, name))
        assert app.run([*words, f"--storage={database}"]) == app.DONE
        attach_to_studies(database)
    assert restarts == [name for _, name in PHASES]
    assert trial_states(database) == {"COMPLETE": 16}
    assert app.run([*words, f"--storage={storage_in(tmp_path)}"]) == app.DONE
    assert export_json(database) == export_json(tmp_path)
    assert count_figures(database) == 2
    report = tmp_path / "report.html"
    with monkeypatch.context() as patch:
        load = data.load_report_data

        def restart_and_load(*args: Any) -> Any:
            own_postgres.restart(IMMEDIATE)
            return load(*args)

        patch.setattr(data, "load_report_data", restart_and_load)
        code, _, err = run_command(["report", f"--storage={database}", f"--output={report}"])
    assert (code, err) == (0, "")
    assert report.exists()


def count_figures(database: str) -> int:
    storage = open_storage(database, create=False)
    try:
        studies = [
            optuna.load_study(study_name=study.study_name, storage=storage) for study in storage.get_all_studies()
        ]
        names = [f"{attach.PREFIX}{name}" for name in ("card", "world")]
        return sum(attach.load_figure(study, name) is not None for study in studies for name in names)
    finally:
        storage.engine.dispose()


def test_hanging_session_is_ended_by_its_own_driver(database: str) -> None:
    """After a network failure the server still has the session and its lock."""
    with open_locked(database, ["mine"]) as (_, first):
        assert first.session is not None
        with open_locked(database, ["mine"], first.session) as (_, second):
            assert second.session not in (None, first.session)
            with raises_naming(ValueError, "'mine'", "another process"), lock_studies(database, "mine"):
                pass
    with lock_studies(database, "mine", "yours"):
        pass


def test_no_transaction_is_open_during_simulation(postgres: Server, database: str) -> None:
    def session_states(storage: object) -> str:
        statement = (
            "SELECT state FROM pg_stat_activity WHERE application_name = 'ravenlab' AND datname = current_database()"
        )
        return ",".join(row[0] for row in postgres.run(statement, url=database))

    assert run_as_driver(database, "mine", session_states) == "idle"


def test_unacknowledged_commit_is_not_stored_twice(
    postgres: Server, database: str, uninterrupted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection is lost after the server commits and before the driver receives the confirmation."""
    limits = iter([5, 17])
    limit = next(limits)
    open_storage(database, create=True).engine.dispose()
    observer = postgres.connect(database)

    def commit(_: object, connection: Any) -> None:
        nonlocal limit
        connection.commit()
        (count,) = observer.execute("SELECT count(*) FROM trials").fetchone() or (0,)
        if count >= limit:
            limit = next(limits, 10**9)
            connection.dbapi_connection.close()
            raise psycopg.OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(PGDialect_psycopg, "do_commit", commit)
    assert app.run([*SMALL, f"--storage={database}"]) == 0
    monkeypatch.undo()
    observer.close()
    assert limit == 10**9
    assert trial_states(database) == {"COMPLETE": TRIALS}
    assert export_json(database) == uninterrupted
