"""Abrupt changes of levels: change points of block means and noise, read as outages, jumps, blips, or jumps and blips.

Each arm is segmented separately (`ruptures`, an exact search with a penalty per change), because arms may share their
noise and a sum over arms would count the same deviation several times. Change points are then joined over arms and
refined to the row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from ravenlab.common.linear import multiply
from ravenlab.environments.world import Floats, Ints
from ravenlab.studies.diagnosis.block_means import Bools, TraceBlocks
from ravenlab.studies.diagnosis.model import FittedModel, NoiseScale, Term

FALSE_ALARM_RATE = 0.01  # probability of a change point, over all blocks and arms, if no level changes
MIN_BLOCKS = 5  # minimal blocks of an arm in which outages are searched
MIN_NOISE_SEGMENT = (5, 60)
"""Minimal blocks and rows between changes of noise; the variance of fewer may be due to one spike."""
MAX_LOG_VARIANCE = 4.0  # standard deviations at which the log-variance of a block is clipped
CLEAR_GAIN = 10.0  # gain from which an arm contributes to the position of a change point
MAX_CHANGE_POINTS = 60  # maximal number of change points; more do not describe jumps
BLIP_ARMS = 0.5  # a blip of at least this share of the arms is a blip of all arms
MAX_BLIP = 0.15  # longest blip, as a share of the rows; a longer excursion is two jumps
MAX_OUTAGE = 0.05  # longest temporary change of single arms, as a share of the rows
MAX_CUTS_WITHIN = 4  # change points within an outage, whose first and last blocks may be partly of another level
RETURNED = 0.3  # largest difference of the levels before and after an outage, relative to its size


@dataclass(frozen=True)
class RunningSums:
    """Cumulative sums over rows, from which the level of any segment follows."""

    counts: Floats
    sums: Floats
    noise: Floats
    log_variance: Floats
    """Logarithm of the block variance relative to the fitted variance."""
    log_variance_noise: Floats
    """[K] relative variance of an estimated variance, times its rows."""

    @staticmethod
    def of(blocks: TraceBlocks, current: FittedModel, scale: NoiseScale, left_out: Floats | float = 0.0) -> RunningSums:
        """Sum the residuals of the current model, without a part of its means [N, K]."""
        residuals = current.residuals + left_out
        observed = blocks.observed
        block_rows = np.diff(blocks.starts)
        noise = np.repeat(blocks.noise * scale.mean, block_rows, axis=0)
        log_variance = np.repeat(_log_variance(blocks, current, scale), block_rows, axis=0)
        tables = (observed, residuals, noise, log_variance)
        counts, sums, noise, log_variance = (_cumulate(np.where(observed, table, 0.0)) for table in tables)
        return RunningSums(counts, sums, noise, log_variance, np.where(blocks.has_variances, scale.variance, np.inf))

    def level(self, start: Ints, end: Ints) -> tuple[Floats, Floats]:
        """Mean of rows start to end − 1 and its squared standard error [..., K]; infinite without observations."""
        count = self.counts[end] - self.counts[start]
        divisor = np.maximum(count, 1.0)
        error = np.where(count > 0, (self.noise[end] - self.noise[start]) / divisor**2, np.inf)
        return (self.sums[end] - self.sums[start]) / divisor, error

    def noise_level(self, start: Ints, end: Ints) -> tuple[Floats, Floats]:
        """Mean log-variance of rows start to end − 1 and its squared standard error [..., K]."""
        count = self.counts[end] - self.counts[start]
        mean = (self.log_variance[end] - self.log_variance[start]) / np.maximum(count, 1.0)
        error = np.where(count > 1, self.log_variance_noise / np.maximum(count, 1.0), np.inf)
        return mean, error

    def without(self, spans: Sequence[tuple[int, int]]) -> RunningSums:
        """Return the sums without the observations in some spans."""
        if not spans:
            return self
        tables = []
        for table in (self.counts, self.sums, self.noise, self.log_variance):
            steps = np.diff(table, axis=0)
            for start, end in spans:
                steps[start:end] = 0.0
            tables.append(_cumulate(steps))
        counts, sums, noise, log_variance = tables
        return RunningSums(counts, sums, noise, log_variance, self.log_variance_noise)

    def gain(self, start: Ints, cut: Ints, end: Ints) -> Floats:
        """χ² with one degree of freedom for a change of level at a cut, [..., K]."""
        return self.distance(*self.level(start, cut), *self.level(cut, end))

    def place_gain(self, start: Ints, cut: Ints, end: Ints) -> Floats:
        """χ² for a change of level at a cut, [..., K], with the same noise at all cuts.

        A change of level increases the variance of its own block, so the noise of blocks would favor other places.
        """
        counts = [self.counts[last] - self.counts[first] for first, last in ((start, cut), (cut, end))]
        means = [
            (self.sums[last] - self.sums[first]) / np.maximum(count, 1.0)
            for (first, last), count in zip(((start, cut), (cut, end)), counts, strict=True)
        ]
        noise = (self.noise[end] - self.noise[start]) / np.maximum(counts[0] + counts[1], 1.0)
        precision = counts[0] * counts[1] / np.maximum(counts[0] + counts[1], 1.0)
        return np.asarray((means[0] - means[1]) ** 2 * precision / np.maximum(noise, 1e-300))

    def noise_gain(self, start: Ints, cut: Ints, end: Ints, min_rows: float) -> Floats:
        """χ² for a change of noise at a cut, [..., K]; 0 if either side is shorter than `min_rows`."""
        gain = self.distance(*self.noise_level(start, cut), *self.noise_level(cut, end))
        return np.where((np.minimum(cut - start, end - cut) < min_rows)[..., None], 0.0, gain)

    @staticmethod
    def distance(level: Any, error: Any, other: Any, other_error: Any) -> Floats:
        """Squared difference of two levels in standard errors."""
        return np.asarray((level - other) ** 2 / np.maximum(error + other_error, 1e-300))


def level_change_terms(blocks: TraceBlocks, current: FittedModel, scale: NoiseScale) -> list[tuple[Term, ...]]:
    """Find change points and return the terms that may explain them: jumps, blips, or jumps and blips."""
    running = RunningSums.of(blocks, current, scale)
    cuts = find_change_points(blocks, current, scale, running)
    if not cuts.size:
        return []
    spans = find_blips(cuts, blocks, running)
    edges = {edge for span in spans for edge in span}
    lasting = np.array([cut for cut in cuts if int(cut) not in edges], dtype=np.int64)
    jumps = _jump_term(cuts, blocks, running)
    if not jumps.mean_used.any():
        return []  # only variances change, and no scenario has such jumps
    # Of a jump of a single arm, changes of others that another kind explains are no part.
    strongest = _change_strengths(np.concatenate([[0], cuts, [blocks.rows]]), blocks, running).argmax(axis=1)
    single = jumps.mean_used & (np.arange(blocks.arms) == strongest[:, None])
    alternatives: list[tuple[Term, ...]] = [(jumps,)]
    if single.any() and (single != jumps.mean_used).any():
        alternatives.append((replace(jumps, mean_used=single, variance_used=jumps.variance_used & single),))
    if spans:
        blips = _blip_term(spans, blocks, running)
        alternatives.append((blips,))
        if lasting.size:
            alternatives.append((_jump_term(lasting, blocks, running, spans), blips))
    return alternatives


def find_outages(blocks: TraceBlocks, current: FittedModel, scale: NoiseScale) -> Term | None:
    """Find temporary changes of single arms: short, while most other arms keep their levels at both ends.

    Levels are compared with those next to them, so that slow changes of the arm do not matter.
    """
    running = RunningSums.of(blocks, current, scale)
    signal = current.block_residuals / np.sqrt(blocks.noise * scale.mean / np.maximum(blocks.counts, 1.0))
    min_gain = 2.0 * _noticeable_gain(blocks, blocks.number)
    arms_of_spans: dict[tuple[int, int], list[int]] = {}
    lasting: list[tuple[int, int]] = []
    for k in range(blocks.arms):
        observed = np.flatnonzero(blocks.counts[:, k])
        if observed.size < MIN_BLOCKS:
            continue
        cuts = [int(blocks.starts[observed[cut]]) for cut in _segment(signal[observed, k], 1, min_gain)]
        spans = _find_excursions(k, cuts, blocks, running, min_gain)
        near = 2.0 * blocks.size
        lasting += [(k, cut) for cut in cuts if not any(start - near <= cut <= end + near for start, end in spans)]
        for start, end in spans:
            same = (span for span in arms_of_spans if max(abs(span[0] - start), abs(span[1] - end)) <= near)
            arms_of_spans.setdefault(next(same, (start, end)), []).append(k)
    for start, end in arms_of_spans:
        gains = [_compare_sides(k, start, end, blocks, running)[0] for k in range(blocks.arms)]
        if np.mean(np.array(gains) > _noticeable_gain(blocks)) > BLIP_ARMS:
            return None  # blips of all arms
    for span in list(arms_of_spans):
        others = {k for k, cut in lasting if min(abs(cut - edge) for edge in span) <= 2.0 * blocks.size}
        if len(others) > len(arms_of_spans[span]):
            del arms_of_spans[span]
    if not arms_of_spans:
        return None
    spans = sorted(arms_of_spans)
    affected = np.array([[k in arms_of_spans[span] for k in range(blocks.arms)] for span in spans])
    return _blip_term(spans, blocks, running, affected)


def _find_excursions(
    arm: int, cuts: Sequence[int], blocks: TraceBlocks, running: RunningSums, min_gain: float
) -> list[tuple[int, int]]:
    """Find the spans between change points of an arm before and after which it has about the same level."""
    longest = MAX_OUTAGE * blocks.rows + 2.0 * blocks.size
    candidates = []
    for i, first in enumerate(cuts):
        for last in cuts[i + 1 : i + 2 + MAX_CUTS_WITHIN]:
            if last - first > longest:
                break
            start, end = _refine_span(arm, first, last, blocks, running)
            gain, size, change = _compare_sides(arm, start, end, blocks, running)
            if gain > min_gain and abs(change) <= RETURNED * abs(size) and end - start <= MAX_OUTAGE * blocks.rows:
                candidates.append((gain, start, end))
    spans: list[tuple[int, int]] = []
    for _, start, end in sorted(candidates, reverse=True):
        if all(end <= other_start or start >= other_end for other_start, other_end in spans):
            spans.append((start, end))
    return spans


def _refine_span(arm: int, first: int, last: int, blocks: TraceBlocks, running: RunningSums) -> tuple[int, int]:
    """Move both ends of a span to the rows that separate the levels of an arm best."""
    reach = int(1.5 * blocks.size) + 1
    margin = max(last - first, 4 * reach)
    for _ in range(2):
        middle = (first + last) // 2
        rows = np.arange(max(1, first - reach), min(middle, first + reach) + 1)
        before, after = (np.full_like(rows, row) for row in (max(0, first - margin), last))
        first = int(rows[np.argmax(running.place_gain(before, rows, after)[:, arm])]) if rows.size else first
        rows = np.arange(max(middle + 1, last - reach), min(blocks.rows - 1, last + reach) + 1)
        before, after = (np.full_like(rows, row) for row in (first, min(blocks.rows, last + margin)))
        last = int(rows[np.argmax(running.place_gain(before, rows, after)[:, arm])]) if rows.size else last
    return first, last


def _compare_sides(
    arm: int, start: int, end: int, blocks: TraceBlocks, running: RunningSums
) -> tuple[float, float, float]:
    """Return χ² of the level of an arm in a span, its distance from both sides, and their difference."""
    width = max(end - start, int(5 * blocks.size))
    edges = np.array([max(0, start - width), start, end, min(blocks.rows, end + width)])
    level, error = (table[:, arm] for table in running.level(edges[:-1], edges[1:]))
    around, around_error = _combine((level[0], error[0]), (level[2], error[2]))
    gain = float(running.distance(level[1], error[1], around, around_error))
    # Without observations on both sides it is not known whether the level returned.
    known = np.isfinite(error).all()
    return gain if known else 0.0, float(level[1] - around), float(level[2] - level[0])


def find_change_points(blocks: TraceBlocks, current: FittedModel, scale: NoiseScale, running: RunningSums) -> Ints:
    """Find the rows at which the level or the noise of some arm changes, in order."""
    from scipy.stats import chi2

    min_gain = float(chi2.isf(FALSE_ALARM_RATE / (blocks.number * blocks.arms), 1))
    cuts = _segment_arms(blocks, current, scale, min_gain)
    for _ in range(2):
        cuts = _drop_weak(_refine(cuts, blocks, running), blocks, running, min_gain)
    return cuts


def find_blips(cuts: Ints, blocks: TraceBlocks, running: RunningSums) -> list[tuple[int, int]]:
    """Find the spans between two change points before and after which arms have the same levels."""
    penalty = float(np.log(max(blocks.observations.mean(), 2.0)))
    noticeable = _noticeable_gain(blocks)
    alike = _noticeable_gain(blocks, cuts.size)
    segments = list(pairwise([0, *(int(cut) for cut in cuts), blocks.rows]))
    starts, ends = (np.array([segment[side] for segment in segments]) for side in (0, 1))
    lengths = [end - start for start, end in segments]
    level, error = running.level(starts, ends)
    blips: list[int] = []
    for i in sorted(range(1, len(segments) - 1), key=lambda i: lengths[i]):
        if lengths[i] > MAX_BLIP * blocks.rows or i - 1 in blips or i + 1 in blips:
            continue
        returned = running.distance(level[i - 1], error[i - 1], level[i + 1], error[i + 1])
        # A blip needs one level less for each arm that changed.
        edges = (running.distance(level[i], error[i], level[j], error[j]) > noticeable for j in (i - 1, i + 1))
        changed = int(np.logical_or(*edges).sum())
        if returned.max() < alike or np.nansum(returned) < blocks.arms + penalty * changed:
            blips.append(i)
    if len(blips) >= 2:
        # A short first or last segment may be a blip that the trace truncates.
        longest = 1.5 * max(lengths[i] for i in blips)
        for i, neighbor in ((0, 1), (len(segments) - 1, len(segments) - 2)):
            if lengths[i] <= longest and neighbor not in blips:
                blips.append(i)
    return [segments[i] for i in sorted(blips)]


def _cumulate(table: Floats) -> Floats:
    sums = np.zeros((len(table) + 1, table.shape[1]))
    np.cumsum(table, axis=0, out=sums[1:])
    return sums


def _segment_arms(blocks: TraceBlocks, current: FittedModel, scale: NoiseScale, min_gain: float) -> Ints:
    """Segment the means and the noise of each arm, and join the change points of all arms."""
    error = np.sqrt(blocks.noise * scale.mean / np.maximum(blocks.counts, 1.0))
    signals = [(current.block_residuals / error, 1, 1)]
    if not blocks.binary:
        standardized = _log_variance(blocks, current, scale) / _log_variance_error(blocks, scale)
        signals.append((standardized, 2, _min_noise_blocks(blocks)))
    cuts: set[int] = set()
    for signal, min_count, min_blocks in signals:
        for k in range(blocks.arms):
            if min_count > 1 and not blocks.has_variances[k]:
                continue
            observed = np.flatnonzero(blocks.counts[:, k] >= min_count)
            if observed.size > 2 * min_blocks + 2:
                cuts.update(
                    int(blocks.starts[observed[cut]]) for cut in _segment(signal[observed, k], min_blocks, min_gain)
                )
    return np.array(sorted(cuts), dtype=np.int64)


def _segment(signal: Floats, min_size: int, penalty: float) -> list[int]:
    """Compute the least-squares segmentation with a penalty per change point."""
    import ruptures

    search = ruptures.KernelCPD(kernel="linear", min_size=min_size)
    return list(search.fit(np.ascontiguousarray(signal[:, None])).predict(pen=penalty)[:-1])


def _min_noise_blocks(blocks: TraceBlocks) -> int:
    """Minimal blocks between changes of noise."""
    number, rows = MIN_NOISE_SEGMENT
    return max(number, int(np.ceil(rows / blocks.size)))


def _log_variance(blocks: TraceBlocks, current: FittedModel, scale: NoiseScale) -> Floats:
    """Logarithm of each block's variance relative to the fitted one, clipped so that a spike does not dominate."""
    limit = MAX_LOG_VARIANCE * _log_variance_error(blocks, scale)
    ratio = np.maximum(current.block_variance / current.variance, 1e-300)
    return np.asarray(np.clip(np.log(ratio), -limit, limit))


