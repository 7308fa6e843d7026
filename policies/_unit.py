"""Rewards on the unit interval: x ↦ clip((x − low)/(high − low), 0, 1), for policies made for [0, 1]."""

from __future__ import annotations

import math

from environments.compiled import inlined
from environments.errors import InputError
from policies.base import Param, Policy, Values

UNIT_PARAMETERS = (
    Param("low", 0.0, least=-math.inf, power=1, meaning="the reward that counts as 0, as do all below"),
    Param("high", 1.0, least=-math.inf, power=1, meaning="the reward that counts as 1, as do all above"),
)


class UnitPolicy(Policy):
    """A policy with UNIT_PARAMETERS among its own: low must be below high."""

    @classmethod
    def check(cls, values: Values) -> None:
        low, high = float(values["low"]), float(values["high"])
        if high <= low:
            raise InputError(f"high must be above low ({low:g}) but got {high:g}.")


@inlined
def to_unit(x, low, high):  # type: ignore[no-untyped-def]
    """clip((x − low)/(high − low), 0, 1)."""
    return min(1.0, max(0.0, (x - low) / (high - low)))
