"""Compiling in another process: the same versions of the kernels that studies need, waited for if necessary."""

import subprocess
from typing import Any

import numba
import pytest

from ravenlab.common import kernel_cache
from ravenlab.common.compat import numba_cache
from ravenlab.environments import find_scenario
from ravenlab.environments.draw import draw_worlds
from ravenlab.policies import find_policy
from ravenlab.policies.engine import ahead, leader_run
from ravenlab.policies.engine.play import evaluate


def test_smallest_worlds_have_the_types_of_drawn_worlds() -> None:
    drawn = draw_worlds(find_scenario("blips"), 20, 3, seed=1)
    assert numba.typeof(ahead.smallest_worlds()) == numba.typeof(drawn)


def test_kernels_of_the_search_are_compiled() -> None:
    ahead.compile_policy("raven-ucb")
    policy = find_policy("raven-ucb")
    kernel: Any = leader_run.play_candidates
    versions = list(kernel.signatures)
    assert versions
    evaluate(policy, [policy.resolve({}, 3, 100)] * 2, draw_worlds(find_scenario("blips"), 100, 3, seed=1), seed=1)
    assert list(kernel.signatures) == versions


class Process:
    """A process that ends after it has been asked a number of times whether it runs."""

    def __init__(self, polls: int) -> None:
        self.polls = polls

    def poll(self) -> int | None:
        self.polls -= 1
        return None if self.polls >= 0 else 0


@pytest.mark.parametrize(
    ("kernel", "package", "stored_at", "loads"),
    [
        (leader_run.play_candidates, "ravenlab.policies", 3, 3),
        (leader_run.play_candidates, "ravenlab.policies", 9, 6),
        (leader_run.play_candidates, "ravenlab.studies", 3, 1),
        (leader_run.fill_coefficients, "ravenlab.policies", 3, 1),
    ],
    ids=["stored", "never stored", "another package", "on demand"],
)
def test_kernels_of_a_running_compiler_are_waited_for(
    kernel: Any, package: str, stored_at: int, loads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process runs at five polls; the function is loaded once more after its end."""
    cache = kernel._cache
    calls = []

    def load(*_: Any) -> str | None:
        calls.append(1)
        return "function" if len(calls) == stored_at else None

    monkeypatch.setattr(kernel_cache, "COMPILERS", [(Process(5), package)])
    monkeypatch.setattr(numba_cache, "POLL_SECONDS", 0.0)
    monkeypatch.setattr(numba_cache._caching.FunctionCache, "_load_overload", load)
    assert cache.load_overload(None, None) == ("function" if loads == stored_at else None)
    assert len(calls) == loads


def test_nothing_is_started_without_need(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    monkeypatch.setattr(subprocess, "Popen", lambda *words, **pipes: started.append(words))
    monkeypatch.setattr(ahead, "is_cached", lambda name: True)
    ahead.compile_ahead(["raven-ucb"])
    monkeypatch.setattr(ahead, "is_cached", lambda name: False)
    ahead.compile_ahead(["./mine.py:Policy"])
    monkeypatch.setattr(ahead, "_usable_cores", lambda: 1)
    ahead.compile_ahead(["raven-ucb"])
    assert started == []
