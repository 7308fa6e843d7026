"""Index policies: the arm with the largest index is pulled, and the index of an arm rises slowly while it is not.

An index policy states its index once, by three compiled rules:

    coefficient(t, p) -> c                             monotone in t from t = 2 on
    index(k, c, ahead, arms, cells, p) -> index of arm k
    update(t, k, x, open_, arms, cells, memory, p, rng) -> other arm whose index has changed, NONE or EVERY

`index` must not decrease in c. For ahead = LOOKAHEAD it is an upper bound of the index during the next LOOKAHEAD steps
in which the arm is not pulled; c is then the largest coefficient of these steps. It is infinite for an arm that must be
pulled immediately. If the coefficient is not monotone, or NaN, the general loop is used.

`select` follows from these rules. The loop over simulated worlds uses the bounds to skip most scans of the arms: the
leader is pulled as long as its index exceeds the bounds of all others (`policies/engine/loops.py`). All operations in
`index` are monotone in floating-point arithmetic too, so the pulls are exactly those of `select`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, ClassVar

from environments.compiled import inlined, specialize
from policies.engine.base import CLOSED, OPEN, Policy

LOOKAHEAD = 16
"""Steps that a bound holds for: with more the bounds are looser, with fewer they expire sooner."""

NONE, EVERY = -1, -2  # results of `update`: no other index has changed, or all have


@inlined
def is_monotone(c):  # type: ignore[no-untyped-def]
    """Whether coefficients never fall or never rise, from t = 2 on."""
    rising = falling = True
    for t in range(3, c.shape[0]):
        rising = rising and c[t] >= c[t - 1]
        falling = falling and c[t] <= c[t - 1]
    return rising or falling


coefficient: Any = None  # placeholders of `select_by_index`
index: Any = None


def select_by_index(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax of the index over the open arms, lowest index on a tie; −1 if all wait for the reward of a forced pull."""
    c = coefficient(t, p)
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        if open_[k] == CLOSED:
            continue
        score = index(k, c, 0, arms, cells, p)
        if score > best and (open_[k] == OPEN or score < inf):
            best, chosen = score, k
    return chosen


class IndexPolicy(Policy):
    """A policy with the rules `coefficient` and `index`, from which `choose` follows unless given."""

    coefficient: ClassVar[Callable[..., float]]
    index: ClassVar[Callable[..., float]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "choose" not in vars(cls):
            rules = {"coefficient": cls.coefficient, "index": cls.index}
            cls.choose = staticmethod(specialize(select_by_index, cls.name.replace("-", "_"), inline=True, **rules))
