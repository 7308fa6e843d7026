"""μ_k(t) = μ_k(0) + W_k(t), where W_k is a Gaussian random walk: a restless bandit.

W_k is constant in each of S = min(segments, T) segments of nearly equal length: segment j (from 0) starts at step
1 + ⌊j·T/S⌋. W_k starts at 0 and adds an independent N(0, deviation²·T/(over·S)) at the start of every later segment, so
that its standard deviation after t steps is about deviation·√(t/over), whatever the number of segments. It has no
bounds.
"""

import math
from dataclasses import dataclass

import numpy as np

from ravenlab.common.checks import Time, check_integer, check_nonnegative, parse_steps
from ravenlab.environments.base import Draft, Effect

MAX_SEGMENTS = 1000


@dataclass(frozen=True)
class RandomWalk(Effect):
    """Means follow independent random walks."""

    name = "random-walk"
    category = "–"
    meaning = "every mean follows its own random walk"
    order = 20
    stream_key = "random-walk"
    moves_levels = True

    deviation: float = 0.25
    over: Time = "100%"
    segments: int = MAX_SEGMENTS

    def rows(self, horizon: int) -> int:
        return min(self.segments, horizon)

    def check(self, horizon: int, arms: int) -> None:
        check_nonnegative("deviation", self.deviation)
        parse_steps("over", self.over, horizon)
        check_integer("segments", self.segments, least=1, most=MAX_SEGMENTS)

    def added_variance(self, horizon: int) -> float:
        return self.deviation * self.deviation * horizon / parse_steps("over", self.over, horizon) / 2.0

    def apply(self, draft: Draft) -> None:
        count = min(self.segments, draft.horizon)
        over = parse_steps("over", self.over, draft.horizon)
        scale = self.deviation * math.sqrt(draft.horizon / (over * count))
        offsets = np.zeros((draft.replications, count, draft.arms))
        # Arm by arm, so that an extra arm does not change the others.
        steps = scale * draft.normals(self.stream_key, draft.arms, count - 1)
        offsets[:, 1:] = np.cumsum(steps, axis=2).transpose(0, 2, 1)
        draft.walk = 1 + np.arange(count) * draft.horizon // count, offsets