def _log_variance_error(blocks: TraceBlocks, scale: NoiseScale) -> Floats:
    """Standard deviation of the logarithm of a block's variance."""
    return np.sqrt(scale.variance / np.maximum(blocks.counts - 1.0, 1.0))


def _refine(cuts: Ints, blocks: TraceBlocks, running: RunningSums) -> Ints:
    """Move each cut to the row within one and a half blocks that separates the levels best."""
    reach = int(1.5 * blocks.size) + 1
    moved = cuts.copy()
    for i in range(cuts.size):
        before = moved[i - 1] if i else 0
        after = cuts[i + 1] if i + 1 < cuts.size else blocks.rows
        rows = np.arange(max(before + 1, cuts[i] - reach), min(after, cuts[i] + reach + 1))
        if not rows.size:
            continue
        gains = running.place_gain(np.full_like(rows, before), rows, np.full_like(rows, after))
        clear = gains.max(axis=0) > CLEAR_GAIN
        # A change of noise alone is located to the block only.
        if clear.any():
            moved[i] = rows[int(np.argmax(gains[:, clear].sum(axis=1)))]
    return np.unique(moved)


def _drop_weak(cuts: Ints, blocks: TraceBlocks, running: RunningSums, min_gain: float) -> Ints:
    """Drop the weakest cut until each is significant in some arm and none is within half a block of the next."""
    while cuts.size:
        bounds = np.concatenate([[0], cuts, [blocks.rows]])
        strength = _change_strengths(bounds, blocks, running).max(axis=1)
        lengths = np.diff(bounds)
        close = np.minimum(lengths[:-1], lengths[1:]) < 0.5 * blocks.size
        strength[close] = np.minimum(strength[close] * 1e-9, 0.5 * min_gain)
        weakest = int(np.argmin(strength))
        if strength[weakest] >= min_gain and cuts.size <= MAX_CHANGE_POINTS:
            break
        cuts = np.delete(cuts, weakest)
    return cuts


