"""A log as held-out data: candidates are compared by their estimated mean reward."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ravenlab.common.interval import CONFIDENCE_LEVEL, Interval
from ravenlab.environments.recorded.log_world import MIN_EFFECTIVE_EVENTS, LogScenario, LogWorlds
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats
from ravenlab.policies.engine.parameters import Value, Values
from ravenlab.policies.engine.play import PlayedLogs, play_logs
from ravenlab.studies.results.recommendation import (
    FIXED_ARM,
    LOGGING_POLICY,
    Estimate,
    LogFacts,
    RequiredSample,
    RewardStatistics,
)
from ravenlab.studies.statistics.intervals import step_down
from ravenlab.studies.statistics.paired import StudentEstimate
from ravenlab.studies.statistics.resampled_logs import estimate_interval, estimate_log_difference, split_by_log
from ravenlab.tuning.validation.report import BaselineDifference, Report, Rival, list_alternatives
from ravenlab.tuning.validation.segments import SegmentData, list_segments
from ravenlab.tuning.workers.problem import Evaluator, Problem, cached_worlds, problem_policy

LOG_ARRAYS = ("out", "curve", "pulls", "tally")
"""Fields of `PlayedLogs` with one row per replication."""


class LogData(SegmentData[Floats]):
    """The selection and the report segment of a log.

    The loss is the negative mean reward [R], because the regret is not known. An excess is relative to what is at
    stake, the mean reward of the best arm minus that of all arms. Relative to the reward itself, 2 % would be a sixth
    of the regret where rewards of all arms are alike, as with clicks, and nothing where they are near zero.
    """

    scenario: LogScenario
    fits_surface = False

    def play_selection(self, candidates: Sequence[Values]) -> list[Floats]:
        played = play_on_log(self.evaluator, candidates, Stream.SELECTION, self.spec.selection)
        return [-candidate.score for candidate in played]

    def mean(self, loss: Floats) -> float:
        return self._estimate(loss).mean

    def relative_excess(self, loss: Floats, best: Floats, level: float) -> Interval:
        """Return the loss of mean reward relative to what is at stake."""
        return self._estimate(loss - best, level).as_difference() / self.stake

    def _estimate(self, loss: Floats, level: float = CONFIDENCE_LEVEL) -> Interval:
        return estimate_interval(loss, is_simulated(self.scenario, Stream.SELECTION), level)

    def mark_indistinguishable(self, losses: Sequence[Floats], means: Floats) -> NDArray[np.bool_]:
        """Mark the candidates that are statistically indistinguishable from the best.

        Resampled logs vary as logs do, so their scores around the mean estimate the error of a candidate's score.
        """
        logs = np.stack([split_by_log(loss)[1].mean(axis=1) for loss in losses], axis=1)
        return step_down(means, logs - logs.mean(axis=0))

    @cached_property
    def stake(self) -> float:
        """The mean reward of the best arm minus the average over arms, in the selection segment."""
        segment = self.scenario.segment(Stream.SELECTION)
        arm = self.scenario.log.arm[segment.first : segment.last]
        reward = self.scenario.log.reward[segment.first : segment.last]
        means = np.array([reward[arm == k].mean() for k in np.unique(arm)])
        best = means.min() if self.scenario.minimize else means.max()
        return abs(float(best - means.mean())) or 1.0

    def evaluate(self, candidates: Sequence[Values]) -> Report:
        """Estimate the scores on the report segment; the regret is the logging policy's mean reward minus the score."""
        scenario = self.scenario
        log = scenario.log
        best, *others = play_on_log(self.evaluator, candidates, Stream.REPORT, self.spec.report)
        result = summarize_logs(scenario, Stream.REPORT, best)
        conclusive = result.inconclusive is None
        simulated = is_simulated(scenario, Stream.REPORT)
        differences = [
            BaselineDifference(
                regret=estimate_interval(best.logged - other.score, simulated).mean,
                difference=estimate_interval(best.score - other.score, simulated).as_difference(),
                conclusive=conclusive,
            )
            for other in others
        ]
        behind = estimate_interval(best.logged - best.score, simulated)
        sample = SampleSize(log.events, result.effective, conclusive)
        facts = LogFacts(
            file=self.file,
            digest=scenario.digest,
            events=log.events,
            notes=list(log.notes) or None,
            arms=dict(zip(log.names, log.counts, strict=True)),
            minimize=scenario.minimize,
            segments=list_segments(scenario),
            estimator=result.estimator,
            block=scenario.prepared(Stream.REPORT).block,
            matched=result.matched,
            effective=result.effective,
            enough=conclusive,
            inconclusive=result.inconclusive,
            score=Estimate(*result.score, replications=self.spec.report),
            logged=Estimate(*result.logged, replications=self.spec.report),
            versus_logged=sample.required(behind),
            versus_defaults=sample.required(differences[-1].difference),
            scale=scenario.scale.factor,
        )
        regret = Estimate(*behind, replications=self.spec.report)
        arm = scenario.best_searched_arm
        worlds = cached_worlds(self.evaluator.problem, Stream.REPORT, 0, self.spec.report)
        assert isinstance(worlds, LogWorlds)
        found = [
            Rival(LOGGING_POLICY, self._difference(best.score - best.logged), conclusive),
            Rival(FIXED_ARM, self._difference(best.score - score_arm(worlds, arm)), conclusive, arm=log.names[arm]),
        ]
        for evaluator, values in self.open_alternatives():
            (played,) = play_on_log(evaluator, [values], Stream.REPORT, self.spec.report)
            enough = conclusive and summarize_logs(scenario, Stream.REPORT, played).inconclusive is None
            found.append(Rival(evaluator.problem.policy, self._difference(best.score - played.score), enough, values))
        return Report(regret, differences, _measure_scale(scenario), log=facts, alternatives=list_alternatives(found))

    def _difference(self, values: Floats) -> StudentEstimate:
        """Estimate a difference on the report segment."""
        return estimate_log_difference(values, is_simulated(self.scenario, Stream.REPORT))


