"""Thompson sampling on a sliding window: the posterior given the last τ rewards of all arms together."""

from __future__ import annotations

from collections.abc import Mapping

from environments.compiled import inlined
from policies.engine.base import Sizes, Value
from policies.engine.families import PRIOR, ForgettingTS, seen
from policies.engine.rules import CHANGES
from policies.engine.window import CELLS, TAU_BY_CHANGES, push

TAU = 8
"""Place of τ, after the prior and U."""


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """The window moves on."""
    push(k, seen(x, p), arms, cells, memory, int(p[TAU]))


class SWTS(ForgettingTS):
    """Thompson sampling that forgets: only the last τ rewards count."""

    name = "sw-ts"
    reference = "Trovò, Paladino, Restelli and Gatti 2020"
    parameters = (*PRIOR, CHANGES, TAU_BY_CHANGES)
    learn = staticmethod(update)

    @classmethod
    def sizes(cls, arms: int, values: Mapping[str, Value]) -> Sizes:
        return Sizes(rows=4, cells=CELLS, memory=2 * int(values["tau"]))


POLICY = SWTS
