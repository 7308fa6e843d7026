"""Each reward is cut into 3 random parts that fall due after delays ~ U{0 … longest}.

The parts are uniform spacings. The policy sees only the sum of what falls due at each step; what
falls due after the horizon is never seen. Regret is as always.
"""

from __future__ import annotations

from dataclasses import dataclass

from environments.base import Draft, Effect
from environments.checks import MAX_STEPS, check_integer


@dataclass(frozen=True)
class Delayed(Effect):
    """Feedback comes late, in pieces and without a name."""

    name = "delayed"
    category = "–"
    meaning = "rewards arrive late, in three parts, summed and anonymous"
    order = 50

    longest: int = 20

    def check(self, horizon: int, arms: int) -> None:
        check_integer("longest", self.longest, least=0, most=MAX_STEPS)

    def apply(self, draft: Draft) -> None:
        draft.longest_delay = self.longest
