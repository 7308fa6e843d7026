"""RAVEN-UCB compared with plain loops and with drawing the rewards."""

import time
from typing import Any

import numpy as np

from ravenlab.environments import find_scenario
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.world import Worlds
from ravenlab.policies import find_policy
from ravenlab.policies.engine.leader_run import leader_run
from tools.benchmarks.measure import Claim, Race
from tools.benchmarks.plain_raven import numpy_loop, rescan_all

RAVEN = find_policy("raven-ucb")
WORST = {"alpha0": 10.0, "beta0": 10.0, "epsilon": 0.1}
GENERATORS = (np.random.PCG64, np.random.PCG64DXSM, np.random.SFC64, np.random.Philox, np.random.MT19937)


def random_candidates(count: int, seed: int = 0) -> Any:
    """Return log-uniform candidates in the search space, as parameter vectors."""
    rng = np.random.default_rng(seed)
    low = np.log([0.01, 0.01, 0.001])
    high = np.log([10.0, 10.0, 0.5])
    values = np.exp(low + rng.random((count, 3)) * (high - low))
    names = ("alpha0", "beta0", "epsilon")
    return np.array(
        [RAVEN.vector(RAVEN.resolve(dict(zip(names, map(float, row), strict=True)), 10, 1)) for row in values]
    )


def incremental(horizon: int, arms: int, replications: int) -> Worlds:
    """Return the worlds of all races."""
    return draw_worlds(find_scenario("incremental-drift"), horizon, arms, 1, 0, replications)


def fastest_generator() -> type[np.random.BitGenerator]:
    """Return the NumPy generator that draws normals fastest on this machine."""

    def seconds(kind: type[np.random.BitGenerator]) -> float:
        rng = np.random.Generator(kind(1))
        best = float("inf")
        for _ in range(5):
            begin = time.perf_counter()
            rng.standard_normal(500_000)
            best = min(best, time.perf_counter() - begin)
        return best

    return min(GENERATORS, key=seconds)


def race(arms: int, horizon: int, replications: int, candidates: int, floor: float, plain_steps: int) -> Race:
    """Return the race of the fast path and the plain NumPy loop at one size."""
    worlds = incremental(horizon, arms, replications)
    parameters = random_candidates(candidates)
    work = float(candidates * replications * horizon)

    def fast() -> float:
        assert leader_run(worlds, parameters) is not None
        return work

    def worst() -> float:
        assert leader_run(worlds, RAVEN.vector(RAVEN.resolve(WORST, arms, horizon))[None]) is not None
        return float(replications * horizon)

    def plain() -> float:
        numpy_loop(worlds, 1.0, 1.0, 0.1, plain_steps)
        return float(plain_steps)

    setting = f"raven-ucb K={arms} T={horizon} R={replications} candidates={candidates}"
    return Race(
        setting,
        {"fast": fast, "plain": plain, "worst": worst},
        [
            Claim("fast", "plain", floor, "× a plain NumPy loop"),
            Claim("worst", "plain", 0.0, "× a plain NumPy loop, the slowest candidate (α₀ = β₀ = 10)"),
        ],
    )


def race_small() -> Race:
    """Return the race at K = 10 and T = 10,000, which includes the scanning loop and drawing the rewards."""
    setting = race(10, 10_000, 200, 200, 1000.0, 4000)
    worlds = incremental(10_000, 10, 200)
    parameters = random_candidates(8, seed=1)
    kind = fastest_generator()
    rng = np.random.Generator(kind(1))
    buffer = np.empty(2_000_000)

    def scan() -> float:
        rescan_all(worlds, parameters)
        return float(parameters.shape[0] * worlds.noise.size)

    def draw() -> float:
        for _ in range(5):
            rng.standard_normal(out=buffer)
        return 5.0 * buffer.size

    def worlds_of_study() -> float:
        incremental(10_000, 10, 200)
        return 200.0 * worlds.noise.size

    setting.contenders |= {"scan": scan, "draw": draw, "worlds": worlds_of_study}
    setting.claims += [
        Claim("fast", "scan", 3.0, "× a good numba loop that scans all arms on the same tape"),
        Claim("fast", "draw", 0.75, f"× bulk-drawing one normal per step ({kind.__name__})"),
        Claim("worlds", "fast", 10.0, "× faster to draw the worlds than to play 200 candidates in them"),
    ]
    return setting


def races() -> list[Race]:
    """Return the races of all sizes."""
    return [
        race_small(),
        race(100, 50_000, 8, 100, 600.0, 4000),
        race(1000, 50_000, 2, 24, 100.0, 4000),
    ]
