"""The replay score: what a policy would have earned, told by a log of another's pulls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from environments.checks import check_integer
from environments.errors import InputError
from environments.recorded.log_file import Log
from environments.recorded.log_world import DEFAULT_CLIP, MIN_REPLAYS, ORDERS_PER_LOG, LogScenario, open_log, source_log
from environments.streams import Stream
from environments.world import Floats
from policies import find_policy
from policies.engine.base import Policy, Value
from policies.engine.play import play_logs

RESAMPLES = 960


@dataclass(frozen=True)
class Replay:
    """Mean reward of the events at which the policy picked the logged arm, over orders of the log, and its interval."""

    policy: str
    params: dict[str, Value]
    score: float
    low: float
    high: float
    matched: int
    """In the log's own order."""
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
    clip: float = DEFAULT_CLIP,
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
        resamples: Replays, of the log in other orders and of resampled logs, that score and interval come from.
        seed: Names the resampled logs.

    >>> rng = np.random.default_rng(1)
    >>> arm = rng.integers(0, 3, 3000)
    >>> log = Log.from_columns([str(k) for k in arm], rng.normal(0.5 * arm, 0.5))
    >>> found = replay("ucb1", log, resamples=256)
    >>> bool(found.low < found.score < found.high), 800 < found.matched < 1200
    (True, True)
    """
    found = policy if isinstance(policy, type) and issubclass(policy, Policy) else find_policy(policy)
    check_integer("resamples", resamples, least=MIN_REPLAYS)
    check_integer("seed", seed, least=0)
    if not clip >= 1.0:
        raise InputError(f"clip must be at least 1 but got {clip!r}.")
    opened = LogScenario(log, "log:table", minimize) if isinstance(log, Log) else open_log(log, minimize)
    scenario = LogScenario(opened.log, opened.name, minimize, clip)
    horizon = max(1, opened.log.events // opened.arms)
    values = found.resolve(params, scenario.arms, horizon)
    worlds = scenario.draw(horizon, seed, 0, resamples, Stream.SIMULATE)
    played = play_logs(found, values, worlds, seed, 0, Stream.SIMULATE)
    score, *ends = estimate_interval(played.score)
    logged, *logged_ends = estimate_interval(played.logged)
    sign = -1.0 if minimize else 1.0
    ends, logged_ends = (sorted(sign * end for end in both) for both in (ends, logged_ends))
    return Replay(
        policy=found.name,
        params=values,
        score=sign * score,
        low=ends[0],
        high=ends[1],
        matched=int(played.matched[0]),
        effective=float(played.effective[0]),
        events=played.events,
        logged=sign * logged,
        logged_low=logged_ends[0],
        logged_high=logged_ends[1],
    )


def split_by_log(found: Floats) -> tuple[Floats, Floats]:
    """Replications [R] as the orders of the log itself, and of each resampled log [logs, orders]."""
    which = np.array([source_log(r) for r in range(found.size)])
    full = 1 + np.flatnonzero(np.bincount(which)[1:] == ORDERS_PER_LOG)
    return found[which == 0], found[np.isin(which, full)].reshape(full.size, ORDERS_PER_LOG)


def estimate_interval(found: Floats) -> tuple[float, float, float]:
    """Mean and 95 % interval of a number over the orders of a log, from replications as `log_of` lays them out.

    The mean over the orders of the log itself is the estimate: a single order would add the luck of its path. How far
    it may be off is what the same mean differs by between resampled logs, less what so few orders of each add to that.

    >>> rng = np.random.default_rng(1)
    >>> which = np.array([log_of(r) for r in range(2000)])
    >>> mean, low, high = around(5.0 + rng.normal(0, 0.1, 1000)[which] * (which > 0) + rng.normal(0, 0.3, 2000))
    >>> bool(4.7 < low < 4.9 < mean < 5.1 < high < 5.3)
    True
    """
    from scipy.stats import t

    own, groups = split_by_log(found)
    count = groups.shape[0]
    within = float(groups.var(axis=1, ddof=1).mean())
    between = float(groups.mean(axis=1).var(ddof=1))
    left = max(between - within / ORDERS_PER_LOG, between / 4.0)
    # A difference of two variances is less sure than either, so Student's t has fewer degrees of freedom.
    freedom = (count - 1) * (left / between) ** 2 if between > 0.0 else 1.0
    half = float(t.ppf(0.975, max(3.0, freedom)) * np.sqrt(left + within / own.size))
    mean = float(own.mean())
    return mean, mean - half, mean + half
