"""At t = every, 2·every, … all arms get a new base draw for the steps t … t+lasting−1.

Afterwards they are exactly as without the blip: other effects continue meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass

from environments.base import Change, Draft, Effect
from environments.checks import Time, parse_steps
from environments.errors import InputError


@dataclass(frozen=True)
class Blips(Effect):
    """Temporary changes of all arms."""

    name = "blips"
    category = "TF"
    meaning = "at regular intervals all arms change temporarily, then return to their previous values"
    order = 30
    stream_key = "blips"

    every: Time = "10%"
    lasting: Time = "2%"

    def rows(self, horizon: int) -> int:
        return horizon // parse_steps("every", self.every, horizon)

    def check(self, horizon: int, arms: int) -> None:
        every, lasting = parse_steps("every", self.every, horizon), parse_steps("lasting", self.lasting, horizon)
        if lasting >= every:
            raise InputError(f"lasting must be shorter than every but got lasting {lasting} and every {every} (steps).")

    def apply(self, draft: Draft) -> None:
        lasting = parse_steps("lasting", self.lasting, draft.horizon)
        times = draft.times(parse_steps("every", self.every, draft.horizon))
        if not times:
            return
        first = draft.add_rows(*draft.draw_base(self.stream_key, rows=len(times)))
        draft.changes += [Change(t, first + j, until=t + lasting) for j, t in enumerate(times)]
