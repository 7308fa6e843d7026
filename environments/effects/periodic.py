"""μ_k(t) = μ_k(0) + A_k·sin(2πt/period + φ_k) with A_k ~ U(0, amplitude), φ_k ~ U(0, 2π).

The season is evaluated at t mod period, so that it repeats exactly. With `common` = "phase" all arms have the same φ,
as in a daily cycle, and with "cycle" the same A as well, so that their differences are constant.
"""

import math
from dataclasses import dataclass

from ravenlab.common.checks import Time, check_choice, check_nonnegative, parse_steps
from ravenlab.environments.base import Draft, Effect


@dataclass(frozen=True)
class Periodic(Effect):
    """Means oscillate, each arm with its own amplitude and phase."""

    name = "periodic"
    category = "PC"
    meaning = "every mean oscillates around its level with a common period"
    order = 20
    onset = "period"
    amplitude_stream_key = "periodic amplitude"
    phase_stream_key = "periodic phase"

    amplitude: float = 0.25
    period: Time = "20%"
    common: str = "nothing"

    def check(self, horizon: int, arms: int) -> None:
        check_nonnegative("amplitude", self.amplitude)
        parse_steps("period", self.period, horizon)
        check_choice("common", self.common, ("nothing", "phase", "cycle"))

    def added_variance(self, horizon: int) -> float:
        return self.amplitude * self.amplitude / 6.0

    def apply(self, draft: Draft) -> None:
        draft.period = parse_steps("period", self.period, draft.horizon)
        draft.amplitude = draft.uniform(self.amplitude_stream_key, 0.0, self.amplitude)
        draft.phase = draft.uniform(self.phase_stream_key, 0.0, 2.0 * math.pi)
        if self.common != "nothing":
            draft.phase[:] = draft.phase[:, :1]
        if self.common == "cycle":
            draft.amplitude[:] = draft.amplitude[:, :1]
