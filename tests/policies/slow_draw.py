"""A draw of one of several arms by one uniform number, for twins."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np


def by_share(shares: Mapping[int, float], u: float) -> dict[int, float]:
    """How near u lies to each arm's share of [0, 1], in the arms' order: 0 inside, negative outside."""
    parts = np.array(list(shares.values()))
    ends = np.cumsum(parts)
    begins = ends - parts
    chosen = min(int((ends <= u).sum()), len(parts) - 1)
    return {k: 0.0 if i == chosen else -float(max(begins[i] - u, u - ends[i], 1e-300)) for i, k in enumerate(shares)}
