"""Locks of studies."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ravenlab.common.paths import hold_lock_file
from ravenlab.environments import InputError
from ravenlab.studies.storage.lock import lock_studies, reconnect_seconds, run_as_driver
from tests.messages import raises_naming
from tests.studies.examples import url


def test_lock_is_released_at_the_end_of_the_block(tmp_path: Path) -> None:
    place = url(tmp_path / "s.sqlite3")
    with lock_studies(place, "a", "b") as storage:
        for taken in ("a", "b"):
            with raises_naming(InputError, f"'{taken}'"):
                run_as_driver(place, taken, lambda _: None)
        assert run_as_driver(place, "c", lambda other: other.get_all_studies()) == storage.get_all_studies() == []
    with pytest.raises(RuntimeError, match="mine"), lock_studies(place, "a"):
        raise RuntimeError("mine")
    with lock_studies(place, "a"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["s.sqlite3"], "lock files are removed"


def test_one_of_many_threads_holds_a_lock_file(tmp_path: Path) -> None:
    """Lock files are removed while others wait for them, so the lock must hold for every new file."""
    count = 0

    def hold(_: int) -> None:
        nonlocal count
        with hold_lock_file(tmp_path / "lock", seconds=-1.0):
            before = count
            time.sleep(0.001)
            count = before + 1

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(hold, range(24)))
    assert count == 24
    assert list(tmp_path.iterdir()) == []


def test_without_a_study_no_storage_is_created(tmp_path: Path) -> None:
    with raises_naming(InputError, tmp_path / "s.sqlite3"):
        run_as_driver(url(tmp_path / "s.sqlite3"), None, lambda _: None)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", ["soon", "-1", "nan", "inf", ""])
def test_invalid_patience_is_rejected(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAVENLAB_PATIENCE", value)
    with raises_naming(InputError, "RAVENLAB_PATIENCE"):
        reconnect_seconds()
