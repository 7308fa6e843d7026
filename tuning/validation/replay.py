"""Estimate of the mean reward that a policy would earn, from a log of another policy's pulls."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ravenlab.common.checks import check_integer
from ravenlab.common.documents import Document, Result, Table
from ravenlab.common.interval import Interval
from ravenlab.common.text import capitalize_first, format_count, format_interval
from ravenlab.environments.recorded.log_file import Columns, Log, read_log
from ravenlab.environments.recorded.log_world import MIN_REPLAYS, LogScenario, open_log
from ravenlab.environments.recorded.recording import write_frame
from ravenlab.environments.streams import Stream
from ravenlab.policies.engine.base import Policy
from ravenlab.policies.engine.parameters import Value
from ravenlab.policies.engine.play import play_logs
from ravenlab.policies.engine.plugins import resolve_policy
from ravenlab.studies.diagnosis.log_estimators import LOG_ESTIMATORS
from ravenlab.studies.registry import DEFAULT_ESTIMATOR, ESTIMATORS
from ravenlab.studies.spec.fields import check_registered
from ravenlab.studies.symbols import format_params
from ravenlab.tuning.validation.log import summarize_logs

if TYPE_CHECKING:
    from pandas import DataFrame

RESAMPLES = 320  # default number of replications


@dataclass(frozen=True, repr=False)
class Replay(Result):
    """Estimated mean reward of a policy that is deployed for as many steps as the log has events."""

    policy: str
    params: dict[str, Value]
    score: Interval
    """Mean reward of the policy; both ends are NaN if the log is inconclusive."""
    matched: int
    """Number of steps at which the policy selects the logged arm, averaged over the runs on the log."""
    effective: float
    """Effective number of events in the score, (Σ w)² / Σ w² for the weight w of each event."""
    events: int
    logged: Interval
    """Mean reward of the logging policy."""
    estimator: str = ""
    notes: tuple[str, ...] = ()
    """What was recognized, sorted or dropped when the log was read."""
    """Which rewards the policy was given, and why."""
    inconclusive: str | None = None
    """Why the log cannot support an answer and what would be needed; None if it can."""

    def to_frame(self) -> DataFrame:
        """Tabulate the estimates of the policy and of the logging policy in pandas."""
        from pandas import DataFrame

        columns = ["policy", "params", "score", "low", "high"]
        rows = [
            [self.policy, self.params, *self.score],
            ["logging policy", {}, *self.logged],
        ]
        return DataFrame(rows, columns=columns)

    def to_document(self) -> Document:
        logged = format_interval(self.logged)
        if self.inconclusive is None:
            score = format_interval(self.score)
            answer = f"{self.policy} ({format_params(self.params)}): mean reward per step {score}."
        else:
            score = "–"
            answer = f"Inconclusive: {self.inconclusive}."
        rows = [[self.policy, score], ["Logging policy", logged]]
        return Document(
            answer=answer,
            facts=[f"Logging policy: {logged}."],
            label=f"Replay of {format_count(self.events)} events, {format_count(round(self.effective))} effective",
            tables=[Table(["", "Mean reward per step (95 % CI)"], rows)],
            details=[
                *([f"Estimator: {self.estimator}."] if self.estimator else []),
                *(f"{capitalize_first(note)}." for note in self.notes),
            ],
        )


def replay(
    policy: str | type[Policy],
    log: str | Path | Log | DataFrame,
    *,
    columns: Columns | None = None,
    params: Mapping[str, Value] | None = None,
    minimize: bool = False,
    resamples: int = RESAMPLES,
    seed: int = 0,
    estimator: str = DEFAULT_ESTIMATOR,
) -> Replay:
    """Estimate the mean reward of a policy that makes one decision per event of a log.

    At each step the policy selects any arm. With the estimator "expansion" it receives the reward of a random event of
    that arm close to that step; with "simulator" rewards are drawn from a model with the kinds of change that a
    diagnosis finds. "automatic" uses the simulator where some arms have too few events for expansion.

    Args:
        policy: A name such as "raven-ucb", or a class.
        log: A file with columns step, arm, reward and optionally propensity, a DataFrame of such columns, or a `Log`.
        columns: Names of these columns, such as ``{"arm": "carrier"}``; recognized if absent.
        params: Parameters of the policy; the others have their defaults.
        minimize: Whether rewards are costs; the policy is given their negatives, and scores are costs.
        resamples: Number of runs, on the log and on logs resampled from it.
        seed: Random seed.
        estimator: "automatic", "expansion" or "simulator".

    >>> rng = np.random.default_rng(1)
    >>> arm = rng.integers(0, 3, 3000)
    >>> log = Log.from_columns([str(k) for k in arm], rng.normal(0.5 * arm, 0.5))
    >>> result = replay("ucb1", log, resamples=128)
    >>> result.score.low < result.score.mean < result.score.high, 800 < result.effective < 1200
    (True, True)
    """
    policy_class = resolve_policy(policy)
    check_integer("resamples", resamples, least=MIN_REPLAYS)
    check_integer("seed", seed, least=0)
    check_registered("estimator", ESTIMATORS, estimator)
    import pandas

    if isinstance(log, pandas.DataFrame):
        with tempfile.TemporaryDirectory() as folder:
            log = read_log(write_frame(log, Path(folder), "log"), columns)
    if isinstance(log, Log):
        scenario = LogScenario(log, "log:table", minimize, LOG_ESTIMATORS[estimator])
    else:
        scenario = open_log(log, minimize, LOG_ESTIMATORS[estimator], columns)
    return estimate_score(policy_class, scenario, params, resamples, seed)


def estimate_score(
    policy: str | type[Policy],
    scenario: LogScenario,
    params: Mapping[str, Value] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Replay:
    """Estimate the mean reward of a policy on all events of a log."""
    policy_class = resolve_policy(policy)
    values = policy_class.resolve(params, scenario.arms, scenario.log.events)
    worlds = scenario.draw(scenario.log.events, seed, 0, resamples, Stream.SIMULATE)
    played = play_logs(policy_class, values, worlds, seed, 0, Stream.SIMULATE)
    result = summarize_logs(scenario, Stream.SIMULATE, played)
    score = result.score if result.inconclusive is None else replace(result.score, low=np.nan, high=np.nan)
    summary = vars(replace(result, score=score))
    return Replay(policy=policy_class.name, params=values, events=played.events, notes=scenario.notes, **summary)
