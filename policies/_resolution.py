"""How many pulls tell arms apart that differ by Δ, as improved UCB counts them and CCB after it."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from environments.compiled import inlined


@inlined
def pulls_for(horizon, delta):  # type: ignore[no-untyped-def]
    """n_Δ = ⌈2·ln(TΔ²)/Δ²⌉; a float, since it leaves all whole numbers where Δ goes to nothing."""
    return np.ceil(2.0 * log(horizon * delta * delta) / (delta * delta))


@inlined
def radius(horizon, delta):  # type: ignore[no-untyped-def]
    """r = sqrt(ln(TΔ²)/(2·n_Δ)), half the width of a mean's interval after n_Δ pulls."""
    return sqrt(log(horizon * delta * delta) / (2.0 * pulls_for(horizon, delta)))
