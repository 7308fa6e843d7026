"""Everything in which a test of the docs differs from what the docs say. Nothing else is changed, and nothing left out.

A command in the docs is run as it stands, but with a small budget: the counts below replace its own, or are added. A
word that stands for something of the reader's own (`FILE.csv`) is replaced by an example of it. What can't be run in a
test at all is named with the reason, and something weaker is checked. `make stress` runs at full size what has its
output on a page, and compares that to the last digit.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

SMALL: dict[str, dict[str, str]] = {
    "tune": {"--trials": "4", "--replications": "4", "--selection": "20", "--report": "20"},
    "tune --log": {"--trials": "4", "--replications": "4", "--selection": "128", "--report": "128"},
    "grid": {"--replications": "4"},
    "simulate": {"--replications": "2"},
    "compare": {"--tune": "2", "--search-replications": "2", "--replications": "4", "--horizon": "100"},
    "reproduce": {"--replications": "2"},
}
"""Counts of each command. A log of fewer replays is refused."""

SMALL_FIELDS = {"trials": 4, "replications": 4, "selection": 20, "report": 20}
"""The same for a study file that is run: its own counts are replaced in a copy."""

SMALL_CALLS: dict[str, dict[str, int]] = {
    "tune": SMALL_FIELDS,
    "tune_robust": SMALL_FIELDS,
    "grid": {"replications": 4},
    "simulate": {"replications": 5},
    "compare": {"tune": 2, "search_replications": 2, "replications": 4},
    "reproduce": {"replications": 2},
}
"""The same for calls of `ravenlab.…` in Python."""

OWN_HORIZON = "100"
"""Steps that policies and scenarios of a file play: plain Python is a hundred times slower than the built-in ones."""

SERVER = "postgresql+psycopg://me@db.example.org/studies"
"""The reader's database. A file stands in for it here; tests with PostgreSQL in their name ask a real server."""

WORDS: dict[tuple[str, str], str] = {
    ("tune --trace", "FILE.csv"): "a_trace.csv",
    ("tune --log", "FILE.csv"): "a_log.csv",
    ("diagnose", "FILE.csv"): "a_trace.csv",
    ("diagnose", "latency.csv"): "a_trace.csv",
    ("tune", "./mine.py:Mine"): "./docs/examples/falling_greedy.py:FallingGreedy",
    ("compare", "all"): "localized-jump,stationary",
    ("compare --policies", "all"): "raven-ucb,ucb1",
    ("reproduce", "all"): "figure1",
    ("tune --study", "all-scenarios"): "quick",
    ("export", f"RAVENLAB_STORAGE={SERVER}"): "RAVENLAB_STORAGE=sqlite:///studies.sqlite3",
    ("copy", SERVER): "sqlite:///shared.sqlite3",
}
"""Words that stand for something of the reader's own, and lists that would take minutes."""

DROPPED = {"--cluster": "a cluster takes seconds to start; tests/faults and tests/tuning play on real ones"}
"""Options that are left out, with their values: the command does the same on this machine."""

EXAMPLES = ("falling_greedy.py", "fast_greedy.py", "night_shift.py")
"""Files of docs/examples that lie there where commands are run; beside them `a_trace.csv` and `a_log.csv` (`init`)."""

NOT_RUN: dict[str, str] = {
    "git clone": "a test has no network; the fresh clone is tried by hand",
    "cd": "blocks run in a folder of their own",
    "make test": "this is what runs here; its target is looked up",
    "make bench": "minutes; its target is looked up",
    "make stress": "an hour; its target is looked up",
    "make demo": "makes an environment; its ravenlab commands are run, with small budgets",
    "pip install": "a test has no network; that the extras exist is checked",
    "python -m tools.": "takes minutes to hours; the test checks that the module exists",
    "python docs/examples/": "test_examples.py runs them",
    "dask scheduler": "does not end, and listens where a test can't; that its options exist is checked",
    "dask worker": "the same",
    "docker compose": "there is no Docker in the tests; what the driver is to run is run here",
    "ravenlab dashboard": "does not end; it is started on a free port, asked for its page, and stopped",
}
"""What is not run as it stands, and why."""


def smaller(words: Sequence[str]) -> list[str]:
    """The words behind `ravenlab` with a small budget and with stand-ins.

    >>> smaller(["tune", "blips", "--trials", "100"])[:4]
    ['tune', 'blips', '--trials', '4']
    >>> smaller(["reproduce", "all"])
    ['reproduce', 'figure1', '--replications', '2']
    >>> smaller(["doctor", "--cluster", "tcp://host:8786"])
    ['doctor']
    """
    command, kind = words[0], f"{words[0]} --log" if "--log" in words else words[0]
    out = [command]
    for before, word in pairwise(words):
        known = [(f"{command} {before}", word), (command, word)]
        if word not in DROPPED and before not in DROPPED:
            out.append(next((WORDS[key] for key in known if key in WORDS), word))
    if "--study" in out:
        return out
    counts = dict(SMALL.get(kind, SMALL.get(command, {})))
    if command in ("tune", "simulate") and any(".py:" in word for word in out):
        counts["--horizon"] = OWN_HORIZON
    for option, count in counts.items():
        if option in out:
            out[out.index(option) + 1] = count
        else:
            out += [option, count]
    return out
