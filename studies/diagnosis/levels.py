"""Jumps and blips: levels that change at once, for good, or for a while and then back to exactly what they were."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from environments.world import Floats, Ints
from studies.diagnosis.blocks import TraceBlocks
from studies.diagnosis.change_points import FALSE_ALARM_RATE, RunningSums, change_strengths, find_change_points
from studies.diagnosis.model import FittedModel, NoiseScale
from studies.diagnosis.terms import Bools, Term

MOST_ARMS = 0.5
LONGEST_BLIP = 0.15
"""Of the rows; what lasts longer before it returns is two jumps."""


def level_change_terms(blocks: TraceBlocks, current: FittedModel, scale: NoiseScale) -> list[tuple[Term, ...]]:
    """What the change points may be: jumps, blips, or blips and jumps."""
    running = RunningSums.of(blocks, current, scale)
    cuts = find_change_points(blocks, current, scale, running)
    if not cuts.size:
        return []
    spans = find_blips(cuts, blocks, running)
    inside = {edge for span in spans for edge in span}
    lasting = np.array([cut for cut in cuts if int(cut) not in inside], dtype=np.int64)
    out: list[tuple[Term, ...]] = [(_jumps(cuts, blocks, running),)]
    if spans:
        excursions = _blips(spans, blocks, running)
        out.append((excursions,))
        if lasting.size:
            out.append((_jumps(lasting, blocks, running, spans), excursions))
    return out


def find_blips(cuts: Ints, blocks: TraceBlocks, running: RunningSums) -> list[tuple[int, int]]:
    """Spans between two change points before and after which arms have the same levels."""
    price, least = float(np.log(max(blocks.seen.mean(), 2.0))), _noticeable(blocks)
    alike = _noticeable(blocks, cuts.size)
    bounds = [0, *(int(cut) for cut in cuts), blocks.rows]
    pieces = list(pairwise(bounds))
    starts, ends = (np.array([piece[side] for piece in pieces]) for side in (0, 1))
    level, error = running.level(starts, ends)
    found: list[int] = []
    for i in sorted(range(1, len(pieces) - 1), key=lambda i: pieces[i][1] - pieces[i][0]):
        long = pieces[i][1] - pieces[i][0] > LONGEST_BLIP * blocks.rows
        if long or i - 1 in found or i + 1 in found:
            continue
        back = running.distance(level[i - 1], error[i - 1], level[i + 1], error[i + 1])
        # Is a return worth what it saves, a second level for each arm that moved?
        edges = (running.distance(level[i], error[i], level[j], error[j]) > least for j in (i - 1, i + 1))
        moved = int(np.logical_or(*edges).sum())
        if back.max() < alike or np.nansum(back) < blocks.arms + price * moved:
            found.append(i)
    if len(found) >= 2:
        # One that the end of the trace cut short can't return.
        longest = 1.5 * max(pieces[i][1] - pieces[i][0] for i in found)
        for i, neighbour in ((0, 1), (len(pieces) - 1, len(pieces) - 2)):
            if pieces[i][1] - pieces[i][0] <= longest and neighbour not in found:
                found.append(i)
    return [pieces[i] for i in sorted(found)]


def _noticeable(blocks: TraceBlocks, places: int = 1) -> float:
    """The gain beyond which some arm differs, of all arms and places that are asked."""
    from scipy.stats import chi2

    return float(chi2.isf(FALSE_ALARM_RATE / (blocks.arms * places), 1))


def _jumps(cuts: Ints, blocks: TraceBlocks, running: RunningSums, without: list[tuple[int, int]] | None = None) -> Term:
    bounds = np.concatenate([[0], cuts, [blocks.rows]])
    kept = running.without(without or [])
    gains = change_strengths(bounds, blocks, kept)
    columns = (np.arange(blocks.rows)[:, None] >= cuts).astype(np.float64)
    used = [_own_cuts(cuts, blocks, level) for level in (kept.level, kept.noise_level)]
    about = {"at": [int(cut) for cut in cuts], "p": _p(gains, blocks, 1)}
    return Term("localized-jump", columns, used[0], columns, used[1], cuts.size, None, about)


def _own_cuts(cuts: Ints, blocks: TraceBlocks, level: Callable[[Ints, Ints], tuple[Floats, Floats]]) -> Bools:
    """Which cuts show in which arm [C, K]: the weakest goes until all do, so that an arm's own stretches grow."""
    least = _noticeable(blocks)
    used = np.ones((cuts.size, blocks.arms), dtype=bool)
    for k in range(blocks.arms):
        own = cuts
        while own.size:
            bounds = np.concatenate([[0], own, [blocks.rows]])
            mean, error = (table[:, k] for table in level(bounds[:-1], bounds[1:]))
            gains = RunningSums.distance(mean[:-1], error[:-1], mean[1:], error[1:])
            if gains.min() >= least:
                break
            own = np.delete(own, int(np.argmin(gains)))
        used[:, k] = np.isin(cuts, own)
    return used


def _blips(spans: list[tuple[int, int]], blocks: TraceBlocks, running: RunningSums) -> Term:
    starts, ends = (np.array([span[side] for span in spans]) for side in (0, 1))
    # Against what is seen on both sides, up to the neighbouring blips.
    before, after = np.concatenate([[0], ends[:-1]]), np.concatenate([starts[1:], [blocks.rows]])
    around = [(before, starts), (ends, after)]
    gains, noisier = (
        running.distance(*level(starts, ends), *_both(*(level(*side) for side in around)))
        for level in (running.level, running.noise_level)
    )
    row = np.arange(blocks.rows)[:, None]
    columns = ((row >= starts) & (row < ends)).astype(np.float64)
    least = _noticeable(blocks)
    # A blip that most arms show is one of all arms, in means and variances.
    of_all = ((gains > least).mean(axis=1) >= MOST_ARMS)[:, None]
    used = [np.asarray((table > least) | of_all) for table in (gains, noisier)]
    about = {"spans": spans, "p": _p(gains, blocks, blocks.number)}
    return Term("blips", columns, used[0], columns, used[1], 2 * len(spans), None, about)


def _both(near: tuple[Floats, Floats], far: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Two estimates of one level as one."""
    weights = [1.0 / np.maximum(error, 1e-300) for _, error in (near, far)]
    total = np.maximum(weights[0] + weights[1], 1e-300)
    return (weights[0] * near[0] + weights[1] * far[0]) / total, 1.0 / total


def _p(gains: Floats, blocks: TraceBlocks, places: int) -> float:
    """The p-value of the strongest change of one arm, times all places, arms and moments that it was picked from."""
    from scipy.stats import chi2

    return min(1.0, float(chi2.sf(gains.max(), 1)) * 2 * blocks.number * blocks.arms * places)
