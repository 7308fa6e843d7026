"""At t = every, 2·every, … a random ⌊fraction·K⌋ of the arms gets a new base draw of μ and σ²."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from environments.base import Change, Draft, Effect
from environments.times import Share, Time, share_of, steps


@dataclass(frozen=True)
class LocalizedJump(Effect):
    """Some arms start anew while the others stay."""

    name = "localized-jump"
    category = "DPC"
    meaning = "now and then a random part of the arms is drawn anew"
    order = 15

    every: Time = "10%"
    fraction: Share = "1/3"

    def rows(self, horizon: int) -> int:
        return horizon // steps("every", self.every, horizon)

    def check(self, horizon: int, arms: int) -> None:
        steps("every", self.every, horizon)
        share_of("fraction", self.fraction)

    def apply(self, draft: Draft) -> None:
        times = draft.times(steps("every", self.every, draft.horizon))
        if not times:
            return
        count = max(1, math.floor(share_of("fraction", self.fraction) * draft.arms))
        mean = np.repeat(draft.mean[:, :1], len(times), axis=1)
        variance = np.repeat(draft.variance[:, :1], len(times), axis=1)
        new_mean = None if draft.new_mean is None else np.repeat(draft.new_mean[:, :1], len(times), axis=1)
        new_variance = None if draft.new_variance is None else np.repeat(draft.new_variance[:, :1], len(times), axis=1)
        for r, rng in draft.generators(self.name):
            chosen = rng.random((len(times), draft.arms)).argsort(axis=1)[:, :count]
            fresh_mean, fresh_variance = draft.base.draw(rng, len(times), count)
            for j, arms in enumerate(chosen):
                for rows, fresh in (
                    (mean, fresh_mean),
                    (variance, fresh_variance),
                    (new_mean, fresh_mean),
                    (new_variance, fresh_variance),
                ):
                    if rows is not None:
                        rows[r, j:, arms] = fresh[j][:, None]
        first = draft.add_rows(mean, variance)
        if new_mean is not None and draft.new_mean is not None and draft.new_variance is not None:
            draft.new_mean[:, first:] = new_mean
            draft.new_variance[:, first:] = new_variance
        draft.changes += [Change(t, first + j) for j, t in enumerate(times)]
