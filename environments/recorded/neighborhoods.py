"""Neighborhoods of logged events: the events that the reward of an arm at a step is drawn from.

The reward of an arm at a step is drawn from events of that arm near that step. Given arm and time, rewards do not
depend on the probability with which the logging policy chose the arm, so no propensities are needed. A neighborhood
consists of the m nearest events of the arm between two change points. Change points are found by optimal partitioning
of all arms together; each arm keeps those that are significant for it. For each arm m, and whether it uses change
points, are chosen by the leave-one-out error of the neighborhood's mean.

Variances may change while means do not. Rewards are therefore drawn from the nearest events of a neighborhood only, and
shifted so that their mean is that of the whole neighborhood. The number of these events is chosen by the leave-one-out
likelihood of their variance. Rewards with two values only, whose mean determines their variance, are not shifted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ravenlab.common.arrays import Bytes, Floats, Ints
from ravenlab.common.compiled import compiled
from ravenlab.environments.recorded.log_file import Arms

SIZES = (10, 14, 20, 28, 40, 57, 80, 113, 160, 226, 320, 640, 1280)
"""Numbers of events of a neighborhood to choose from, besides all events of the arm between two change points."""

MAX_CELLS = 400  # cells between which change points are searched; each is then moved to the best event
MIN_EVENTS_PER_CELL = 10
MIN_GAIN = 8.0  # χ² with one degree of freedom for an arm to keep a change point
MIN_DRAWS = 40  # fewest events from which a reward is drawn, unless the neighborhood is smaller
MIN_LOCAL_EVENTS = 10  # events of every arm that are needed within the time in which the log shows change


@dataclass(frozen=True)
class Neighborhoods:
    """Neighborhoods of n events of K arms. Events are sorted by arm, then by time ("sorted events")."""

    order: Ints
    """[n] event of each sorted event."""
    begin: Ints
    """[K + 1] first sorted event of each arm."""
    until: Ints
    """[n] last step, counted from 1, at which the sorted event is the nearest one of its arm."""
    first: Ints
    """[n] first sorted event of its neighborhood."""
    end: Ints
    """[n] sorted event after the last one of its neighborhood."""
    draw_first: Ints
    """[n] first sorted event of its neighborhood from which rewards are drawn."""
    draw_end: Ints
    """[n] sorted event after the last one from which rewards are drawn."""
    changes: Ints
    """Events before which some arm changes abruptly."""

    @property
    def size(self) -> float:
        """Median number of events of a neighborhood."""
        return float(np.median(self.end - self.first))

    def means(self, reward: Floats) -> Floats:
        """Return the mean of each neighborhood [L, n] for sorted rewards [L, n]."""
        return window_means(reward, self.first, self.end)

    def shifts(self, reward: Floats) -> Floats:
        """Return what is added to rewards that are drawn near each event [L, n], so that they have that mean."""
        return self.means(reward) - window_means(reward, self.draw_first, self.draw_end)


def window_means(reward: Floats, first: Ints, end: Ints) -> Floats:
    """Return the means [L, m] of m windows of sorted rewards [L, n]."""
    sums = np.concatenate([np.zeros((reward.shape[0], 1)), np.cumsum(reward, axis=1)], axis=1)
    return np.asarray((sums[:, end] - sums[:, first]) / (end - first))


class _ArmFit(NamedTuple):
    cuts: Ints
    """Indices of the arm's events before which a segment starts."""
    size: int
    error: float


