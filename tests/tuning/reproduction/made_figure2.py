"""Made-up findings of Figure 2, for what is computed and drawn from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tuning.reproduction.context import RunContext
from tuning.reproduction.figure2 import run as runs


def made(context: RunContext) -> dict[str, Any]:
    """Pieces as they would be found if the reduction climbed from 20 to 90 %."""
    rng = np.random.default_rng(1)
    times, count = list(runs.load_studies()), runs.count_repeats(context)
    baseline = [[1.0] * count for _ in times]
    found: dict[str, Any] = {"figure2/published/ucb1": {"selection": baseline, "held_out": baseline}}
    level = dict(zip([*times, *runs.LONGER_HORIZONS], np.linspace(0.8, 0.1, 27), strict=True))
    for horizon in times:
        own = level[horizon] + 0.01 * rng.normal(size=count)
        found[f"figure2/published/T{horizon}"] = {
            "selection": own.tolist(),
            "held_out": (own + 0.02).tolist(),
            "winners": [],
        }
    for group in runs.group_horizons():
        worlds = runs.count_held_out(context, group[-1])
        ones = np.ones((len(group), worlds)).tolist()
        found[f"figure2/defined/ucb1-to-T{group[-1]}"] = {"regrets": ones}
        for horizon in group:
            raven = level[horizon] + 0.1 * rng.normal(size=worlds)
            found[f"figure2/defined/T{horizon}"] = {
                "raven-ucb": {"params": {"alpha0": 1.0, "beta0": 1.0, "epsilon": 0.1}, "regrets": raven.tolist()},
                "ucb1": {"params": {"c": 0.1}, "regrets": (raven + 0.05).tolist()},
            }
    return found
