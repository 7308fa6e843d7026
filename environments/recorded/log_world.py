"""Logs as scenarios: a simulator made of a segment of events, and resampled logs that measure its error.

Only the reward of the pulled arm is known at each event. A policy is evaluated as if deployed for as many steps as the
segment has events: at each step it chooses any open arm and receives the reward of a random event from the
neighborhood of that arm and step (`environments.recorded.neighborhoods`). Events are split into the same three
segments as rows of a trace.

In the search stream every replication uses the segment itself with other random draws. In the selection and report
streams half of the replications do so; the others use resampled logs, in which the reward of each event is redrawn
from its neighborhood. The difference between the scores on resampled logs and on the segment estimates the bias of the
score, and the variance between resampled logs its standard error. All candidates use the same logs and the same draws.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ravenlab.common.arrays import Bytes, Floats, Ints
from ravenlab.common.checks import check_integer
from ravenlab.common.compiled import inlined
from ravenlab.common.errors import InputError
from ravenlab.environments.recorded.log_file import Arms, Columns, Log, read_log
from ravenlab.environments.recorded.neighborhoods import (
    MIN_LOCAL_EVENTS,
    Neighborhoods,
    Support,
    choose_draw_windows,
    find_neighborhoods,
    find_openings,
    measure_support,
    window_means,
)
from ravenlab.environments.recorded.recording import (
    BLOCK_FACTOR,
    Recording,
    Segment,
    file_stamp,
    is_binary,
    optimal_block_length,
    recording_name,
    segment_of,
)
from ravenlab.environments.recorded.simulator import Simulator
from ravenlab.environments.reward_scale import RewardScale, recorded_scale
from ravenlab.environments.streams import Stream, generator

MIN_EVENTS_PER_ARM = 50  # leaves ten events per arm in the shortest segment
RUNS_PER_LOG = 4  # consecutive replications on one log with different draws, in the selection and report streams
RESAMPLED_PER_CYCLE = 2  # resampled logs after each RUNS_PER_LOG · RESAMPLED_PER_CYCLE runs on the segment itself
MIN_REPLAYS = 128  # for a confidence interval: 64 runs on the segment and 4 on each of 16 resampled logs
MIN_EFFECTIVE_EVENTS = 100  # effective events of a score below which a log is inconclusive
RARE_SHARE = 0.25  # share of the events of uniform logging below which an arm is rare
MAX_SPARSE_SHARE_SIMULATOR = 1.0
"""Largest share of the mean distance of changes in which an arm of a simulator may have fewer than 10 events."""
MIN_BLOCKS = 20  # per segment, if rewards are autocorrelated
TWO_VALUE_LEVELS = 1 << 30  # resolution of the probability of the higher of two rewards
MAX_CHANCE_BLOCK = 4.0  # optimal block length up to which rewards count as independent


class LogWorlds(NamedTuple):
    """R replications on a segment of n events and K arms, or on L logs or paths drawn from it.

    Events are sorted by arm, then by time ("sorted events"). The mean of an arm is constant in each of C cells: the
    steps near one of its events, or in a simulator the steps between two changes.
    """

    arm: Arms
    """[n] arm of each event, in order of time."""
    begin: Ints
    """[K + 1] first cell of each arm."""
    until: Ints
    """[C] last step of a cell."""
    first: Ints
    """[C] first sorted event that determines the mean of a cell."""
    end: Ints
    """[C] sorted event after the last one."""
    reward: Floats
    """[L, n] rewards of sorted events, or their deviations from the mean in a simulator; costs are negated."""
    mean: Floats
    """[L, C] mean reward of the cells."""
    draw_first: Ints
    """[C] first sorted event from which rewards are drawn in a cell."""
    draw_end: Ints
    """[C] sorted event after the last one from which they are drawn."""
    shift: Floats
    """[L, C] what is added to these rewards, so that they have the mean of the cell."""
    two_values: Floats
    """The lower and the higher reward, if a simulator draws rewards with two values; else empty."""
    logged_means: Floats
    """[L] mean reward of the logging policy."""
    log: Ints
    """[R] row of `reward` that a replication uses."""
    key: np.ndarray[Any, np.dtype[np.uint64]]
    """[R] key of a replication's draws."""
    open_at_start: Bytes
    """[K] whether each arm is open at the first step."""
    switch_at: Ints
    """[switches] steps after which an arm opens or closes, in order."""
    switch_arm: Ints
    """[switches] index of that arm."""
    switch_open: Bytes
    """[switches] 1 if it opens, 0 if it closes."""
    logged: float
    """Mean reward of the logging policy in the segment."""
    horizon: int
    """Horizon for policies that need one."""


