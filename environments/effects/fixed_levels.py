"""μ_k and σ²_k are given, not drawn: all replications have the same arms and differ only in noise.

Bounds on the expected regret hold for one fixed problem. Averaged over random problems they are not even finite, since
1/Δ has no mean if gaps are drawn.
"""

from dataclasses import dataclass

from ravenlab.common.errors import InputError
from ravenlab.environments.base import Draft, Effect


@dataclass(frozen=True)
class FixedLevels(Effect):
    """The first level of each arm is fixed.

    >>> from ravenlab.environments.draw import draw_worlds
    >>> from ravenlab.environments.scenario import Scenario
    >>> even = FixedLevels(means=(0.4, 0.6), variances=(0.01, 0.04))
    >>> worlds = draw_worlds(Scenario("two arms", "a small problem", (even,)), 10, 2, seed=1, replications=2)
    >>> worlds.level[:, 0, :, 0].tolist()
    [[0.4, 0.6], [0.4, 0.6]]
    """

    name = "fixed-levels"
    category = "–"
    meaning = "the arms are the same in every world"
    order = 0

    means: tuple[float, ...] = ()
    variances: tuple[float, ...] = ()
    """Ignored if the arms are Bernoulli."""

    def check(self, horizon: int, arms: int) -> None:
        for field, values in (("means", self.means), ("variances", self.variances)):
            if len(values) != arms:
                raise InputError(f"{field} must have one number for each of the {arms} arms but got {len(values)}.")
        if min(self.variances) < 0.0:
            raise InputError(f"variances must be at least 0 but got {min(self.variances)}.")

    def apply(self, draft: Draft) -> None:
        draft.mean[:, 0] = self.means
        draft.variance[:, 0] = self.variances
