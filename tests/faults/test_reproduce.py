"""A killed reproduction resumes to the same bytes and repeats no completed piece."""

from __future__ import annotations

import signal
import time
from pathlib import Path

from tests.faults.studies import start
from tuning.cli import app

SMALL = ["reproduce", "figure3", "--replications=2", "--quiet"]


def pieces(folder: Path) -> set[Path]:
    """Return the stored pieces."""
    return set((folder / "pieces").rglob("*.json"))


def test_killed_reproduction_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    """Killed when some pieces are stored."""
    cut, whole = tmp_path / "cut", tmp_path / "whole"
    process = start(*SMALL, "--jobs=2", f"--output={cut}", folder=tmp_path)
    while len(pieces(cut)) < 3:
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    before = {path: path.stat().st_mtime_ns for path in pieces(cut)}
    assert not (cut / "reproduction.json").exists()
    for folder, jobs in ((cut, 1), (whole, 2)):
        assert app.run([*SMALL, f"--jobs={jobs}", f"--output={folder}"]) == app.DONE
    assert (cut / "reproduction.json").read_bytes() == (whole / "reproduction.json").read_bytes()
    assert before.items() <= {path: path.stat().st_mtime_ns for path in pieces(cut)}.items()
    assert len(before) < len(pieces(cut))
