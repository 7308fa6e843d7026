"""A killed reproduction resumes to the same bytes and does not repeat completed parts."""

import signal
import time
from pathlib import Path

from ravenlab.tuning.cli import app
from tests.faults.studies import start

SMALL = ["reproduce", "figure3", "--protocol=defined", "--replications=2", "--quiet"]


def stored_parts(folder: Path) -> set[Path]:
    return set((folder / "pieces").rglob("*.json"))


def test_killed_reproduction_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    killed, uninterrupted = tmp_path / "killed", tmp_path / "uninterrupted"
    process = start(*SMALL, "--jobs=2", f"--output={killed}", folder=tmp_path)
    while len(stored_parts(killed)) < 2:
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    before = {path: path.stat().st_mtime_ns for path in stored_parts(killed)}
    assert not (killed / "reproduction.json").exists()
    for folder, jobs in ((killed, 1), (uninterrupted, 2)):
        assert app.run([*SMALL, f"--jobs={jobs}", f"--output={folder}"]) == app.DONE
    assert (killed / "reproduction.json").read_bytes() == (uninterrupted / "reproduction.json").read_bytes()
    assert before.items() <= {path: path.stat().st_mtime_ns for path in stored_parts(killed)}.items()
    assert len(before) < len(stored_parts(killed))
