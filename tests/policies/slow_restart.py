"""What the twins of the policies that notice changes share: all rewards since a restart, in lists."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from policies.engine.base import Policy


class SlowRestart:
    """Rewards of each arm since its restart, and the arm that is forced at a step."""

    alarms = 0

    def __init__(self, arms: int, horizon: int, values: Mapping[str, Any], rng: np.random.Generator) -> None:
        self.values, self.rng = values, rng
        self.rewards: list[list[float]] = [[] for _ in range(arms)]
        self.restarted = [0] * arms

    def unit(self, x: float) -> float:
        low, high = self.values["low"], self.values["high"]
        return float(np.clip((x - low) / (high - low), 0.0, 1.0))

    def restart(self, t: int, arms: list[int]) -> None:
        type(self).alarms += 1
        for k in arms:
            self.rewards[k], self.restarted[k] = [], t

    def unknown(self, open_arms: list[int]) -> int | None:
        return next((k for k in open_arms if not self.rewards[k]), None)


def forced(step: int, open_arms: list[int], rate: float) -> int | None:
    """The open arms in turn at the beginning of every ⌈K/rate⌉ steps, which are counted from 1."""
    if rate == 0:
        return None
    place = (step - 1) % math.ceil(len(open_arms) / rate)
    return open_arms[place] if place < len(open_arms) else None


def rewards_until_alarm(policy: Policy, arm: int, rewards: list[float]) -> int | None:
    """How many of the rewards the arm takes before all that is known of it is forgotten."""
    for i, x in enumerate(rewards):
        policy.update(arm, x)
        if policy.state()["stats"][1][arm] == 0.0:
            return i + 1
    return None
