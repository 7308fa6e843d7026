"""A killed comparison resumes to the same bytes."""

from __future__ import annotations

from pathlib import Path

from ravenlab.tuning.cli import app
from tests.faults.studies import kill_after, trial_states

POLICIES, TRIALS = 3, 10
TOTAL = 2 * POLICIES + POLICIES * TRIALS
"""Number of comparison entries plus search trials."""

SMALL = [
    *("compare", "localized-jump", "--horizon=300", "--arms=4", "--policies=ucb1,raven-ucb,epsilon-greedy"),
    *(f"--tune={TRIALS}", "--search-replications=40", "--replications=40", "--seed=5", "--quiet"),
]
FILES = ("compare.csv", "compare.json", "compare.md", "compare.tex")


def run_to_the_end(folder: Path, jobs: int) -> dict[str, bytes]:
    """Run the comparison in this process and return the files that it writes."""
    places = [f"--storage=sqlite:///{folder}/studies.sqlite3", f"--output={folder}/comparison"]
    assert app.run([*SMALL, f"--jobs={jobs}", *places]) == 0
    return {name: (folder / "comparison" / name).read_bytes() for name in FILES}


def test_killed_comparison_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    """The kill happens within a search, after some entries and trials are stored."""
    count = POLICIES + TRIALS + 4
    assert count <= kill_after(count, *SMALL, "--jobs=2", folder=tmp_path) < TOTAL
    assert set(trial_states(tmp_path)) == {"COMPLETE"}
    assert not (tmp_path / "comparison").exists(), "written before the comparison is complete"
    resumed = run_to_the_end(tmp_path, jobs=1)
    assert trial_states(tmp_path) == {"COMPLETE": TOTAL}
    uninterrupted = tmp_path / "uninterrupted"
    uninterrupted.mkdir()
    assert run_to_the_end(uninterrupted, jobs=2) == resumed
