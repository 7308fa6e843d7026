"""The base class of effects, and the draft of worlds that effects modify."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from ravenlab.common.arrays import Floats, Ints
from ravenlab.environments.streams import generator


@dataclass(frozen=True)
class BaseDraw:
    """Ranges of the base draws: μ ~ U(mean_low, mean_high) and σ² ~ U(variance_low, variance_high)."""

    mean_low: float = 0.3
    mean_high: float = 0.8
    variance_low: float = 0.01
    variance_high: float = 0.09

    @property
    def mean(self) -> float:
        """Expected mean of an arm."""
        return (self.mean_low + self.mean_high) / 2.0

    @property
    def reward_variance(self) -> float:
        """Variance of a reward of a random arm: the expected σ² and the variance of the means.

        >>> round(BaseDraw().reward_variance, 4)
        0.0708
        """
        width = self.mean_high - self.mean_low
        return (self.variance_low + self.variance_high) / 2.0 + width * width / 12.0

    def draw(self, rng: np.random.Generator, *shape: int) -> tuple[Floats, Floats]:
        """Draw means and variances of a shape; a longer first axis does not change the earlier entries.

        >>> mean, variance = BaseDraw().draw(np.random.default_rng(0), 10)
        >>> bool(((0.3 <= mean) & (mean < 0.8) & (0.01 <= variance) & (variance < 0.09)).all())
        True
        """
        return self.levels(rng.random((*shape, 2)))

    def levels(self, u: Floats) -> tuple[Floats, Floats]:
        """Return means and variances for uniform numbers [..., 2]."""
        mean = self.mean_low + (self.mean_high - self.mean_low) * u[..., 0]
        variance = self.variance_low + (self.variance_high - self.variance_low) * u[..., 1]
        return mean, variance


class Change(NamedTuple):
    """From step `at` on the arms have the levels in row `row`; a blip ends at step `until`.

    Both are either one step for all worlds, or steps [R] by world; a step after the horizon means never.
    """

    at: int | Ints
    row: int
    until: int | Ints | None = None

    @property
    def is_random(self) -> bool:
        """Whether the time differs between worlds."""
        return np.ndim(self.at) > 0


CHANGE_TIMES = ("fixed", "geometric", "jittered", "once")
"""Values of the parameter `times` of effects that change at several times."""


def most_changes(times: str, every: int, horizon: int) -> int:
    """Return the largest number of changes in a world.

    Geometric times are cut off at a number that is exceeded with a probability below 1e-8.

    >>> most_changes("fixed", 100, 1000), most_changes("jittered", 100, 1000), most_changes("geometric", 100, 1000)
    (10, 11, 39)
    """
    expected = horizon / every
    if times == "once":
        return 1
    if times == "geometric":
        return min(horizon, math.ceil(expected + 6.0 * math.sqrt(expected) + 10.0))
    return horizon // every + (times == "jittered")


@dataclass
class Draft:
    """Worlds number first … first + replications − 1 while effects are applied."""

    horizon: int
    arms: int
    base: BaseDraw
    noise: str
    seed: int
    stream: int
    first: int
    replications: int
    extra_arms: int = 0
    """Number of arms added by effects; they have the last indices."""
    mean: Floats = field(init=False)
    variance: Floats = field(init=False)
    opens: Ints = field(init=False)
    closes: Ints = field(init=False)
    new_mean: Floats | None = None
    new_variance: Floats | None = None
    ramp: tuple[int, int] | None = None
    slope: Floats | None = None
    growth: Floats | None = None
    amplitude: Floats | None = None
    phase: Floats | None = None
    period: int = 0
    walk: tuple[Ints, Floats] | None = None
    """A random walk: first steps [S] of its segments, and its offsets [R, S, K] from the means."""
    shifts: tuple[Ints, Floats] | None = None
    """Shifts of the means outside blips of all arms: first steps of segments and offsets, as in `walk`."""
    ages: bool = False
    """Whether the slope of an arm begins when it opens."""
    longest_delay: int | None = None
    changes: list[Change] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.mean, self.variance = self.draw_base("base")
        self.opens = np.ones((self.replications, self.arms), dtype=np.int64)
        self.closes = np.full((self.replications, self.arms), self.horizon + 1, dtype=np.int64)

    def generators(self, key: str) -> Iterator[tuple[int, np.random.Generator]]:
        """Yield the index of each replication with its generator for one stream key."""
        for r in range(self.replications):
            yield r, generator(self.seed, self.stream, self.first + r, key)

    def draw_base(self, key: str, rows: int = 1) -> tuple[Floats, Floats]:
        """Draw base levels [R, rows, K], arm by arm: an extra arm does not change the others."""
        mean, variance = self.base.levels(self._draw(key, False, (self.arms, rows, 2)))
        return mean.transpose(0, 2, 1).copy(), variance.transpose(0, 2, 1).copy()

    def uniform(self, key: str, low: float, high: float) -> Floats:
        """Draw one uniform number per arm, [R, K]."""
        return low + (high - low) * self._draw(key, False, (self.arms,))

    def normals(self, key: str, *shape: int) -> Floats:
        """Return the first standard normal numbers of each replication's generator, [R, *shape]."""
        return self._draw(key, True, shape)

    def _draw(self, key: str, normal: bool, shape: tuple[int, ...]) -> Floats:
        from ravenlab.environments.random_numbers import NUMBERED_REPLICATIONS, draw_numbers

        out = np.empty((self.replications, math.prod(shape)))
        if self.first + self.replications <= NUMBERED_REPLICATIONS:
            draw_numbers(self.seed, self.stream, self.first, key, normal, out)
        else:
            for r, rng in self.generators(key):
                out[r] = rng.standard_normal(out.shape[1]) if normal else rng.random(out.shape[1])
        return out.reshape(self.replications, *shape)

    def add_rows(self, mean: Floats, variance: Floats) -> int:
        """Append level rows [R, rows, K] and return the index of the first; both levels of a gradual drift change."""
        first: int = self.mean.shape[1]
        self.mean = np.concatenate([self.mean, mean], axis=1)
        self.variance = np.concatenate([self.variance, variance], axis=1)
        if self.new_mean is not None and self.new_variance is not None:
            self.new_mean = np.concatenate([self.new_mean, mean], axis=1)
            self.new_variance = np.concatenate([self.new_variance, variance], axis=1)
        return first

    def shift(self, steps: Ints, offsets: Floats) -> None:
        """Shift means by offsets [R, S, K] in segments that begin at steps [S], in addition to earlier shifts."""
        self.shifts = add_steps(self.shifts, (steps, offsets))

    def times(self, every: int) -> list[int]:
        """Return the steps every, 2·every, … up to the horizon, without step 1."""
        return [t for t in range(every, self.horizon + 1, every) if t > 1]

    def change_times(self, times: str, every: int, key: str, lasting: int = 0) -> list[int | Ints]:
        """Return the steps of changes that last for `lasting` steps: one step for all worlds, or steps [R] by world.

        - fixed: every, 2·every, …
        - geometric: lasting + G steps between two changes, G geometric with mean every − lasting; the first change is
          at step 1 + G.
        - once: every.
        - jittered: j·every + U, U uniform on −h … h with h = ⌊(every − lasting − 1)/2⌋.

        All have the mean distance `every`, and more than `lasting` steps between two changes. Random times after the
        horizon become horizon + 1.
        """
        if times == "fixed":
            return [*self.times(every)]
        if times == "once":
            return [*self.times(every)[:1]]
        count = most_changes(times, every, self.horizon)
        at = np.empty((self.replications, count), dtype=np.int64)
        jitter = (every - lasting - 1) // 2
        for r, rng in self.generators(key):
            if times == "geometric":
                gaps = rng.geometric(1.0 / (every - lasting), count) + lasting
                at[r] = 1 - lasting + np.cumsum(np.minimum(gaps, self.horizon + lasting))
            else:
                number = np.arange(1, count + 1) + (every == 1)  # step 1 is never a change
                at[r] = every * number + rng.integers(-jitter, jitter + 1, count)
        at[at > self.horizon] = self.horizon + 1
        return [*at.T]


