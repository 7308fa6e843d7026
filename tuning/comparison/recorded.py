"""Entries of a comparison on the held-out segment of a trace or a log.

All policies are tuned on the search and selection segments and play the report segment: the same windows of a trace,
or the same resampled logs with the same draws.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ravenlab.environments.recorded.log_world import LogScenario, LogWorlds
from ravenlab.environments.recorded.trace_world import TraceScenario
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats, Ints
from ravenlab.policies.engine.parameters import Value
from ravenlab.policies.engine.play import PlayedLogs, play_logs, play_windows
from ravenlab.studies.results.comparison import RecordedResult, RegretCurve
from ravenlab.studies.statistics.bootstrap import row_autocorrelation, sum_interval
from ravenlab.studies.statistics.resampled_logs import estimate_interval, split_by_log
from ravenlab.tuning.validation.recorded import join_logs, play_history
from ravenlab.tuning.workers.problem import Evaluator, Problem, cached_worlds, problem_policy

MAX_PARTS = 4000  # contributions that are stored per entry; of a longer trace, sums of consecutive rows


def play_recorded_entry(
    evaluator: Evaluator, values: Mapping[str, Value], count: int, marks: Ints
) -> tuple[Floats, RegretCurve, RecordedResult, float]:
    """Play the report segment; return regret [R], its curve, the result on the segment, and nanoseconds per step."""
    problem = evaluator.problem
    if isinstance(problem.scenario, LogScenario):
        return _play_log_entry(evaluator, problem.scenario, values, count)
    calls = [(problem, dict(values), marks, count)]
    ((regret, reward, curve, parts, seconds),) = evaluator.workers.run(_play_windows, calls)
    assert isinstance(problem.scenario, TraceScenario)
    sign = -1.0 if problem.scenario.minimize else 1.0
    rows = problem.scenario.trace.rows
    size = -(-rows // MAX_PARTS)
    sums = np.add.reduceat(parts, np.arange(0, rows, size))
    result = RecordedResult(sign * float(reward.mean()) / problem.horizon, rows, sums)
    dependence = row_autocorrelation(rows, problem.horizon, sums, Stream.REPORT)
    error = sum_interval(0.0, sums, dependence, problem.seed).standard_error
    shown = _scale_errors(RegretCurve.of(marks.tolist(), curve), error)
    return regret, shown, result, 1e9 * seconds / (count * problem.horizon)


def _play_windows(
    problem: Problem, values: Mapping[str, Value], marks: Ints, count: int
) -> tuple[Floats, Floats, Floats, Floats, float]:
    """Play all windows in one task, so that sums do not depend on the number of workers."""
    scenario = problem.scenario
    assert isinstance(scenario, TraceScenario)
    worlds = scenario.draw(problem.horizon, problem.seed, 0, count, Stream.REPORT)
    parts = play_history(problem, values, Stream.REPORT, count)  # compiles the loop before time is measured
    begin = time.thread_time()
    played = play_windows(problem_policy(problem), values, worlds, problem.seed, 0, Stream.REPORT, marks)
    seconds = time.thread_time() - begin
    return played.regret, played.reward, played.regret_curve, parts, seconds


def _scale_errors(curve: RegretCurve, error: float) -> RegretCurve:
    """Scale the standard errors of a curve, which assume independent windows, to that of the final regret."""
    factor = error / curve.stderr[-1] if curve.stderr[-1] > 0.0 else 1.0
    return replace(curve, stderr=tuple(factor * value for value in curve.stderr))


def _play_log_entry(
    evaluator: Evaluator, scenario: LogScenario, values: Mapping[str, Value], count: int
) -> tuple[Floats, RegretCurve, RecordedResult, float]:
    parts = evaluator.map_ranges(_play_log_range, dict(values), Stream.REPORT, 0, count)
    played = join_logs([part for part, _ in parts])
    seconds = sum(seconds for _, seconds in parts)
    sign = -1.0 if scenario.minimize else 1.0
    effective = float(split_by_log(played.effective)[0].mean())
    prepared = scenario.prepared(Stream.REPORT)
    simulated = prepared.simulator is not None
    result = RecordedResult(
        reward=sign * estimate_interval(played.score, simulated).mean,
        rows=played.events,
        inconclusive=prepared.describe_shortage(scenario.log.names, effective),
        simulated=simulated,
        estimator=prepared.describe_estimator(),
    )
    curve = RegretCurve((), (), ())
    return played.logged - played.score, curve, result, 1e9 * seconds / (count * played.events)


def _play_log_range(
    problem: Problem, values: Mapping[str, Value], stream: int, first: int, count: int
) -> tuple[PlayedLogs, float]:
    """Return the results in a range of replications, and thread seconds without those for drawing them."""
    policy = problem_policy(problem)
    worlds = cached_worlds(problem, stream, first, count)
    assert isinstance(worlds, LogWorlds)
    one = worlds._replace(log=worlds.log[:1], key=worlds.key[:1])
    play_logs(policy, values, one, problem.seed, first, stream)  # compiles the loop before time is measured
    begin = time.thread_time()
    played = play_logs(policy, values, worlds, problem.seed, first, stream)
    return played, time.thread_time() - begin
