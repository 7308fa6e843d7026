"""μ_k(t) = μ_k(0) + δ_k·t with δ_k ~ U(−drift, drift)/over.

With `direction` = "up" or "down", no mean falls or rises: δ_k ~ ±U(0, drift)/over. An arm that opens later then changes
with its age: its drift begins when it opens.
"""

from dataclasses import dataclass

from ravenlab.common.checks import Time, check_choice, check_nonnegative, parse_steps
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
    direction: str = "both"

    def check(self, horizon: int, arms: int) -> None:
        check_nonnegative("drift", self.drift)
        parse_steps("over", self.over, horizon)
        check_choice("direction", self.direction, ("both", "up", "down"))

    def added_variance(self, horizon: int) -> float:
        drift = self.drift * horizon / parse_steps("over", self.over, horizon)
        return drift * drift * (1.0 / 9.0 if self.direction == "both" else 1.0 / 9.0 - 1.0 / 16.0)

    def apply(self, draft: Draft) -> None:
        over = parse_steps("over", self.over, draft.horizon)
        low = 0.0 if self.direction == "up" else -self.drift
        high = 0.0 if self.direction == "down" else self.drift
        draft.slope = draft.uniform(self.stream_key, low, high) / over
        draft.ages = self.direction != "both"
