"""Policies have less regret than simpler or differently tuned ones in the worlds that they are made for."""

import math
from typing import Any, NamedTuple

import pytest

from ravenlab.policies.engine.simulation import simulate

UNIFORM = ("rexp3", {"gamma": 1.0})
CUSUM_OF_THE_PAPER = {"epsilon": 0.0235, "h": 1.8, "a": 0.0164}


class Duel(NamedTuple):
    """Two policies with parameters, the worlds, and the number of standard errors by which the first is better."""

    better: tuple[str, dict[str, Any]]
    worse: tuple[str, dict[str, Any]]
    scenario: str
    worlds: dict[str, Any]
    errors: float = 3.0
    share: float = 1.0
    """The mean regret of the first is below this share of that of the second."""


def worlds(horizon: int, arms: int, replications: int, seed: int = 0, **settings: Any) -> dict[str, Any]:
    return {"horizon": horizon, "arms": arms, "replications": replications, "seed": seed, "settings": settings}


TUNED_CUSUM = {"m": 293, "epsilon": 0.0568, "h": 3.044, "a": 0.0011, "xi": 0.0779}
TUNED_M_UCB = {"w": 380, "b": 15.35, "gamma": 0.0029, "xi": 0.0518}
TUNED_GLR = {"delta": 1e-6, "exploration": 0.0077, "xi": 0.16}
RARE = worlds(20_000, 3, 100, seed=11, every="25%", fraction=1.0)
ALL_ARMS_JUMP = worlds(5000, 5, 60, seed=3, fraction=1.0)
SHORT = worlds(4000, 10, 40)
LONG = worlds(10_000, 10, 50)
SEARCHED = worlds(10_000, 10, 30, seed=6)
DUELS = [
    Duel(("adr-ucb", {"xi": 0.05, "delta": 0.01}), ("ucb1", {"c": 0.05}), "localized-jump", ALL_ARMS_JUMP),
    Duel(("ars-exp3", {}), ("rexp3", {"variation": 0.0}), "delayed", LONG),
    Duel(("ars-ucb", {"a": 1.0}), ("ucb1", {"c": 1.0}), "delayed", LONG),
    Duel(("bob-sw-ucb", {"xi": 0.05}), UNIFORM, "localized-jump", worlds(4000, 5, 30), 5.0),
    Duel(("cusum-ucb", CUSUM_OF_THE_PAPER), ("ucb1", {}), "localized-jump", worlds(10_000, 10, 20, seed=3)),
    Duel(("cusum-ucb", TUNED_CUSUM), ("cusum-ucb", CUSUM_OF_THE_PAPER), "localized-jump", SEARCHED, share=0.9),
    Duel(("exp3-s", {}), ("exp3-s", {"gamma": 1.0}), "localized-jump", SHORT, 5.0),
    Duel(("glr-klucb", {}), ("ucb1", {}), "localized-jump", worlds(10_000, 10, 20, seed=3)),
    Duel(
        ("glr-klucb", TUNED_GLR), ("glr-klucb", {"s2": 0.2, "exploration": 0.005}), "variance-drift", SEARCHED, 3, 0.5
    ),
    Duel(("m-ucb", {"w": 800, "gamma": 0.01}), ("ucb1", {}), "localized-jump", RARE),
    Duel(("m-ucb", TUNED_M_UCB), ("m-ucb", {"gamma": 0.0029}), "localized-jump", SEARCHED, 5.0, 0.5),
    Duel(("master", {"xi": 0.02, "h": 2.0}), UNIFORM, "localized-jump", worlds(4000, 5, 20)),
    Duel(("oracle-ucb1", {"c": 0.1}), ("ucb1", {"c": 0.1}), "localized-jump", worlds(3000, 5, 40)),
    Duel(("raven-auto", {}), ("raven-ucb", {}), "localized-jump", worlds(4000, 5, 60, seed=5)),
    Duel(("rexp3", {}), UNIFORM, "localized-jump", SHORT, 5.0),
]


@pytest.mark.parametrize("duel", DUELS, ids=lambda duel: f"{duel.better[0]}-{duel.worse[0]}")
def test_regret_is_lower(duel: Duel) -> None:
    better, worse = (
        simulate(policy, duel.scenario, params=params, **duel.worlds).regret for policy, params in duel[:2]
    )
    gain = worse - better
    assert gain.mean() > duel.errors * gain.std(ddof=1) / math.sqrt(gain.size)
    assert better.mean() < duel.share * worse.mean()
