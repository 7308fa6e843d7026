"""A trace as held-out data: candidates play the same windows, and rows are resampled in blocks."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ravenlab.common.interval import Interval
from ravenlab.common.linear import convolve
from ravenlab.environments.recorded.collection import CollectionScenario
from ravenlab.environments.recorded.recording import Segment
from ravenlab.environments.recorded.trace_world import FixedArmPlay, TraceScenario, TraceWorlds
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats, Ints
from ravenlab.policies.engine.parameters import Value, Values
from ravenlab.policies.engine.play import PlayedWindows, play_windows
from ravenlab.studies.results.recommendation import FIXED_ARM, Estimate, FixedArm, RewardStatistics, TraceFacts
from ravenlab.studies.statistics.bootstrap import (
    SerialDependence,
    estimate_sum,
    resample_sums,
    row_autocorrelation,
    sum_interval,
)
from ravenlab.studies.statistics.files import FileEstimate
from ravenlab.studies.statistics.intervals import step_down
from ravenlab.studies.statistics.paired import StudentEstimate
from ravenlab.tuning.validation.report import BaselineDifference, Report, Rival, list_alternatives
from ravenlab.tuning.validation.segments import SegmentData, list_segments
from ravenlab.tuning.workers.problem import Evaluator, Problem, problem_policy

NO_MARKS = np.empty(0, dtype=np.int64)
NO_PARTS = np.empty(0)


@dataclass(frozen=True)
class WindowSample:
    """Regret of a candidate in R windows of a segment, or its difference from that of another one."""

    windows: Floats
    """[R]."""
    parts: Floats
    """[n] contributions of the rows up to the end of the segment to the error of the mean, as by `locate_parts`.

    In a collection of traces, `windows` are means of the held-out files, and these are means of the other files.
    """

    def __sub__(self, other: WindowSample) -> WindowSample:
        return WindowSample(self.windows - other.windows, self.parts - other.parts)


@dataclass(frozen=True)
class TracePlay:
    """A candidate in R windows of one segment."""

    regret: WindowSample
    reward: Floats
    """[R]."""
    curve: Floats
    """[R, marks] regret up to each mark."""
    seconds: float
    """Thread seconds of playing the windows."""

    lost_reward: WindowSample
    """Negative reward."""


def play_on_trace(
    evaluator: Evaluator, candidates: Sequence[Mapping[str, Value]], stream: Stream, count: int, marks: Ints = NO_MARKS
) -> list[TracePlay]:
    """Play each candidate in windows 0 … count − 1 of a stream of a trace.

    One task per candidate plays all windows, so that sums do not depend on the number of workers. Progress is reported
    after each group of candidates that the workers play at the same time.
    """
    problem = evaluator.problem
    scenario = problem.scenario
    assert isinstance(scenario, TraceScenario)
    windows = count + scenario.count_history(problem.horizon, count, stream)
    calls = [(problem, values, stream, count, marks) for values in candidates]
    size = max(evaluator.workers.threads, -(-len(calls) // evaluator.workers.pieces))
    played: list[TracePlay] = []
    for start in range(0, len(calls), size):
        group = calls[start : start + size]
        played += evaluator.workers.run(_play_candidate, group)
        if evaluator.on_steps is not None:
            evaluator.on_steps(float(len(group) * windows * problem.horizon))
    return played


def _play_candidate(
    problem: Problem, values: Mapping[str, Value], stream: Stream, count: int, marks: Ints
) -> TracePlay:
    scenario = problem.scenario
    assert isinstance(scenario, TraceScenario)
    if isinstance(scenario, CollectionScenario):
        return _play_files(problem, scenario, values, stream, count, marks)
    policy = problem_policy(problem)
    worlds = scenario.draw(problem.horizon, problem.seed, 0, count, stream)
    parts = play_history(problem, values, stream, count)  # compiles the loop before time is measured
    begin = time.thread_time()
    played = play_windows(policy, values, worlds, problem.seed, 0, stream, marks)
    seconds = time.thread_time() - begin
    lost = WindowSample(-played.reward, parts)  # its mean has the same error as that of the regret
    return TracePlay(WindowSample(played.regret, parts), played.reward, played.regret_curve, seconds, lost)


def _play_files(
    problem: Problem,
    scenario: CollectionScenario,
    values: Mapping[str, Value],
    stream: Stream,
    count: int,
    marks: Ints,
) -> TracePlay:
    """Play a candidate on the files of a stream of a collection and, for the report, on the other files."""
    policy = problem_policy(problem)
    parts = scenario.list_windows(stream, count)
    begin = time.thread_time()
    runs = [
        play_windows(
            policy,
            values,
            scenario.draw(problem.horizon, problem.seed, 0, size, part),
            problem.seed,
            0,
            part,
            marks,
        )
        for part, size in parts
    ]
    seconds = time.thread_time() - begin
    regret = _average_files(scenario, [(part, run.regret) for (part, _), run in zip(parts, runs, strict=True)])
    lost = _average_files(scenario, [(part, -run.reward) for (part, _), run in zip(parts, runs, strict=True)])
    return TracePlay(regret, runs[0].reward, runs[0].regret_curve, seconds, lost)


def _average_files(scenario: CollectionScenario, runs: Sequence[tuple[Stream, Floats]]) -> WindowSample:
    """Return the means of the files of the first stream, and those of the other files."""
    held_out, *others = (scenario.average_by_file(values, stream) for stream, values in runs)
    return WindowSample(held_out, np.concatenate([NO_PARTS, *others]))


def play_history(problem: Problem, values: Mapping[str, Value], stream: Stream, count: int) -> Floats:
    """Play a candidate on all rows up to the end of a segment; return the parts [n] of its regret."""
    scenario = problem.scenario
    assert isinstance(scenario, TraceScenario)
    history = scenario.draw_history(problem.horizon, count, stream)
    policy = problem_policy(problem)
    played = play_windows(policy, values, history, problem.seed, 0, Stream.SIMULATE, NO_MARKS, locate_regret=True)
    return locate_parts(played, history, scenario.segment(stream))


def play_fixed_arm(problem: Problem, stream: Stream, count: int, arm: int | None = None) -> WindowSample:
    """Return the negative reward of one arm in each window, with the parts of its regret.

    By default it is the best fixed arm of each window in hindsight.
    """
    scenario = problem.scenario
    assert isinstance(scenario, TraceScenario)
    if isinstance(scenario, CollectionScenario):
        runs = [
            (part, scenario.draw(problem.horizon, problem.seed, 0, size, part))
            for part, size in scenario.list_windows(stream, count)
        ]
        return _average_files(scenario, [(part, -scenario.play_fixed_arm(run, arm).reward) for part, run in runs])
    worlds = scenario.draw(problem.horizon, problem.seed, 0, count, stream)
    history = scenario.draw_history(problem.horizon, count, stream)
    reward = scenario.play_fixed_arm(worlds, arm).reward
    return WindowSample(-reward, locate_parts(scenario.play_fixed_arm(history, arm), history, scenario.segment(stream)))


def locate_parts(played: PlayedWindows | FixedArmPlay, history: TraceWorlds, segment: Segment) -> Floats:
    """Return contributions [n] of all rows up to the end of a segment to the error of the mean regret on the segment.

    A contribution is the regret at a row minus the average regret at the same steps of windows. All rows are used,
    because a segment may contain few changes: without the others, its regret is too low and seems too precise if
    large changes are missing. Contributions are scaled so that the variance of their sum is that of the mean over the
    windows of the segment.
    """
    count = history.offsets.size
    window = history.horizon
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


class TraceData(SegmentData[WindowSample]):
    """The selection and the report segment of a trace."""

    scenario: TraceScenario

    def windows(self, stream: Stream) -> int:
        """Return the number of windows of a stream."""
        return self.spec.held_out_windows(stream)

    def play_selection(self, candidates: Sequence[Values]) -> list[WindowSample]:
        played = play_on_trace(self.evaluator, candidates, Stream.SELECTION, self.windows(Stream.SELECTION))
        return [candidate.regret for candidate in played]

    def mean(self, loss: WindowSample) -> float:
        return float(loss.windows.mean())

    def relative_excess(self, loss: WindowSample, best: WindowSample, level: float) -> Interval:
        least = self.mean(best)
        difference = self.mean(loss) - least
        parts = loss.parts - best.parts
        dependence = self._find_dependence(parts, Stream.SELECTION)
        interval = sum_interval(difference, parts, dependence, self.spec.seed, level)
        return interval.as_difference() / (abs(least) or 1.0)

    def mark_indistinguishable(self, losses: Sequence[WindowSample], means: Floats) -> NDArray[np.bool_]:
        """Mark the candidates that are statistically indistinguishable from the best; all with too few rows."""
        parts = np.stack([loss.parts for loss in losses])
        parts -= parts[np.argmin(means)]
        dependences = [self._find_dependence(row, Stream.SELECTION) for row in parts]
        longest = max(dependences, key=lambda dependence: dependence.block)
        if not all(dependence.enough for dependence in dependences):
            return np.ones(len(losses), dtype=np.bool_)
        return step_down(means, longest.widening() * resample_sums(parts, longest.block, self.spec.seed))

    def evaluate(self, candidates: Sequence[Values]) -> Report:
        count = self.windows(Stream.REPORT)
        trace = self.scenario.trace
        best, *others = play_on_trace(self.evaluator, candidates, Stream.REPORT, count)
        differences = [
            BaselineDifference(
                regret=self.mean(other.regret),
                difference=self._estimate(other.regret - best.regret).as_difference(),
                conclusive=self._is_conclusive(other.regret - best.regret),
            )
            for other in others
        ]
        hindsight = play_fixed_arm(self.evaluator.problem, Stream.REPORT, count)
        arm = self.scenario.best_searched_arm
        excess_of_arm = play_fixed_arm(self.evaluator.problem, Stream.REPORT, count, arm) - best.lost_reward
        dependence = self._find_dependence(best.regret.parts, Stream.REPORT)
        sign = -1.0 if self.scenario.minimize else 1.0
        facts = TraceFacts(
            file=self.file,
            digest=trace.digest,
            rows=trace.rows,
            empty_rows=trace.empty_rows,
            notes=list(trace.notes) or None,
            arms=dict(zip(trace.names, trace.missing, strict=True)),
            minimize=self.scenario.minimize,
            segments=list_segments(self.scenario),
            block=dependence.block,
            effective=dependence.effective,
            enough=dependence.enough,
            regret_fixed=Estimate(*self._estimate(best.lost_reward - hindsight), replications=count),
            fixed_arm=FixedArm(
                name=trace.names[arm],
                difference=Estimate(*self._estimate(excess_of_arm), replications=count),
                decidable=self._is_conclusive(excess_of_arm),
            ),
            reach=self.scenario.nearby.reach,
            gap=self.scenario.nearby.gap,
            per_step=sign * float(best.reward.mean()) / self.evaluator.problem.horizon,
            scale=self.scenario.scale.factor,
        )
        regret = Estimate(*self._estimate(best.regret), replications=count)
        rivals = [self._measure_rival(FIXED_ARM, excess_of_arm, arm=trace.names[arm])]
        for evaluator, values in self.open_alternatives():
            (played,) = play_on_trace(evaluator, [values], Stream.REPORT, count)
            rivals.append(self._measure_rival(evaluator.problem.policy, played.regret - best.regret, values))
        statistics = _measure_scale(self.scenario, sign)
        return Report(regret, differences, statistics, trace=facts, alternatives=list_alternatives(rivals))

    def _measure_rival(
        self, name: str, difference: WindowSample, params: Values | None = None, arm: str | None = None
    ) -> Rival:
        """Estimate the difference of an alternative from the selected parameters on the report segment."""
        return Rival(name, self._test(difference), self._is_conclusive(difference), params=params or {}, arm=arm)

    def _test(self, difference: WindowSample) -> StudentEstimate | FileEstimate:
        """Estimate a difference on the report segment, for a test of whether it is 0."""
        dependence = self._find_dependence(difference.parts, Stream.REPORT)
        return estimate_sum(self.mean(difference), difference.parts, dependence, self.spec.seed)

    def _estimate(self, sample: WindowSample) -> Interval:
        """Estimate a mean on the report segment."""
        dependence = self._find_dependence(sample.parts, Stream.REPORT)
        return sum_interval(self.mean(sample), sample.parts, dependence, self.spec.seed)

    def _is_conclusive(self, sample: WindowSample) -> bool:
        """Whether the report segment has enough independent rows for an interval."""
        return self._find_dependence(sample.parts, Stream.REPORT).enough

    def _find_dependence(self, parts: Floats, stream: Stream) -> SerialDependence:
        return row_autocorrelation(self.scenario.trace.rows, self.evaluator.problem.horizon, parts, stream)


def _measure_scale(scenario: TraceScenario, sign: float) -> RewardStatistics:
    """Return the mean of the search segment, and the spread around the means of neighbouring rows."""
    segment = scenario.segment(Stream.SEARCH)
    cells, means = (table[segment.first : segment.last] for table in (scenario.rewards, scenario.means))
    return RewardStatistics(
        mean=sign * float(np.nanmean(cells)), spread=float(np.sqrt(np.nanmean((cells - means) ** 2)))
    )
