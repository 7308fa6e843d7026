from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from ravenlab.policies import PublishedWLSOptimisticTS
from ravenlab.policies.published.published_wls_optimistic_ts import GONE, ROUGH, SCALE, WINDOW, fit, line, update
from tests.policies.reference import check_against_reference

Floats = np.ndarray[Any, np.dtype[np.float64]]


def system(times: Floats, y: Floats, t: int) -> tuple[Floats, Floats, Floats]:
    """Return the weights, W·X and W·y of an arm's last 50 rewards."""
    times, y = times[-50:], y[-50:]
    w = 0.95 ** (t - times)
    return w, np.column_stack([w, w * times]), w * y


class ReferencePublishedWLSOptimisticTS:
    """U(0, 1) below 2 rewards; else max(p, draw N(p, s²)) of the line that `lstsq` gives."""

    def __init__(self, arms: int, horizon: int, values: Mapping[str, Any], rng: np.random.Generator) -> None:
        self.times: list[list[float]] = [[] for _ in range(arms)]
        self.y: list[list[float]] = [[] for _ in range(arms)]
        self.rng = rng

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        scores = {}
        for k in open_arms:
            times, y = np.array(self.times[k]), np.array(self.y[k])
            if y.size < 2:
                scores[k] = self.rng.random()
                continue
            w, a, b = system(times, y, t)
            c = np.linalg.lstsq(a, b, rcond=None)[0]
            p = float(c[0] + c[1] * t)
            e = y[-50:] - c[0] - c[1] * times[-50:]
            s = max(1e-6, float(np.sqrt(max(0.0, np.sum(w * e**2) / max(np.sum(w) - 2, 1)))))
            scores[k] = max(p, p + s * self.rng.standard_normal())
        return scores

    def learn(self, t: int, k: int, x: float) -> None:
        self.times[k].append(float(t))
        self.y[k].append(x)


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "arm-churn", "blips", "bernoulli"])
def test_matches_reference_implementation(scenario: str) -> None:
    check_against_reference(
        "published-wls-optimistic-ts", ReferencePublishedWLSOptimisticTS, scenario, horizon=400, arms=5, replications=1
    )


def arm(times: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return the arrays of the policy after these pulls of its only arm."""
    sizes = PublishedWLSOptimisticTS.sizes(1, {})
    arms, memory = np.zeros((sizes.rows, 1)), np.zeros(sizes.memory)
    none, open_, rng = np.zeros(0), np.ones(1, dtype=np.int64), np.random.default_rng(0)
    for t, x in zip(times, y, strict=True):
        arms[0, 0] += 1
        update(int(t), 0, x, open_, arms, none, memory, none, rng)
    return arms, memory


def rank_of(idle: int, arms: Floats, memory: Floats) -> int:
    gap = min(idle, GONE)
    return int(fit(0, gap, SCALE, arms, memory) if gap > ROUGH else fit(0, 0, 1.0, arms, memory))


def spacing(kind: str, rng: np.random.Generator) -> Floats:
    """Return steps between pulls: of one scale, of all scales, or dense with one long pause at the end."""
    n = int(rng.integers(2, 70))
    if kind == "even":
        gaps = rng.exponential(10 ** rng.uniform(0, 2.5), n)
    elif kind == "mixed":
        gaps = 10 ** rng.uniform(0, 3.5, n)
    else:
        gaps = np.ones(n)
        gaps[-int(rng.integers(1, min(n, 4) + 1))] = rng.integers(100, 700)
    return np.maximum(1.0, np.floor(gaps))


@pytest.mark.parametrize("kind", ["even", "mixed", "pause"])
@pytest.mark.parametrize(("idle_from", "idle_to"), [(1, 60), (1, 16_000), (13_000, 14_700)])
def test_line_matches_lstsq(kind: str, idle_from: int, idle_to: int) -> None:
    """Rank, p and s agree wherever `lstsq` is well determined.

    It is well determined if it gives the same rank, and p within 1e-6, after the rows are reordered and multiplied by a
    common factor. Mathematically this changes nothing, so any difference is its rounding error.
    """
    rng = np.random.default_rng([idle_from, idle_to, len(kind)])
    determined, ranks = 0, set()
    cases = 100
    for _ in range(cases):
        gaps = spacing(kind, rng)
        idle = int(rng.integers(idle_from, idle_to))
        times = np.cumsum(gaps)
        times += rng.integers(0, max(1, 50_000 - idle - int(times[-1])) if rng.random() < 0.8 else 100)
        y = rng.normal(0.5, 0.3, gaps.size)
        t = int(times[-1]) + idle
        w, a, b = system(times, y, t)
        c, _, rank, _ = np.linalg.lstsq(a, b, rcond=None)
        order, factor = rng.permutation(w.size), 1.3 * 2.0 ** (1000 if idle > ROUGH else 0)
        permuted, _, rank_permuted, _ = np.linalg.lstsq(factor * a[order], factor * b[order], rcond=None)
        p, p_permuted = c[0] + c[1] * t, permuted[0] + permuted[1] * t
        if rank != rank_permuted or abs(p - p_permuted) > 1e-6 * max(1.0, abs(p)):
            continue
        determined += 1
        ranks.add(int(rank))
        e = y[-50:] - c[0] - c[1] * times[-50:]
        s = max(1e-6, np.sqrt(np.sum(w * e**2) / max(np.sum(w) - 2, 1)))
        arms, memory = arm(times, y)
        assert line(0, t, arms, memory) == pytest.approx((p, s), rel=1e-5, abs=1e-5)
        assert rank_of(idle, arms, memory) == rank
    assert determined > 0.9 * cases
    assert ranks >= {1, 2} or kind == "even"
    assert 0 in ranks or idle_to < 14_700


def test_weights_of_idle_arm_underflow() -> None:
    """Near the smallest float64 numbers, w·y is rounded to 0 or w; later all weights are 0."""
    times, y = np.array([100.0, 101.0, 102.0]), np.array([0.2, 0.6, 0.4])
    arms, memory = arm(times, y)
    p_by_rank = {}
    for idle in [*range(13_000, 14_400, 7), *range(14_400, 14_600)]:
        t = 102 + idle
        _w, a, b = system(times, y, t)
        c, _, rank, _ = np.linalg.lstsq(a, b, rcond=None)
        p, s = line(0, t, arms, memory)
        assert p == pytest.approx(c[0] + c[1] * t, rel=1e-6, abs=1e-9), idle
        p_by_rank[int(rank)] = p
    assert set(p_by_rank) == {0, 1, 2}
    assert p_by_rank[0] == 0.0
    assert s == 1e-6


def test_window_holds_50_rewards() -> None:
    rng = np.random.default_rng(3)
    times, y = np.arange(1.0, 121.0), rng.normal(size=120)
    all_pulls, recent = arm(times, y), arm(times[-WINDOW:], y[-WINDOW:])
    assert line(0, 121, *all_pulls) == pytest.approx(line(0, 121, *recent), rel=1e-12)
