"""Small logs for tests, made from a seed."""

from __future__ import annotations

import numpy as np

from environments.recorded.log_file import Log


def made_log(events: int = 1500, arms: int = 3, seed: int = 1, propensities: bool = False) -> Log:
    """A log of a policy that prefers the first arm, while the last one is the best."""
    rng = np.random.default_rng(seed)
    shares = np.array([2.0] + [1.0] * (arms - 1)) / (arms + 1)
    arm = rng.choice(arms, events, p=shares)
    reward = rng.normal(0.2 + 0.5 * arm / arms, 0.3)
    return Log.from_columns([f"a{k}" for k in arm], reward, shares[arm] if propensities else None)
