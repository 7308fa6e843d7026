"""Scenarios as implemented in the authors' scripts, for comparison with the paper's figures.

Shifts happen only at t = 5000, 10000, … (counted from 1; in the logistics script from 0), so a horizon of 1,000
has none, and blips never end.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ravenlab.common.arrays import Floats
from ravenlab.common.checks import Time, parse_steps
from ravenlab.environments.base import BaseDraw, Change, Draft, Effect
from ravenlab.environments.scenario import Scenario


@dataclass(frozen=True)
class PublishedShift(Effect):
    """Shifts at multiples of `every` steps that change the level of all arms and never end."""

    category = "–"
    order = 15
    remaining: ClassVar[int] = 0
    """Shifts with fewer remaining steps are left out."""
    offset: ClassVar[int] = 0
    """1 if the script counts steps from 0."""

    every: Time = 5000

    def rows(self, horizon: int) -> int:
        return horizon // parse_steps("every", self.every, horizon)

    def check(self, horizon: int, arms: int) -> None:
        parse_steps("every", self.every, horizon)

    def apply(self, draft: Draft) -> None:
        every = parse_steps("every", self.every, draft.horizon)
        times = [t + self.offset for t in draft.times(every)]
        times = [t for t in times if t <= draft.horizon and draft.horizon - t >= self.remaining]
        self.prepare(draft)
        mean = np.empty((draft.replications, len(times), draft.arms))
        variance = np.empty_like(mean)
        for r, rng in draft.generators(self.stream_key):
            level = draft.mean[r, 0].copy(), draft.variance[r, 0].copy()
            for j in range(len(times)):
                self.shift(rng, draft.base, *level)
                mean[r, j], variance[r, j] = level
        if times:
            first = draft.add_rows(mean, variance)
            draft.changes += [Change(t, first + j) for j, t in enumerate(times)]

    def prepare(self, draft: Draft) -> None:
        """Change the first level if the script does not draw it at random."""

    def shift(self, rng: np.random.Generator, base: BaseDraw, mean: Floats, variance: Floats) -> None:
        """Change the level of one world in place."""
        raise NotImplementedError


class PublishedVarianceDrift(PublishedShift):
    """All variances are redrawn."""

    name = "published-variance-drift"
    meaning = "all variances are redrawn every 5,000 steps"
    stream_key = "published-variance-drift"
    moves_variance = True

    def shift(self, rng: np.random.Generator, base: BaseDraw, mean: Floats, variance: Floats) -> None:
        variance[:] = rng.uniform(base.variance_low, base.variance_high, variance.size)


class PublishedIncrementalDrift(PublishedShift):
    """μ += U(−0.01, 0.01), then clipped to the base range."""

    name = "published-incremental-drift"
    meaning = "every 5,000 steps each mean moves by up to 0.01"
    stream_key = "published-incremental-drift"

    def shift(self, rng: np.random.Generator, base: BaseDraw, mean: Floats, variance: Floats) -> None:
        mean += rng.uniform(-0.01, 0.01, mean.size)
        np.clip(mean, base.mean_low, base.mean_high, out=mean)


class PublishedBlips(PublishedShift):
    """All means and variances are redrawn permanently."""

    name = "published-blips"
    meaning = "every 5,000 steps all arms are redrawn permanently"
    stream_key = "published-blips"
    remaining = 100

    def shift(self, rng: np.random.Generator, base: BaseDraw, mean: Floats, variance: Floats) -> None:
        mean[:], variance[:] = base.draw(rng, mean.size)


class PublishedLogistics(PublishedShift):
    """Evenly spaced first levels; then μ and σ (not σ²) of a third of the arms are redrawn."""

    name = "published-logistics"
    meaning = "a third of 100 arms is redrawn every 5,000 steps; regret is also measured against the constant 0.8"
    stream_key = "published-logistics"
    offset = 1

    def prepare(self, draft: Draft) -> None:
        low = np.sqrt(draft.base.variance_low)
        high = np.sqrt(draft.base.variance_high)
        draft.mean[:, 0] = np.linspace(draft.base.mean_low, draft.base.mean_high, draft.arms)
        draft.variance[:, 0] = np.linspace(low, high, draft.arms) ** 2

    def shift(self, rng: np.random.Generator, base: BaseDraw, mean: Floats, variance: Floats) -> None:
        count = max(1, mean.size // 3)
        arms = rng.random(mean.size).argsort()[:count]
        mean[arms] = rng.uniform(base.mean_low, base.mean_high, count)
        variance[arms] = rng.uniform(np.sqrt(base.variance_low), np.sqrt(base.variance_high), count) ** 2


def published_scenarios() -> list[Scenario]:
    """Return the four published scenarios.

    >>> [scenario.arms for scenario in published_scenarios()]
    [10, 10, 10, 100]
    """
    effects = (PublishedVarianceDrift(), PublishedIncrementalDrift(), PublishedBlips(), PublishedLogistics())
    *named, logistics = [Scenario(effect.name, effect.meaning, (effect,)) for effect in effects]
    return [*named, replace(logistics, arms=100, horizon=50_000, constant=BaseDraw().mean_high)]
