"""Coverage of the 95 % interval of a replay score: python -m tools.replay_coverage 1000.

Logs come from a uniform policy in stationary worlds. The true score is the expected mean reward of the policy's first m
steps, where m is the number of matched events. It is estimated by simulating m steps in the same world many times.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from environments.recorded.log_file import Log
from environments.recorded.trace_world import TraceWorlds
from environments.world import Floats
from policies import find_policy
from policies.engine.play import REWARD, play_windows
from policies.engine.replay import replay

WORLDS = 10
RUNS = 1200
CHUNK = 100


@dataclass(frozen=True)
class Case:
    """A policy, the arms K and the events N of a log."""

    policy: str
    arms: int
    events: int
    noise: str = "normal"


def covered(case: Case, tries: int, seed: int = 11, resamples: int = 640, runs: int = RUNS) -> tuple[int, float, float]:
    """The number of logs whose interval covers the true score, the mean error and the mean half-width."""
    hits, errors, widths = 0, [], []
    worlds = min(WORLDS, tries)
    for world in range(worlds):
        rng = np.random.default_rng([seed, world])
        means, spreads = rng.uniform(0.2, 0.8, case.arms), rng.uniform(0.2, 0.5, case.arms)
        found = []
        for _ in range(tries // worlds + (world < tries % worlds)):
            arm = rng.integers(0, case.arms, case.events)
            reward = _rewards(case, rng, means, spreads, (case.events,))[arm, np.arange(case.events)]
            log = Log.from_columns([str(k) for k in arm], reward)
            found.append(replay(case.policy, log, resamples=resamples, seed=int(rng.integers(2**31))))
        marks = np.unique(np.linspace(min(r.matched for r in found), max(r.matched for r in found), 9).astype(int))
        truth = expected(case, means, spreads, marks, rng, runs, horizon=case.events // case.arms)
        for each in found:
            value = float(np.interp(each.matched, marks, truth))
            hits += each.low <= value <= each.high
            errors.append(each.score - value)
            widths.append((each.high - each.low) / 2)
    return hits, float(np.mean(errors)), float(np.mean(widths))


def expected(
    case: Case, means: Floats, spreads: Floats, marks: Floats, rng: np.random.Generator, runs: int, horizon: int
) -> Floats:
    """The expected mean reward of the policy's first m steps, for each m."""
    policy = find_policy(case.policy)
    values = policy.resolve({}, case.arms, horizon)
    steps, sums = int(marks[-1]), np.zeros(len(marks))
    for first in range(0, runs, CHUNK):
        table = np.ascontiguousarray(_rewards(case, rng, means, spreads, (CHUNK * steps,)).T)
        nothing = np.zeros(table.shape[0])
        worlds = TraceWorlds(
            values=table,
            smoothed=table,
            best=nothing,
            switches=np.zeros(table.shape[0], dtype=np.uint8),
            offsets=np.arange(CHUNK) * steps,
            horizon=steps,
        )
        played = play_windows(policy, values, worlds, int(rng.integers(2**31)), first, 0, marks.astype(np.int64))
        sums += played.curve[..., REWARD].sum(axis=0)
    return np.asarray(sums / (runs // CHUNK * CHUNK) / marks)


def _rewards(case: Case, rng: np.random.Generator, means: Floats, spreads: Floats, shape: tuple[int, ...]) -> Floats:
    """Rewards of all arms, with the arms as the first axis."""
    if case.noise == "bernoulli":
        return np.asarray(rng.random((case.arms, *shape)) < means[:, None], dtype=np.float64)
    return np.asarray(rng.normal(means[:, None], spreads[:, None], (case.arms, *shape)))


CASES = (
    Case("raven-ucb", 5, 5000),
    Case("raven-ucb", 10, 5000),
    Case("raven-ucb", 10, 20000),
    Case("raven-ucb", 5, 20000, "bernoulli"),
    Case("thompson", 5, 5000, "bernoulli"),
)

if __name__ == "__main__":
    tries = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    for case in CASES:
        hits, error, width = covered(case, tries)
        print(
            f"{case}: {100 * hits / tries:.1f} % of {tries}; mean error {error:.2g}, half-width {width:.2g}", flush=True
        )