class Estimator(ABC):
    """How policies are evaluated on a segment of a log. Equal estimators prepare equal segments."""

    @abstractmethod
    def prepare(self, arm: Arms, reward: Floats, arms: int) -> PreparedLog:
        """Return the events of a segment, ready to draw replications from."""


@dataclass(frozen=True)
class Expansion(Estimator):
    """Draws rewards of logged events close to each step. Estimators with a simulator are in `studies.diagnosis`."""

    def prepare(self, arm: Arms, reward: Floats, arms: int) -> PreparedLog:
        """Return the events of a segment with their neighborhoods."""
        return PreparedLog.of(arm, reward, arms)


EXPANSION = Expansion()


@dataclass(frozen=True)
class LogScenario(Recording):
    """A log in the role of a scenario.

    >>> rng = np.random.default_rng(1)
    >>> log = Log.from_columns([str(arm) for arm in rng.integers(0, 3, 600)], rng.normal(size=600))
    >>> scenario = LogScenario(log, "log:mine")
    >>> scenario.horizon, scenario.segment(Stream.REPORT)
    (300, Segment(first=420, last=600))
    """

    log: Log
    name: str
    minimize: bool = False
    estimator: Estimator = EXPANSION

    kind = "log"

    @property
    def arms(self) -> int:
        """Number of arms that occur."""
        return self.log.arms

    @property
    def largest_rate(self) -> float | None:
        """The largest mean of an arm if all rewards are 0 or 1, otherwise None."""
        if not is_binary(self.log.reward):
            return None
        return float((np.bincount(self.log.arm, self.log.reward) / np.bincount(self.log.arm)).max())

    @property
    def horizon(self) -> int:
        """Number of events of the search segment: the policy decides once per event."""
        return self.segment(Stream.SEARCH).rows

    @property
    def notes(self) -> tuple[str, ...]:
        """What was recognized, sorted or dropped when the file was read."""
        return self.log.notes

    @property
    def digest(self) -> str:
        """SHA-256 of the contents of the file."""
        return self.log.digest

    def segment(self, stream: int) -> Segment:
        """Return the events of a stream; all events for streams without a segment."""
        return segment_of(self.log.events, stream)

    def check(self, horizon: int, arms: int) -> None:
        """Raise InputError for a log that is too short to be split into segments."""
        if arms != self.arms:
            raise InputError(f"arms must be {self.arms}, those of the log, but got {arms}.")
        check_integer("horizon", horizon, least=1)
        least = MIN_EVENTS_PER_ARM * self.arms
        if self.log.events < least:
            raise InputError(
                f"a log of {self.arms} arms must have at least {least:,} events ({MIN_EVENTS_PER_ARM} per arm) for"
                f" disjoint search, selection and report segments, but got {self.log.events:,}."
            )

    def bytes_per_world(self, horizon: int, arms: int) -> int:
        """Return the memory of one replication: its share of the rewards and means of a resampled log."""
        return 24 * self.log.events // RUNS_PER_LOG + 16

    def draw(self, horizon: int, seed: int, first: int, replications: int, stream: int) -> LogWorlds:
        """Draw replications first … first + replications − 1 of a stream."""
        return self.prepared(stream).draw_replications(horizon, seed, range(first, first + replications), stream)

    @cached_property
    def _by_segment(self) -> dict[Segment, PreparedLog]:
        return {}

    def prepared(self, stream: int) -> PreparedLog:
        """Return the neighborhoods of the events of a stream, and what all replications share."""
        segment = self.segment(stream)
        if segment not in self._by_segment:
            part = slice(segment.first, segment.last)
            sign = -1.0 if self.minimize else 1.0
            prepared = self.estimator.prepare(self.log.arm[part], sign * self.log.reward[part], self.arms)
            self._by_segment[segment] = prepared
        return self._by_segment[segment]

    @cached_property
    def best_searched_arm(self) -> int:
        """The arm with the best mean in the search segment."""
        segment = self.segment(Stream.SEARCH)
        arm = self.log.arm[segment.first : segment.last]
        sign = -1.0 if self.minimize else 1.0
        sums = np.bincount(arm, sign * self.log.reward[segment.first : segment.last], minlength=self.arms)
        counts = np.bincount(arm, minlength=self.arms)
        return int(np.where(counts > 0, sums / np.maximum(counts, 1), -np.inf).argmax())

    @cached_property
    def scale(self) -> RewardScale:
        """Scale of the rewards in the search segment."""
        segment = self.segment(Stream.SEARCH)
        sign = -1.0 if self.minimize else 1.0
        reward = sign * self.log.reward[segment.first : segment.last]
        return recorded_scale(reward, "rewards in the search segment of the log")


