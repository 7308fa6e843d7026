"""Each step uses the new distribution with probability ρ(t), independently, else the old one.

ρ(t) = min(1, max(0, (t − start)/(end − start))); each level has its own μ and σ², and both are
independent base draws. μ_k(t) is the mean of the mixture. A jump of an arm replaces both levels.
"""

from dataclasses import dataclass

from ravenlab.common.checks import Time, parse_steps
from ravenlab.common.errors import InputError
from ravenlab.environments.base import Draft, Effect


@dataclass(frozen=True)
class GradualDrift(Effect):
    """A new distribution gradually replaces the old one."""

    name = "gradual-drift"
    category = "DPC"
    meaning = "rewards come from a new distribution with increasing probability"
    order = 10
    onset = "start"
    stream_key = "gradual-drift"

    start: Time = "25%"
    end: Time = "75%"

    def check(self, horizon: int, arms: int) -> None:
        start = parse_steps("start", self.start, horizon)
        end = parse_steps("end", self.end, horizon)
        if end <= start:
            raise InputError(f"end must be after start but got start {start} and end {end} (steps).")

    def apply(self, draft: Draft) -> None:
        draft.ramp = (parse_steps("start", self.start, draft.horizon), parse_steps("end", self.end, draft.horizon))
        draft.new_mean, draft.new_variance = draft.draw_base(self.stream_key)
