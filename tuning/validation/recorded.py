"""What a trace and a log both say of the chosen parameters, from the stretch that was held out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from environments.recorded.log_world import LogScenario, LogWorlds
from environments.recorded.recording import SEGMENT_SHARES
from environments.recorded.trace_world import TraceScenario
from environments.streams import Stream
from environments.world import Floats, Ints
from policies.engine.base import Value
from policies.engine.play import REGRET, REWARD, PlayedLogs, play_logs, play_windows
from policies.engine.replay import estimate_interval, split_by_log
from studies.results.recommendation import (
    MIN_EFFECTIVE_EVENTS,
    Estimate,
    LogFacts,
    RequiredSample,
    RewardScale,
    TraceFacts,
)
from studies.spec.study import StudySpec
from studies.statistics.bootstrap import SerialDependence, estimate_dependence, resample_sums, sum_interval
from studies.statistics.intervals import order_best_first, step_down
from tuning.workers.problem import Evaluator, Problem, cached_worlds, problem_policy


@dataclass(frozen=True)
class Difference:
    """What a rival lost more than the chosen one."""

    regret: float
    mean: float
    low: float
    high: float
    enough: bool
    """Whether there are enough independent rows or events to decide."""


@dataclass(frozen=True)
class Reported:
    """What the last stretch says of the chosen parameters and of their rivals."""

    regret: Estimate
    rivals: list[Difference]
    facts: TraceFacts | LogFacts
    scale: RewardScale


def stretches_of(scenario: TraceScenario | LogScenario) -> dict[str, tuple[int, int]]:
    """First and last row of each stretch, counted from 1, by what it is for."""
    found = {stream.name.lower(): scenario.segment(stream) for stream in SEGMENT_SHARES}
    return {name: (here.first + 1, here.last) for name, here in found.items()}


NO_MARKS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class TracePlay:
    """Candidates [C] in the same R windows of one stretch of n rows."""

    regret: Floats
    """[C, R]."""
    reward: Floats
    """[C, R]."""
    fixed: Floats
    """[C, R] regret against the best fixed arm of each window."""
    parts: Floats
    """[C, n] what each row adds to the mean regret beyond the average."""
    fixed_parts: Floats
    """[C, n] the same for the regret against the best fixed arm."""


def play_on_trace(
    evaluator: Evaluator, candidates: Sequence[Mapping[str, Value]], stream: Stream, count: int
) -> TracePlay:
    """Play windows 0 … count − 1 of a stream of a trace.

    Each candidate plays them in one go, so that sums are the same on any number of workers.
    """
    calls = [(evaluator.problem, values, stream, count) for values in candidates]
    played = evaluator.workers.run(place_one, calls)
    return TracePlay(*(np.stack(some) for some in zip(*played, strict=True)))


def place_one(problem: Problem, values: Mapping[str, Value], stream: Stream, count: int) -> tuple[Floats, ...]:
    """What `Placed` holds, of one candidate."""
    scenario = problem.scenario
    assert isinstance(scenario, TraceScenario)
    here = scenario.segment(stream)
    worlds = scenario.draw(problem.horizon, problem.seed, 0, count, stream)
    policy = problem_policy(problem)
    played = play_windows(policy, values, worlds, problem.seed, 0, stream, NO_MARKS, locate_regret=True)
    held, sums = scenario.best_fixed_arm(worlds)
    by_row, by_step = np.zeros_like(played.regret_by_row), np.zeros_like(played.regret_by_step)
    for offset, arm in zip(worlds.offsets, held, strict=True):
        window = slice(offset, offset + problem.horizon)
        lost = worlds.best[window] - scenario.filled_means[window, arm]
        by_row[window] += lost
        by_step += lost
    begun = np.bincount(worlds.offsets - here.first, minlength=here.rows - problem.horizon + 1)
    rows = slice(here.first, here.last)
    parts = _parts(played.regret_by_row[rows], played.regret_by_step, begun)
    fixed_parts = parts - _parts(by_row[rows], by_step, begun)
    regret = played.out[:, REGRET]
    return regret, played.out[:, REWARD], regret - played.best + sums, parts, fixed_parts


def _parts(regret_by_row: Floats, regret_by_step: Floats, begun: Ints) -> Floats:
    """By rows [n], by steps [T] and how many windows begin at each row: what a row adds beyond the average."""
    from scipy.signal import oaconvolve

    count = begun.sum()
    return np.asarray((regret_by_row - oaconvolve(begun.astype(np.float64), regret_by_step / count)) / count)


MEMORY_SHARE = 2
"""A block is at least the window over this: what a policy saw early decides what it does for the rest of a window, too
weakly for correlations to show it."""


def choose_on_trace(
    trace: TraceScenario, evaluator: Evaluator, candidates: Sequence[dict[str, Value]], count: int, seed: int
) -> tuple[int, list[int]]:
    """The best on the stretch that chooses, and all that can't be told from it, best first."""
    placed = play_on_trace(evaluator, candidates, Stream.SELECTION, count)
    found = placed.regret.mean(axis=1)
    others = placed.parts - placed.parts[np.argmin(found)]
    known = [row_autocorrelation(trace, evaluator.problem.horizon, series, Stream.SELECTION) for series in others]
    longest = max(known, key=lambda each: each.block)
    mask = np.ones(len(candidates), dtype=np.bool_)
    if all(each.enough for each in known):
        mask = step_down(found, longest.widening * resample_sums(others, longest.block, seed))
    return order_best_first(found, mask)


