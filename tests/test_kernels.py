"""The cache of compiled code is used by later processes and never stale."""

import os
from pathlib import Path
from typing import Any

from tests.project import ROOT, copy_sources, python

SIMULATE_ALL = """
from numba.core.dispatcher import Dispatcher
from ravenlab.environments import find_scenario
from ravenlab.environments.draw import draw_worlds
from ravenlab.policies import find_policy, policy_names
from ravenlab.policies.engine.index import IndexPolicy
from ravenlab.policies.engine.play import compile_loop
from ravenlab.policies.engine.simulation import simulate
from ravenlab.environments import world
from ravenlab.policies.engine import leader_run
for name in policy_names():
    simulate(name, "stationary", horizon=30, arms=3, replications=1, checkpoints=2)
    simulate(name, "stationary", horizon=30, arms=3, replications=1)
    policy = find_policy(name)
    stats = compile_loop(policy, runs=issubclass(policy, IndexPolicy)).stats
    print(name, sum(stats.cache_misses.values()), sum(stats.cache_hits.values()))
for module in (leader_run, world):
    for name, value in vars(module).items():
        if isinstance(value, Dispatcher):
            print(f"{module.__name__}.{name}", sum(value.stats.cache_misses.values()), 1)
"""

SIMULATE_ONE = """
import numpy as np
from ravenlab.environments.recorded.trace_file import Trace
from ravenlab.policies.engine.simulation import simulate
trace = Trace.from_values(list("abcd"), np.random.default_rng(2).random((400, 4)))
result = float(simulate("ucb1", trace=trace, horizon=80, replications=3).regret.sum())
print(result)
"""
"""A trace needs the loop of one policy and no kernel that draws worlds, so little is compiled."""


def simulate_one() -> float:
    """Return the result of the same code in this process."""
    scope: dict[str, Any] = {"print": lambda result: None}
    exec(SIMULATE_ONE, scope)
    return float(scope["result"])


def run(code: str, folder: Path, **environment: str) -> str:
    """Run code in a new process that imports from a folder."""
    done = python("-c", code, folder=folder, PYTHONPATH=str(folder), **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def kernels_not_loaded() -> list[str]:
    """Run all policies in a new process and return the kernels that it does not load from the cache."""
    rows = [line.split() for line in run(SIMULATE_ALL, ROOT).splitlines()]
    assert len(rows) > 25
    return [name for name, misses, hits in rows if int(misses) > 0 or int(hits) == 0]


def test_second_process_loads_all_kernels_from_the_cache() -> None:
    """The first process compiles the kernels that no other test has compiled; without any, it suffices."""
    if kernels_not_loaded():
        assert kernels_not_loaded() == []


def test_edited_rule_is_recompiled(tmp_path: Path) -> None:
    copy = copy_sources(tmp_path / "copy")
    cache = str(tmp_path / "cache")
    before = run(SIMULATE_ONE, copy, NUMBA_CACHE_DIR=cache)
    rule = copy / "policies" / "ucb1.py"
    text = rule.read_text(encoding="utf-8")
    times = rule.stat()
    assert "sqrt(p[0] * log(t))" in text
    rule.write_text(text.replace("sqrt(p[0] * log(t))", "sqrt(9.0 * log(t))"), encoding="utf-8")
    os.utime(rule, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert run(SIMULATE_ONE, copy, NUMBA_CACHE_DIR=cache) != before


def test_works_without_a_writable_cache(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert run(SIMULATE_ONE, ROOT, NUMBA_CACHE_DIR=str(blocked)) == f"{simulate_one()}\n"
