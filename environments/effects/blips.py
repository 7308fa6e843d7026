"""At t = every, 2·every, … all arms get a new base draw for the steps t … t+lasting−1.

Afterwards they are exactly as without the blip: other effects continue meanwhile. With `times` geometric or jittered,
the times are random and differ between worlds (see `Draft.change_times`); blips never overlap.
"""

from __future__ import annotations

from dataclasses import dataclass

from ravenlab.common.checks import Time, parse_steps
from ravenlab.common.errors import InputError
from ravenlab.environments.base import Change, Draft, Effect, check_times, most_changes


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

    every: Time = "10%"
    lasting: Time = "2%"
    times: str = "fixed"

    def rows(self, horizon: int) -> int:
        return most_changes(self.times, parse_steps("every", self.every, horizon), horizon)

    def check(self, horizon: int, arms: int) -> None:
        check_times(self.times)
        every = parse_steps("every", self.every, horizon)
        lasting = parse_steps("lasting", self.lasting, horizon)
        if lasting >= every:
            raise InputError(f"lasting must be shorter than every but got lasting {lasting} and every {every} (steps).")

    def apply(self, draft: Draft) -> None:
        lasting = parse_steps("lasting", self.lasting, draft.horizon)
        every = parse_steps("every", self.every, draft.horizon)
        times = draft.change_times(self.times, every, self.times_stream_key, lasting)
        if not times:
            return
        first = draft.add_rows(*draft.draw_base(self.stream_key, rows=len(times)))
        draft.changes += [Change(t, first + j, until=t + lasting) for j, t in enumerate(times)]
