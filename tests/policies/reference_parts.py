"""Parts of reference implementations: reward history, weighted draws, EXP3 weights, posteriors and restarts."""

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from ravenlab.environments.world import Floats
from ravenlab.policies.engine.base import Policy
from ravenlab.policies.engine.posterior import draw_beta


class History:
    """All pulls in order; statistics are computed from scratch."""

    def __init__(self) -> None:
        self.pulls: list[tuple[int, float]] = []
        self.by_arm: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)

    def add(self, k: int, x: float) -> None:
        self.by_arm[k].append((len(self.pulls), x))
        self.pulls.append((k, x))

    def window(self, k: int, tau: float) -> list[float]:
        """Return the rewards of arm k among the last τ of all arms."""
        return [x for arm, x in self.pulls[-int(tau) :] if arm == k]

    def weighted(self, k: int, gamma: float) -> tuple[Floats, Floats]:
        """Return weights γ^(steps since) and rewards of arm k; the most recent pull has weight 1."""
        steps = np.array([step for step, _ in self.by_arm[k]])
        return gamma ** (len(self.pulls) - 1.0 - steps), np.array([x for _, x in self.by_arm[k]])


class ReferenceBase:
    """Base class of reference implementations that decide from all rewards so far."""

    def __init__(self, arms: int, horizon: int, values: Mapping[str, Any], rng: np.random.Generator) -> None:
        self.values, self.rng = values, rng
        self.rewards: list[list[float]] = [[] for _ in range(arms)]
        self.history = History()

    def learn(self, t: int, k: int, x: float) -> None:
        self.rewards[k].append(x)
        self.history.add(k, x)


def scores_by_share(shares: Mapping[int, float], u: float) -> dict[int, float]:
    """Return scores for a uniform u: 0 if u is in the arm's share of [0, 1], else minus the distance to it."""
    parts = np.array(list(shares.values()))
    ends = np.cumsum(parts)
    begins = ends - parts
    chosen = min(int((ends <= u).sum()), len(parts) - 1)
    return {k: 0.0 if i == chosen else -float(max(begins[i] - u, u - ends[i], 1e-300)) for i, k in enumerate(shares)}


class RelativeWeights:
    """EXP3 weights relative to the average of the open arms; closed arms keep theirs, new arms start with 1."""

    def __init__(self, arms: int) -> None:
        self.multiple = [1.0] * arms
        self.open: list[int] = []

    def shares(self, open_arms: list[int]) -> dict[int, float]:
        """Return w/W of the open arms."""
        self.normalize([k for k in self.open if k in open_arms])
        self.open = list(open_arms)
        total = sum(self.multiple[k] for k in open_arms)
        return {k: self.multiple[k] / total for k in open_arms}

    def normalize(self, arms: list[int]) -> None:
        if arms:
            average = float(np.mean([self.multiple[k] for k in arms]))
            for k in arms:
                self.multiple[k] /= average


class ReferenceEXP3:
    """p = (1−γ)w/W + γ/K, w ← w·exp(γ·x̂/K); pulls without a draw change no weight."""

    def __init__(self, arms: int, horizon: int, values: Mapping[str, Any], rng: np.random.Generator) -> None:
        self.values, self.rng = values, rng
        self.weights = RelativeWeights(arms)
        self.p: dict[int, float] | None = None

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        gamma = self.values["gamma"]
        shares = self.weights.shares(open_arms)
        self.p = {k: (1 - gamma) * share + gamma / len(open_arms) for k, share in shares.items()}
        return scores_by_share(self.p, self.rng.random())

    def learn(self, t: int, k: int, x: float) -> None:
        if self.p is None:
            return
        low, high = self.values["low"], self.values["high"]
        estimate = float(np.clip((x - low) / (high - low), 0, 1)) / self.p[k]
        self.grow(k, float(np.exp(self.values["gamma"] * estimate / len(self.p))))
        self.weights.normalize(self.weights.open)
        self.p = None

    def grow(self, k: int, factor: float) -> None:
        self.weights.multiple[k] *= factor


def draw_posterior_mean(w: Floats, x: Floats, values: Mapping[str, Any], rng: np.random.Generator) -> float:
    """Draw θ of one arm given weights and rewards; without weight, from the prior."""
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


def divergence(m: float, q: float) -> float:
    """Return d(m, q) of two Bernoulli distributions, with 0·ln 0 = 0."""
    if q in (0.0, 1.0):
        return 0.0 if m == q else math.inf
    first = m * math.log(m / q) if m > 0 else 0.0
    return first + ((1 - m) * math.log((1 - m) / (1 - q)) if m < 1 else 0.0)


def bisect_bound(m: float, level: float) -> float:
    """Return the largest q with d(m, q) ≤ level."""
    low, high = m, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if divergence(m, middle) <= level else (low, middle)
    return low


class ReferenceRestart(ReferenceBase):
    """Rewards of each arm since its restart, as lists."""

    alarms = 0

    def __init__(self, arms: int, horizon: int, values: Mapping[str, Any], rng: np.random.Generator) -> None:
        super().__init__(arms, horizon, values, rng)
        self.restarted = [0] * arms

    def unit(self, x: float) -> float:
        low, high = self.values["low"], self.values["high"]
        return float(np.clip((x - low) / (high - low), 0.0, 1.0))

    def restart(self, t: int, arms: list[int]) -> None:
        type(self).alarms += 1
        for k in arms:
            self.rewards[k], self.restarted[k] = [], t

    def restarted_arm(self, open_arms: list[int]) -> int | None:
        return next((k for k in open_arms if not self.rewards[k]), None)


def forced_arm(step: int, open_arms: list[int], rate: float) -> int | None:
    """Return the open arms in turn at the start of every ⌈K/rate⌉ steps, counted from 1."""
    if rate == 0:
        return None
    position = (step - 1) % math.ceil(len(open_arms) / rate)
    return open_arms[position] if position < len(open_arms) else None


def rewards_until_alarm(policy: Policy, arm: int, rewards: list[float]) -> int | None:
    """Return the number of rewards until the statistics of the arm are cleared, or None."""
    for i, x in enumerate(rewards):
        policy.update(arm, x)
        if policy.state()["stats"][1][arm] == 0.0:
            return i + 1
    return None
