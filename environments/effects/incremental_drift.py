"""μ_k(t) = μ_k(0) + δ_k·t with δ_k ~ U(−drift, drift)/over."""

from __future__ import annotations

from dataclasses import dataclass

from ravenlab.common.checks import Time, check_nonnegative, parse_steps
from ravenlab.environments.base import Draft, Effect


@dataclass(frozen=True)
class IncrementalDrift(Effect):
    """Means drift linearly."""

    name = "incremental-drift"
    category = "DPC"
    meaning = "every mean drifts linearly at its own rate"
    order = 20
    stream_key = "incremental-drift"

    drift: float = 0.25
    over: Time = "100%"

    def check(self, horizon: int, arms: int) -> None:
        check_nonnegative("drift", self.drift)
        parse_steps("over", self.over, horizon)

    def added_variance(self, horizon: int) -> float:
        drift = self.drift * horizon / parse_steps("over", self.over, horizon)
        return drift * drift / 9.0

    def apply(self, draft: Draft) -> None:
        over = parse_steps("over", self.over, draft.horizon)
        draft.slope = draft.uniform(self.stream_key, -self.drift, self.drift) / over
