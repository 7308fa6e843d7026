"""Comparisons on a trace or a log: entries on the held-out segment, and tests of their differences.

All policies are tuned on the search and selection segments and play the report segment: the same windows of a trace,
or the same resampled logs with the same draws. Windows overlap and rows are autocorrelated, so differences on a trace
are tested by a block bootstrap of the rows, and differences on a log by its resampled logs. All pairs are corrected
together by Holm's method. Below the least effective sample size no difference is significant.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from environments.recorded.log_world import LogScenario
from environments.recorded.trace_world import TraceScenario
from environments.streams import Stream
from environments.world import Floats, Ints
from policies.engine.base import Value
from policies.engine.play import REGRET, REWARD, play_windows
from studies.results.comparison import (
    ComparisonEntry,
    DifferenceFromBest,
    Leaderboard,
    RecordedResult,
    RegretCurve,
    Standing,
)
from studies.spec.comparison import ResolvedComparisonSpec, SettingKind
from studies.statistics.bootstrap import sum_interval, sum_p_value
from studies.statistics.paired import holm_adjust
from tuning.validation.recorded import play_history, play_on_log, row_autocorrelation
from tuning.validation.replay import MIN_DEGREES, estimate_interval, split_by_log
from tuning.workers.problem import Evaluator, Problem, problem_policy

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
    low, high = sum_interval(sums, dependence, problem.seed)
    shown = _scale_errors(RegretCurve.of(marks.tolist(), curve), (high - low) / (2 * 1.96))
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
    return played.out[:, REGRET], played.out[:, REWARD], played.curve[..., REGRET], parts, seconds


def _scale_errors(curve: RegretCurve, error: float) -> RegretCurve:
    """Scale the standard errors of a curve, which assume independent windows, to that of the final regret."""
    factor = error / curve.stderr[-1] if curve.stderr[-1] > 0.0 else 1.0
    return replace(curve, stderr=tuple(factor * value for value in curve.stderr))


def _play_log_entry(
    evaluator: Evaluator, scenario: LogScenario, values: Mapping[str, Value], count: int
) -> tuple[Floats, RegretCurve, RecordedResult, float]:
    begin = time.thread_time()
    (played,) = play_on_log(evaluator, [dict(values)], Stream.REPORT, count)
    seconds = time.thread_time() - begin
    sign = -1.0 if scenario.minimize else 1.0
    effective = float(split_by_log(played.effective)[0].mean())
    prepared = scenario.prepared(Stream.REPORT)
    simulated = prepared.simulator is not None
    result = RecordedResult(
        reward=sign * estimate_interval(played.score, simulated)[0],
        rows=played.events,
        inconclusive=prepared.describe_shortage(scenario.log.names, effective),
        simulated=simulated,
    )
    curve = RegretCurve((), (), ())
    return played.logged - played.score, curve, result, 1e9 * seconds / (count * played.events)


class Estimate(NamedTuple):
    """A mean with its 95 % confidence interval, the p-value of its difference from 0, and whether rows suffice."""

    mean: float
    low: float
    high: float
    p: float
    enough: bool


def build_recorded_board(
    spec: ResolvedComparisonSpec, setting: SettingKind, description: str, entries: Sequence[ComparisonEntry]
) -> Leaderboard:
    """Order entries by mean regret, and test their differences on the held-out segment.

    Ranks are not tested, because replications are not independent.
    """
    from scipy.stats import rankdata

    means = [_estimate(spec, entry, None) for entry in entries]
    order = sorted(range(len(entries)), key=lambda i: (means[i].mean, i))
    listed = [entries[i] for i in order]
    mean_ranks = rankdata(np.stack([entry.regret for entry in listed]), axis=0).mean(axis=1)
    pairs = list(combinations(range(len(listed)), 2))
    differences = {(i, j): _estimate(spec, listed[j], listed[i]) for i, j in pairs}
    adjusted = dict(zip(pairs, holm_adjust([differences[pair].p for pair in pairs]), strict=True))
    standings = []
    for place, entry in enumerate(listed):
        own, behind = means[order[place]], None
        if place > 0:
            found = differences[0, place]
            behind = DifferenceFromBest(
                found.mean, found.low, found.high, None, found.p, adjusted[0, place], found.enough
            )
        standings.append(Standing(place + 1, entry, own.mean, own.low, own.high, behind, float(mean_ranks[place])))
    return Leaderboard(setting, description, tuple(standings), None)


def _estimate(spec: ResolvedComparisonSpec, entry: ComparisonEntry, other: ComparisonEntry | None) -> Estimate:
    """Estimate the mean regret of an entry, or its difference from the regret of another entry."""
    assert entry.recorded is not None
    sample, parts, inconclusive = entry.regret, entry.recorded.parts, entry.recorded.inconclusive
    if other is not None:
        assert other.recorded is not None
        sample = sample - other.regret
        inconclusive = inconclusive or other.recorded.inconclusive
        parts = None if parts is None or other.recorded.parts is None else parts - other.recorded.parts
    if parts is not None:
        mean = float(sample.mean())
        dependence = row_autocorrelation(entry.recorded.rows, spec.horizon, parts, Stream.REPORT)
        low, high = sum_interval(parts, dependence, spec.seed)
        p = sum_p_value(mean, parts, dependence, spec.seed)
        return Estimate(mean, mean + low, mean + high, p, dependence.enough)
    mean, low, high = estimate_interval(sample, entry.recorded.simulated)
    return Estimate(mean, low, high, _p_value(mean, (high - low) / 2.0), inconclusive is None)


def _p_value(mean: float, half_width: float) -> float:
    """Return the p-value of a difference with a 95 % interval, by Student's distribution with the least degrees.

    >>> round(_p_value(1.0, 1.0), 3), _p_value(0.0, 0.0)
    (0.05, 1.0)
    """
    from scipy.stats import t

    if half_width == 0.0:
        return 1.0 if mean == 0.0 else 0.0
    return float(2.0 * t.sf(abs(mean) / half_width * t.ppf(0.975, MIN_DEGREES), MIN_DEGREES))
