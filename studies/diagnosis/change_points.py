"""Where levels change: change points of each arm's block means, joined over arms and refined to the row.

Every arm is cut for itself (`ruptures`, an exact search with a price for each change): arms may share their noise, and
then a sum over arms would take the same accident ten times for evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from environments.world import Floats, Ints
from studies.diagnosis.blocks import TraceBlocks
from studies.diagnosis.model import Bools, FittedModel, NoiseScale, Term

FALSE_ALARM_RATE = 0.01
"""How often a world in which no level changes may show a change point, in all its blocks and arms together."""
SHORTEST_NOISE = (5, 60)
"""Blocks, and rows, between changes of noise: the variance of fewer may be one spike's."""
LOUDEST = 4.0
"""Standard deviations that one block's noise may count for."""
CLEAR = 10.0
"""The gain from which an arm has a say in where a cut lies."""
MAX_CHANGE_POINTS = 60
"""Change points; more of them are no jumps any more."""


@dataclass(frozen=True)
class RunningSums:
    """Running sums over rows, from which the levels of any stretch follow at once."""

    counts: Floats
    sums: Floats
    noise: Floats
    loudness: Floats
    """Logarithm of the noise against the variance that the current model says."""
    wobble: Floats
    """[K] relative variance of an estimated variance, times its rows."""

    @staticmethod
    def of(blocks: TraceBlocks, current: FittedModel, scale: NoiseScale) -> RunningSums:
        """Of what the current model leaves."""
        seen = ~np.isnan(current.residuals)
        of_rows = np.diff(blocks.starts)
        noise = np.repeat(blocks.noise * scale.mean, of_rows, axis=0)
        loudness = np.repeat(_loudness(blocks, current, scale), of_rows, axis=0)
        tables = (
            seen.astype(np.float64),
            np.nan_to_num(current.residuals),
            np.where(seen, noise, 0.0),
            np.where(seen, loudness, 0.0),
        )
        zero = np.zeros((1, blocks.arms))
        counts, sums, noise, loud = (np.concatenate([zero, np.cumsum(table, axis=0)]) for table in tables)
        return RunningSums(counts, sums, noise, loud, scale.variance)

    def level(self, start: Ints, end: Ints) -> tuple[Floats, Floats]:
        """Mean of the rows start … end − 1 and its squared standard error, [..., K]; infinite where none was seen."""
        count = self.counts[end] - self.counts[start]
        some = np.maximum(count, 1.0)
        error = np.where(count > 0, (self.noise[end] - self.noise[start]) / some**2, np.inf)
        return (self.sums[end] - self.sums[start]) / some, error

    def noise_level(self, start: Ints, end: Ints) -> tuple[Floats, Floats]:
        """The logarithm of the noise of some rows, and its squared standard error."""
        count = self.counts[end] - self.counts[start]
        mean = (self.loudness[end] - self.loudness[start]) / np.maximum(count, 1.0)
        error = np.where(count > 1, self.wobble / np.maximum(count, 1.0), np.inf)
        return mean, error

    def without(self, spans: Sequence[tuple[int, int]]) -> RunningSums:
        """As if nothing had been seen in some spans."""
        tables = []
        for table in (self.counts, self.sums, self.noise, self.loudness):
            steps = np.diff(table, axis=0)
            for start, end in spans:
                steps[start:end] = 0.0
            tables.append(np.concatenate([np.zeros((1, table.shape[1])), np.cumsum(steps, axis=0)]))
        counts, sums, noise, loudness = tables
        return RunningSums(counts, sums, noise, loudness, self.wobble)

    def gain(self, start: Ints, cut: Ints, end: Ints) -> Floats:
        """χ² of one degree of freedom for two levels instead of one on either side of a cut, [..., K]."""
        return self.distance(*self.level(start, cut), *self.level(cut, end))

    def noise_gain(self, start: Ints, cut: Ints, end: Ints, shortest: float) -> Floats:
        """The same for the noise; nothing where either side is too short to tell a spike from a level."""
        gain = self.distance(*self.noise_level(start, cut), *self.noise_level(cut, end))
        return np.where((np.minimum(cut - start, end - cut) < shortest)[..., None], 0.0, gain)

    @staticmethod
    def distance(level: Floats, error: Floats, other: Floats, other_error: Floats) -> Floats:
        """Squared distance of two levels in standard errors."""
        return np.asarray((level - other) ** 2 / np.maximum(error + other_error, 1e-300))


def min_gain(blocks: TraceBlocks) -> float:
    """The gain that one arm must show at one place."""
    from scipy.stats import chi2

    return float(chi2.isf(FALSE_ALARM_RATE / (blocks.number * blocks.arms), 1))


