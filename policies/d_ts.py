"""Thompson sampling with discounting: the posterior given rewards that lose weight by γ a step."""

from __future__ import annotations

from collections.abc import Mapping

from environments.compiled import inlined
from policies._discount import MEAN, SQUARES, WEIGHT, fade, gamma, take_in
from policies._forgetting_ts import PRIOR, check_range, draw, seen
from policies.base import CLOSED, Policy, Sizes, Value, Values

GAMMA = 7
"""Place of γ, after the prior."""


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax of one draw per open arm."""
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        if open_[k] != CLOSED:
            theta = draw(arms[WEIGHT, k], arms[MEAN, k], arms[SQUARES, k], p, rng)
            if chosen < 0 or theta > best:
                best, chosen = theta, k
    return chosen


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """All arms fade; the pulled one takes in x."""
    fade(WEIGHT, p[GAMMA], arms)
    fade(SQUARES, p[GAMMA], arms)
    take_in(k, seen(x, p), arms)


class DTS(Policy):
    """Thompson sampling that forgets little by little, so that idle arms are drawn from ever nearer the prior."""

    name = "d-ts"
    family = "sampling"
    reference = "Raj and Kalyani 2017"
    parameters = (*PRIOR, gamma(0.99))
    random = True
    slow = True
    choose = staticmethod(select)
    learn = staticmethod(update)

    @classmethod
    def sizes(cls, arms: int, values: Mapping[str, Value]) -> Sizes:
        return Sizes(rows=4)

    @classmethod
    def check(cls, values: Values) -> None:
        check_range(values)


POLICY = DTS
