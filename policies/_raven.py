"""The time-decaying coefficient of RAVEN-UCB's bonus, for the policies that use its index on other statistics."""

from __future__ import annotations

from math import log, sqrt

from environments.compiled import inlined


@inlined
def coefficient(t, alpha0, epsilon):  # type: ignore[no-untyped-def]
    """c_t = α_t·sqrt(ln(t+1)) with α_t = α₀/ln(t+ε)."""
    return alpha0 * sqrt(log(t + 1.0)) / log(t + epsilon)