def find_change_points(blocks: TraceBlocks, current: FittedModel, scale: NoiseScale, running: RunningSums) -> Ints:
    """Rows at which the level or the noise of some arm changes, in order."""
    least = min_gain(blocks)
    cuts = _of_each_arm(blocks, current, scale, least)
    for _ in range(2):
        cuts = _keep(_refine(cuts, blocks, running), blocks, running, least)
    return cuts


def _of_each_arm(blocks: TraceBlocks, current: FittedModel, scale: NoiseScale, least: float) -> Ints:
    found: set[int] = set()
    error = np.sqrt(blocks.noise * scale.mean / np.maximum(blocks.counts, 1.0))
    of_mean = current.rest / error
    of_noise = _loudness(blocks, current, scale) / _wobble(blocks, scale)
    tables = [(of_mean, 1, 1)] if blocks.binary else [(of_mean, 1, 1), (of_noise, 2, _shortest(blocks))]
    for signal, fewest, shortest in tables:
        for k in range(blocks.arms):
            there = np.flatnonzero(blocks.counts[:, k] >= fewest)
            if there.size > 2 * shortest + 2:
                found.update(int(blocks.starts[there[cut]]) for cut in _cuts(signal[there, k], shortest, least))
    return np.array(sorted(found), dtype=np.int64)


def _shortest(blocks: TraceBlocks) -> int:
    """Blocks between changes of noise."""
    number, rows = SHORTEST_NOISE
    return max(number, int(np.ceil(rows / blocks.size)))


def _loudness(blocks: TraceBlocks, current: FittedModel, scale: NoiseScale) -> Floats:
    """The logarithm of each block's own variance against the model's, cut off where a spike would outweigh a level."""
    most = LOUDEST * _wobble(blocks, scale)
    ratio = np.maximum(current.spread / current.variance, 1e-300)
    return np.asarray(np.clip(np.log(ratio), -most, most))


def _wobble(blocks: TraceBlocks, scale: NoiseScale) -> Floats:
    """Standard deviation of the logarithm of a block's variance."""
    return np.sqrt(scale.variance / np.maximum(blocks.counts - 1.0, 1.0))


def _cuts(signal: Floats, shortest: int, price: float) -> list[int]:
    """The segmentation of least squares when every cut costs something."""
    import ruptures

    search = ruptures.KernelCPD(kernel="linear", min_size=shortest)
    return list(search.fit(np.ascontiguousarray(signal[:, None])).predict(pen=price)[:-1])


def _refine(cuts: Ints, blocks: TraceBlocks, running: RunningSums) -> Ints:
    """Move each cut to the row within a block and a half that parts the levels best."""
    reach = int(1.5 * blocks.size) + 1
    moved = cuts.copy()
    for i in range(cuts.size):
        before = moved[i - 1] if i else 0
        after = cuts[i + 1] if i + 1 < cuts.size else blocks.rows
        places = np.arange(max(before + 1, cuts[i] - reach), min(after, cuts[i] + reach + 1))
        if not places.size:
            continue
        gains = running.gain(np.full_like(places, before), places, np.full_like(places, after))
        moving = gains.max(axis=0) > CLEAR
        # A change of noise alone is known to the block.
        if moving.any():
            moved[i] = places[int(np.argmax(gains[:, moving].sum(axis=1)))]
    return np.unique(moved)


def _keep(cuts: Ints, blocks: TraceBlocks, running: RunningSums, least: float) -> Ints:
    """Drop the weakest cut until every one shows in some arm, and none stands half a block from the next."""
    while cuts.size:
        bounds = np.concatenate([[0], cuts, [blocks.rows]])
        strength = change_strengths(bounds, blocks, running).max(axis=1)
        lengths = np.diff(bounds)
        close = np.minimum(lengths[:-1], lengths[1:]) < 0.5 * blocks.size
        strength[close] = np.minimum(strength[close] * 1e-9, 0.5 * least)
        weakest = int(np.argmin(strength))
        if strength[weakest] >= least and cuts.size <= MAX_CHANGE_POINTS:
            break
        cuts = np.delete(cuts, weakest)
    return cuts


def change_strengths(bounds: Ints, blocks: TraceBlocks, running: RunningSums) -> Floats:
    """How much each cut between the first and the last bound shows in each arm, in its mean or its noise."""
    of_mean = running.gain(bounds[:-2], bounds[1:-1], bounds[2:])
    if blocks.binary:
        return of_mean
    shortest = _shortest(blocks) * blocks.size
    return np.maximum(of_mean, running.noise_gain(bounds[:-2], bounds[1:-1], bounds[2:], shortest))


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
