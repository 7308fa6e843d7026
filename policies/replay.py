"""The replay score: what a policy would have earned, told by a log of another's pulls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from environments.checks import whole
from environments.errors import InputError
from environments.log_file import Log
from environments.log_world import CLIP, LogScenario, open_log
from environments.streams import Stream
from environments.world import Floats
from policies import find_policy
from policies._log_play import play_logs
from policies.base import Policy, Value

RESAMPLES = 1000


@dataclass(frozen=True)
class Replay:
    """Mean reward of the events at which the policy picked the logged arm, with its 95 % interval."""

    policy: str
    params: dict[str, Value]
    score: float
    low: float
    high: float
    matched: int
    effective: float
    """(Σ w)² / Σ w² of the matched events; their number where no propensities are known."""
    events: int
    logged: float
    """The logging policy's own mean reward, with its 95 % interval."""
    logged_low: float
    logged_high: float


def replay(
    policy: str | type[Policy],
    log: str | Path | Log,
    *,
    params: Mapping[str, Value] | None = None,
    minimize: bool = False,
    clip: float = CLIP,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Replay:
    """Replay a policy on a log: an event counts, and is learned from, only when the policy picks its arm.

    Args:
        policy: A name such as "raven-ucb", or a class.
        log: A file with columns step, arm, reward and perhaps propensity, or a `Log`.
        params: The policy's parameters; defaults for the rest.
        minimize: Rewards are costs; the policy learns from their negatives, and scores are costs.
        clip: The largest inverse-propensity weight.
        resamples: Resampled logs that the intervals come from.
        seed: Names the resampled logs.

    >>> rng = np.random.default_rng(1)
    >>> arm = rng.integers(0, 3, 3000)
    >>> log = Log.of([str(k) for k in arm], rng.normal(0.5 * arm, 0.5))
    >>> found = replay("ucb1", log, resamples=200)
    >>> bool(found.low < found.score < found.high), 800 < found.matched < 1200
    (True, True)
    """
    found = policy if isinstance(policy, type) and issubclass(policy, Policy) else find_policy(policy)
    whole("resamples", resamples, least=1)
    whole("seed", seed, least=0)
    if not clip >= 1.0:
        raise InputError(f"clip must be at least 1 but got {clip!r}.")
    opened = LogScenario(log, "log:table", minimize) if isinstance(log, Log) else open_log(log, minimize)
    scenario = LogScenario(opened.log, opened.name, minimize, clip)
    horizon = max(1, opened.log.events // opened.arms)
    values = found.resolve(params, scenario.arms, horizon)
    worlds = scenario.draw(horizon, seed, 0, resamples + 1, Stream.SIMULATE)
    played = play_logs(found, values, worlds, seed, 0, Stream.SIMULATE)
    low, high = around(played.score)
    below, above = around(played.logged)
    sign = -1.0 if minimize else 1.0
    ends, logged_ends = sorted((sign * low, sign * high)), sorted((sign * below, sign * above))
    return Replay(
        policy=found.name,
        params=values,
        score=sign * float(played.score[0]),
        low=ends[0],
        high=ends[1],
        matched=int(played.matched[0]),
        effective=float(played.effective[0]),
        events=played.events,
        logged=sign * float(played.logged[0]),
        logged_low=logged_ends[0],
        logged_high=logged_ends[1],
    )


def around(found: Floats) -> tuple[float, float]:
    """The 95 % interval around the first number, of the log as it was, from the others, of resampled logs.

    What resampled logs give scatters around their own mean as the log's number does around the truth, so the interval
    is turned over: a long tail downwards says that the truth may lie far above.

    >>> low, high = around(np.array([5.0, *np.random.default_rng(1).normal(size=4000)]))
    >>> round(low), round(high)
    (3, 7)
    """
    resampled = found[1:]
    low, high = np.quantile(resampled - resampled.mean(), [0.025, 0.975])
    return float(found[0] - high), float(found[0] - low)