def _change_strengths(bounds: Ints, blocks: TraceBlocks, running: RunningSums) -> Floats:
    """Compute by arm the gain of each inner bound, in the mean or the noise."""
    of_means = running.gain(bounds[:-2], bounds[1:-1], bounds[2:])
    if blocks.binary:
        return of_means
    min_rows = _min_noise_blocks(blocks) * blocks.size
    return np.maximum(of_means, running.noise_gain(bounds[:-2], bounds[1:-1], bounds[2:], min_rows))


def _noticeable_gain(blocks: TraceBlocks, places: int = 1) -> float:
    """Gain beyond which some arm differs, corrected for the number of arms and places."""
    from scipy.stats import chi2

    return float(chi2.isf(FALSE_ALARM_RATE / (blocks.arms * places), 1))


def _jump_term(cuts: Ints, blocks: TraceBlocks, running: RunningSums, without: Sequence[tuple[int, int]] = ()) -> Term:
    bounds = np.concatenate([[0], cuts, [blocks.rows]])
    kept = running.without(without)
    gains = _change_strengths(bounds, blocks, kept)
    columns = (np.arange(blocks.rows)[:, None] >= cuts).astype(np.float64)
    used = [_assign_cuts(cuts, blocks, level) for level in (kept.level, kept.noise_level)]
    used[1] &= not blocks.binary
    about = {"at": [int(cut) for cut in cuts], "p": _p_value(gains, blocks, 1)}
    return Term("localized-jump", columns, used[0], columns, used[1], cuts.size, None, about)


