"""Logs as scenarios: replications are the original and resampled orders of a segment of events.

Only the reward of the pulled arm is known at each event, so policies are evaluated by replay (Li, Chu, Langford and
Wang 2011): an event counts if the policy chooses its arm and is skipped otherwise. Events are split into the same three
segments as rows of a trace. Replication 0 is a segment in its original order. In the search stream the others are
resampled by a local block bootstrap: each block of events is replaced by one that starts at most a twentieth of the
segment earlier or later, so that slow changes over time are preserved. In the selection and report streams a quarter of
the replays use the segment itself with its blocks reordered over equally short distances, and the rest use resampled
logs, each in 16 such orders. This separates the variance due to the order from the variance between logs. All
candidates replay the same logs in the same orders.

An arm is closed where it does not occur for much longer than usual (`find_openings`): a policy waiting for it would
skip all other events.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from environments.checks import check_integer
from environments.errors import InputError
from environments.recorded.log_file import Arms, Log, read_log
from environments.recorded.recording import (
    BLOCK_FACTOR,
    Recording,
    RewardScale,
    Segment,
    file_stamp,
    measure_scale,
    optimal_block_length,
    recording_name,
    segment_of,
)
from environments.streams import Stream, generator
from environments.world import Bytes, Floats, Ints

SHIFT_DIVISOR = 20  # blocks move by at most the segment's length divided by this
DEFAULT_CLIP = 100.0  # largest inverse-propensity weight
MIN_EVENTS_PER_ARM = 50  # leaves ten events per arm in the shortest segment
ORDERS_PER_LOG = 16  # consecutive replays of one log in different orders, in the selection and report streams
RESAMPLED_PER_CYCLE = 3  # resampled logs for each time the log itself is replayed
MIN_REPLAYS = 2 * ORDERS_PER_LOG * (1 + RESAMPLED_PER_CYCLE)  # for a confidence interval
CLOSED = 20  # an arm is closed in gaps of this many mean distances between its events; by chance 1 in 10⁸
MIN_BLOCKS = 20  # per segment


class LogWorlds(NamedTuple):
    """R resampled logs of a segment of n events and K arms. Event i of log r is starts[r, i // block] + i % block."""

    arm: Arms
    """[n] index of the pulled arm."""
    reward: Floats
    """[n]; costs are negated."""
    weight: Floats
    """[n] min(1 / propensity, clip), or 1 if propensities are unknown."""
    weighted: int
    """1 if propensities are known. A randomized policy then draws at each event, and the weights correct for uneven
    logging. Otherwise it keeps its choice until an event matches, so that uneven logging does not distort its draws."""
    starts: Ints
    """[R, blocks] first event of each block."""
    block: int
    """Number of events per block."""
    open_at_start: Bytes
    """[K] whether each arm is open at the first event."""
    switch_at: Ints
    """[switches] events before which an arm opens or closes, in order."""
    switch_arm: Ints
    """[switches] index of that arm."""
    switch_open: Bytes
    """[switches] 1 if it opens, 0 if it closes."""
    logged: float
    """Mean reward of the logging policy in the segment."""
    horizon: int
    """Horizon for policies that need one."""


@dataclass(frozen=True)
class LogScenario(Recording):
    """A log in the role of a scenario.

    >>> rng = np.random.default_rng(1)
    >>> log = Log.from_columns([str(arm) for arm in rng.integers(0, 3, 600)], rng.normal(size=600))
    >>> scenario = LogScenario(log, "log:mine")
    >>> scenario.horizon, scenario.segment(Stream.REPORT)
    (100, Segment(first=420, last=600))
    """

    log: Log
    name: str
    minimize: bool = False
    clip: float = DEFAULT_CLIP

    kind = "log"

    @property
    def arms(self) -> int:
        """Number of arms that occur."""
        return self.log.arms

    @property
    def horizon(self) -> int:
        """Expected number of matching events in the search segment if all arms are logged equally often."""
        return max(1, self.segment(Stream.SEARCH).rows // self.arms)

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
        """Return the memory of one resampled log: the starts of its blocks."""
        return 8 * self.log.events

    def draw(self, horizon: int, seed: int, first: int, replications: int, stream: int) -> LogWorlds:
        """Draw logs number first … first + replications − 1 of a stream; number 0 is in the original order."""
        shared = self._shared(stream)
        n, block = shared.arm.size, shared.block
        original = np.arange(0, n, block)
        starts = np.empty((replications, original.size), dtype=np.int64)
        max_shift = max(1, n // SHIFT_DIVISOR)
        last = n - block
        lowest = np.clip(original - max_shift, 0, max(0, last - 2 * max_shift))
        for r in range(replications):
            if first + r == 0:
                starts[r] = original
                continue
            log = first + r if stream == Stream.SEARCH else source_log(first + r)
            drawn = np.minimum(original, last)
            if log > 0:
                rng = generator(seed, stream, log, "blocks")
                drawn = rng.integers(lowest, np.minimum(lowest + 2 * max_shift, last) + 1)
            if stream == Stream.SEARCH:
                starts[r] = drawn
                continue
            late = generator(seed, stream, first + r, "order").random(original.size)
            starts[r] = drawn[np.argsort(np.arange(original.size) + late * (2 * max_shift / block))]
        return shared._replace(starts=starts, horizon=horizon)

    @cached_property
    def _by_segment(self) -> dict[Segment, LogWorlds]:
        return {}

    def _shared(self, stream: int) -> LogWorlds:
        """Return the arrays that all logs of a segment share."""
        segment = self.segment(stream)
        if segment not in self._by_segment:
            self._by_segment[segment] = self._prepare(segment)
        return self._by_segment[segment]

    def _prepare(self, segment: Segment) -> LogWorlds:
        part = slice(segment.first, segment.last)
        arm, reward = self.log.arm[part], self.log.reward[part] * (-1.0 if self.minimize else 1.0)
        weight = np.ones(reward.size)
        if self.log.propensity is not None:
            weight = np.minimum(1.0 / self.log.propensity[part], self.clip)
        open_at_start, switches = find_openings(arm, self.arms)
        return LogWorlds(
            arm=arm,
            reward=reward,
            weight=weight,
            weighted=int(self.log.propensity is not None),
            starts=np.empty((0, 0), dtype=np.int64),
            block=choose_block_length(arm, reward, self.arms),
            open_at_start=open_at_start,
            switch_at=np.array([at for at, _, _ in switches], dtype=np.int64),
            switch_arm=np.array([k for _, k, _ in switches], dtype=np.int64),
            switch_open=np.array([opens for _, _, opens in switches], dtype=np.uint8),
            logged=float(reward.mean()),
            horizon=0,
        )

    @cached_property
    def scale(self) -> RewardScale:
        """Scale of the rewards in the search segment."""
        return measure_scale(self._shared(Stream.SEARCH).reward, "rewards in the search segment of the log")


def source_log(replication: int) -> int:
    """Return the log that a replication reorders: 0 for the log itself, or the number of a resampled log.

    >>> [source_log(r) for r in (0, 15, 16, 31, 32, 63, 64, 80)]
    [0, 0, 1, 1, 2, 3, 0, 4]
    """
    cycle, position = divmod(replication, ORDERS_PER_LOG * (1 + RESAMPLED_PER_CYCLE))
    group = position // ORDERS_PER_LOG
    return 0 if group == 0 else RESAMPLED_PER_CYCLE * cycle + group


def find_openings(arm: Arms, arms: int) -> tuple[Bytes, list[tuple[int, int, int]]]:
    """Return which arms are open at the first event [K], and (event, arm, opens) for every opening and closing.

    >>> once = np.array([0, 1] * 50 + [0] * 100, dtype=np.int32)
    >>> find_openings(once, 3)
    (array([1, 1, 0], dtype=uint8), [(100, 1, 0)])
    """
    open_at_start, switches = np.zeros(arms, dtype=np.uint8), []
    for k in range(arms):
        at = np.flatnonzero(arm == k)
        if not at.size:
            continue
        gaps = np.diff(np.concatenate([[-1], at, [arm.size]])) - 1
        longest = CLOSED * np.median(np.diff(at)) / np.log(2.0) if at.size > 2 else np.inf
        open_at_start[k] = not gaps[0] > longest
        for i in np.flatnonzero(gaps > longest):
            if i > 0:
                switches.append((int(at[i - 1]) + 1, k, 0))
            if i < at.size:
                switches.append((int(at[i]), k, 1))
    return open_at_start, sorted(switches)


def choose_block_length(arm: Arms, reward: Floats, arms: int) -> int:
    """Return the block length in events, from the autocorrelation of the residuals from the arms' means."""
    counts = np.maximum(1, np.bincount(arm, minlength=arms))
    rest = reward - (np.bincount(arm, reward, minlength=arms) / counts)[arm]
    longest = max(1, reward.size // MIN_BLOCKS)
    if reward.size < 2 * MIN_BLOCKS or not np.abs(rest).max() > 1e-12 * max(1e-300, np.abs(reward).max()):
        return 1
    return int(min(max(1, round(BLOCK_FACTOR * optimal_block_length(rest - rest.mean(), longest)[0])), longest))


def open_log(path: str | Path, minimize: bool = False) -> LogScenario:
    """Return the scenario of a file; an unchanged file is not read again."""
    return _opened(str(path), minimize, file_stamp(path))


@lru_cache(maxsize=4)
def _opened(path: str, minimize: bool, _stamp: object) -> LogScenario:
    return LogScenario(read_log(path), recording_name("log", path), minimize)
