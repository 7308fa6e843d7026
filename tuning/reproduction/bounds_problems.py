"""Problems with fixed means, the policies that play them, and the bounds on regret that the paper claims."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from ravenlab.environments.effects.fixed_levels import FixedLevels
from ravenlab.environments.scenario import Scenario
from ravenlab.policies.engine.parameters import Value
from ravenlab.tuning.reproduction import PROTOCOLS

HORIZON = 1_000_000
DECADES = tuple(10**power for power in range(1, 7))  # steps between which the regret per step is measured
MAX_EXTRAPOLATION = 1e15  # largest T at which the crossing of a tail and a bound is reported
CHECKPOINTS = tuple(sorted({round(10 ** (quarter / 4)) for quarter in range(4, 25)}))  # four steps per decade
RAVEN_REPLICATIONS = 160
"""Replications of RAVEN-UCB at the default precision: few have a linear tail, and their share is estimated."""

CONTROL_REPLICATIONS = 60  # replications of the other policies, whose regret varies little


@dataclass(frozen=True)
class FixedProblem:
    """Arms that never change."""

    name: str
    title: str
    means: tuple[float, ...]
    variances: tuple[float, ...]
    noise: str = "normal"

    @property
    def arms(self) -> int:
        """K."""
        return len(self.means)

    @property
    def gaps(self) -> list[float]:
        """Δ_k of every arm; 0 for the best arm."""
        return [max(self.means) - mean for mean in self.means]

    @property
    def smallest_gap(self) -> float:
        """Δ: the smallest loss of a step that does not pull the best arm."""
        return min(gap for gap in self.gaps if gap > 0.0)

    def scenario(self) -> Scenario:
        """The scenario that is played."""
        return Scenario(self.name, self.title, (FixedLevels(self.means, self.variances),), noise=self.noise)


def _spaced(low: float, high: float, count: int) -> tuple[float, ...]:
    return tuple(float(f"{value:.12g}") for value in np.linspace(low, high, count))


_THETA = _spaced(0.8, 0.95, 10)

PROBLEMS = {
    problem.name: problem
    for problem in (
        FixedProblem("gaussian", "ten Gaussian arms", _spaced(0.3, 0.8, 10), _spaced(0.01, 0.09, 10)),
        FixedProblem("bernoulli", "ten Bernoulli arms", _THETA, tuple(p * (1.0 - p) for p in _THETA), "bernoulli"),
        FixedProblem("two-arms", "two Gaussian arms", (0.5, 0.6), (0.09, 0.09)),
    )
}


@dataclass(frozen=True)
class PolicySetting:
    """A policy with its parameters."""

    name: str
    title: str
    policy: str
    params: Mapping[str, Value]
    replications: int
    protocols: tuple[str, ...]
    """The protocols under which it is played."""


SETTINGS = {
    setting.name: setting
    for setting in (
        PolicySetting(
            "raven-published",
            "RAVEN-UCB, α₀ 0.5, β₀ 1, ε 10⁻⁶",
            "raven-ucb",
            {"alpha0": 0.5, "beta0": 1.0, "epsilon": 1e-6},
            RAVEN_REPLICATIONS,
            ("published",),
        ),
        PolicySetting(
            "raven-defined",
            "RAVEN-UCB, α₀ 1, β₀ 1, ε 0.1",
            "raven-ucb",
            {"alpha0": 1.0, "beta0": 1.0, "epsilon": 0.1},
            RAVEN_REPLICATIONS,
            ("defined",),
        ),
        PolicySetting("ucb1", "UCB1", "ucb1", {}, CONTROL_REPLICATIONS, PROTOCOLS),
        PolicySetting("ucb-v", "UCB-V", "ucb-v", {}, CONTROL_REPLICATIONS, PROTOCOLS),
    )
}
"""RAVEN-UCB with the parameters of the paper's comparison and with our defaults, both with the unbiased variance that
the proof assumes; UCB1 and UCB-V are controls."""


def gap_dependent(problem: FixedProblem, horizon: float) -> float:
    """The bound of the paper's appendix: the sum of 16·σ²·ln T / Δ over the suboptimal arms."""
    pairs = zip(problem.variances, problem.gaps, strict=True)
    return sum(16.0 * variance * log(horizon) / gap for variance, gap in pairs if gap > 0.0)


def gap_independent(problem: FixedProblem, horizon: float) -> float:
    """The paper's gap-independent bound with the constant of its appendix: sqrt(4·σ²max·K·T·ln T).

    >>> round(gap_independent(PROBLEMS["two-arms"], 1_000_000))
    3154
    """
    return sqrt(4.0 * max(problem.variances) * problem.arms * horizon * log(horizon))


def ucb1_bound(problem: FixedProblem, horizon: float) -> float:
    """Theorem 1 of Auer, Cesa-Bianchi and Fischer (2002): 8·Σ ln T / Δ + (1 + π²/3)·Σ Δ.

    It is proven for rewards in [0, 1], and by the same inequality for Gaussian rewards with σ² up to 1/4.

    >>> round(ucb1_bound(PROBLEMS["two-arms"], 1_000_000), 1)
    1105.7
    """
    gaps = [gap for gap in problem.gaps if gap > 0.0]
    return sum(8.0 * log(horizon) / gap for gap in gaps) + (1.0 + np.pi**2 / 3.0) * sum(gaps)


BOUNDS: dict[str, Callable[[FixedProblem, float], float]] = {
    "gap-dependent": gap_dependent,
    "gap-independent": gap_independent,
    "ucb1": ucb1_bound,
}


def find_crossing(bound: Callable[[float], float], regret: float, rate: float) -> float | None:
    """Find the T beyond the horizon at which a linear tail crosses a bound; None if it does not up to 10¹⁵."""
    low = float(HORIZON)
    high = MAX_EXTRAPOLATION
    if regret + rate * (high - HORIZON) < bound(high):
        return None
    for _ in range(200):
        middle = sqrt(low * high)
        if regret + rate * (middle - HORIZON) < bound(middle):
            low = middle
        else:
            high = middle
    return high


def assumption_sides(t: float, params: Mapping[str, Value], sigma: float) -> dict[str, float]:
    """The proof's assumption: α·sqrt(ln t) + β₀·σ (with α₀ as written, α_t as played) equals 2·σ·sqrt(ln t).

    >>> sides = assumption_sides(1e6, {"alpha0": 1.0, "beta0": 1.0, "epsilon": 0.1}, 0.3)
    >>> [round(value, 3) for value in sides.values()]
    [4.017, 0.569, 2.23]
    """
    alpha0, beta0, epsilon = (float(params[name]) for name in ("alpha0", "beta0", "epsilon"))
    root = sqrt(log(t))
    return {
        "written": alpha0 * root + beta0 * sigma,
        "played": alpha0 * sqrt(log(t + 1.0)) / log(t + epsilon) + beta0 * sigma,
        "required": 2.0 * sigma * root,
    }
