"""Hold a policy to its slow twin: the same arms, step by step, but for ties within 1e-9.

A twin is a plain Python class that says the policy's formula and nothing else. It gives either the
scores of the open arms, of which the policy must take the largest (lowest index on a tie), or, where
the choice is not by score, the arm itself. A twin of a policy that peeks is handed z, the reward scaled
by the true means, in place of the reward.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from environments import find_scenario
from environments.draw import draw_worlds
from environments.streams import Stream, generator
from policies import find_policy
from policies.engine.simulation import simulate
from tests.environments import plain_world

TIE = 1e-9
SEED = 20


class Twin(Protocol):
    """What the tests need of a twin; all arms asked about have been pulled before.

    `arms` counts all of them, open or not; K of a formula is how many are open.
    """

    def __init__(self, arms: int, horizon: int, values: Mapping[str, Any], rng: np.random.Generator) -> None: ...

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float] | int:
        """Scores of the open arms, or the arm itself."""

    def learn(self, t: int, k: int, x: float) -> None:
        """Take in the reward of a pull (forced first pulls included)."""


def check_twin(
    policy: str,
    twin: type[Twin],
    scenario: str,
    *,
    horizon: int,
    arms: int,
    params: Mapping[str, Any] | None = None,
    replications: int = 2,
) -> int:
    """Assert that the policy's pulls are its twin's; gives how often a tie went the other way."""
    result = simulate(
        policy,
        scenario,
        horizon=horizon,
        arms=arms,
        params=params,
        replications=replications,
        seed=SEED,
        pulls=True,
    )
    assert result.pulls is not None
    world = find_scenario(scenario)
    worlds = draw_worlds(world, horizon, arms, SEED, 0, replications)
    total = arms + world.extra_arms
    values = find_policy(policy).resolve(params, total, horizon)
    ties = 0
    for r in range(replications):
        rng = generator(SEED, Stream.SIMULATE, r, "policy")
        slow = twin(total, horizon, values, rng)
        feedback = plain_world.Feedback(worlds, r)
        pulled = [0] * total
        for t in range(1, horizon + 1):
            open_arms = plain_world.open_arms(worlds, r, t)
            got = int(result.pulls[r, t - 1])
            untried = [k for k in open_arms if pulled[k] == 0]
            decision = untried[0] if untried else slow.decide(t, open_arms)
            if isinstance(decision, int):
                assert got == decision, f"{policy} on {scenario}, replication {r}, step {t}"
            else:
                best = max(decision.values())
                assert got in decision, f"{policy} pulled a closed arm at step {t}"
                assert decision[got] >= best - TIE, f"{policy} on {scenario}, replication {r}, step {t}: {decision}"
                ties += got != min(k for k, score in decision.items() if score == best)
            pulled[got] += 1
            x = feedback(got, t)
            if find_policy(policy).uses_true_means:
                true = [plain_world.mean(worlds, r, k, t) for k in open_arms]
                x = min(1.0, max(0.0, (x - min(true)) / (max(true) - min(true) + 1e-6)))
            slow.learn(t, got, x)
    return ties
