"""μ_k and σ²_k are given, not drawn: every replication plays the same arms, and only the noise differs.

A bound on the expected regret is about one fixed problem. Averaged over drawn ones it would not even be finite, since
1/Δ has no mean where gaps are drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

from environments.base import Draft, Effect
from environments.errors import InputError


@dataclass(frozen=True)
class FixedLevels(Effect):
    """The arms of the first level, one by one.

    >>> from environments.draw import draw_worlds
    >>> from environments.scenario import Scenario
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
    """Not looked at where the arms are Bernoulli."""

    def check(self, horizon: int, arms: int) -> None:
        for field, values in (("means", self.means), ("variances", self.variances)):
            if len(values) != arms:
                raise InputError(f"{field} must have a number for each of {arms} arms but got {len(values)}.")
        if min(self.variances) < 0.0:
            raise InputError(f"variances must not be below 0 but got {min(self.variances)}.")

    def apply(self, draft: Draft) -> None:
        draft.mean[:, 0], draft.variance[:, 0] = self.means, self.variances