def refine_jumps(term: Term, blocks: TraceBlocks, fitted: FittedModel, scale: NoiseScale) -> Term:
    """Return the jumps whose means some arm uses, at the rows that separate the levels best beside the other terms."""
    kept = term.mean_used.any(axis=1)
    weights = fitted.mean_weights[next(i for i, other in enumerate(fitted.terms) if other is term)]
    running = RunningSums.of(blocks, fitted, scale, left_out=multiply(term.mean, weights))
    cuts = _refine(np.array(term.about["at"], dtype=np.int64)[kept], blocks, running)
    if cuts.size != kept.sum():
        return term
    refined = _jump_term(cuts, blocks, running)
    return replace(refined, mean_used=term.mean_used[kept], variance_used=term.variance_used[kept])


def _assign_cuts(cuts: Ints, blocks: TraceBlocks, level: Callable[[Ints, Ints], tuple[Floats, Floats]]) -> Bools:
    """Determine which cuts apply to which arm [C, K], by dropping the weakest until all are significant."""
    min_gain = _noticeable_gain(blocks)
    used = np.ones((cuts.size, blocks.arms), dtype=bool)
    for k in range(blocks.arms):
        kept = cuts
        while kept.size:
            bounds = np.concatenate([[0], kept, [blocks.rows]])
            mean, error = (table[:, k] for table in level(bounds[:-1], bounds[1:]))
            gains = RunningSums.distance(mean[:-1], error[:-1], mean[1:], error[1:])
            if gains.min() >= min_gain:
                break
            kept = np.delete(kept, int(np.argmin(gains)))
        used[:, k] = np.isin(cuts, kept)
    return used


