"""Each reward is split into 3 random parts that arrive after delays ~ U{0 … longest}.

The parts are uniform spacings. The policy observes only the sum of the parts that arrive at each step; parts that would
arrive after the horizon are lost. Regret is unaffected.
"""

from dataclasses import dataclass

from ravenlab.common.checks import MAX_STEPS, check_integer
from ravenlab.environments.base import Draft, Effect


@dataclass(frozen=True)
class Delayed(Effect):
    """Feedback is delayed, split and anonymous."""

    name = "delayed"
    category = "–"
    meaning = "rewards arrive with a delay, in three parts, summed and anonymous"
    order = 50

    longest: int = 20

    def check(self, horizon: int, arms: int) -> None:
        check_integer("longest", self.longest, least=0, most=MAX_STEPS)

    def apply(self, draft: Draft) -> None:
        draft.longest_delay = self.longest
