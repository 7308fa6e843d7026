"""All differences between the commands in the documentation and the commands that its tests run.

Commands run with small budgets: the counts below replace those of the page or are added. Placeholders such as
`FILE.csv` are replaced by examples. Commands that cannot run in a test are listed with the reason, and a weaker check
replaces them. `make stress` runs commands whose output is on a page at full size and compares the output exactly.
"""

from collections.abc import Sequence
from itertools import pairwise

SMALL: dict[str, dict[str, str]] = {
    "tune": {"--trials": "4", "--replications": "4", "--selection": "20", "--report": "20"},
    "tune --log": {"--trials": "4", "--replications": "4", "--selection": "128", "--report": "128"},
    "grid": {"--replications": "4"},
    "simulate": {"--replications": "2"},
    "play": {"--replications": "2"},
    "compare": {"--tune": "2", "--search-replications": "2", "--replications": "4", "--horizon": "100"},
    "compare --trace": {"--tune": "2", "--search-replications": "2", "--replications": "4"},
    "reproduce": {"--replications": "2"},
    "diagnose": {"--halves": "1"},
}
"""Counts of each command. Logs require a minimum number of replays."""

SMALL_FIELDS = {"trials": 4, "replications": 4, "selection": 20, "report": 20}
"""Counts that replace those of a study file."""

SMALL_CALLS: dict[str, dict[str, int]] = {
    "tune": SMALL_FIELDS,
    "tune_robust": SMALL_FIELDS,
    "grid": {"replications": 4},
    "simulate": {"replications": 5},
    "play": {"replications": 5},
    "compare": {"tune": 2, "search_replications": 2, "replications": 4},
    "reproduce": {"replications": 2},
}
"""Counts of calls of `ravenlab.…` in Python."""

SMALL_SEARCHES = {"MAX_SEARCH_WORLDS": 40, "MAX_VALIDATION_WORLDS": 200}
"""Limits of the searches of `ravenlab recommend`, which has no options for them."""

SMALL_MAPS = {"MIN_WORLDS": 20, "SMALL_STEPS": 2e7}
"""Limits of the sensitivity maps, which every study ends with."""

PLUGIN_HORIZON = "100"
"""Horizon for plugins, which run in plain Python."""

LONGEST_HORIZON = "10000"
"""Longer horizons are replaced by this one."""

SERVER = "postgresql+psycopg://me@db.example.org/studies"
"""The database of the documentation, replaced by a file. Other tests use a real PostgreSQL server."""

WORDS: dict[tuple[str, str], str] = {
    ("tune --trace", "FILE.csv"): "a_trace.csv",
    ("tune --trace", "runs"): "a_trace.csv",
    ("tune --log", "FILE.csv"): "a_log.csv",
    ("diagnose", "FILE.csv"): "a_trace.csv",
    ("diagnose", "latency.csv"): "a_trace.csv",
    ("recommend", "carriers-log.csv"): "a_log.csv",
    ("recommend", "headlines-uniform-log.csv"): "a_log.csv",
    ("tune --log", "headlines-uniform-log.csv"): "a_log.csv",
    ("tune", "./mine.py:Mine"): "./docs/examples/falling_greedy.py:FallingGreedy",
    ("compare", "all"): "localized-jump,stationary",
    ("compare --policies", "all"): "raven-ucb,ucb1",
    ("reproduce", "all"): "figure1",
    ("tune --study", "all-scenarios"): "quick",
    ("export", f"RAVENLAB_STORAGE={SERVER}"): "RAVENLAB_STORAGE=sqlite:///studies.sqlite3",
    ("copy", SERVER): "sqlite:///shared.sqlite3",
}
"""Placeholders, and lists that would take minutes."""

DROPPED = {"--cluster": "a cluster takes seconds to start; tests/faults and tests/tuning use real ones"}
"""Options that are omitted together with their values."""

EXAMPLES = ("falling_greedy.py", "fast_greedy.py", "night_shift.py")
"""Files of docs/examples that are copied to the folder of the page, next to `a_trace.csv` and `a_log.csv` (`init`)."""

NOT_RUN: dict[str, str] = {
    "git clone": "tests have no network",
    "cd": "blocks run in a temporary folder",
    "make test": "runs these tests; the target must exist",
    "make bench": "takes minutes; the target must exist",
    "make stress": "takes an hour; the target must exist",
    "make demo": "creates an environment; its ravenlab commands run with small budgets",
    "pip install": "tests have no network; the extras must exist",
    "python -m tools.": "takes minutes to hours; the test checks that the module exists",
    "python docs/examples/": "test_examples.py runs them",
    "dask scheduler": "does not end; its options must exist",
    "dask worker": "does not end; its options must exist",
    "docker compose": "no Docker engine; the command of the driver runs here",
    "ravenlab dashboard": "does not end; it is started on a free port, queried and stopped",
}
"""Commands that do not run in the tests, and why."""


def reduce_budget(words: Sequence[str]) -> list[str]:
    """Return the arguments of `ravenlab` with a small budget and substituted placeholders.

    >>> reduce_budget(["tune", "blips", "--trials", "100"])[:4]
    ['tune', 'blips', '--trials', '4']
    >>> reduce_budget(["reproduce", "all"])
    ['reproduce', 'figure1', '--replications', '2']
    >>> reduce_budget(["doctor", "--cluster", "tcp://host:8786"])
    ['doctor']
    """
    command = words[0]
    kind = next((f"{command} {option}" for option in ("--log", "--trace") if option in words), command)
    out = [command]
    for before, word in pairwise(words):
        known = [(f"{command} {before}", word), (command, word)]
        if word not in DROPPED and before not in DROPPED:
            out.append(next((WORDS[key] for key in known if key in WORDS), word))
    if "--study" in out:
        return out
    counts = dict(SMALL.get(kind, SMALL.get(command, {})))
    if command in ("tune", "simulate") and any(".py:" in word for word in out):
        counts["--horizon"] = PLUGIN_HORIZON
    horizons = [word for before, word in pairwise(out) if before == "--horizon"]
    if any(int(number) > int(LONGEST_HORIZON) for word in horizons for number in word.split(",")):
        counts.setdefault("--horizon", LONGEST_HORIZON)
    for option, count in counts.items():
        if option in out:
            out[out.index(option) + 1] = count
        else:
            out += [option, count]
    return out