def report_on_trace(
    spec: StudySpec, path: str, scenario: TraceScenario, evaluator: Evaluator, candidates: Sequence[dict[str, Value]]
) -> Reported:
    """The first candidate is the chosen one, the others are its rivals."""
    window = evaluator.problem.horizon
    placed = play_on_trace(evaluator, candidates, Stream.REPORT, spec.report)
    own = row_autocorrelation(scenario, window, placed.parts[0], Stream.REPORT)
    rivals = []
    for regret, parts in zip(placed.regret[1:], placed.parts[1:], strict=True):
        mean = float((regret - placed.regret[0]).mean())
        known = row_autocorrelation(scenario, window, parts - placed.parts[0], Stream.REPORT)
        low, high = sum_interval(parts - placed.parts[0], known, spec.seed)
        rivals.append(Difference(float(regret.mean()), mean, mean + low, mean + high, known.enough))
    trace, sign = scenario.trace, -1.0 if scenario.minimize else 1.0
    facts = TraceFacts(
        file=Path(path).name,
        digest=trace.digest,
        rows=trace.rows,
        empty_rows=trace.empty_rows,
        arms=dict(zip(trace.names, trace.missing, strict=True)),
        minimize=scenario.minimize,
        segments=stretches_of(scenario),
        block=own.block,
        effective=own.effective,
        enough=own.enough,
        regret_fixed=_estimate(scenario, window, placed.fixed[0], placed.fixed_parts[0], spec.seed),
        per_step=sign * float(placed.reward[0].mean()) / window,
        scale=scenario.scale.factor,
    )
    regret = _estimate(scenario, window, placed.regret[0], placed.parts[0], spec.seed)
    return Reported(regret, rivals, facts, _scale(scenario, sign))


def _estimate(trace: TraceScenario, window: int, sample: Floats, parts: Floats, seed: int) -> Estimate:
    mean = float(sample.mean())
    low, high = sum_interval(parts, row_autocorrelation(trace, window, parts, Stream.REPORT), seed)
    # What can't be below 0 for any window is not believed to be so on average.
    bottom = 0.0 if sample.min() >= 0.0 else -np.inf
    return Estimate(mean=mean, low=max(bottom, mean + low), high=mean + high, replications=sample.size)


