"""Selection and evaluation of candidates on the held-out segments of a trace or log."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from ravenlab.common.interval import ERROR_RATE, Interval
from ravenlab.common.linear import convolve
from ravenlab.environments.recorded.log_world import MIN_EFFECTIVE_EVENTS, LogScenario, LogWorlds
from ravenlab.environments.recorded.recording import SEGMENT_SHARES, Segment
from ravenlab.environments.recorded.trace_world import FixedArmPlay, TraceScenario, TraceWorlds
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats
from ravenlab.policies.engine.parameters import Value, Values
from ravenlab.policies.engine.play import PlayedLogs, PlayedWindows, play_logs, play_windows
from ravenlab.studies.results.recommendation import (
    Estimate,
    Failures,
    FixedArm,
    LogFacts,
    RequiredSample,
    RewardStatistics,
    TraceFacts,
)
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.statistics.bootstrap import SerialDependence, resample_sums, row_autocorrelation, sum_interval
from ravenlab.studies.statistics.intervals import order_best_first, step_down
from ravenlab.studies.statistics.resampled_logs import estimate_interval, split_by_log
from ravenlab.tuning.validation.choice import ChosenParameters
from ravenlab.tuning.validation.race import Measurements, ValuesKey, make_key
from ravenlab.tuning.workers.problem import Evaluator, Problem, cached_worlds, problem_policy


@dataclass(frozen=True)
class BaselineDifference:
    """A baseline's regret, and its excess over the selected parameters' regret with an interval."""

    regret: float
    difference: Interval
    conclusive: bool | None = None
    """Whether a trace or log has enough independent rows or events; None in simulated worlds."""
    failure_rate: float | None = None
    """Share of the worlds in which the baseline fails; None on recorded data."""


@dataclass(frozen=True)
class Validation:
    """The selected candidate and its evaluation on held-out data."""

    choice: ChosenParameters
    indistinguishable: list[int]
    """Indices of the candidates that are statistically indistinguishable from it, best first."""
    regret: Estimate
    differences: list[BaselineDifference]
    scale: RewardStatistics
    facts: TraceFacts | LogFacts | None = None
    failures: Failures | None = None
    """None on recorded data."""
    attainable: float | None = None
    """Mean reward of the best arms over the horizon; None on recorded data."""
    ranges: dict[str, tuple[float, float]] | None = None
    """Range of each searched parameter that is tied with the selected value; None on recorded data."""


class SegmentMeasurements(Measurements, Protocol):
    """Results of candidates on the selection segment of a trace or log."""

    def find_indistinguishable(self, candidates: Sequence[Values]) -> list[int]:
        """Return the indices of the candidates that are indistinguishable from the best, best first."""


ChooseOnSegment = Callable[[SegmentMeasurements], ChosenParameters]
"""Chooses parameters on a selection segment."""


def _segment_rows(scenario: TraceScenario | LogScenario) -> dict[str, tuple[int, int]]:
    """Return the first and last row of each stream's segment, counted from 1."""
    segments = {stream.name.lower(): scenario.segment(stream) for stream in SEGMENT_SHARES}
    return {name: (segment.first + 1, segment.last) for name, segment in segments.items()}


NO_MARKS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class TracePlay:
    """Candidates [C] in the same R windows of one segment. The end of the segment is row n of the trace."""

    regret: Floats
    """[C, R]."""
    reward: Floats
    """[C, R]."""
    parts: Floats
    """[C, n] contributions of rows to the error of the mean regret, as by `locate_parts`."""