def score_arm(worlds: LogWorlds, arm: int) -> Floats:
    """Return the mean reward [R] of one arm over all steps; where it is closed, that of its nearest events counts."""
    cells = slice(worlds.begin[arm], worlds.begin[arm + 1])
    steps = np.diff(worlds.until[cells], prepend=0)
    means: Floats = worlds.mean[:, cells] @ steps / steps.sum()
    return means[worlds.log]


@dataclass(frozen=True)
class LogResult:
    """Mean reward of a candidate and of the logging policy on a segment, in the units of the file."""

    score: Interval
    logged: Interval
    matched: int
    """Number of steps at which the candidate selects the logged arm, averaged over the runs on the segment itself."""
    effective: float
    """Effective number of events in the score."""
    estimator: str
    """Which rewards the candidate was given, and why."""
    inconclusive: str | None
    """Why the segment cannot support an answer; None if it can."""


def summarize_logs(scenario: LogScenario, stream: Stream, played: PlayedLogs) -> LogResult:
    """Return what a candidate that was played in a stream of a log earns."""
    prepared = scenario.prepared(stream)
    simulated = is_simulated(scenario, stream)
    sign = -1.0 if scenario.minimize else 1.0
    effective = float(split_by_log(played.effective)[0].mean())
    return LogResult(
        score=estimate_interval(played.score, simulated).scaled(sign),
        logged=estimate_interval(played.logged, simulated).scaled(sign),
        matched=round(float(split_by_log(played.matched)[0].mean())),
        effective=effective,
        estimator=prepared.describe_estimator(),
        inconclusive=prepared.describe_shortage(scenario.log.names, effective),
    )


def is_simulated(scenario: LogScenario, stream: Stream) -> bool:
    """Whether rewards in a stream of a log are drawn from a simulator."""
    return scenario.prepared(stream).simulator is not None


def play_on_log(
    evaluator: Evaluator, candidates: Sequence[Mapping[str, Value]], stream: Stream, count: int
) -> list[PlayedLogs]:
    """Play each candidate in replications 0 … count − 1 of a stream.

    All candidates use the same resampled logs and draws, so `estimate_interval` of the difference between two scores
    is a paired comparison.
    """
    ranges = evaluator.map_ranges(play_log_range, list(candidates), stream, 0, count)
    return [join_logs(played) for played in zip(*ranges, strict=True)]


def join_logs(ranges: Sequence[PlayedLogs]) -> PlayedLogs:
    """Join the results of one candidate in consecutive ranges of replications."""
    arrays = {name: np.concatenate([getattr(played, name) for played in ranges]) for name in LOG_ARRAYS}
    return PlayedLogs(**arrays, events=ranges[0].events)


def play_log_range(
    problem: Problem, candidates: Sequence[Mapping[str, Value]], stream: int, first: int, count: int
) -> list[PlayedLogs]:
    """Play candidates in replications first … first + count − 1."""
    worlds = cached_worlds(problem, stream, first, count)
    assert isinstance(worlds, LogWorlds)
    return [play_logs(problem_policy(problem), values, worlds, problem.seed, first, stream) for values in candidates]


@dataclass(frozen=True)
class SampleSize:
    """The events of a log, the effective events of a score, and whether they allow a conclusion."""

    events: int
    effective: float
    conclusive: bool

    def required(self, difference: Interval) -> RequiredSample | None:
        """Return the sample size n·(half-width / difference)² at which a difference becomes significant.

        None if it is significant already, or if there is no difference at all.
        """
        if difference.low == difference.high == 0.0 or (self.conclusive and difference.excludes_zero):
            return None
        if difference.mean == 0.0:
            return RequiredSample(effective=None, events=None)
        times = max(difference.half_width / abs(difference.mean), 1.0) ** 2
        # At least as many as any conclusion needs.
        times = max(times, MIN_EFFECTIVE_EVENTS / max(1.0, self.effective))
        return RequiredSample(effective=times * self.effective, events=times * self.events)


def _measure_scale(scenario: LogScenario) -> RewardStatistics:
    """Return the mean of the search segment's rewards, and their spread around the means of their neighborhoods."""
    segment = scenario.segment(Stream.SEARCH)
    near = scenario.prepared(Stream.SEARCH).neighborhoods
    reward = scenario.log.reward[segment.first : segment.last][near.order]
    deviations = reward - near.means(reward[None])[0]
    return RewardStatistics(mean=float(reward.mean()), spread=float(np.sqrt(np.mean(deviations**2))))
