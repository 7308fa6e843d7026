"""The variants of the paper's logistics script, compared with reference implementations.

`published-wls-optimistic-ts` has a module of its own.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest

from ravenlab.common.errors import InputError
from ravenlab.policies import PublishedCCB, PublishedUCBImp, find_policy
from ravenlab.policies.engine.posterior import draw_beta
from tests.policies.reference import Reference, check_against_reference
from tests.policies.reference_parts import ReferenceBase


def accumulated(rewards: list[float]) -> float:
    """Return Σ (x_n − m_{n−1})(x_n − m_n)/(n − 1) over n > 1."""
    x, n = np.array(rewards), np.arange(1, len(rewards) + 1)
    mean = np.cumsum(x) / n
    return float(np.sum((x[1:] - mean[:-1]) * (x[1:] - mean[1:]) / (n[1:] - 1)))


class ReferencePublishedRavenUCB(ReferenceBase):
    """m + 0.5/ln(t + 1e-6)·sqrt(ln t/(N+1)) + sqrt(S²/(N+1) + 1e-6), S² accumulated."""

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        scores = {}
        for k in open_arms:
            n = len(self.rewards[k])
            decaying = 0.5 / math.log(t + 1e-6) * math.sqrt(math.log(t) / (n + 1))
            spread = math.sqrt(accumulated(self.rewards[k]) / (n + 1) + 1e-6)
            scores[k] = float(np.mean(self.rewards[k])) + decaying + spread
        return scores


class ReferencePublishedUCB1(ReferenceBase):
    """m + sqrt(2·ln t / (N+1))."""

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        return {
            k: float(np.mean(self.rewards[k])) + math.sqrt(2 * math.log(t) / (len(self.rewards[k]) + 1))
            for k in open_arms
        }


class ReferencePublishedUCBV(ReferenceBase):
    """m + sqrt(S²)·sqrt(2·ln t / (N+1)) + 3·ln t / (N+1) with S² = Σ (x_n − m_{n−1})(x_n − m_n)/(n − 1)."""

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        scores = {}
        for k in open_arms:
            deviation = math.sqrt(max(0.0, accumulated(self.rewards[k])))
            rate = math.log(t) / (len(self.rewards[k]) + 1)
            scores[k] = float(np.mean(self.rewards[k])) + deviation * math.sqrt(2 * rate) + 3 * rate
        return scores


class ReferencePublishedEpsilonGreedy(ReferenceBase):
    """With probability 0.1 any open arm, uniformly; else argmax m."""

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float] | int:
        if self.rng.random() < 0.1:
            return open_arms[int(self.rng.random() * len(open_arms))]
        return {k: float(np.mean(self.rewards[k])) for k in open_arms}


class ReferencePublishedCCB(ReferenceBase):
    """m + (Δ/2)·sqrt(sqrt(T/(N + 1e-6))); after a pull with N ≥ M: Δ ← Δ/2, then M ← M + ⌈2·ln(TΔ²)/Δ²⌉."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.horizon = self.values["horizon"]
        self.delta, self.enough = 1.0, 0

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        scores = {}
        for k in open_arms:
            n = len(self.rewards[k])
            bonus = self.delta / 2 * math.sqrt(math.sqrt(self.horizon / (n + 1e-6)))
            scores[k] = float(np.mean(self.rewards[k])) + bonus
        return scores

    def learn(self, t: int, k: int, x: float) -> None:
        super().learn(t, k, x)
        if len(self.rewards[k]) >= self.enough and self.delta >= 1e-150:
            self.delta /= 2
            self.enough += math.ceil(2 * math.log(self.horizon * self.delta**2) / self.delta**2)


