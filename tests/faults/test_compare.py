"""A killed comparison resumes to the same bytes."""

from __future__ import annotations

from pathlib import Path

from tests.faults.studies import kill_after, trial_states
from tuning.cli import app

POLICIES, TRIALS = 3, 10
ALL = 2 * POLICIES + POLICIES * TRIALS
"""Entries, and the trials of the searches."""

SMALL = [
    *("compare", "localized-jump", "--horizon=300", "--arms=4", "--policies=ucb1,raven-ucb,epsilon-greedy"),
    *(f"--tune={TRIALS}", "--search-replications=40", "--replications=40", "--seed=5", "--quiet"),
]
FILES = ("compare.csv", "compare.json", "compare.md", "compare.tex")


def finish(folder: Path, jobs: int) -> dict[str, bytes]:
    """Run to the end in this process, and return the written files."""
    places = [f"--storage=sqlite:///{folder}/studies.sqlite3", f"--output={folder}/comparison"]
    assert app.run([*SMALL, f"--jobs={jobs}", *places]) == 0
    return {name: (folder / "comparison" / name).read_bytes() for name in FILES}


def test_killed_comparison_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    """Killed within a search, when some entries and some trials are stored."""
    count = POLICIES + TRIALS + 4
    assert count <= kill_after(count, *SMALL, "--jobs=2", folder=tmp_path) < ALL
    assert set(trial_states(tmp_path)) == {"COMPLETE"}
    assert not (tmp_path / "comparison").exists(), "nothing is written before it is done"
    again = finish(tmp_path, jobs=1)
    assert trial_states(tmp_path) == {"COMPLETE": ALL}
    uninterrupted = tmp_path / "uninterrupted"
    uninterrupted.mkdir()
    assert finish(uninterrupted, jobs=2) == again
