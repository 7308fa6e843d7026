"""Arm K+1 opens at step `opens`; at step `closes` one arm closes: the best at that step, or a random one.

If both times are the same, the new arm replaces the one that closes.
"""

from dataclasses import dataclass

import numpy as np

from ravenlab.common.checks import Time, check_choice, parse_steps
from ravenlab.common.errors import InputError
from ravenlab.environments.base import Draft, Effect


@dataclass(frozen=True)
class ArmChurn(Effect):
    """One arm is added and one is removed."""

    name = "arm-churn"
    category = "TF"
    meaning = "one arm is added, later one arm is removed"
    order = 40
    onset = "opens"
    stream_key = "arm-churn"
    extra_arms = 1

    opens: Time = "33%"
    closes: Time = "67%"
    closing: str = "best"

    def check(self, horizon: int, arms: int) -> None:
        opens = parse_steps("opens", self.opens, horizon)
        closes = parse_steps("closes", self.closes, horizon)
        check_choice("closing", self.closing, ("best", "random"))
        if arms == 1 and 1 < closes <= horizon and not 1 < opens <= closes:
            raise InputError(f"closes must not be before opens if there is 1 arm but got {closes} and {opens} (steps).")

    def apply(self, draft: Draft) -> None:
        from ravenlab.environments.draw import means_at

        opens = parse_steps("opens", self.opens, draft.horizon)
        closes = parse_steps("closes", self.closes, draft.horizon)
        never = draft.horizon + 1
        draft.opens[:, -1] = min(opens, never) if opens > 1 else never
        if draft.ages and draft.slope is not None:
            since_opening = np.zeros((draft.replications, 1, draft.arms))
            since_opening[:, 0, -1] = -draft.slope[:, -1] * opens
            draft.shift(np.ones(1, dtype=np.int64), since_opening)
        if not 1 < closes <= draft.horizon:
            return
        open_before = draft.opens < closes
        score = draft.uniform(self.stream_key, 0.0, 1.0) if self.closing == "random" else means_at(draft, closes)
        closed = np.where(open_before, score, -np.inf).argmax(axis=1)
        draft.closes[np.arange(draft.replications), closed] = closes