@dataclass(frozen=True)
class PreparedLog:
    """A segment of a log with its neighborhoods, and the simulator if it is used."""

    worlds: LogWorlds
    """Without replications."""
    neighborhoods: Neighborhoods
    support: Support
    reward: Floats
    """[n] rewards of sorted events; their deviations from the mean if there is a simulator."""
    shift: Floats
    """[n] what is added to rewards drawn near each event."""
    block: int
    """Length of the blocks of the bootstrap in events; 1 unless rewards are autocorrelated."""
    simulator: Simulator | None = None
    reason: str = ""
    """Why the simulator is used."""

    @staticmethod
    def of(arm: Arms, reward: Floats, arms: int) -> PreparedLog:
        """Find the neighborhoods of a segment and the times at which arms are open."""
        near = find_neighborhoods(arm, reward, arms)
        open_at_start, switches = find_openings(arm, arms)
        in_order = reward[near.order]
        worlds = LogWorlds(
            arm=arm,
            begin=near.begin,
            until=near.until,
            first=near.first,
            end=near.end,
            reward=np.empty((0, arm.size)),
            mean=np.empty((0, arm.size)),
            draw_first=near.draw_first,
            draw_end=near.draw_end,
            shift=np.empty((0, arm.size)),
            two_values=np.empty(0),
            logged_means=np.empty(0),
            log=np.empty(0, dtype=np.int64),
            key=np.empty(0, dtype=np.uint64),
            open_at_start=open_at_start,
            switch_at=np.array([at for at, _, _ in switches], dtype=np.int64),
            switch_arm=np.array([k for _, k, _ in switches], dtype=np.int64),
            switch_open=np.array([opens for _, _, opens in switches], dtype=np.uint8),
            logged=float(reward.mean()),
            horizon=0,
        )
        block = choose_block_length(near, in_order)
        support = measure_support(arm, near, open_at_start, switches)
        return PreparedLog(worlds, near, support, in_order, near.shifts(in_order[None])[0], block)

    def reason_for_simulator(self) -> str | None:
        """Return why a simulator is better than local resampling; None if it is not."""
        if not self.support.enough:
            return "the log has too few events of some arms at some times for local resampling"
        counts = np.diff(self.neighborhoods.begin)
        if counts[counts > 0].min() < RARE_SHARE * self.reward.size / counts.size:
            return "some arms have so few events that policies exploit the noise of local resampling"
        return None

    def _simulator_support(self, simulator: Simulator) -> Support:
        """Return whether every arm has enough events between the changes of a simulator, and in each period.

        Without changes it needs them in each half of the log, or the log could not show that nothing changes.
        """
        segments = max(2, simulator.bounds.size - 1)
        timescale = min(self.reward.size / segments, simulator.model.period)
        return replace(self.support, timescale=timescale, longest=MAX_SPARSE_SHARE_SIMULATOR * timescale)

    def with_simulator(self, simulator: Simulator, reason: str) -> PreparedLog:
        """Return the segment with a simulator in place of neighborhoods, and the reason for it."""
        near = self.neighborhoods
        cells = simulator.cells
        arms = simulator.arms
        deviation = self.reward - simulator.mean_path[simulator.event_cell]
        until = np.tile(simulator.edges[1:], arms)
        first, end, draw_first, draw_end = (np.zeros(arms * cells, dtype=np.int64) for _ in range(4))
        end[:] = 1
        draw_end[:] = 1
        middle = (simulator.edges[1:] + simulator.edges[:-1]) / 2.0
        for k in range(arms):
            part = slice(near.begin[k], near.begin[k + 1])
            own = slice(k * cells, (k + 1) * cells)
            at = near.order[part]
            if not at.size:
                continue
            after = np.clip(np.searchsorted(at, middle), 1, at.size) - 1
            following = np.minimum(after + 1, at.size - 1)
            nearest = np.where(np.abs(at[after] - middle) <= np.abs(at[following] - middle), after, following)
            windows = choose_draw_windows(deviation[part])
            draw_first[own], draw_end[own] = (near.begin[k] + edge[nearest] for edge in windows)
            first[own] = near.begin[k]
            end[own] = near.begin[k + 1]
        values = np.unique(self.reward)
        worlds = self.worlds._replace(
            begin=np.arange(arms + 1) * cells,
            until=until,
            first=first,
            end=end,
            draw_first=draw_first,
            draw_end=draw_end,
            two_values=values if values.size == 2 else np.empty(0),
        )
        support = self._simulator_support(simulator)
        return replace(self, worlds=worlds, support=support, reward=deviation, simulator=simulator, reason=reason)

    def draw_replications(self, horizon: int, seed: int, numbers: range, stream: int) -> LogWorlds:
        """Draw replications of a stream; each depends on its number only."""
        if stream != Stream.SEARCH:
            sources = [source_log(number) for number in numbers]
        else:
            sources = [number + 1 if self.simulator else 0 for number in numbers]
        logs = sorted(set(sources))
        keys = [generator(seed, stream, number, "draws").integers(2**63) for number in numbers]
        return self._draw_logs(seed, stream, logs)._replace(
            log=np.searchsorted(logs, sources), key=np.array(keys, dtype=np.uint64), horizon=horizon
        )

    def _draw_logs(self, seed: int, stream: int, logs: Sequence[int]) -> LogWorlds:
        """Return resampled logs, or paths of the simulator; number 0 is the segment itself, or the mean path."""
        if self.simulator is None:
            reward = np.stack([self.resample(seed, stream, log) for log in logs])
            mean = self.neighborhoods.means(reward)
            shift = self.neighborhoods.shifts(reward)
            return self.worlds._replace(reward=reward, mean=mean, shift=shift, logged_means=reward.mean(axis=1))
        drawn = [log for log in logs if log > 0]
        mean = np.empty((len(logs), self.worlds.until.size))
        mean[np.array(logs) == 0] = self.simulator.mean_path
        if drawn:
            mean[np.array(logs) > 0] = self.simulator.draw_paths(seed, stream, drawn)
        if self.worlds.two_values.size:
            mean = np.clip(mean, *self.worlds.two_values)
        return self.worlds._replace(
            reward=np.repeat(self.reward[None], len(logs), axis=0),
            mean=mean,
            shift=mean - window_means(self.reward[None], self.worlds.draw_first, self.worlds.draw_end),
            logged_means=mean[:, self.simulator.event_cell].mean(axis=1),
        )

    def describe_estimator(self) -> str:
        """Describe how rewards are drawn, and the reason."""
        if self.simulator is not None:
            kinds = " and ".join(self.simulator.model.kinds) or "no change"
            return f"simulator: paths of means that the log allows if it shows {kinds}, because {self.reason}"
        size = round(self.neighborhoods.size)
        changes = self.neighborhoods.changes.size
        if changes:
            why = f"the log shows {changes} change point{'s' if changes > 1 else ''}"
            return f"local resampling: about {size} events of the arm around each step, because {why}"
        if self.support.timescale < self.reward.size:
            return f"local resampling: the nearest {size} events of the arm, because the log shows gradual change"
        return "resampling from all events of the arm, because the log shows no change of the means"

    def describe_shortage(self, names: Sequence[str], effective: float) -> str | None:
        """Say why the segment cannot support an answer, and what would be needed; None if it can."""
        events = self.reward.size
        support = self.support
        if self.simulator is not None and self.simulator.model.problem is not None:
            return f"{self.simulator.model.problem}; a log in which every arm is explored at all times is needed"
        if support.neglected is not None:
            return (
                f"arm {names[support.neglected]!r} is not logged for a long time and the logging frequencies vary, so"
                " it may have been unavailable or only not chosen; a log in which every arm is explored at all times is"
                " needed"
            )
        if not support.enough:
            return (
                f"arm {names[support.arm]!r} has fewer than {MIN_LOCAL_EVENTS} events in {support.sparse:,} steps while"
                f" the log shows change within {support.timescale:,.0f} steps; every arm needs at least"
                f" {100 * support.share_needed:.2g} % of the events at all times"
            )
        if effective < MIN_EFFECTIVE_EVENTS:
            needed = events * MIN_EFFECTIVE_EVENTS / max(1.0, effective)
            return (
                f"the score rests on only {effective:.0f} effective events; at least {MIN_EFFECTIVE_EVENTS} are needed,"
                f" that is about {needed:,.0f} events or more exploration of the best arms"
            )
        return None

    def resample(self, seed: int, stream: int, log: int) -> Floats:
        """Return the rewards [n] of sorted events in a resampled log; log 0 is the segment itself.

        Each reward is redrawn from the neighborhood of its event. If rewards are autocorrelated, the deviations from
        the neighborhoods' means are kept instead, with a random sign for each block of consecutive events.
        """
        if log == 0:
            return self.reward
        near = self.neighborhoods
        rng = generator(seed, stream, log, "resampled")
        if self.block == 1:
            return np.asarray(self.reward[rng.integers(near.draw_first, near.draw_end)] + self.shift)
        means = near.means(self.reward[None])[0]
        signs = rng.choice((-1.0, 1.0), self.reward.size // self.block + 1)
        return np.asarray(means + signs[near.order // self.block] * (self.reward - means))


@inlined
def random_below(key, number, size):  # type: ignore[no-untyped-def]
    """Return a random integer from 0 to size − 1 that depends only on the key and the number (SplitMix64).

    >>> sorted({int(random_below(np.uint64(7), number, 3)) for number in range(50)})
    [0, 1, 2]
    """
    x = key + np.uint64(number) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x = x ^ (x >> np.uint64(31))
    return np.int64(((x >> np.uint64(32)) * np.uint64(size)) >> np.uint64(32))


def source_log(replication: int) -> int:
    """Return the log that a replication uses: 0 for the segment itself, or the number of a resampled log.

    >>> [source_log(r) for r in (0, 7, 8, 11, 12, 15, 16, 24)]
    [0, 0, 1, 1, 2, 2, 0, 3]
    """
    cycle, position = divmod(replication, 2 * RUNS_PER_LOG * RESAMPLED_PER_CYCLE)
    group = position // RUNS_PER_LOG - RESAMPLED_PER_CYCLE
    return 0 if group < 0 else RESAMPLED_PER_CYCLE * cycle + group + 1


def choose_block_length(near: Neighborhoods, reward: Floats) -> int:
    """Return the block length in events, from the autocorrelation of the deviations from neighborhoods' means."""
    rest = np.empty_like(reward)
    rest[near.order] = reward - near.means(reward[None])[0]
    longest = max(1, reward.size // MIN_BLOCKS)
    if reward.size < 2 * MIN_BLOCKS or not np.abs(rest).max() > 1e-12 * max(1e-300, np.abs(reward).max()):
        return 1
    best = optimal_block_length(rest - rest.mean(), longest)[0]
    return int(min(round(BLOCK_FACTOR * best), longest)) if best > MAX_CHANCE_BLOCK else 1


def open_log(
    path: str | Path, minimize: bool = False, estimator: Estimator = EXPANSION, columns: Columns | None = None
) -> LogScenario:
    """Return the scenario of a file; an unchanged file is not read again."""
    return _opened(str(path), minimize, estimator, tuple((columns or {}).items()), file_stamp(path))


@lru_cache(maxsize=4)
def _opened(
    path: str, minimize: bool, estimator: Estimator, columns: tuple[tuple[str, str], ...], _stamp: object
) -> LogScenario:
    return LogScenario(read_log(path, dict(columns)), recording_name("log", path), minimize, estimator)
