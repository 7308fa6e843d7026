from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from ravenlab.policies.wls_optimistic_ts import DEVIATION, LEVEL, WLSOptimisticTS
from tests.policies.reference import check_against_reference

Long = np.longdouble
"""A is ill-conditioned for idle arms, so the plain formula needs extended precision."""


def fit(lam: float, n: float, rho: float, t: int, pulls: list[tuple[int, float]]) -> tuple[float, float]:
    """Return b̂₀ and the standard deviation of the draw, from all pulls (step, reward) of the arm."""
    last = pulls[-int(n) :]
    steps, y = np.array([t_i for t_i, _ in last], dtype=Long), np.array([x for _, x in last], dtype=Long)
    w = Long(lam) ** (t - steps)
    x = np.stack([np.ones(len(last), dtype=Long), steps - t], axis=1)
    a = x.T @ (w[:, None] * x) + Long(rho) * np.eye(2, dtype=Long)
    determinant = a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]
    inverse = np.array([[a[1, 1], -a[0, 1]], [-a[1, 0], a[0, 0]]], dtype=Long) / determinant
    b = inverse @ (x.T @ (w * y))
    e = y - x @ b
    s2 = (w * e**2).sum() / max(w.sum() - 2, Long(1))
    variance = s2 * (inverse @ (x.T @ ((w**2)[:, None] * x)) @ inverse)[0, 0]
    return float(b[0]), float(np.sqrt(variance))


class ReferenceWLSOptimisticTS:
    """A full fit of every arm at every step."""

    def __init__(self, arms: int, horizon: int, values: Mapping[str, Any], rng: np.random.Generator) -> None:
        self.values, self.rng = values, rng
        self.pulls: list[list[tuple[int, float]]] = [[] for _ in range(arms)]

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        scores = {}
        for k in open_arms:
            level, deviation = fit(self.values["lam"], self.values["n"], self.values["rho"], t, self.pulls[k])
            scores[k] = max(level, level + deviation * self.rng.standard_normal())
        return scores

    def learn(self, t: int, k: int, x: float) -> None:
        self.pulls[k].append((t, x))


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "incremental-drift", "arm-churn", "bernoulli"])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"lam": 0.9999, "n": 10},
        {"lam": 0.7, "n": 500},
        {"lam": 1.0, "n": 3, "rho": 1.0},
        {"n": 1},
        {"n": 2, "rho": 1e-6},
    ],
)
def test_matches_reference_implementation(scenario: str, params: dict[str, Any]) -> None:
    check_against_reference(
        "wls-optimistic-ts", ReferenceWLSOptimisticTS, scenario, horizon=300, arms=4, params=params, replications=1
    )


@pytest.mark.parametrize("lam", [0.0, 0.7, 0.99, 1.0])
def test_idle_arm_stays_finite(lam: float) -> None:
    policy = WLSOptimisticTS(2, seed=1, lam=lam)
    for step in range(60):
        policy.update(0, 0.5 + 0.01 * step)
    for _ in range(9000):
        policy.update(1, 0.1)
    assert np.isfinite(policy._stats).all()
    assert policy.select() in (0, 1)
    policy.update(0, 0.5)
    assert np.isfinite(policy._stats).all()
    assert policy.select() in (0, 1)


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize(("lam", "n"), [(0.99, 50), (0.9999, 200), (0.8, 10)])
def test_incremental_fit_matches_full_fit(lam: float, n: int, offset: float) -> None:
    rng = np.random.default_rng(9)
    policy = WLSOptimisticTS(3, n=n, lam=lam)
    pulls: list[list[tuple[int, float]]] = [[], [], []]
    t = 0
    for _ in range(40):
        for _ in range(int(rng.integers(1, 120))):
            t += 1
            k = int(rng.choice(3, p=[0.7, 0.29, 0.01]))
            pulls[k].append((t, offset + float(rng.normal(0.5 + 0.001 * t, 0.3))))
            policy.update(k, pulls[k][-1][1])
        if not all(pulls):
            continue
        policy.select()
        t += 1
        policy._pending[:] = 0
        for k in range(3):
            level, deviation = fit(lam, n, 1e-3, t, pulls[k])
            tolerance = 1e-9 * max(1.0, offset**0.5)
            assert policy._stats[LEVEL, k] == pytest.approx(level, rel=1e-11, abs=tolerance)
            assert policy._stats[DEVIATION, k] == pytest.approx(deviation, rel=1e-9, abs=tolerance)
