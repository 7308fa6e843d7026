"""At t = every, 2·every, … a random ⌊fraction·K⌋ of the arms gets a new base draw of μ and σ².

At least 1 arm jumps; the arms are distinct and independent of earlier jumps. K does not count the extra arms of other
effects, but these can jump as well. With `times` geometric or jittered, the times are random and differ between worlds.
"""

import math
from dataclasses import dataclass

import numpy as np

from ravenlab.common.checks import Share, Time, check_choice, parse_share, parse_steps
from ravenlab.environments.base import CHANGE_TIMES, Change, Draft, Effect, most_changes


@dataclass(frozen=True)
class LocalizedJump(Effect):
    """Some arms change abruptly while the others stay."""

    name = "localized-jump"
    category = "DPC"
    meaning = "at regular intervals a random subset of the arms is redrawn"
    order = 15
    onset = "every"
    stream_key = "localized-jump"
    times_stream_key = "localized-jump times"

    every: Time = "10%"
    fraction: Share = "1/3"
    times: str = "fixed"

    def rows(self, horizon: int) -> int:
        return most_changes(self.times, parse_steps("every", self.every, horizon), horizon)

    def check(self, horizon: int, arms: int) -> None:
        check_choice("times", self.times, CHANGE_TIMES)
        parse_steps("every", self.every, horizon)
        parse_share("fraction", self.fraction)

    def apply(self, draft: Draft) -> None:
        every = parse_steps("every", self.every, draft.horizon)
        times = draft.change_times(self.times, every, self.times_stream_key)
        if not times:
            return
        count = max(1, math.floor(parse_share("fraction", self.fraction) * (draft.arms - draft.extra_arms)))
        levels = [draft.mean, draft.variance]
        if draft.new_mean is not None and draft.new_variance is not None:
            levels += [draft.new_mean, draft.new_variance]
        rows = [np.repeat(level[:, :1], len(times), axis=1) for level in levels]
        for r, rng in draft.generators(self.stream_key):
            chosen = rng.random((len(times), draft.arms)).argsort(axis=1)[:, :count]
            drawn = draft.base.draw(rng, len(times), count)
            for i, row in enumerate(rows):
                for j, arms in enumerate(chosen):
                    row[r, j] = row[r, max(0, j - 1)]
                    row[r, j, arms] = drawn[i % 2][j]
        first = draft.add_rows(rows[0], rows[1])
        if draft.new_mean is not None and draft.new_variance is not None:
            draft.new_mean[:, first:] = rows[2]
            draft.new_variance[:, first:] = rows[3]
        draft.changes += [Change(t, first + j) for j, t in enumerate(times)]