def row_autocorrelation(trace: TraceScenario, window: int, parts: Floats, stream: Stream) -> SerialDependence:
    """The memory of parts, of which the average over the offsets of a stretch was taken away before."""
    return estimate_dependence(parts, window // MEMORY_SHARE, trace.segment(stream).rows - window + 1)


def _scale(scenario: TraceScenario, sign: float) -> RewardScale:
    """Mean of the searched cells, and their spread around the smoothed table."""
    here = scenario.segment(Stream.SEARCH)
    worlds = scenario.draw(1, 0, 0, 1, Stream.SEARCH)
    cells, smoothed = (table[here.first : here.last] for table in (worlds.values, worlds.smoothed))
    return RewardScale(mean=sign * float(np.nanmean(cells)), spread=float(np.sqrt(np.nanmean((cells - smoothed) ** 2))))


ARRAYS = ("out", "curve", "pulls", "best", "best_curve", "tally")
"""What is kept of each log, a row each."""


def choose_on_log(evaluator: Evaluator, candidates: Sequence[dict[str, Value]], count: int) -> tuple[int, list[int]]:
    """The best over the orders of the stretch that chooses, and all that can't be told from it, best first.

    Resampled logs scatter as logs do, so what they give around their mean is how a candidate's score may be off.
    """
    split = [split_by_log(-each.score) for each in _played(evaluator, candidates, Stream.SELECTION, count)]
    found = np.array([own.mean() for own, _ in split])
    logs = np.stack([groups.mean(axis=1) for _, groups in split], axis=1)
    return order_best_first(found, step_down(found, logs - logs.mean(axis=0)))


def report_on_log(
    spec: StudySpec, path: str, scenario: LogScenario, evaluator: Evaluator, candidates: Sequence[dict[str, Value]]
) -> Reported:
    """The first candidate is the chosen one, the others are its rivals."""
    best, *others = _played(evaluator, candidates, Stream.REPORT, spec.report)
    here, sign = scenario.segment(Stream.REPORT), -1.0 if scenario.minimize else 1.0
    worlds = scenario.draw(evaluator.problem.horizon, 0, 0, 1, Stream.REPORT)
    matched, effective = int(best.matched[0]), float(best.effective[0])
    enough = effective >= MIN_EFFECTIVE_EVENTS
    rivals = []
    for other in others:
        lost = estimate_interval(best.logged - other.score)[0]
        rivals.append(Difference(lost, *estimate_interval(best.score - other.score), enough))
    behind = estimate_interval(best.logged - best.score)
    propensity = scenario.log.propensity
    clipped = 0 if propensity is None else int((1.0 / propensity[here.first : here.last] > scenario.clip).sum())
    facts = LogFacts(
        file=Path(path).name,
        digest=scenario.digest,
        events=scenario.log.events,
        arms=dict(zip(scenario.log.names, scenario.log.counts, strict=True)),
        minimize=scenario.minimize,
        propensities=propensity is not None,
        clipped=clipped,
        clip=scenario.clip,
        segments=stretches_of(scenario),
        block=worlds.block,
        matched=matched,
        effective=effective,
        enough=enough,
        score=_log_validation_estimate(best.score, sign),
        logged=_log_validation_estimate(best.logged, sign),
        versus_logged=_needed(*behind, enough, best),
        versus_defaults=_needed(rivals[-1].mean, rivals[-1].low, rivals[-1].high, enough, best) if rivals else None,
        scale=scenario.scale.factor,
    )
    regret = Estimate(mean=behind[0], low=behind[1], high=behind[2], replications=spec.report)
    return Reported(regret, rivals, facts, _log_validation_scale(scenario, sign))


def _played(
    evaluator: Evaluator, candidates: Sequence[dict[str, Value]], stream: Stream, count: int
) -> list[PlayedLogs]:
    """Each candidate on logs 0 … count − 1 of a stream."""
    parts = evaluator.map_ranges(replay_range, list(candidates), stream, 0, count)
    return [
        PlayedLogs(
            **{name: np.concatenate([getattr(part[i], name) for part in parts]) for name in ARRAYS},
            events=parts[0][i].events,
        )
        for i in range(len(candidates))
    ]


def replay_range(
    problem: Problem, candidates: Sequence[dict[str, Value]], stream: int, first: int, count: int
) -> list[PlayedLogs]:
    """Candidates on logs first … first + count − 1."""
    worlds = cached_worlds(problem, stream, first, count)
    assert isinstance(worlds, LogWorlds)
    return [play_logs(problem_policy(problem), values, worlds, problem.seed, first, stream) for values in candidates]


def _log_validation_estimate(found: Floats, sign: float) -> Estimate:
    mean, *ends = (sign * end for end in estimate_interval(found))
    return Estimate(mean=mean, low=min(ends), high=max(ends), replications=found.size)


def _needed(mean: float, low: float, high: float, enough: bool, played: PlayedLogs) -> RequiredSample | None:
    """n·(half-width / difference)²; None where the interval excludes 0 already, or there is no difference at all."""
    if low == high == 0.0 or (enough and not low <= 0.0 <= high):
        return None
    if mean == 0.0:
        return RequiredSample(matched=None, events=None)
    matched = max(1.0, float(played.matched[0]))
    times = max((high - low) / 2.0 / abs(mean), 1.0) ** 2
    # What is too few to conclude anything is never enough, however clear it looks.
    times = max(times, MIN_EFFECTIVE_EVENTS / max(1.0, float(played.effective[0])))
    whole = played.events / float(SEGMENT_SHARES[Stream.REPORT])
    return RequiredSample(matched=times * matched, events=times * whole)


def _log_validation_scale(scenario: LogScenario, sign: float) -> RewardScale:
    """Mean of the searched rewards, and their spread around each arm's mean."""
    worlds = scenario.draw(1, 0, 0, 1, Stream.SEARCH)
    counts = np.maximum(1, np.bincount(worlds.arm, minlength=scenario.arms))
    means = np.bincount(worlds.arm, worlds.reward, minlength=scenario.arms) / counts
    spread = float(np.sqrt(np.mean((worlds.reward - means[worlds.arm]) ** 2)))
    return RewardScale(mean=sign * float(worlds.reward.mean()), spread=spread)
