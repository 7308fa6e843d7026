"""Thompson sampling on a sliding window: the posterior given the last τ rewards of all arms together."""

from __future__ import annotations

from collections.abc import Mapping

from environments.compiled import inlined
from policies._forgetting_ts import PRIOR, check_range, draw, seen
from policies._window import CELLS, CHANGES, COUNT, MEAN, SQUARES, TAU_BY_CHANGES, push
from policies.base import CLOSED, Policy, Sizes, Value, Values

TAU = 8
"""Place of τ, after the prior and U."""


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax of one draw per open arm."""
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        if open_[k] != CLOSED:
            theta = draw(arms[COUNT, k], arms[MEAN, k], arms[SQUARES, k], p, rng)
            if chosen < 0 or theta > best:
                best, chosen = theta, k
    return chosen


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """The window moves on."""
    push(k, seen(x, p), arms, cells, memory, int(p[TAU]))


class SWTS(Policy):
    """Thompson sampling that forgets: only the last τ rewards count."""

    name = "sw-ts"
    family = "sampling"
    reference = "Trovò, Paladino, Restelli and Gatti 2020"
    parameters = (*PRIOR, CHANGES, TAU_BY_CHANGES)
    random = True
    slow = True
    choose = staticmethod(select)
    learn = staticmethod(update)

    @classmethod
    def sizes(cls, arms: int, values: Mapping[str, Value]) -> Sizes:
        return Sizes(rows=4, cells=CELLS, memory=2 * int(values["tau"]))

    @classmethod
    def check(cls, values: Values) -> None:
        check_range(values)


POLICY = SWTS
