"""Every other policy compared with its plain NumPy loop, and index policies with compiled scans at every step."""

import time

import numpy as np

from ravenlab.environments import find_scenario
from ravenlab.environments.draw import draw_worlds
from ravenlab.policies import find_policy
from ravenlab.policies.engine.index import IndexPolicy
from ravenlab.policies.engine.play import evaluate, play
from tools.benchmarks.measure import Claim, Race
from tools.benchmarks.plain import plain_loop
from tools.benchmarks.plain_forgetting import FORGETTING
from tools.benchmarks.plain_policies import BERNOULLI, PLAIN
from tools.benchmarks.plain_published import PUBLISHED
from tools.benchmarks.plain_restarts import RESTARTING

ALL = {**PLAIN, **BERNOULLI, **FORGETTING, **RESTARTING, **PUBLISHED}

MANY_ARMS = 30.0
"""Expected speed-up of UCB1 with K = 100. It compares all arms at most steps, which takes a compiled loop ten times as
long as with K = 10. A plain NumPy loop takes hardly longer: most of its time is the calls."""
FLOORS = {"index": 100.0, "gaussian": 30.0, "beta": 10.0, "exp3": 50.0}
GAUSSIAN = {"thompson", "sw-ts", "d-ts", "wls-optimistic-ts", "published-wls-optimistic-ts"}
BETA = {"f-dsw-ts", "published-thompson", "published-f-dsw-ts", "thompson bernoulli"}
EXP3 = {"exp3-s", "rexp3", "ars-exp3"}
KINDS = {"gaussian": GAUSSIAN, "beta": BETA, "exp3": EXP3}
FAST = {"ucb1", "ucb-v", "kl-ucb", "ucb-tuned", "sw-raven", "d-raven"}
"""Policies that need more worlds for a precise time."""
SLOWER = 0.95  # leader runs must not be slower than a scan at every step, up to the precision of the measurement
SLOW_TO_REFIT = {"wls-optimistic-ts", "published-wls-optimistic-ts"}


def race(name: str, arms: int, horizon: int, replications: int, floor: float) -> Race:
    """Return the race of a policy at its defaults in stationary worlds; "… bernoulli" selects that likelihood.

    The first pull of each arm in the plain loop is not counted as work.
    """
    policy = find_policy(name.split()[0])
    params = {"likelihood": "bernoulli"} if name.endswith("bernoulli") else {}
    values = policy.resolve(params, arms, horizon)
    worlds = draw_worlds(find_scenario("stationary"), horizon, arms, 1, 0, replications)
    make = ALL[name]
    means = worlds.level[0, 0, :, 0]
    sigma = np.sqrt(worlds.level[0, 0, :, 1])
    steps = arms + (2000 if name not in SLOW_TO_REFIT else 4000 // arms)

    def fast() -> float:
        evaluate(policy, [values], worlds, 1)
        return float(replications * horizon)

    def plain() -> float:
        plain_loop(make, means, sigma, horizon, steps)
        return float(steps - arms)

    def scan() -> float:
        play(policy, values, worlds, 1, 0, 0, np.empty(0, dtype=np.int64), runs=False)
        return float(replications * horizon)

    result = Race(
        f"{name} K={arms} T={horizon}",
        {"fast": fast, "plain": plain},
        [Claim("fast", "plain", floor, "× its own plain NumPy loop")],
        clock=time.process_time,
    )
    if issubclass(policy, IndexPolicy) and not name.endswith("bernoulli"):
        result.contenders["general"] = scan
        result.claims.append(Claim("fast", "general", SLOWER, "× the general compiled loop"))
    return result


def floor_of(name: str) -> float:
    """Return the expected speed-up of a policy, by the kind of variates that it draws."""
    return FLOORS[next((kind for kind, names in KINDS.items() if name in names), "index")]


def races() -> list[Race]:
    """Return races of all policies at K = 10, and of index and least-squares policies also at K = 100."""
    small = [race(name, 10, 10_000, 100 if name in FAST else 10, floor_of(name)) for name in ALL]
    many = [race("ucb1", 100, 10_000, 4, MANY_ARMS)]
    many += [race(name, 100, 10_000, 4, floor_of(name)) for name in ("sw-raven", "d-raven")]
    return [
        *small,
        *many,
        race("wls-optimistic-ts", 100, 10_000, 2, 1000.0),
        race("published-wls-optimistic-ts", 100, 10_000, 2, 0.0),
    ]
