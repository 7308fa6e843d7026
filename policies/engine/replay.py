"""Replay estimate of the mean reward of a policy from a log of another policy's pulls."""

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
from policies.engine.base import Policy, Value
from policies.engine.play import play_logs
from policies.engine.plugins import resolve_policy

RESAMPLES = 960  # default number of replays


@dataclass(frozen=True)
class Replay:
    """Replay score with its 95 % confidence interval.

    The score is the mean reward of the events at which the policy selects the logged arm, averaged over orders of the
    log.
    """

    policy: str
    params: dict[str, Value]
    score: float
    low: float
    high: float
    matched: int
    """Number of matched events in the original order of the log."""
    effective: float
    """Effective sample size (Σ w)² / Σ w² of the matched events; their number without propensities."""
    events: int
    logged: float
    """Mean reward of the logging policy; its 95 % confidence interval follows."""
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
    """Estimate the mean reward of a policy by replaying a log.

    An event is counted, and the policy updated with it, only if the policy selects the logged arm.

    Args:
        policy: A name such as "raven-ucb", or a class.
        log: A file with columns step, arm, reward and optionally propensity, or a `Log`.
        params: Parameters of the policy; the others have their defaults.
        minimize: Whether rewards are costs; the policy is given their negatives, and scores are costs.
        clip: Largest inverse-propensity weight.
        resamples: Number of replays, of the log in other orders and of resampled logs.
        seed: Random seed.

    >>> rng = np.random.default_rng(1)
    >>> arm = rng.integers(0, 3, 3000)
    >>> log = Log.from_columns([str(k) for k in arm], rng.normal(0.5 * arm, 0.5))
    >>> result = replay("ucb1", log, resamples=256)
    >>> bool(result.low < result.score < result.high), 800 < result.matched < 1200
    (True, True)
    """
    policy_class = resolve_policy(policy)
    check_integer("resamples", resamples, least=MIN_REPLAYS)
    check_integer("seed", seed, least=0)
    if not clip >= 1.0:
        raise InputError(f"clip must be at least 1 but got {clip!r}.")
    opened = LogScenario(log, "log:table", minimize) if isinstance(log, Log) else open_log(log, minimize)
    scenario = LogScenario(opened.log, opened.name, minimize, clip)
    horizon = max(1, opened.log.events // opened.arms)
    values = policy_class.resolve(params, scenario.arms, horizon)
    worlds = scenario.draw(horizon, seed, 0, resamples, Stream.SIMULATE)
    played = play_logs(policy_class, values, worlds, seed, 0, Stream.SIMULATE)
    sign = -1.0 if minimize else 1.0
    score, *ends = (sign * value for value in estimate_interval(played.score))
    logged, *logged_ends = (sign * value for value in estimate_interval(played.logged))
    return Replay(
        policy=policy_class.name,
        params=values,
        score=score,
        low=min(ends),
        high=max(ends),
        matched=int(played.matched[0]),
        effective=float(played.effective[0]),
        events=played.events,
        logged=logged,
        logged_low=min(logged_ends),
        logged_high=max(logged_ends),
    )


def split_by_log(values: Floats) -> tuple[Floats, Floats]:
    """Split values per replication [R] into those of the original log and of each resampled log [logs, orders]."""
    log = np.array([source_log(r) for r in range(values.size)])
    complete = 1 + np.flatnonzero(np.bincount(log)[1:] == ORDERS_PER_LOG)
    return values[log == 0], values[np.isin(log, complete)].reshape(complete.size, ORDERS_PER_LOG)


def estimate_interval(values: Floats) -> tuple[float, float, float]:
    """Return mean and 95 % confidence interval of a value per replication, arranged as by `source_log`.

    The estimate is the mean over orders of the original log. Its variance is the variance of that mean between
    resampled logs, minus the part due to the small number of orders of each.

    >>> rng = np.random.default_rng(1)
    >>> which = np.array([source_log(r) for r in range(2000)])
    >>> values = 5.0 + rng.normal(0, 0.1, 1000)[which] * (which > 0) + rng.normal(0, 0.3, 2000)
    >>> mean, low, high = estimate_interval(values)
    >>> bool(4.7 < low < 4.9 < mean < 5.1 < high < 5.3)
    True
    """
    from scipy.stats import t

    original, groups = split_by_log(values)
    count = groups.shape[0]
    within = float(groups.var(axis=1, ddof=1).mean())
    between = float(groups.mean(axis=1).var(ddof=1))
    variance = max(between - within / ORDERS_PER_LOG, between / 4.0)
    # The difference of two variance estimates is less precise than either, hence fewer degrees of freedom.
    degrees = (count - 1) * (variance / between) ** 2 if between > 0.0 else 1.0
    half = float(t.ppf(0.975, max(3.0, degrees)) * np.sqrt(variance + within / original.size))
    mean = float(original.mean())
    return mean, mean - half, mean + half
