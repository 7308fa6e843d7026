"""Fixed problems for the regret bounds, what the paper claims of them, and who plays.

A bound on the expected regret is about one problem, so arms are the same in every replication and only noise differs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from environments.effects.fixed_levels import FixedLevels
from environments.noise import DEFAULT_NOISE
from environments.scenario import Scenario
from policies.base import Value

HORIZON = 1_000_000
DECADES = tuple(10**power for power in range(1, 7))
"""Steps between which regret per step is measured."""

FURTHEST = 1e15
"""Beyond this T nobody asks whether a tail meets a bound."""

MARKS = tuple(sorted({round(10 ** (quarter / 4)) for quarter in range(4, 25)}))
"""Steps at which the curve is kept: four a decade."""

SEVERAL = 160
"""Replications of RAVEN-UCB at the usual precision: few of them have a tail, and these must be counted."""

CONTROLS = 60
"""Replications of the policies beside it, whose regret hardly varies."""


@dataclass(frozen=True)
class Problem:
    """Arms that never change."""

    name: str
    title: str
    means: tuple[float, ...]
    variances: tuple[float, ...]
    noise: str = DEFAULT_NOISE

    @property
    def arms(self) -> int:
        """K."""
        return len(self.means)

    @property
    def gaps(self) -> list[float]:
        """Δ_k of every arm; 0 for the best."""
        return [max(self.means) - mean for mean in self.means]

    @property
    def smallest_gap(self) -> float:
        """Δ: what a step costs at least that does not pull the best arm."""
        return min(gap for gap in self.gaps if gap > 0.0)

    def scenario(self) -> Scenario:
        """What is played."""
        return Scenario(self.name, self.title, (FixedLevels(self.means, self.variances),), noise=self.noise)


def _even(low: float, high: float, count: int) -> tuple[float, ...]:
    return tuple(float(f"{value:.12g}") for value in np.linspace(low, high, count))


_THETA = _even(0.8, 0.95, 10)

PROBLEMS = {
    problem.name: problem
    for problem in (
        Problem("gaussian", "ten Gaussian arms", _even(0.3, 0.8, 10), _even(0.01, 0.09, 10)),
        Problem("bernoulli", "ten Bernoulli arms", _THETA, tuple(p * (1.0 - p) for p in _THETA), "bernoulli"),
        Problem("two-arms", "two Gaussian arms", (0.5, 0.6), (0.09, 0.09)),
    )
}


@dataclass(frozen=True)
class Player:
    """A policy with its parameters."""

    name: str
    title: str
    policy: str
    params: Mapping[str, Value]
    replications: int
    protocols: tuple[str, ...]
    """Under which protocols it is played."""


BOTH = ("published", "defined")
PLAYERS = {
    player.name: player
    for player in (
        Player(
            "raven-published",
            "RAVEN-UCB, α₀ 0.5, β₀ 1, ε 10⁻⁶",
            "raven-ucb",
            {"alpha0": 0.5, "beta0": 1.0, "epsilon": 1e-6},
            SEVERAL,
            ("published",),
        ),
        Player(
            "raven-defined",
            "RAVEN-UCB, α₀ 1, β₀ 1, ε 0.1",
            "raven-ucb",
            {"alpha0": 1.0, "beta0": 1.0, "epsilon": 0.1},
            SEVERAL,
            ("defined",),
        ),
        Player("ucb1", "UCB1", "ucb1", {}, CONTROLS, BOTH),
        Player("ucb-v", "UCB-V", "ucb-v", {}, CONTROLS, BOTH),
    )
}
"""RAVEN-UCB with the parameters that the paper's own comparison ran, and with ours; the unbiased variance for both,
which is the proof's."""


def gap_dependent(problem: Problem, horizon: float) -> float:
    """The paper's bound from its appendix: the sum of 16·σ²·ln T / Δ over the arms but the best.

    >>> round(gap_dependent(PROBLEMS["two-arms"], 1_000_000), 1)
    198.9
    """
    pairs = zip(problem.variances, problem.gaps, strict=True)
    return sum(16.0 * variance * log(horizon) / gap for variance, gap in pairs if gap > 0.0)


def gap_independent(problem: Problem, horizon: float) -> float:
    """The paper's bound that knows no gaps, with its appendix's constant: sqrt(4·σ²max·K·T·ln T).

    >>> round(gap_independent(PROBLEMS["two-arms"], 1_000_000))
    3154
    """
    return sqrt(4.0 * max(problem.variances) * problem.arms * horizon * log(horizon))


def of_ucb1(problem: Problem, horizon: float) -> float:
    """Theorem 1 of Auer, Cesa-Bianchi and Fischer 2002: 8·Σ ln T / Δ + (1 + π²/3)·Σ Δ.

    It is proven for rewards in [0, 1], and by the same inequality for Gaussian ones with σ² up to 1/4.

    >>> round(of_ucb1(PROBLEMS["two-arms"], 1_000_000), 1)
    1105.7
    """
    gaps = [gap for gap in problem.gaps if gap > 0.0]
    return sum(8.0 * log(horizon) / gap for gap in gaps) + (1.0 + np.pi**2 / 3.0) * sum(gaps)


BOUNDS: dict[str, Callable[[Problem, float], float]] = {
    "gap-dependent": gap_dependent,
    "gap-independent": gap_independent,
    "ucb1": of_ucb1,
}


def crossing(bound: Callable[[float], float], regret: float, rate: float) -> float | None:
    """The T beyond the horizon at which a straight tail meets a bound; None if not even by then.

    >>> round(crossing(lambda horizon: 2e6, regret=1e6, rate=0.5))
    3000000
    """
    low, high = float(HORIZON), FURTHEST
    if regret + rate * (high - HORIZON) < bound(high):
        return None
    for _ in range(200):
        middle = sqrt(low * high)
        if regret + rate * (middle - HORIZON) < bound(middle):
            low = middle
        else:
            high = middle
    return high


def two_sides(t: float, params: Mapping[str, Value], sigma: float) -> dict[str, float]:
    """The proof's assumption: α·sqrt(ln t) + β₀·σ, with α₀ as written and α_t as played, and 2·σ·sqrt(ln t).

    >>> sides = two_sides(1e6, {"alpha0": 1.0, "beta0": 1.0, "epsilon": 0.1}, 0.3)
    >>> [round(value, 3) for value in sides.values()]
    [4.017, 0.569, 2.23]
    """
    alpha0, beta0, epsilon = (float(params[name]) for name in ("alpha0", "beta0", "epsilon"))
    root = sqrt(log(t))
    return {
        "written": alpha0 * root + beta0 * sigma,
        "played": alpha0 * sqrt(log(t + 1.0)) / log(t + epsilon) + beta0 * sigma,
        "needed": 2.0 * sigma * root,
    }