def _blip_term(
    spans: list[tuple[int, int]], blocks: TraceBlocks, running: RunningSums, affected: Bools | None = None
) -> Term:
    """Make the term of blips, which are outages if the arms [S, K] that they affect are given."""
    starts, ends = (np.array([span[side] for span in spans]) for side in (0, 1))
    # Compare with both sides, up to the neighboring blips.
    before = np.concatenate([[0], ends[:-1]])
    after = np.concatenate([starts[1:], [blocks.rows]])
    sides = [(before, starts), (ends, after)]
    gains, noise_gains = (
        running.distance(*level(starts, ends), *_combine(*(level(*side) for side in sides)))
        for level in (running.level, running.noise_level)
    )
    row = np.arange(blocks.rows)[:, None]
    columns = ((row >= starts) & (row < ends)).astype(np.float64)
    min_gain = _noticeable_gain(blocks)
    in_all_arms = ((gains > min_gain).mean(axis=1) >= BLIP_ARMS)[:, None]
    if affected is None:
        used = [np.asarray((table > min_gain) | in_all_arms) for table in (gains, noise_gains)]
    else:
        used = [affected, affected & (noise_gains > min_gain)]
    about = {"spans": spans, "p": _p_value(gains, blocks, blocks.number), "affected": affected}
    return Term("blips", columns, used[0], columns, used[1], 2 * len(spans), None, about)


def _combine(first: tuple[Any, Any], second: tuple[Any, Any]) -> tuple[Any, Any]:
    """Combine two estimates of the same level, weighted by precision."""
    weights = [1.0 / np.maximum(error, 1e-300) for _, error in (first, second)]
    total = np.maximum(weights[0] + weights[1], 1e-300)
    return (weights[0] * first[0] + weights[1] * second[0]) / total, 1.0 / total


def _p_value(gains: Floats, blocks: TraceBlocks, places: int) -> float:
    """p-value of the strongest change in one arm, corrected for all places, arms and blocks searched."""
    from scipy.stats import chi2

    return min(1.0, float(chi2.sf(gains.max(), 1)) * 2 * blocks.number * blocks.arms * places)
