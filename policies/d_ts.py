"""Thompson sampling with discounting: the posterior given rewards that lose weight by γ a step."""

from __future__ import annotations

from collections.abc import Mapping

from environments.compiled import inlined
from policies.engine.base import Sizes, Value
from policies.engine.discounting import SQUARES, WEIGHT, fade, gamma, take_in
from policies.engine.families import PRIOR, ForgettingTS, seen

GAMMA = 7
"""Place of γ, after the prior."""


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """All arms fade; the pulled one takes in x."""
    fade(WEIGHT, p[GAMMA], arms)
    fade(SQUARES, p[GAMMA], arms)
    take_in(k, seen(x, p), arms)


class DTS(ForgettingTS):
    """Thompson sampling that forgets little by little, so that idle arms are drawn from ever nearer the prior."""

    name = "d-ts"
    reference = "Raj and Kalyani 2017"
    parameters = (*PRIOR, gamma(0.99))
    learn = staticmethod(update)

    @classmethod
    def sizes(cls, arms: int, values: Mapping[str, Value]) -> Sizes:
        return Sizes(rows=4)


POLICY = DTS