def find_neighborhoods(arm: Arms, reward: Floats, arms: int) -> Neighborhoods:
    """Choose the neighborhoods of a log.

    >>> rng = np.random.default_rng(1)
    >>> arm = rng.integers(0, 3, 3000).astype(np.int32)
    >>> jump = np.where(np.arange(3000) < 1000, 0.0, 1.0)
    >>> found = find_neighborhoods(arm, rng.normal(jump * (arm == 1), 0.3), 3)
    >>> bool(abs(found.changes - 1000).max() < 20), len(found.changes)
    (True, 1)
    """
    n = arm.size
    order = np.argsort(arm, kind="stable")
    begin = np.concatenate([[0], np.cumsum(np.bincount(arm, minlength=arms))])
    parts = [slice(begin[k], begin[k + 1]) for k in range(arms)]
    rewards = reward[order]
    variance = _noise_variances([rewards[part] for part in parts])
    changes = find_change_points(arm, reward, variance)
    until, first, end, draw_first, draw_end = (np.empty(n, dtype=np.int64) for _ in range(5))
    used = np.zeros(changes.size, dtype=np.bool_)
    for k, part in enumerate(parts):
        at = order[part]
        if not at.size:
            continue
        fit = _fit_arm(at, rewards[part], changes, variance[k])
        first[part], end[part] = (begin[k] + edge for edge in _windows(at.size, fit.cuts, fit.size))
        nearest = _choose_draws(rewards[part], fit)
        draw_first[part], draw_end[part] = (begin[k] + edge for edge in _windows(at.size, fit.cuts, nearest))
        until[part] = np.append((at[:-1] + at[1:]) // 2 + 1, n)
        for cut in fit.cuts:
            here = np.flatnonzero((at[cut - 1] < changes) & (changes <= at[cut]))
            used[here] = True
            until[begin[k] + cut - 1] = changes[here[0]]
    return Neighborhoods(order, begin, until, first, end, draw_first, draw_end, changes[used])


def find_change_points(arm: Arms, reward: Floats, variance: Floats) -> Ints:
    """Find the events before which the means of the arms change, by optimal partitioning.

    The cost of a segment is the sum over arms of squared deviations from the arm's mean, divided by its variance. A
    change point adds the penalty K + 2√(K·L) + 2L with L = log n, which a sum of K squared standard normal numbers
    exceeds with probability 1/n.
    """
    n = arm.size
    arms = variance.size
    cells = min(MAX_CELLS, n // MIN_EVENTS_PER_CELL)
    if cells < 2:
        return np.empty(0, dtype=np.int64)
    edges = np.linspace(0, n, cells + 1).astype(np.int64)
    cell = np.searchsorted(edges, np.arange(n), side="right") - 1
    sums = np.zeros((3, cells + 1, arms))
    for table, values in zip(sums, (np.ones(n), reward, reward**2), strict=True):
        np.add.at(table, (cell + 1, arm), values)
    logarithm = np.log(n)
    penalty = arms + 2.0 * np.sqrt(arms * logarithm) + 2.0 * logarithm
    cost = np.empty(cells + 1)
    previous = np.zeros(cells + 1, dtype=np.int64)
    partition(*sums.cumsum(axis=1), 1.0 / variance, penalty, cost, previous)
    found = []
    last = int(previous[cells])
    while last > 0:
        found.append(last)
        last = int(previous[last])
    bounds = [0, *(int(edges[at]) for at in reversed(found)), n]
    reach = n // cells + 1
    for i in range(1, len(bounds) - 1):
        bounds[i] = _refine(arm, reward, variance, bounds[i - 1], bounds[i], bounds[i + 1], reach)
    return np.unique(np.array(bounds[1:-1], dtype=np.int64))


@compiled
def partition(counts, sums, squares, precision, penalty, cost, previous):  # type: ignore[no-untyped-def]
    """Write the least cost of the cells before each edge, and the edge at which the last segment before it starts.

    Counts, sums and sums of squares [cells + 1, K] are cumulative.
    """
    arms = precision.shape[0]
    cost[0] = -penalty
    for end in range(1, cost.shape[0]):
        least = np.inf
        for start in range(end):
            total = cost[start] + penalty
            for k in range(arms):
                if total >= least:
                    break
                count = counts[end, k] - counts[start, k]
                if count > 0.0:
                    part = sums[end, k] - sums[start, k]
                    total += (squares[end, k] - squares[start, k] - part * part / count) * precision[k]
            if total < least:
                least = total
                previous[end] = start
        cost[end] = least


def _refine(arm: Arms, reward: Floats, variance: Floats, start: int, cut: int, end: int, reach: int) -> int:
    """Return the event at most `reach` events from a change point that separates the segments before and after best."""
    places = np.arange(max(start + 1, cut - reach), min(end - 1, cut + reach) + 1)
    if not places.size:
        return cut
    gain = np.zeros(places.size)
    for k in np.unique(arm[start:end]):
        at = start + np.flatnonzero(arm[start:end] == k)
        sums = np.concatenate([[0.0], np.cumsum(reward[at])])
        before = np.searchsorted(at, places)
        after = at.size - before
        usable = (before > 0) & (after > 0)
        step = sums[before] / np.maximum(before, 1) - (sums[-1] - sums[before]) / np.maximum(after, 1)
        gain += np.where(usable, step**2 * before * after / at.size / variance[k], 0.0)
    return int(places[np.argmax(gain)])


def _noise_variances(rewards: list[Floats]) -> Floats:
    """Estimate each arm's variance [K] from differences of consecutive events, which hardly depend on changes."""
    found = np.array([np.mean(np.diff(some) ** 2) / 2.0 if some.size > 2 else 0.0 for some in rewards])
    typical = found[found > 0.0].mean() if (found > 0.0).any() else 1.0
    return np.where(found > 0.0, found, typical)


def _fit_arm(at: Ints, reward: Floats, changes: Ints, variance: float) -> _ArmFit:
    """Choose the change points and the size of the neighborhoods of one arm with the least leave-one-out error."""
    none = np.empty(0, dtype=np.int64)
    own = _significant_cuts(np.unique(np.searchsorted(at, changes)), reward, variance)
    sums = np.concatenate([[0.0], np.cumsum(reward)])
    fits = []
    for cuts in (none, own) if own.size else (none,):
        for size in (*(size for size in SIZES if size < reward.size), reward.size):
            errors = _left_out_errors(reward, sums, *_windows(reward.size, cuts, size))
            fits.append(_ArmFit(cuts, size, float((errors**2).sum())))
    return min(fits, key=lambda fit: fit.error)


def _left_out_errors(reward: Floats, sums: Floats, first: Ints, end: Ints) -> Floats:
    """Return the deviation of each reward from the mean of the others in its neighborhood."""
    count = end - first
    left_out = (sums[end] - sums[first] - reward) / np.maximum(count - 1, 1)
    return np.asarray(np.where(count > 1, reward - left_out, reward - reward.mean()))


def _choose_draws(reward: Floats, fit: _ArmFit) -> int:
    """Choose the number of nearest events that rewards are drawn from, by the likelihood of their variance."""
    if np.unique(reward).size <= 2:
        return fit.size
    sums = np.concatenate([[0.0], np.cumsum(reward)])
    squares = _left_out_errors(reward, sums, *_windows(reward.size, fit.cuts, fit.size)) ** 2
    sums = np.concatenate([[0.0], np.cumsum(squares)])
    least = max(1e-300, 1e-9 * float(squares.mean()))
    losses = {}
    for size in (*(size for size in SIZES if MIN_DRAWS <= size < fit.size), fit.size):
        first, end = _windows(reward.size, fit.cuts, size)
        variance = np.maximum(least, (sums[end] - sums[first] - squares) / np.maximum(end - first - 1, 1))
        losses[size] = float(np.sum(np.log(variance) + squares / variance))
    return min(losses, key=lambda size: losses[size])


def choose_draw_windows(deviation: Floats) -> tuple[Ints, Ints]:
    """Return first and end of the events near each event of an arm that deviations from a known mean are drawn from."""
    cuts = np.empty(0, dtype=np.int64)
    return _windows(deviation.size, cuts, _choose_draws(deviation, _ArmFit(cuts, deviation.size, 0.0)))


def _significant_cuts(cuts: Ints, reward: Floats, variance: float) -> Ints:
    """Drop the weakest cut until each separates two means significantly."""
    cuts = cuts[(cuts > 0) & (cuts < reward.size)]
    sums = np.concatenate([[0.0], np.cumsum(reward)])
    while cuts.size:
        bounds = np.concatenate([[0], cuts, [reward.size]])
        counts = np.diff(bounds)
        means = np.diff(sums[bounds]) / counts
        gains = np.diff(means) ** 2 / (variance * (1.0 / counts[1:] + 1.0 / counts[:-1]))
        weakest = int(np.argmin(gains))
        if gains[weakest] >= MIN_GAIN:
            break
        cuts = np.delete(cuts, weakest)
    return cuts


def _windows(events: int, cuts: Ints, size: int) -> tuple[Ints, Ints]:
    """Return first and end of the neighborhoods of `size` events around each event, without crossing a cut."""
    bounds = np.concatenate([[0], cuts, [events]])
    segment = np.repeat(np.arange(bounds.size - 1), np.diff(bounds))
    start = bounds[segment]
    end = bounds[segment + 1]
    size_here = np.minimum(size, end - start)
    first = np.clip(np.arange(events) - size_here // 2, start, end - size_here)
    return first, first + size_here


CLOSED = 20  # an arm is closed in gaps of this many usual distances between its events; by chance 1 in 10⁸
CLOSED_SHARE = 100  # shorter gaps than the segment's length divided by this hardly matter
GAPS_PER_SIDE = 20  # gaps before and after a gap that define the usual distance


def find_openings(arm: Arms, arms: int) -> tuple[Bytes, list[tuple[int, int, int]]]:
    """Return which arms are open at the first event [K], and (event, arm, opens) for every opening and closing.

    The usual distance is the larger one of the mean distances before and after the gap: an arm that the logging policy
    prefers at some times and rarely tries at others is open at all times.

    >>> once = np.array([0, 1] * 50 + [0] * 100, dtype=np.int32)
    >>> find_openings(once, 3)
    (array([1, 1, 0], dtype=uint8), [(100, 1, 0)])
    """
    open_at_start = np.zeros(arms, dtype=np.uint8)
    switches = []
    order = np.argsort(arm, kind="stable")
    begin = np.concatenate([[0], np.cumsum(np.bincount(arm, minlength=arms))])
    for k in range(arms):
        at = order[begin[k] : begin[k + 1]]
        if not at.size:
            continue
        gaps = np.diff(np.concatenate([[-1], at, [arm.size]]))
        inner = gaps[1:-1]
        open_at_start[k] = 1
        if inner.size < 2:
            continue
        for i in np.flatnonzero(gaps > max(CLOSED * np.median(inner), arm.size / CLOSED_SHARE)):
            before = inner[max(0, i - 1 - GAPS_PER_SIDE) : max(0, i - 1)]
            after = inner[i : i + GAPS_PER_SIDE]
            usual = max(
                (side.mean() for side in (before, after) if 2 * side.size >= min(GAPS_PER_SIDE, inner.size)),
                default=np.inf,
            )
            if gaps[i] <= CLOSED * usual:
                continue
            if i == 0:
                open_at_start[k] = 0
            else:
                switches.append((int(at[i - 1]) + 1, k, 0))
            if i < at.size:
                switches.append((int(at[i]), k, 1))
    return open_at_start, sorted(switches)


MAX_SPARSE_SHARE = 0.5
"""Largest share of the time scale of change in which an arm may have fewer than MIN_LOCAL_EVENTS events."""
MAX_SPARSE_SHARE_ADAPTIVE = 0.2
"""The same for a logging policy that adapts: the arms that it neglects are not a random sample of times."""
FREQUENCY_BLOCKS = 20  # equal parts of a segment whose logging frequencies are compared
MAX_DISPERSION = 5.0  # variance of an arm's counts in these parts relative to their mean; 1 for constant frequencies
MAX_VARIATION = 0.5  # coefficient of variation of these counts; other arms that open or close cause less


@dataclass(frozen=True)
class Support:
    """Whether a segment of a log contains enough events of every arm at all times."""

    timescale: float
    """Steps within which the log shows change; the number of events if it shows none."""
    sparse: float
    """Longest open time of an arm with fewer than MIN_LOCAL_EVENTS events, in steps."""
    arm: int
    """That arm."""
    longest: float
    """Longest time that an arm may have fewer than MIN_LOCAL_EVENTS events, in steps."""
    neglected: int | None
    """An arm that is not logged for a long time by a logging policy whose frequencies change, if any. Whether it was
    unavailable or only not chosen cannot be known."""

    @property
    def enough(self) -> bool:
        """Whether policies can be evaluated."""
        return self.neglected is None and self.sparse <= self.longest

    @property
    def share_needed(self) -> float:
        """Share of the events that every arm needs."""
        return min(1.0, MIN_LOCAL_EVENTS / self.longest)


def measure_support(
    arm: Arms, near: Neighborhoods, open_at_start: Bytes, switches: list[tuple[int, int, int]]
) -> Support:
    """Measure the time scale of change and how densely each arm is logged."""
    n = arm.size
    arms = near.begin.size - 1
    start = np.where(np.isin(near.first, near.begin), 0, near.until[near.first - 1])
    spans = near.until[near.end - 1] - start
    logged = [k for k in range(arms) if near.begin[k] < near.begin[k + 1]]
    timescale = float(np.median([np.median(spans[near.begin[k] : near.begin[k + 1]]) for k in logged]))
    timescale = min(timescale, n / (1 + near.changes.size))
    sparse = 0
    sparsest = logged[0]
    adapts = False
    for k in logged:
        times = near.order[near.begin[k] : near.begin[k + 1]] + 1
        open_time = n
        for first, last in reversed(list(_closed_spans(k, n, open_at_start, switches))):
            times = np.where(times > last, times - (last - first), times)
            open_time -= last - first
        edges = np.concatenate([[0], times, [open_time]])
        reach = min(MIN_LOCAL_EVENTS, edges.size - 1)
        longest = int((edges[reach:] - edges[:-reach]).max())
        if longest > sparse:
            sparse = longest
            sparsest = k
        adapts = adapts or _varies(times / open_time)
    closed = [k for k in logged if not open_at_start[k]] + [k for _, k, opens in switches if not opens]
    allowed = (MAX_SPARSE_SHARE_ADAPTIVE if adapts else MAX_SPARSE_SHARE) * timescale
    return Support(timescale, sparse, sparsest, allowed, closed[0] if adapts and closed else None)


def _closed_spans(
    k: int, n: int, open_at_start: Bytes, switches: list[tuple[int, int, int]]
) -> Iterator[tuple[int, int]]:
    """Yield the events first … last − 1 at which an arm is closed."""
    first = None if open_at_start[k] else 0
    for at, arm, opens in switches:
        if arm == k and opens and first is not None:
            yield first, at
            first = None
        elif arm == k and not opens:
            first = at
    if first is not None:
        yield first, n


def _varies(times: Floats) -> bool:
    """Whether events at these times in (0, 1] occur at times much more often than at others, and not by chance."""
    counts = np.histogram(times, FREQUENCY_BLOCKS, (0.0, 1.0))[0]
    variance = float(counts.var(ddof=1))
    mean = float(counts.mean())
    return variance > MAX_DISPERSION * mean and variance > (MAX_VARIATION * mean) ** 2
