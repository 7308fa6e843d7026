"""A log as a world: the stretch of events in its own order, then resampled, are the replications.

Only the pulled arm's reward is known at each event, so a policy is replayed (Li, Chu, Langford and Wang 2011): an event
counts when the policy picks its arm, and is passed over when not. Events are cut into the same three stretches of time
as rows of a trace. Replication 0 is a stretch as it was. In the search the others are resampled by a local block
bootstrap: each block of events is replaced by one that begins at most a twentieth of the stretch earlier or later, so
that what changes slowly over time still does. Where candidates are chosen and reported on, a quarter of the replays are
of the stretch itself, its blocks in other orders that move them as little, and the rest of resampled logs, each in 16
such orders: then the luck of one order can be told from what another log would have given. All candidates replay the
same logs in the same orders.

An arm is open but where it does not occur for far longer than usual (`find_openings`): there it was
not to be had, and a policy that waited for it would pass over all the others.
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

SHIFT_DIVISOR = 20
"""Blocks come from at most this part of the stretch earlier or later."""

DEFAULT_CLIP = 100.0
"""The largest inverse-propensity weight."""

MIN_EVENTS_PER_ARM = 50
"""A log of fewer is refused: of its shortest stretch only ten events an arm would be left."""

ORDERS_PER_LOG = 16
"""Orders in which a log is replayed in a row, where that is what is reported."""

RESAMPLED_PER_CYCLE = 3
"""Resampled logs, each in so many orders, for so many orders of the log itself."""

MIN_REPLAYS = 2 * ORDERS_PER_LOG * (1 + RESAMPLED_PER_CYCLE)
"""Of fewer no interval can be made."""


CLOSED = 20
"""An arm is closed where it does not occur for this many mean distances between its events; by chance 1 in 10⁸."""

MIN_BLOCKS = 20
"""A block is at most the stretch divided by this."""


class LogWorlds(NamedTuple):
    """R resampled logs of a stretch of n events and K arms. Event i of log r is starts[r, i // block] + i % block."""

    arm: Arms
    """[n] which arm was pulled."""
    reward: Floats
    """[n]; costs come with their sign turned."""
    weight: Floats
    """[n] min(1 / propensity, clip), or 1 where no propensities are known."""
    weighted: int
    """1 where propensities are known. A policy that draws then draws anew at each event: its matches are those of its
    own draws thinned by the propensities, which the weights undo. Without, it holds on to its choice until it is met,
    so that its matches are those of its own draws however uneven the logging was."""
    starts: Ints
    """[R, blocks] where each block begins."""
    block: int
    """Events of a block."""
    open_at_start: Bytes
    """[K] whether each arm is open at the first event."""
    switch_at: Ints
    """[turns] events before which an arm opens or closes, in order."""
    switch_arm: Ints
    """[turns] which."""
    switch_open: Bytes
    """[turns] 1 where it opens."""
    logged: float
    """The logging policy's own mean reward in the stretch."""
    horizon: int
    """Steps that policies which ask are told."""


@dataclass(frozen=True)
class LogScenario(Recording):
    """A log in the place of a scenario.

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
        """Arms that occur."""
        return self.log.arms

    @property
    def horizon(self) -> int:
        """About as many events as match in the searched stretch, if all arms are logged equally often."""
        return max(1, self.segment(Stream.SEARCH).rows // self.arms)

    @property
    def digest(self) -> str:
        """Of what the file held."""
        return self.log.digest

    def segment(self, stream: int) -> Segment:
        """The events that a stream replays; all of them for streams that choose nothing."""
        return segment_of(self.log.events, stream)

    def check(self, horizon: int, arms: int) -> None:
        """Raise InputError for a log that is too short to be cut into stretches."""
        if arms != self.arms:
            raise InputError(f"arms must be {self.arms}, those of the log, but got {arms}.")
        check_integer("horizon", horizon, least=1)
        least = MIN_EVENTS_PER_ARM * self.arms
        if self.log.events < least:
            raise InputError(
                f"a log of {self.arms} arms must have at least {least} events ({MIN_EVENTS_PER_ARM} an arm) to search,"
                f" choose and report on different ones, but got {self.log.events}."
            )

    def bytes_per_world(self, horizon: int, arms: int) -> int:
        """Of one resampled log: the blocks of it."""
        return 8 * self.log.events

    def draw(self, horizon: int, seed: int, first: int, replications: int, stream: int) -> LogWorlds:
        """Logs number first … first + replications − 1 of a stream; number 0 is the stretch as it was."""
        shared = self._shared(stream)
        n, block = shared.arm.size, shared.block
        usual = np.arange(0, n, block)
        starts = np.empty((replications, usual.size), dtype=np.int64)
        reach = max(1, n // SHIFT_DIVISOR)
        last = n - block
        lowest = np.clip(usual - reach, 0, max(0, last - 2 * reach))
        for r in range(replications):
            if first + r == 0:
                starts[r] = usual
                continue
            log = first + r if stream == Stream.SEARCH else source_log(first + r)
            drawn = np.minimum(usual, last)
            if log > 0:
                rng = generator(seed, stream, log, "blocks")
                drawn = rng.integers(lowest, np.minimum(lowest + 2 * reach, last) + 1)
            if stream == Stream.SEARCH:
                starts[r] = drawn
                continue
            late = generator(seed, stream, first + r, "order").random(usual.size)
            starts[r] = drawn[np.argsort(np.arange(usual.size) + late * (2 * reach / block))]
        return shared._replace(starts=starts, horizon=horizon)

    @cached_property
    def _by_stretch(self) -> dict[Segment, LogWorlds]:
        return {}

    def _shared(self, stream: int) -> LogWorlds:
        """What all logs of a stretch share."""
        here = self.segment(stream)
        if here not in self._by_stretch:
            self._by_stretch[here] = self._prepared(here)
        return self._by_stretch[here]

    def _prepared(self, here: Segment) -> LogWorlds:
        part = slice(here.first, here.last)
        arm, reward = self.log.arm[part], self.log.reward[part] * (-1.0 if self.minimize else 1.0)
        weight = np.ones(reward.size)
        if self.log.propensity is not None:
            weight = np.minimum(1.0 / self.log.propensity[part], self.clip)
        begins, turns = find_openings(arm, self.arms)
        return LogWorlds(
            arm=arm,
            reward=reward,
            weight=weight,
            weighted=int(self.log.propensity is not None),
            starts=np.empty((0, 0), dtype=np.int64),
            block=choose_block_length(arm, reward, self.arms),
            open_at_start=begins,
            switch_at=np.array([at for at, _, _ in turns], dtype=np.int64),
            switch_arm=np.array([k for _, k, _ in turns], dtype=np.int64),
            switch_open=np.array([opens for _, _, opens in turns], dtype=np.uint8),
            logged=float(reward.mean()),
            horizon=0,
        )

    @cached_property
    def scale(self) -> RewardScale:
        """How large rewards are, told by the searched stretch alone."""
        return measure_scale(self._shared(Stream.SEARCH).reward, "rewards of the searched half of the log")


def source_log(replication: int) -> int:
    """Which log a replication reorders: 0, the log itself, or the number of a resampled one.

    >>> [source_log(r) for r in (0, 15, 16, 31, 32, 63, 64, 80)]
    [0, 0, 1, 1, 2, 3, 0, 4]
    """
    cycle, place = divmod(replication, ORDERS_PER_LOG * (1 + RESAMPLED_PER_CYCLE))
    group = place // ORDERS_PER_LOG
    return 0 if group == 0 else RESAMPLED_PER_CYCLE * cycle + group


def find_openings(arm: Arms, arms: int) -> tuple[Bytes, list[tuple[int, int, int]]]:
    """Which arms are open at the first event [K], and (event, arm, opens) wherever one opens or closes.

    >>> once = np.array([0, 1] * 50 + [0] * 100, dtype=np.int32)
    >>> find_openings(once, 3)
    (array([1, 1, 0], dtype=uint8), [(100, 1, 0)])
    """
    begins, turns = np.zeros(arms, dtype=np.uint8), []
    for k in range(arms):
        at = np.flatnonzero(arm == k)
        if not at.size:
            continue
        gaps = np.diff(np.concatenate([[-1], at, [arm.size]])) - 1
        far = CLOSED * np.median(np.diff(at)) / np.log(2.0) if at.size > 2 else np.inf
        begins[k] = not gaps[0] > far
        for place in np.flatnonzero(gaps > far):
            if place > 0:
                turns.append((int(at[place - 1]) + 1, k, 0))
            if place < at.size:
                turns.append((int(at[place]), k, 1))
    return begins, sorted(turns)


def choose_block_length(arm: Arms, reward: Floats, arms: int) -> int:
    """The block length, in events, from the autocorrelation of the residuals from the arms' means."""
    counts = np.maximum(1, np.bincount(arm, minlength=arms))
    rest = reward - (np.bincount(arm, reward, minlength=arms) / counts)[arm]
    longest = max(1, reward.size // MIN_BLOCKS)
    if reward.size < 2 * MIN_BLOCKS or not np.abs(rest).max() > 1e-12 * max(1e-300, np.abs(reward).max()):
        return 1
    return int(min(max(1, round(BLOCK_FACTOR * optimal_block_length(rest - rest.mean(), longest)[0])), longest))


def open_log(path: str | Path, minimize: bool = False) -> LogScenario:
    """The scenario of a file; one that has not changed since it was read is not read again."""
    return _opened(str(path), minimize, file_stamp(path))


@lru_cache(maxsize=4)
def _opened(path: str, minimize: bool, _stamp: object) -> LogScenario:
    return LogScenario(read_log(path), recording_name("log", path), minimize)
