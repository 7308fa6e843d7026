"""Reference implementation of the rewards and means of given worlds, one step at a time."""

import math

from ravenlab.environments.world import BERNOULLI, DELAYED, GRADUAL, GROWTH, SEASON, SLOPE, Worlds


def segment_of(worlds: Worlds, r: int, t: int) -> int:
    """Return the segment of step t."""
    return max(s for s in range(worlds.row.shape[1]) if worlds.starts[r, s] <= t)


def component(worlds: Worlds, r: int, k: int, t: int, new: bool) -> tuple[float, float]:
    """Return mean and variance of one component of arm k at step t."""
    s = segment_of(worlds, r, t)
    column = 2 if new else 0
    mean, variance = worlds.level[r, worlds.row[r, s], k, column : column + 2]
    if not worlds.blip[r, s]:
        slope, growth, sin_weight, cos_weight = worlds.motion[r, k]
        if worlds.kind & SLOPE:
            mean += slope * t
        if worlds.kind & SEASON:
            amplitude, phase = math.hypot(sin_weight, cos_weight), math.atan2(cos_weight, sin_weight)
            mean += amplitude * math.sin(math.atan2(*worlds.season[t % len(worlds.season)]) + phase)
        if worlds.kind & GROWTH:
            variance += growth * t
    if worlds.kind & BERNOULLI:
        mean = min(1.0, max(0.0, mean))
    return float(mean), float(variance)


def rho(worlds: Worlds, r: int, t: int) -> float:
    """Return the share of the new component at step t."""
    if not worlds.kind & GRADUAL or worlds.blip[r, segment_of(worlds, r, t)]:
        return 0.0
    return float(worlds.share[t - 1])


def mean(worlds: Worlds, r: int, k: int, t: int) -> float:
    """Return μ_k(t)."""
    share = rho(worlds, r, t)
    value = (1 - share) * component(worlds, r, k, t, False)[0]
    return value + share * component(worlds, r, k, t, True)[0] if share else value


def open_arms(worlds: Worlds, r: int, t: int) -> list[int]:
    """Return the arms that can be pulled at step t."""
    return [k for k in range(worlds.level.shape[2]) if worlds.opens[r, k] <= t < worlds.closes[r, k]]


def reward(worlds: Worlds, r: int, k: int, t: int) -> float:
    """Return the reward of arm k at step t."""
    new = bool(worlds.kind & GRADUAL) and rho(worlds, r, t) > 0 and worlds.coin[r, t - 1] == 1
    level, variance = component(worlds, r, k, t, new)
    noise = float(worlds.noise[r, t - 1])
    if worlds.kind & BERNOULLI:
        return 1.0 if noise < level else 0.0
    return level + math.sqrt(variance) * noise


class Feedback:
    """Rewards as observed by a policy: immediately, or delayed and in parts."""

    def __init__(self, worlds: Worlds, r: int) -> None:
        self.worlds, self.r = worlds, r
        self.due: dict[int, float] = {}

    def __call__(self, k: int, t: int) -> float:
        value = reward(self.worlds, self.r, k, t)
        if not self.worlds.kind & DELAYED:
            return value
        for part, delay in zip(self.worlds.parts[self.r, t - 1], self.worlds.delay[self.r, t - 1], strict=True):
            self.due[t + int(delay)] = self.due.get(t + int(delay), 0.0) + value * float(part)
        return self.due.pop(t, 0.0)
