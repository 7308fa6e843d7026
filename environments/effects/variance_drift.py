"""σ²_k(t) = σ²_k(0) + γ_k·t with γ_k ~ U(0, growth)/over."""

from dataclasses import dataclass

from ravenlab.common.checks import Time, check_nonnegative, parse_steps
from ravenlab.environments.base import Draft, Effect


@dataclass(frozen=True)
class VarianceDrift(Effect):
    """Variances grow linearly."""

    name = "variance-drift"
    category = "DPC"
    meaning = "every variance grows linearly at its own rate; means are constant"
    order = 20
    stream_key = "variance-drift"
    moves_variance = True

    growth: float = 1.0
    over: Time = "100%"

    def check(self, horizon: int, arms: int) -> None:
        check_nonnegative("growth", self.growth)
        parse_steps("over", self.over, horizon)

    def added_variance(self, horizon: int) -> float:
        return self.growth * horizon / parse_steps("over", self.over, horizon) / 4.0

    def apply(self, draft: Draft) -> None:
        over = parse_steps("over", self.over, draft.horizon)
        draft.growth = draft.uniform(self.stream_key, 0.0, self.growth) / over
