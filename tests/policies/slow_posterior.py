"""One posterior draw of an arm's mean from weights and rewards, as all Thompson policies define it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from environments.world import Floats
from policies.engine.posterior import draw_beta


def slow_draw(w: Floats, x: Floats, values: Mapping[str, Any], rng: np.random.Generator) -> float:
    """θ of one arm; no weight at all means the prior."""
    n = float(np.sum(w))
    if values["likelihood"] == "bernoulli":
        z = np.clip((x - values["low"]) / (values["high"] - values["low"]), 0.0, 1.0)
        return float(draw_beta(1.0 + float(np.sum(w * z)), 1.0 + float(np.sum(w * (1.0 - z))), rng))
    mean = float(np.average(x, weights=w)) if n > 0.0 else 0.0
    squares = float(np.sum(w * (x - mean) ** 2))
    mu0, kappa0, a0, b0 = (values[name] for name in ("mu0", "kappa0", "a0", "b0"))
    kappa = kappa0 + n
    mu = (kappa0 * mu0 + n * mean) / kappa
    b = b0 + squares / 2 + kappa0 * n * (mean - mu0) ** 2 / (2 * kappa)
    variance = b / rng.standard_gamma(a0 + n / 2)
    return float(mu + math.sqrt(variance / kappa) * rng.standard_normal())
