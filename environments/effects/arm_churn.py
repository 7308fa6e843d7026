"""Arm K+1 opens at `opens`; one arm closes at `closes`: the best of that moment, or a random one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from environments.base import Draft, Effect
from environments.checks import Time, parse_steps
from environments.errors import InputError


@dataclass(frozen=True)
class ArmChurn(Effect):
    """An arm comes and an arm goes."""

    name = "arm-churn"
    category = "TF"
    meaning = "one arm more opens, later one arm closes"
    order = 40
    stream_key = "arm-churn"
    extra_arms = 1

    opens: Time = "33%"
    closes: Time = "67%"
    closing: str = "best"

    def check(self, horizon: int, arms: int) -> None:
        opens, closes = parse_steps("opens", self.opens, horizon), parse_steps("closes", self.closes, horizon)
        if self.closing not in ("best", "random"):
            raise InputError(f"closing must be 'best' or 'random' but got {self.closing!r}.")
        if arms == 1 and 1 < closes <= horizon and not 1 < opens <= closes:
            raise InputError(
                f"closes must not come before opens when there is 1 arm but got {closes} and {opens} (steps)."
            )

    def apply(self, draft: Draft) -> None:
        from environments.draw import means_at

        opens, closes = (
            parse_steps("opens", self.opens, draft.horizon),
            parse_steps("closes", self.closes, draft.horizon),
        )
        never = draft.horizon + 1
        draft.opens[:, -1] = min(opens, never) if opens > 1 else never
        if not 1 < closes <= draft.horizon:
            return
        open_before = draft.opens < closes
        worth = draft.uniform(self.stream_key, 0.0, 1.0) if self.closing == "random" else means_at(draft, closes)
        gone = np.where(open_before, worth, -np.inf).argmax(axis=1)
        draft.closes[np.arange(draft.replications), gone] = closes