def play_on_trace(
    evaluator: Evaluator, candidates: Sequence[Mapping[str, Value]], stream: Stream, count: int
) -> TracePlay:
    """Play windows 0 … count − 1 of a stream of a trace.

    One task per candidate plays all windows, so that sums do not depend on the number of workers. Progress is reported
    after each group of candidates that the workers play at the same time.
    """
    problem = evaluator.problem
    scenario = problem.scenario
    assert isinstance(scenario, TraceScenario)
    windows = count + scenario.count_history(problem.horizon, count, stream)
    calls = [(problem, values, stream, count) for values in candidates]
    size = max(evaluator.workers.threads, -(-len(calls) // evaluator.workers.pieces))
    played: list[tuple[Floats, ...]] = []
    for start in range(0, len(calls), size):
        group = calls[start : start + size]
        played += evaluator.workers.run(_play_candidate, group)
        if evaluator.on_steps is not None:
            evaluator.on_steps(float(len(group) * windows * problem.horizon))
    return TracePlay(*(np.stack(field) for field in zip(*played, strict=True)))


def _play_candidate(problem: Problem, values: Mapping[str, Value], stream: Stream, count: int) -> tuple[Floats, ...]:
    """Return the fields of `TracePlay` for one candidate."""
    scenario = problem.scenario
    assert isinstance(scenario, TraceScenario)
    worlds = scenario.draw(problem.horizon, problem.seed, 0, count, stream)
    played = play_windows(problem_policy(problem), values, worlds, problem.seed, 0, stream, NO_MARKS)
    return played.regret, played.reward, play_history(problem, values, stream, count)


def play_history(problem: Problem, values: Mapping[str, Value], stream: Stream, count: int) -> Floats:
    """Play a candidate on all rows up to the end of a segment; return the parts [n] of its regret as in `TracePlay`."""
    scenario = problem.scenario
    assert isinstance(scenario, TraceScenario)
    history = scenario.draw_history(problem.horizon, count, stream)
    policy = problem_policy(problem)
    played = play_windows(policy, values, history, problem.seed, 0, Stream.SIMULATE, NO_MARKS, locate_regret=True)
    return locate_parts(played, history, scenario.segment(stream))


def play_fixed_arm(problem: Problem, stream: Stream, count: int, arm: int | None = None) -> tuple[Floats, Floats]:
    """Return the reward [R] of one arm in each window, and the parts [n] of its regret as in `TracePlay`.

    By default it is the best fixed arm of each window in hindsight.
    """
    scenario = problem.scenario
    assert isinstance(scenario, TraceScenario)
    fixed = scenario.play_fixed_arm(scenario.draw(problem.horizon, problem.seed, 0, count, stream), arm)
    history = scenario.draw_history(problem.horizon, count, stream)
    return fixed.reward, locate_parts(scenario.play_fixed_arm(history, arm), history, scenario.segment(stream))


def locate_parts(played: PlayedWindows | FixedArmPlay, history: TraceWorlds, segment: Segment) -> Floats:
    """Return contributions [n] of all rows up to the end of a segment to the error of the mean regret on the segment.

    A contribution is the regret at a row minus the average regret at the same steps of windows. All rows are used,
    because a segment may contain few changes: without the others, its regret is too low and seems too precise if
    large changes are missing. Contributions are scaled so that the variance of their sum is that of the mean over the
    windows of the segment.
    """
    count, window = history.offsets.size, history.horizon
    starts = np.bincount(history.offsets, minlength=segment.last - window + 1)
    average = convolve(starts.astype(np.float64), played.regret_by_step / count)
    ratio = _variance_of_mean(segment.rows, window) / _variance_of_mean(segment.last, window)
    return np.asarray((played.regret_by_row[: segment.last] - average) * np.sqrt(ratio) / count)


def _variance_of_mean(rows: int, window: int) -> float:
    """Return the variance of the mean over all windows, relative to that of one window, if rows are independent.

    >>> _variance_of_mean(60, 60) > 0.99, round(_variance_of_mean(6000, 60), 3)
    (True, 0.01)
    """
    offsets = rows - window + 1
    if offsets <= window:
        return 1.0 - offsets / (3.0 * window)
    return window / offsets * (1.0 - window / (3.0 * offsets))


class TraceMeasurements:
    """Results of candidates on the selection segment of a trace."""

    def __init__(self, spec: StudySpec, scenario: TraceScenario, evaluator: Evaluator) -> None:
        self.spec, self.evaluator, self.rows = spec, evaluator, scenario.trace.rows
        self.regret: dict[ValuesKey, float] = {}
        self.parts: dict[ValuesKey, Floats] = {}

    def list_looks(self, most: int) -> list[tuple[int, bool]]:
        """Return a single look, at the whole segment."""
        return [(self.spec.selection, True)]

    def count(self, values: Values) -> int:
        """Return the number of windows that a candidate has played."""
        return self.spec.selection if make_key(values) in self.regret else 0

    def extend(self, candidates: Sequence[Values], worlds: int) -> None:
        """Play the windows of candidates that have not played them."""
        missing = {make_key(values): values for values in candidates if self.count(values) == 0}
        if missing:
            played = play_on_trace(self.evaluator, list(missing.values()), Stream.SELECTION, worlds)
            self.regret.update(zip(missing, played.regret.mean(axis=1).tolist(), strict=True))
            self.parts.update(zip(missing, played.parts, strict=True))

    def objective(self, values: Values, worlds: int) -> float:
        """Return the mean regret."""
        return self.regret[make_key(values)]

    def difference(self, values: Values, best: Values, worlds: int) -> tuple[float, float]:
        """Return the difference from the best, relative to the best, and its standard error."""
        excess = self.excess(values, best, worlds, ERROR_RATE / 2.0)
        return excess.mean, excess.standard_error

    def excess(self, values: Values, best: Values, worlds: int, error_rate: float) -> Interval:
        """Return the excess over the best with its 95 % interval; the error rate of each bound is 2.5 %."""
        parts = self.parts[make_key(values)] - self.parts[make_key(best)]
        scale = abs(self.objective(best, worlds)) or 1.0
        mean = self.objective(values, worlds) - self.objective(best, worlds)
        return sum_interval(mean, parts, self._dependence(parts), self.spec.seed).as_difference() / scale

    def find_indistinguishable(self, candidates: Sequence[Values]) -> list[int]:
        """Return the indices of the candidates that are indistinguishable from the best, best first."""
        means = np.array([self.regret[make_key(values)] for values in candidates])
        parts = np.stack([self.parts[make_key(values)] for values in candidates])
        parts -= parts[np.argmin(means)]
        dependences = [self._dependence(each) for each in parts]
        longest = max(dependences, key=lambda dependence: dependence.block)
        mask = np.ones(len(candidates), dtype=np.bool_)
        if all(dependence.enough for dependence in dependences):
            mask = step_down(means, longest.widening * resample_sums(parts, longest.block, self.spec.seed))
        return order_best_first(means, mask)[1]

    def _dependence(self, parts: Floats) -> SerialDependence:
        return row_autocorrelation(self.rows, self.evaluator.problem.horizon, parts, Stream.SELECTION)


def validate_on_trace(
    spec: StudySpec,
    path: str,
    scenario: TraceScenario,
    evaluator: Evaluator,
    candidates: Sequence[Values],
    baselines: Sequence[Values],
    choose: ChooseOnSegment,
) -> Validation:
    """Select on the selection segment of a trace, and evaluate on its report segment."""
    data = TraceMeasurements(spec, scenario, evaluator)
    data.extend(candidates, spec.selection)
    choice = choose(data)
    window = evaluator.problem.horizon
    played = play_on_trace(evaluator, [choice.values, *baselines], Stream.REPORT, spec.report)
    rows = scenario.trace.rows
    autocorrelation = row_autocorrelation(rows, window, played.parts[0], Stream.REPORT)
    differences = []
    for regret, parts in zip(played.regret[1:], played.parts[1:], strict=True):
        mean = float((regret - played.regret[0]).mean())
        dependence = row_autocorrelation(rows, window, parts - played.parts[0], Stream.REPORT)
        interval = sum_interval(mean, parts - played.parts[0], dependence, spec.seed)
        differences.append(BaselineDifference(float(regret.mean()), interval.as_difference(), dependence.enough))
    trace, sign = scenario.trace, -1.0 if scenario.minimize else 1.0
    fixed, fixed_parts = play_fixed_arm(evaluator.problem, Stream.REPORT, spec.report)
    arm = scenario.best_searched_arm
    arm_reward, arm_parts = play_fixed_arm(evaluator.problem, Stream.REPORT, spec.report, arm)
    arm_parts -= played.parts[0]
    facts = TraceFacts(
        file=Path(path).name,
        digest=trace.digest,
        rows=trace.rows,
        empty_rows=trace.empty_rows,
        arms=dict(zip(trace.names, trace.missing, strict=True)),
        minimize=scenario.minimize,
        segments=_segment_rows(scenario),
        block=autocorrelation.block,
        effective=autocorrelation.effective,
        enough=autocorrelation.enough,
        regret_fixed=_estimate(rows, window, fixed - played.reward[0], played.parts[0] - fixed_parts, spec.seed),
        fixed_arm=FixedArm(
            name=trace.names[arm],
            difference=_estimate(rows, window, played.reward[0] - arm_reward, arm_parts, spec.seed),
            decidable=row_autocorrelation(rows, window, arm_parts, Stream.REPORT).enough,
        ),
        reach=scenario.nearby.reach,
        gap=scenario.nearby.gap,
        per_step=sign * float(played.reward[0].mean()) / window,
        scale=scenario.scale.factor,
    )
    regret = _estimate(rows, window, played.regret[0], played.parts[0], spec.seed)
    equals = data.find_indistinguishable(candidates)
    scale = _trace_scale(scenario, sign)
    return Validation(choice, equals, regret, differences, scale, facts)


def _estimate(rows: int, window: int, sample: Floats, parts: Floats, seed: int) -> Estimate:
    mean = float(sample.mean())
    interval = sum_interval(mean, parts, row_autocorrelation(rows, window, parts, Stream.REPORT), seed)
    return Estimate(*interval, replications=sample.size)


def _trace_scale(scenario: TraceScenario, sign: float) -> RewardStatistics:
    """Return the mean of the search segment, and the spread around the means of neighbouring rows."""
    segment = scenario.segment(Stream.SEARCH)
    cells, means = (table[segment.first : segment.last] for table in (scenario.rewards, scenario.means))
    return RewardStatistics(
        mean=sign * float(np.nanmean(cells)), spread=float(np.sqrt(np.nanmean((cells - means) ** 2)))
    )


LOG_ARRAYS = ("out", "curve", "pulls", "best", "best_curve", "tally")
"""Fields of `PlayedLogs` with one row per replication."""


class LogMeasurements:
    """Results of candidates on the selection segment of a log.

    The mean reward is compared, because the regret is not known: an excess is a loss of mean reward relative to what is
    at stake, the mean reward of the best arm minus that of all arms. Relative to the reward itself, 2 % would be a
    sixth of the regret where rewards of all arms are alike, as with clicks, and nothing where they are near zero.
    """

    def __init__(self, spec: StudySpec, scenario: LogScenario, evaluator: Evaluator) -> None:
        self.spec, self.evaluator = spec, evaluator
        self.stake = _measure_stake(scenario, Stream.SELECTION)
        self.simulated = scenario.prepared(Stream.SELECTION).simulator is not None
        self.loss: dict[ValuesKey, Floats] = {}

    def list_looks(self, most: int) -> list[tuple[int, bool]]:
        """Return a single look, at the whole segment."""
        return [(self.spec.selection, True)]

    def count(self, values: Values) -> int:
        """Return the number of replications that a candidate has played."""
        return self.spec.selection if make_key(values) in self.loss else 0

    def extend(self, candidates: Sequence[Values], worlds: int) -> None:
        """Play the replications of candidates that have not played them."""
        missing = {make_key(values): values for values in candidates if self.count(values) == 0}
        if missing:
            played = play_on_log(self.evaluator, list(missing.values()), Stream.SELECTION, worlds)
            self.loss.update({key: -each.score for key, each in zip(missing, played, strict=True)})

    def objective(self, values: Values, worlds: int) -> float:
        """Return the negative mean reward."""
        return estimate_interval(self.loss[make_key(values)], self.simulated).mean

    def difference(self, values: Values, best: Values, worlds: int) -> tuple[float, float]:
        """Return the difference from the best, relative to the best, and its standard error."""
        excess = self.excess(values, best, worlds, ERROR_RATE / 2.0)
        return excess.mean, excess.standard_error

    def excess(self, values: Values, best: Values, worlds: int, error_rate: float) -> Interval:
        """Return the loss of mean reward with its 95 % interval; the error rate of each bound is 2.5 %."""
        lost = estimate_interval(self.loss[make_key(values)] - self.loss[make_key(best)], self.simulated)
        return lost.as_difference() / self.stake

    def find_indistinguishable(self, candidates: Sequence[Values]) -> list[int]:
        """Return the indices of the candidates that are indistinguishable from the best, best first.

        Resampled logs vary as logs do, so their scores around the mean estimate the error of a candidate's score.
        """
        means = np.array([self.objective(values, self.spec.selection) for values in candidates])
        losses = [self.loss[make_key(values)] for values in candidates]
        logs = np.stack([split_by_log(loss)[1].mean(axis=1) for loss in losses], axis=1)
        return order_best_first(means, step_down(means, logs - logs.mean(axis=0)))[1]


def _measure_stake(scenario: LogScenario, stream: Stream) -> float:
    """Return the mean reward of the best arm minus the average over arms, in a segment of a log."""
    segment = scenario.segment(stream)
    arm = scenario.log.arm[segment.first : segment.last]
    reward = scenario.log.reward[segment.first : segment.last]
    means = np.array([reward[arm == k].mean() for k in np.unique(arm)])
    best = means.min() if scenario.minimize else means.max()
    return abs(float(best - means.mean())) or 1.0


def validate_on_log(
    spec: StudySpec,
    path: str,
    scenario: LogScenario,
    evaluator: Evaluator,
    candidates: Sequence[Values],
    baselines: Sequence[Values],
    choose: ChooseOnSegment,
) -> Validation:
    """Select on the selection segment of a log, and evaluate on its report segment."""
    data = LogMeasurements(spec, scenario, evaluator)
    data.extend(candidates, spec.selection)
    choice = choose(data)
    best, *others = play_on_log(evaluator, [choice.values, *baselines], Stream.REPORT, spec.report)
    sign = -1.0 if scenario.minimize else 1.0
    prepared = scenario.prepared(Stream.REPORT)
    matched, effective = (float(split_by_log(values)[0].mean()) for values in (best.matched, best.effective))
    inconclusive = prepared.describe_shortage(scenario.log.names, effective)
    conclusive = inconclusive is None
    simulated = prepared.simulator is not None
    differences = []
    for other in others:
        lost = estimate_interval(best.logged - other.score, simulated).mean
        difference = estimate_interval(best.score - other.score, simulated)
        differences.append(BaselineDifference(lost, difference.as_difference(), conclusive))
    defaults = differences[-1]
    behind = estimate_interval(best.logged - best.score, simulated)
    sample = SampleSize(scenario.log.events, effective, conclusive)
    facts = LogFacts(
        file=Path(path).name,
        digest=scenario.digest,
        events=scenario.log.events,
        arms=dict(zip(scenario.log.names, scenario.log.counts, strict=True)),
        minimize=scenario.minimize,
        segments=_segment_rows(scenario),
        estimator=prepared.describe_estimator(),
        block=prepared.block,
        matched=round(matched),
        effective=effective,
        enough=conclusive,
        inconclusive=inconclusive,
        score=_log_estimate(best.score, sign, simulated),
        logged=_log_estimate(best.logged, sign, simulated),
        versus_logged=sample.required(*behind),
        versus_defaults=sample.required(*defaults.difference),
        scale=scenario.scale.factor,
    )
    regret = Estimate(*behind, replications=spec.report)
    equals = data.find_indistinguishable(candidates)
    return Validation(choice, equals, regret, differences, _log_scale(scenario), facts)


def play_on_log(evaluator: Evaluator, candidates: Sequence[Values], stream: Stream, count: int) -> list[PlayedLogs]:
    """Play each candidate in replications 0 … count − 1 of a stream.

    All candidates use the same resampled logs and draws, so `estimate_interval` of the difference between two scores
    is a paired comparison.
    """
    parts = evaluator.map_ranges(play_log_range, list(candidates), stream, 0, count)
    return [join_logs(ranges) for ranges in zip(*parts, strict=True)]


def join_logs(ranges: Sequence[PlayedLogs]) -> PlayedLogs:
    """Join the results of one candidate in consecutive ranges of replications."""
    arrays = {name: np.concatenate([getattr(played, name) for played in ranges]) for name in LOG_ARRAYS}
    return PlayedLogs(**arrays, events=ranges[0].events)


def play_log_range(
    problem: Problem, candidates: Sequence[Values], stream: int, first: int, count: int
) -> list[PlayedLogs]:
    """Play candidates in replications first … first + count − 1."""
    worlds = cached_worlds(problem, stream, first, count)
    assert isinstance(worlds, LogWorlds)
    return [play_logs(problem_policy(problem), values, worlds, problem.seed, first, stream) for values in candidates]


def _log_estimate(scores: Floats, sign: float, simulated: bool) -> Estimate:
    return Estimate(*estimate_interval(scores, simulated).scaled(sign), replications=scores.size)


@dataclass(frozen=True)
class SampleSize:
    """The events of a log, the effective events of a score, and whether they allow a conclusion."""

    events: int
    effective: float
    conclusive: bool

    def required(self, mean: float, low: float, high: float) -> RequiredSample | None:
        """Return the sample size n·(half-width / difference)² at which a difference becomes significant.

        None if it is significant already, or if there is no difference at all.
        """
        if low == high == 0.0 or (self.conclusive and not low <= 0.0 <= high):
            return None
        if mean == 0.0:
            return RequiredSample(effective=None, events=None)
        times = max((high - low) / 2.0 / abs(mean), 1.0) ** 2
        # At least as many as any conclusion needs.
        times = max(times, MIN_EFFECTIVE_EVENTS / max(1.0, self.effective))
        return RequiredSample(effective=times * self.effective, events=times * self.events)


def _log_scale(scenario: LogScenario) -> RewardStatistics:
    """Return the mean of the search segment's rewards, and their spread around the means of their neighborhoods."""
    segment, near = scenario.segment(Stream.SEARCH), scenario.prepared(Stream.SEARCH).neighborhoods
    reward = scenario.log.reward[segment.first : segment.last][near.order]
    deviations = reward - near.means(reward[None])[0]
    return RewardStatistics(mean=float(reward.mean()), spread=float(np.sqrt(np.mean(deviations**2))))
