"""A log as a table: one arm is seen a step, so the others' cells are missing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from environments.world import Floats


def log_table(arms: Sequence[str], rewards: Sequence[float]) -> tuple[tuple[str, ...], Floats]:
    """Names of the arms in the order in which they first appear, and values [N, K] for `diagnose`.

    >>> names, values = log_table(["b", "a", "b"], [1.0, 2.0, 3.0])
    >>> names, values.tolist()
    (('b', 'a'), [[1.0, nan], [nan, 2.0], [3.0, nan]])
    """
    names = tuple(dict.fromkeys(arms))
    place = {name: k for k, name in enumerate(names)}
    values = np.full((len(arms), len(names)), np.nan)
    values[np.arange(len(arms)), [place[arm] for arm in arms]] = rewards
    return names, values
