"""Choosing and reporting on time that was held out: what `validation` asks, answered with the block bootstrap."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from environments.streams import Stream
from environments.trace_world import TraceScenario
from environments.world import Floats
from policies.base import Value
from studies.recommendation import Estimate, Scale, TraceFacts
from studies.spec import StudySpec
from tuning.block_bootstrap import Memory, memory, resampled_sums, sum_interval
from tuning.fanout import Evaluator
from tuning.held_out import Difference, Reported, stretches_of
from tuning.placing import place
from tuning.statistics import as_good_as_the_best, best_first

MEMORY_SHARE = 2
"""A block is at least the window over this: what a policy saw early decides what it does for the rest of a window, too
weakly for correlations to show it."""


def choose(
    trace: TraceScenario, evaluator: Evaluator, candidates: Sequence[dict[str, Value]], count: int, seed: int
) -> tuple[int, list[int]]:
    """The best on the stretch that chooses, and all that can't be told from it, best first."""
    placed = place(evaluator, candidates, Stream.SELECTION, count)
    found = placed.regret.mean(axis=1)
    others = placed.parts - placed.parts[np.argmin(found)]
    known = [row_memory(trace, evaluator.game.horizon, series, Stream.SELECTION) for series in others]
    longest = max(known, key=lambda each: each.block)
    mask = np.ones(len(candidates), dtype=np.bool_)
    if all(each.enough for each in known):
        mask = as_good_as_the_best(found, longest.widening * resampled_sums(others, longest.block, seed))
    return best_first(found, mask)


def report(
    spec: StudySpec, path: str, scenario: TraceScenario, evaluator: Evaluator, candidates: Sequence[dict[str, Value]]
) -> Reported:
    """The first candidate is the chosen one, the others are its rivals."""
    window = evaluator.game.horizon
    placed = place(evaluator, candidates, Stream.REPORT, spec.report)
    own = row_memory(scenario, window, placed.parts[0], Stream.REPORT)
    rivals = []
    for regret, parts in zip(placed.regret[1:], placed.parts[1:], strict=True):
        mean = float((regret - placed.regret[0]).mean())
        known = row_memory(scenario, window, parts - placed.parts[0], Stream.REPORT)
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
        stretches=stretches_of(scenario),
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
    low, high = sum_interval(parts, row_memory(trace, window, parts, Stream.REPORT), seed)
    # What can't be below 0 for any window is not believed to be so on average.
    bottom = 0.0 if sample.min() >= 0.0 else -np.inf
    return Estimate(mean=mean, low=max(bottom, mean + low), high=mean + high, replications=sample.size)


def row_memory(trace: TraceScenario, window: int, parts: Floats, stream: Stream) -> Memory:
    """The memory of parts, of which the average over the offsets of a stretch was taken away before."""
    return memory(parts, window // MEMORY_SHARE, trace.stretch(stream).rows - window + 1)


def _scale(scenario: TraceScenario, sign: float) -> Scale:
    """Mean of the searched cells, and their spread around the smoothed table."""
    here = scenario.stretch(Stream.SEARCH)
    worlds = scenario.draw(1, 0, 0, 1, Stream.SEARCH)
    cells, smoothed = (table[here.first : here.last] for table in (worlds.values, worlds.smoothed))
    return Scale(mean=sign * float(np.nanmean(cells)), spread=float(np.sqrt(np.nanmean((cells - smoothed) ** 2))))
