"""A killed comparison resumes to the same bytes."""

import json
import signal
from pathlib import Path

import pytest

from ravenlab.environments import InputError
from ravenlab.studies.storage.keys import FURTHER_WORLDS
from ravenlab.tuning.cli import app
from ravenlab.tuning.comparison import run
from ravenlab.tuning.queries import load_result
from tests.command import run_command
from tests.faults.studies import kill_after, trial_states
from tests.project import python

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


KILLED_WITH_ALL_ENTRIES = """
import os, signal, sys
import optuna
from ravenlab.tuning.cli import app
from ravenlab.tuning.comparison import run

attribute, *words = sys.argv[1:]
set_user_attr = optuna.Study.set_user_attr

def kill(*ignored):
    os.kill(os.getpid(), signal.SIGKILL)

def kill_at_attribute(study, key, value):
    kill() if key == attribute else set_user_attr(study, key, value)

run.MIN_WORLDS = 40
run.needs_worlds = lambda entries: entries[0].regret.size < 160
if attribute:
    optuna.Study.set_user_attr = kill_at_attribute
else:
    run._play_further_worlds = kill
app.run(words)
"""
"""Kills itself before the entries play further worlds, or before the attribute that is stored last."""


def describe_completeness(storage: str) -> tuple[str, bool, bool]:
    """Return the state of the comparison in `studies`, and whether `show` and `load_result` have its result."""
    (row,) = json.loads(run_command(["studies", "--json", f"--storage={storage}"])[1])
    shown = json.loads(run_command(["show", "killed", "--json", f"--storage={storage}"])[1])
    assert shown["state"] == row["state"]
    try:
        load_result("killed", storage=storage)
    except InputError:
        return row["state"], shown["comparison"] is not None, False
    return row["state"], shown["comparison"] is not None, True


@pytest.mark.parametrize("attribute", ["", FURTHER_WORLDS])
def test_comparison_killed_after_its_last_entry_is_not_complete(
    attribute: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands, Python and exported files agree on it, and resuming gives the numbers of an uninterrupted run."""
    monkeypatch.setattr(run, "MIN_WORLDS", 40)
    monkeypatch.setattr(run, "needs_worlds", lambda entries: entries[0].regret.size < 160)
    words = [*SMALL, "--tune=0", "--name=killed", "--jobs=1"]
    results = []
    for folder in (tmp_path / "killed", tmp_path / "uninterrupted"):
        folder.mkdir()
        storage = f"sqlite:///{folder}/studies.sqlite3"
        places = [f"--storage={storage}", f"--output={folder}/comparison"]
        if folder.name == "killed":
            killed = python("-c", KILLED_WITH_ALL_ENTRIES, attribute, *words, *places)
            assert killed.returncode == -signal.SIGKILL, killed.stderr
            assert trial_states(folder) == {"COMPLETE": POLICIES}
            assert describe_completeness(storage) == ("interrupted", False, False)
            assert not (folder / "comparison").exists()
        code, _, err = run_command([*words, *places])
        assert code == 0, err
        assert describe_completeness(storage) == ("complete", True, True)
        results.append({name: (folder / "comparison" / name).read_bytes() for name in FILES})
    assert results[0] == results[1]
    (comparison,) = json.loads(results[0]["compare.json"])["comparisons"]
    assert comparison["worlds"] == 160
