"""Comparison of a policy with its reference implementation: the same arms step by step, except for ties within 1e-9.

A reference implementation is a plain Python class that states the formula of the policy and nothing else. It returns
the scores of the open arms, of which the policy must select the largest (lowest index on a tie), or, if the policy does
not select by score, the arm. For a policy that uses the true means it receives the scaled reward z.
"""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from ravenlab.environments import find_scenario
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.streams import Stream, generator
from ravenlab.policies import find_policy
from ravenlab.policies.engine.simulation import simulate
from tests.environments import reference_world

TIE = 1e-9
SEED = 20


class Reference(Protocol):
    """Interface of a reference implementation; `arms` counts open and closed arms."""

    def __init__(self, arms: int, horizon: int, values: Mapping[str, Any], rng: np.random.Generator) -> None: ...

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float] | int:
        """Return the scores of the open arms, which have all been pulled, or the selected arm."""

    def learn(self, t: int, k: int, x: float) -> None:
        """Update with the reward of a pull, first pulls included."""


def check_against_reference(
    policy: str,
    reference: type[Reference],
    scenario: str,
    *,
    horizon: int,
    arms: int,
    params: Mapping[str, Any] | None = None,
    replications: int = 2,
) -> int:
    """Assert that policy and reference pull the same arms; return the number of ties resolved differently.

    The first of several worlds is played but not compared: a state that is not reset after it changes the second.
    """
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
    for r in range(min(1, replications - 1), replications):
        rng = generator(SEED, Stream.SIMULATE, r, "policy")
        player = reference(total, horizon, values, rng)
        feedback = reference_world.Feedback(worlds, r)
        pulled = [0] * total
        for t in range(1, horizon + 1):
            open_arms = reference_world.open_arms(worlds, r, t)
            selected = int(result.pulls[r, t - 1])
            untried = [k for k in open_arms if pulled[k] == 0]
            decision = untried[0] if untried else player.decide(t, open_arms)
            if isinstance(decision, int):
                assert selected == decision, f"{policy} on {scenario}, replication {r}, step {t}"
            else:
                best = max(decision.values())
                assert selected in decision, f"{policy} pulled a closed arm at step {t}"
                assert decision[selected] >= best - TIE, (
                    f"{policy} on {scenario}, replication {r}, step {t}: {decision}"
                )
                ties += selected != min(k for k, score in decision.items() if score == best)
            pulled[selected] += 1
            x = feedback(selected, t)
            if find_policy(policy).uses_true_means:
                true_means = [reference_world.mean(worlds, r, k, t) for k in open_arms]
                x = min(1.0, max(0.0, (x - min(true_means)) / (max(true_means) - min(true_means) + 1e-6)))
            player.learn(t, selected, x)
    return ties