def add_steps(first: tuple[Ints, Floats] | None, second: tuple[Ints, Floats] | None) -> tuple[Ints, Floats] | None:
    """Add two step functions of time, each with first steps [S] of its segments, step 1 included, and values [R, S, K].

    >>> early, late = (np.array([1, 5]), np.array([[[1.0], [2.0]]])), (np.array([1, 3]), np.array([[[0.0], [4.0]]]))
    >>> steps, values = add_steps(early, late)
    >>> steps.tolist(), values.ravel().tolist()
    ([1, 3, 5], [1.0, 5.0, 6.0])
    """
    if first is None or second is None:
        return first or second
    steps = np.union1d(first[0], second[0])
    early, late = (values[:, np.searchsorted(start, steps, side="right") - 1] for start, values in (first, second))
    return steps, early + late


@dataclass(frozen=True)
class Effect:
    """One kind of change over time. Its fields are the parameters that a study file can set.

    `order` decides in which order combined effects are applied: levels first, then additions to them, then blips,
    then changes of the set of open arms.

    An effect that draws random numbers does so under a fixed `stream_key` of its own. The key is part of the
    definition of its worlds: it must never change, even when the class, the module or the scenario is renamed.
    """

    name: ClassVar[str]
    category: ClassVar[str]
    meaning: ClassVar[str]
    order: ClassVar[int]
    stream_key: ClassVar[str]
    """The key of its random stream (see `Draft.generators`); not needed by an effect that draws nothing."""

    extra_arms: ClassVar[int] = 0
    """Number of arms that the effect adds to the K requested ones."""

    moves_levels: ClassVar[bool] = False
    """Whether every segment needs a level row of its own, since the effect is added to all levels."""

    moves_variance: ClassVar[bool] = False
    """Whether it changes only the variance, which is impossible for Bernoulli arms."""

    onset: ClassVar[str | None] = None
    """Parameter with the time until the first change, or the length of a period."""

    def rows(self, horizon: int) -> int:
        """Return the number of level rows that it adds, for the estimate of memory."""
        return 0

    def check(self, horizon: int, arms: int) -> None:
        """Raise InputError if the parameters are invalid for this horizon and number of arms."""

    def added_variance(self, horizon: int) -> float:
        """Return what it adds to the variance of the rewards, averaged over the horizon, beyond the base draws."""
        return 0.0

    def apply(self, draft: Draft) -> None:
        """Apply the effect to the draft."""
        raise NotImplementedError
