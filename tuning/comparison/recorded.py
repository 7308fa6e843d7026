"""Entries of a comparison on the held-out segment of a trace or a log.

All policies are tuned on the search and selection segments and play the report segment: the same windows of a trace,
or the same resampled logs with the same draws.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ravenlab.environments.recorded.log_world import LogScenario
from ravenlab.environments.recorded.trace_world import TraceScenario
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats, Ints
from ravenlab.policies.engine.parameters import Value
from ravenlab.policies.engine.play import PlayedLogs
from ravenlab.studies.results.comparison import RecordedResult, RegretCurve
from ravenlab.studies.statistics.bootstrap import row_autocorrelation, sum_interval
from ravenlab.tuning.validation.log import is_simulated, join_logs, play_log_range, summarize_logs
from ravenlab.tuning.validation.trace import play_on_trace
from ravenlab.tuning.workers.problem import Evaluator, Problem, cached_worlds

MAX_PARTS = 4000  # contributions that are stored per entry; of a longer trace, sums of consecutive rows


def play_recorded_entry(
    evaluator: Evaluator, values: Mapping[str, Value], count: int, marks: Ints
) -> tuple[Floats, RegretCurve, RecordedResult, float]:
    """Play the report segment; return regret [R], its curve, the result on the segment, and nanoseconds per step."""
    scenario = evaluator.problem.scenario
    if isinstance(scenario, LogScenario):
        return _play_log_entry(evaluator, scenario, values, count)
    assert isinstance(scenario, TraceScenario)
    problem = evaluator.problem
    (played,) = play_on_trace(evaluator, [dict(values)], Stream.REPORT, count, marks)
    sign = -1.0 if scenario.minimize else 1.0
    rows = scenario.trace.rows
    size = -(-rows // MAX_PARTS)
    sums = np.add.reduceat(played.regret.parts, np.arange(0, rows, size))
    result = RecordedResult(sign * float(played.reward.mean()) / problem.horizon, rows, sums)
    dependence = row_autocorrelation(rows, problem.horizon, sums, Stream.REPORT)
    error = sum_interval(0.0, sums, dependence, problem.seed).standard_error
    curve = _scale_errors(RegretCurve.of(marks.tolist(), played.curve), error)
    return played.regret.windows, curve, result, 1e9 * played.seconds / (count * problem.horizon)


def _scale_errors(curve: RegretCurve, error: float) -> RegretCurve:
    """Scale the standard errors of a curve, which assume independent windows, to that of the final regret."""
    factor = error / curve.stderr[-1] if curve.stderr[-1] > 0.0 else 1.0
    return replace(curve, stderr=tuple(factor * value for value in curve.stderr))


def _play_log_entry(
    evaluator: Evaluator, scenario: LogScenario, values: Mapping[str, Value], count: int
) -> tuple[Floats, RegretCurve, RecordedResult, float]:
    parts = evaluator.map_ranges(_play_timed, [dict(values)], Stream.REPORT, 0, count)
    played = join_logs([logs for (logs,), _ in parts])
    seconds = sum(seconds for _, seconds in parts)
    summary = summarize_logs(scenario, Stream.REPORT, played)
    result = RecordedResult(
        reward=summary.score.mean,
        rows=played.events,
        inconclusive=summary.inconclusive,
        simulated=is_simulated(scenario, Stream.REPORT),
        estimator=summary.estimator,
    )
    curve = RegretCurve((), (), ())
    return played.logged - played.score, curve, result, 1e9 * seconds / (count * played.events)


def _play_timed(
    problem: Problem, candidates: Sequence[Mapping[str, Value]], stream: int, first: int, count: int
) -> tuple[list[PlayedLogs], float]:
    """Return the results in a range of replications, and thread seconds without those for drawing and compiling."""
    cached_worlds(problem, stream, first, count)
    play_log_range(problem, candidates, stream, first, 1)
    begin = time.thread_time()
    played = play_log_range(problem, candidates, stream, first, count)
    return played, time.thread_time() - begin
