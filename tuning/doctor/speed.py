"""How fast one core plays RAVEN-UCB, here or on a worker."""

from __future__ import annotations

import time
from dataclasses import dataclass

SCENARIO = "incremental-drift"
HORIZON, ARMS, WORLDS = 10_000, 10, 4
CANDIDATES = ((0.3, 0.5, 0.01), (1.0, 1.0, 0.1), (3.0, 0.1, 0.1), (0.1, 3.0, 0.01))
"""α₀, β₀ and ε: some that stay with an arm and some that try others often."""

SECONDS = 0.3


@dataclass(frozen=True)
class Speed:
    """What a measuring gave."""

    millions: float
    """Of steps a second, on one thread."""
    compiled: bool
    """Whether the kernel had to be compiled first; else it came from its cache, or was in memory."""
    ready: float
    """Seconds until the first play was over."""


def kernel_speed(seconds: float = SECONDS) -> Speed:
    """Play known worlds over and over for a while on this thread.

    >>> kernel_speed(0.01).millions > 0
    True
    """
    begin = time.perf_counter()
    from environments import find_scenario
    from environments.draw import draw_worlds
    from policies import find_policy
    from policies._leader_run import play_candidates
    from policies.playing import evaluate

    missed = _misses(play_candidates)
    policy = find_policy("raven-ucb")
    values = [
        policy.resolve({"alpha0": alpha0, "beta0": beta0, "epsilon": epsilon}, ARMS, HORIZON)
        for alpha0, beta0, epsilon in CANDIDATES
    ]
    worlds = draw_worlds(find_scenario(SCENARIO), HORIZON, ARMS, 1, 0, WORLDS)
    evaluate(policy, values, worlds, seed=1)
    ready = time.perf_counter() - begin
    steps, begin = 0, time.perf_counter()
    while (spent := time.perf_counter() - begin) < seconds or steps == 0:
        evaluate(policy, values, worlds, seed=1)
        steps += len(values) * WORLDS * HORIZON
    return Speed(steps / spent / 1e6, _misses(play_candidates) > missed, ready)


def _misses(kernel: object) -> int:
    """How often a kernel was not found in its cache."""
    return int(sum(kernel.stats.cache_misses.values()))  # type: ignore[attr-defined]
