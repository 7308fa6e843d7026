"""Estimate of the mean reward that a policy would earn, from a log of another policy's pulls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from environments.checks import check_integer
from environments.display import Card, CardTable, Result
from environments.recorded.log_file import Log
from environments.recorded.log_world import (
    AUTOMATIC,
    MIN_REPLAYS,
    RUNS_PER_LOG,
    LogScenario,
    open_log,
    source_log,
)
from environments.streams import Stream
from environments.text import format_count, format_interval
from environments.world import Floats
from policies.engine.base import Policy, Value
from policies.engine.play import play_logs
from policies.engine.plugins import resolve_policy
from studies.diagnosis.analysis import diagnose_changes
from studies.registry import ESTIMATORS
from studies.spec.fields import check_registered
from studies.symbols import format_params

if TYPE_CHECKING:
    from pandas import DataFrame

RESAMPLES = 320  # default number of replications
CORRECTED = 0.5  # share of the estimated bias that is subtracted
CHOICE_VARIANCE = 0.2  # sampling variance added for the choice of neighborhoods, which resampled logs keep
MODEL_VARIANCE = 1.0  # the same for the kinds of change of a simulator, which all its paths have in common
MIN_SAMPLING_SHARE = 0.05  # least share of the variance between resampled logs that is sampling variance
MIN_DEGREES = 6.0  # degrees of freedom of an interval


@dataclass(frozen=True, repr=False)
class Replay(Result):
    """Estimated mean reward of a policy with its 95 % confidence interval.

    The policy is deployed for as many steps as the log has events. The interval is NaN if the log is inconclusive.
    """

    policy: str
    params: dict[str, Value]
    score: float
    low: float
    high: float
    matched: int
    """Number of steps at which the policy selects the logged arm, averaged over the runs on the log."""
    effective: float
    """Effective number of events in the score, (Σ w)² / Σ w² for the weight w of each event."""
    events: int
    logged: float
    """Mean reward of the logging policy; its 95 % confidence interval follows."""
    logged_low: float
    logged_high: float
    estimator: str = ""
    """Which rewards the policy was given, and why."""
    inconclusive: str | None = None
    """Why the log cannot support an answer and what would be needed; None if it can."""

    def to_frame(self) -> DataFrame:
        """Tabulate the estimates of the policy and of the logging policy in pandas."""
        from pandas import DataFrame

        columns = ["policy", "params", "score", "low", "high"]
        rows = [
            [self.policy, self.params, self.score, self.low, self.high],
            ["logging policy", {}, self.logged, self.logged_low, self.logged_high],
        ]
        return DataFrame(rows, columns=columns)

    def _card(self) -> Card:
        logged = format_interval(self.logged, self.logged_low, self.logged_high)
        if self.inconclusive is None:
            score = format_interval(self.score, self.low, self.high)
            answer = f"{self.policy} ({format_params(self.params)}): mean reward per step {score}."
        else:
            score, answer = "–", f"Inconclusive: {self.inconclusive}."
        rows = [[self.policy, score], ["Logging policy", logged]]
        return Card(
            answer=answer,
            facts=[f"Logging policy: {logged}."],
            label=f"Replay of {format_count(self.events)} events, {format_count(round(self.effective))} effective",
            tables=[CardTable(["", "Mean reward per step (95 % CI)"], rows)],
            details=[f"Estimator: {self.estimator}."] if self.estimator else [],
        )


def replay(
    policy: str | type[Policy],
    log: str | Path | Log,
    *,
    params: Mapping[str, Value] | None = None,
    minimize: bool = False,
    resamples: int = RESAMPLES,
    seed: int = 0,
    estimator: str = AUTOMATIC,
) -> Replay:
    """Estimate the mean reward of a policy that makes one decision per event of a log.

    At each step the policy selects any arm. With the estimator "expansion" it receives the reward of a random event of
    that arm close to that step; with "simulator" rewards are drawn from a model with the kinds of change that a
    diagnosis finds. "automatic" uses the simulator where some arms have too few events for expansion.

    Args:
        policy: A name such as "raven-ucb", or a class.
        log: A file with columns step, arm, reward and optionally propensity, or a `Log`.
        params: Parameters of the policy; the others have their defaults.
        minimize: Whether rewards are costs; the policy is given their negatives, and scores are costs.
        resamples: Number of runs, on the log and on logs resampled from it.
        seed: Random seed.
        estimator: "automatic", "expansion" or "simulator".

    >>> rng = np.random.default_rng(1)
    >>> arm = rng.integers(0, 3, 3000)
    >>> log = Log.from_columns([str(k) for k in arm], rng.normal(0.5 * arm, 0.5))
    >>> result = replay("ucb1", log, resamples=128)
    >>> bool(result.low < result.score < result.high), 800 < result.effective < 1200
    (True, True)
    """
    policy_class = resolve_policy(policy)
    check_integer("resamples", resamples, least=MIN_REPLAYS)
    check_integer("seed", seed, least=0)
    check_registered("estimator", ESTIMATORS, estimator)
    if isinstance(log, Log):
        scenario = LogScenario(log, "log:table", minimize, estimator, diagnose_changes)
    else:
        scenario = open_log(log, minimize, estimator, diagnose_changes)
    values = policy_class.resolve(params, scenario.arms, scenario.log.events)
    worlds = scenario.draw(scenario.log.events, seed, 0, resamples, Stream.SIMULATE)
    played = play_logs(policy_class, values, worlds, seed, 0, Stream.SIMULATE)
    sign = -1.0 if minimize else 1.0
    prepared = scenario.prepared(Stream.SIMULATE)
    simulated = prepared.simulator is not None
    score, *ends = (sign * value for value in estimate_interval(played.score, simulated))
    logged, *logged_ends = (sign * value for value in estimate_interval(played.logged, simulated))
    effective = float(split_by_log(played.effective)[0].mean())
    inconclusive = prepared.describe_shortage(scenario.log.names, effective)
    return Replay(
        policy=policy_class.name,
        params=values,
        score=score,
        low=min(ends) if inconclusive is None else np.nan,
        high=max(ends) if inconclusive is None else np.nan,
        matched=round(float(split_by_log(played.matched)[0].mean())),
        effective=effective,
        events=played.events,
        logged=logged,
        logged_low=min(logged_ends),
        logged_high=max(logged_ends),
        estimator=prepared.describe_estimator(),
        inconclusive=inconclusive,
    )


def split_by_log(values: Floats) -> tuple[Floats, Floats]:
    """Split values per replication [R] into those of the log itself and of each resampled log [logs, runs]."""
    log = np.array([source_log(r) for r in range(values.size)])
    complete = 1 + np.flatnonzero(np.bincount(log)[1:] == RUNS_PER_LOG)
    return values[log == 0], values[np.isin(log, complete)].reshape(complete.size, RUNS_PER_LOG)


def estimate_interval(values: Floats, simulated: bool = False) -> tuple[float, float, float]:
    """Return an estimate and its 95 % confidence interval for a value per replication, arranged as by `source_log`.

    The sampling variance is that between resampled logs, minus the part due to the small number of runs on each. The
    difference between resampled logs and the log estimates the bias of the mean on the log. Half of it is subtracted,
    and the other half is the standard error of this correction: on simulated logs the correction was too small with
    many arms and too large with few. Paths of a simulator are a sample of what the truth may be: the estimate is their
    mean. Their variance is doubled, since the diagnosed kinds of change may be wrong: on simulated logs, intervals
    without this covered 90 %.

    >>> rng = np.random.default_rng(1)
    >>> which = np.array([source_log(r) for r in range(2000)])
    >>> values = 5.0 + (0.1 + rng.normal(0, 0.1, 1000)[which]) * (which > 0) + rng.normal(0, 0.3, 2000)
    >>> mean, low, high = estimate_interval(values)
    >>> bool(4.6 < low < 4.8 < mean < 5.0 < high < 5.3)
    True
    >>> mean, low, high = estimate_interval(values, simulated=True)
    >>> bool(4.7 < low < 4.9 < mean < 5.2 < high < 5.5)
    True
    """
    from scipy.stats import t

    own, groups = split_by_log(values)
    count = groups.shape[0]
    within = float(groups.var(axis=1, ddof=1).mean())
    between = float(groups.mean(axis=1).var(ddof=1))
    bias = float(groups.mean() - own.mean())
    sampling = max(between - within / RUNS_PER_LOG, MIN_SAMPLING_SHARE * between)
    if simulated:
        mean, factor = float(groups.mean()), 1.0 + MODEL_VARIANCE
        variance = factor * sampling + between / count
    else:
        mean, factor = float(own.mean()) - CORRECTED * bias, 1.0 + CHOICE_VARIANCE
        simulation = (1.0 + CORRECTED) ** 2 * within / own.size + CORRECTED**2 * between / count
        variance = factor * sampling + simulation + ((1.0 - CORRECTED) * bias) ** 2
    # Satterthwaite's degrees of freedom: the sampling variance is a difference of two estimates.
    noise = between**2 / (count - 1) + (within / RUNS_PER_LOG) ** 2 / (groups.size - count)
    degrees = variance**2 / max(1e-300, factor**2 * noise)
    half = float(t.ppf(0.975, max(MIN_DEGREES, degrees)) * np.sqrt(variance))
    return mean, mean - half, mean + half
