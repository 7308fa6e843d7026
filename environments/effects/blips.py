"""At t = every, 2·every, … all arms get a new base draw for the steps t … t+lasting−1.

Afterwards they are exactly as without the blip: other effects continue meanwhile. With `times` geometric or jittered,
the times are random and differ between worlds; blips never overlap. With `times` = "once" there is only the first.

With `affected` below 100 %, only that share of the arms changes, at least one; which ones is random. If `size` is not
0, their means change by it instead of being drawn anew. In both cases the times are the same in all worlds, variances
stay, and other effects continue: an outage of one arm.
"""

import math
from dataclasses import dataclass

import numpy as np

from ravenlab.common.arrays import Ints
from ravenlab.common.checks import Share, Time, check_choice, check_number, parse_share, parse_steps
from ravenlab.common.errors import InputError
from ravenlab.environments.base import CHANGE_TIMES, Change, Draft, Effect, most_changes


@dataclass(frozen=True)
class Blips(Effect):
    """Temporary changes of all arms."""

    name = "blips"
    category = "TF"
    meaning = "at regular intervals all arms change temporarily, then return to their previous values"
    order = 30
    onset = "every"
    stream_key = "blips"
    times_stream_key = "blips times"
    affected_stream_key = "blips affected"

    every: Time = "10%"
    lasting: Time = "2%"
    times: str = "fixed"
    affected: Share = 1.0
    size: float = 0.0

    @property
    def is_outage(self) -> bool:
        """Whether means of some arms are shifted, instead of drawing new levels of all arms."""
        return self.size != 0.0 or parse_share("affected", self.affected) < 1

    def rows(self, horizon: int) -> int:
        return (1 + self.is_outage) * most_changes(self.times, parse_steps("every", self.every, horizon), horizon)

    def check(self, horizon: int, arms: int) -> None:
        check_choice("times", self.times, CHANGE_TIMES)
        parse_share("affected", self.affected)
        check_number("size", self.size)
        every = parse_steps("every", self.every, horizon)
        lasting = parse_steps("lasting", self.lasting, horizon)
        if self.is_outage and self.times not in ("fixed", "once"):
            raise InputError(f"times must be fixed or once if affected or size is set but got {self.times!r}.")
        if lasting >= every:
            raise InputError(f"lasting must be shorter than every but got lasting {lasting} and every {every} (steps).")

    def apply(self, draft: Draft) -> None:
        lasting = parse_steps("lasting", self.lasting, draft.horizon)
        every = parse_steps("every", self.every, draft.horizon)
        times = draft.change_times(self.times, every, self.times_stream_key, lasting)
        if not times:
            return
        if self.is_outage:
            self._shift_some(draft, np.array(times, dtype=np.int64), lasting)
            return
        first = draft.add_rows(*draft.draw_base(self.stream_key, rows=len(times)))
        draft.changes += [Change(t, first + j, until=t + lasting) for j, t in enumerate(times)]

    def _shift_some(self, draft: Draft, starts: Ints, lasting: int) -> None:
        """Shift the means of some arms between the start and the end of each blip."""
        levels, _ = draft.draw_base(self.stream_key, rows=starts.size)
        sizes = levels - draft.mean[:, :1] if self.size == 0.0 else np.full_like(levels, self.size)
        keys = draft.uniform(self.affected_stream_key, 0.0, 1.0)
        count = max(1, math.floor(parse_share("affected", self.affected) * (draft.arms - draft.extra_arms)))
        sizes *= (keys.argsort(axis=1).argsort(axis=1) < count)[:, None, :]
        offsets = np.zeros((draft.replications, 2 * starts.size + 1, draft.arms))
        offsets[:, 1::2] = sizes
        draft.shift(np.concatenate([[1], np.stack([starts, starts + lasting], axis=1).ravel()]), offsets)