class ReferencePublishedUCBImp(ReferenceBase):
    """A random active arm; when all active ones have n_m pulls, drop those with m + r < max(m − r)."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.horizon = self.values["horizon"]
        self.round = 0
        self.last_round = math.floor(0.5 * math.log2(self.horizon / math.e))
        self.dropped: set[int] = set()

    def decide(self, t: int, open_arms: list[int]) -> int:
        self.dropped &= set(open_arms)
        if self.dropped == set(open_arms):
            self.dropped = set()
        active = [k for k in open_arms if k not in self.dropped]
        if self.round <= self.last_round:
            delta = 2.0**-self.round
            logarithm = math.log(self.horizon * delta**2)
            enough = math.ceil(2 * logarithm / delta**2)
            if all(len(self.rewards[k]) >= enough for k in active):
                r = math.sqrt(logarithm / (2 * enough))
                mean = {k: float(np.mean(self.rewards[k])) for k in active}
                self.dropped |= {k for k in active if mean[k] + r < max(mean.values()) - r}
                self.round += 1
                active = [k for k in open_arms if k not in self.dropped]
        return active[int(self.rng.random() * len(active))]


class ReferencePublishedThompson(ReferenceBase):
    """The largest draw of Beta(1 + Σz, 1 + Σ(1−z))."""

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        scores = {}
        for k in open_arms:
            a = max(1e-6, 1 + sum(self.rewards[k]))
            b = max(1e-6, 1 + sum(1 - z for z in self.rewards[k]))
            scores[k] = draw_beta(a, b, self.rng)
        return scores


class ReferencePublishedFDSWTS:
    """Each step all a, b ← γ·(a, b); θ = min of two draws from Beta(a, b); the pulled arm adds z, 1 − z."""

    def __init__(self, arms: int, horizon: int, values: Mapping[str, Any], rng: np.random.Generator) -> None:
        self.gamma, self.rng = values["gamma"], rng
        self.a, self.b = [1.0] * arms, [1.0] * arms
        self.discounted = 0

    def discount(self, t: int) -> None:
        while self.discounted < t:
            self.a, self.b = [self.gamma * a for a in self.a], [self.gamma * b for b in self.b]
            self.discounted += 1

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        self.discount(t)
        scores: dict[int, float] = {}
        for k in open_arms:
            best = max(scores.values(), default=-1.0)
            if best == 1.0:
                break  # no score can be larger, so no more is drawn
            a, b = self.a[k], self.b[k]
            if a + b < 1e-13:
                scores[k] = float(self.rng.random() < (a / (a + b)) ** 2)
                continue
            scores[k] = draw_beta(a, b, self.rng)
            if scores[k] > best:  # otherwise the minimum of two draws is not the largest either
                scores[k] = min(scores[k], draw_beta(a, b, self.rng))
        return scores

    def learn(self, t: int, k: int, x: float) -> None:
        self.discount(t)
        self.a[k] += x
        self.b[k] += 1 - x


class Case(NamedTuple):
    """A reference implementation with the worlds and the parameters in which a policy is compared with it."""

    reference: type[Reference]
    horizon: int
    arms: int
    params: tuple[Mapping[str, float], ...] = ({},)
    scenarios: tuple[str, ...] = ("stationary", "localized-jump", "arm-churn", "blips", "bernoulli")
    tied: tuple[str, ...] = ("bernoulli",)
    """Scenarios in which scores may tie."""


DRIFT = ("stationary", "gradual-drift", "arm-churn", "blips", "bernoulli")
CASES = {
    "published-raven-ucb": Case(ReferencePublishedRavenUCB, 300, 5),
    "published-ucb1": Case(ReferencePublishedUCB1, 500, 6),
    "published-ucb-v": Case(ReferencePublishedUCBV, 400, 6),
    "published-epsilon-greedy": Case(ReferencePublishedEpsilonGreedy, 500, 6, scenarios=DRIFT),
    "published-ccb": Case(ReferencePublishedCCB, 800, 5, ({}, {"horizon": 20.0}, {"horizon": 1.0}, {"horizon": 1e6})),
    "published-ucb-imp": Case(ReferencePublishedUCBImp, 800, 5, ({}, {"horizon": 30.0}, {"horizon": 1.0})),
    "published-thompson": Case(ReferencePublishedThompson, 500, 5, scenarios=(*DRIFT, "delayed"), tied=()),
    "published-f-dsw-ts": Case(
        ReferencePublishedFDSWTS,
        600,
        6,
        ({"gamma": 0.99}, {"gamma": 0.9}, {"gamma": 0.5}),
        ("stationary", "localized-jump", "arm-churn", "blips", "bernoulli", "delayed"),
        tied=("bernoulli", "delayed"),
    ),
}


@pytest.mark.parametrize(
    ("name", "scenario"), [(name, world) for name, case in CASES.items() for world in case.scenarios]
)
def test_matches_reference_implementation(name: str, scenario: str) -> None:
    case = CASES[name]
    for params in case.params:
        ties = check_against_reference(
            name, case.reference, scenario, horizon=case.horizon, arms=case.arms, params=params
        )
        assert ties == 0 or scenario in case.tied, params


def test_state_stays_finite_when_the_deadline_decreases() -> None:
    """With a horizon of 1, every pull halves Δ until it vanishes."""
    policy = PublishedCCB(arms=2, horizon=1)
    for _ in range(3000):
        policy.update(policy.select(), 0.5)
    assert np.isfinite(policy.state()["cells"]).all()
    assert 0 < policy.state()["cells"][0] < 1e-150


def test_all_arms_become_active_when_the_last_active_arm_closes() -> None:
    policy = PublishedUCBImp(arms=3, seed=1, horizon=2000)
    pulled = []
    for _ in range(2000):
        pulled.append(policy.select())
        policy.update(pulled[-1], [0.0, 1.0, 0.0][pulled[-1]])
    assert set(pulled[-500:]) == {1}
    policy.close(1)
    assert {policy.select() for _ in range(50)} == {0, 2}
    policy.open(1)
    assert {policy.select() for _ in range(50)} == {0, 1, 2}


def test_small_beta_parameters_give_a_bernoulli_draw() -> None:
    """Just above the limit all draws are 0 or 1, in the ratio of a and b."""
    rng = np.random.default_rng(5)
    draws = np.array([draw_beta(1.5e-13, 0.5e-13, rng) for _ in range(4000)])
    assert set(draws) == {0.0, 1.0}
    assert abs(draws.mean() - 0.75) < 5 * np.sqrt(0.75 * 0.25 / draws.size)


@pytest.mark.parametrize("name", ["published-f-dsw-ts", "published-thompson"])
def test_rejects_online_use(name: str) -> None:
    with pytest.raises(InputError, match=name):
        find_policy(name)(arms=2)
