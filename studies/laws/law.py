"""Laws: parameters and expected regret as smooth functions of the coordinates of a problem.

The logarithm of a parameter is linear in the features of a problem, so that a parameter is a product of powers:
α₀ = c · R · T^a · K^b · (σ/R)^d · (1 + 30·K/T)^e · rate^f. The logarithm of the expected regret,
relative to uniform choice, is quadratic in them.
The data file `laws.json` is written by `python -m tools.atlas fit`.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from ravenlab.common.interval import Z95, Interval
from ravenlab.environments import Scenario, find_scenario
from ravenlab.environments.noise import DEFAULT_NOISE
from ravenlab.environments.reward_scale import scale_value, scenario_scale
from ravenlab.studies.laws.axes import (
    EXTRAPOLATION,
    TOLERANCE,
    Axis,
    NoLawError,
    axes_of,
    describe_differences,
    features,
    largest_crowding,
    measure,
    reward_range,
)

LAWS_FILE = Path(__file__).resolve().parent / "laws.json"
NOMINAL_RANGE = 0.5  # R of the default problem
BETTER = 0.1  # another policy is named if its expected regret is lower by at least this share
DIGITS = 3  # significant digits of recommended parameters

LawKind = Literal["interpolated", "extrapolated"]


@dataclass(frozen=True)
class Coordinate:
    """A parameter on the scale of its law: a logarithm, free of the units of rewards and steps."""

    name: str
    power: int = 0
    """α₀ is proportional to the rewards (1), ε to their square (2)."""
    per_horizon: bool = False
    """Whether it is relative to the horizon: τ/T, and (1 − γ)·T."""

    def transform(self, value: float, horizon: int, scale: float) -> float:
        """Return the logarithm of a value; `scale` is the range R of the means.

        >>> Coordinate("epsilon", power=2).transform(0.25, horizon=100, scale=0.5)
        0.0
        """
        if self.name == "gamma":
            return math.log((1.0 - value) * horizon)
        return math.log(value / scale**self.power / (horizon if self.per_horizon else 1.0))

    def invert(self, number: float, horizon: int, scale: float) -> float:
        """Return the value at a logarithm.

        >>> Coordinate("tau", per_horizon=True).invert(math.log(0.1), horizon=1000, scale=0.5)
        100.0
        """
        value = math.exp(number)
        if self.name == "gamma":
            return 1.0 - _round(min(value / horizon, 0.5))
        if self.name == "tau":
            return float(max(2, min(horizon, round(value * horizon))))
        # Rounded in the units of the default problem, so that the same problem in other units has the same answer.
        return scale_value(_round(scale_value(value, NOMINAL_RANGE, self.power)), scale / NOMINAL_RANGE, self.power)


RAVEN = (Coordinate("alpha0", power=1), Coordinate("beta0"), Coordinate("epsilon", power=2))
COORDINATES: dict[str, tuple[Coordinate, ...]] = {
    "raven-ucb": RAVEN,
    "sw-raven": (*RAVEN, Coordinate("tau", per_horizon=True)),
    "d-raven": (*RAVEN, Coordinate("gamma", per_horizon=True)),
}
"""Policies with laws, and their parameters."""

BASE = "raven-ucb"
UNLIMITED: dict[str, Callable[[int], dict[str, float]]] = {
    "sw-raven": lambda horizon: {"tau": float(horizon)},
    "d-raven": lambda horizon: {"gamma": 1.0 - 0.01 / horizon},
}
"""Policies that forget, and the parameter at which they do not, by the horizon."""


@dataclass(frozen=True)
class Law:
    """The law of one policy in one scenario."""

    scenario: str
    policy: str
    params: Mapping[str, Sequence[float]]
    """Intercept and slopes over the features, by parameter."""
    regret: Sequence[float]
    """Coefficients of `regret_terms`."""
    deviation: float
    """Standard deviation of the logarithm of the regret in settings that took no part in fitting."""
    excess: Mapping[str, float] | None = None
    """Excess regret over a study in held-out settings: median, 90th percentile, settings, and trials of the study."""

    def at(self, places: Sequence[float], horizon: int, scale: float) -> dict[str, float]:
        """Return the parameters at features."""
        return {
            coordinate.name: coordinate.invert(linear(self.params[coordinate.name], places), horizon, scale)
            for coordinate in COORDINATES[self.policy]
        }

    def expected_regret(self, places: Sequence[float], unit: float) -> Interval:
        """Return the expected regret at features; `unit` is R times `uniform_regret`."""
        mean = unit * math.exp(math.fsum(c * x for c, x in zip(self.regret, regret_terms(places), strict=True)))
        factor = math.exp(Z95 * self.deviation)
        return Interval(mean, mean / factor, mean * factor)

    def exponents(self, name: str) -> dict[str, float]:
        """Return the exponents of the coordinates and of the crowding; on linear axes, the rate of growth."""
        axes = axes_of(self.scenario)
        slopes = list(self.params[name][1:])
        crowding = slopes.pop(3) / largest_crowding()
        exponents = {}
        for axis, slope in zip(axes, slopes, strict=True):
            low, high = axis.scaled_ends
            exponents[axis.name] = slope / ((high - low) / 2.0)
        return {**exponents, "crowding": crowding}

    def factor(self, name: str) -> float:
        """Return the constant c in front of the powers of the coordinates."""
        exponents = self.exponents(name)
        centers = {axis.name: sum(axis.scaled_ends) / 2.0 for axis in axes_of(self.scenario)}
        return math.exp(self.params[name][0] - math.fsum(exponents[key] * center for key, center in centers.items()))


def linear(coefficients: Sequence[float], places: Sequence[float]) -> float:
    """Return intercept + Σ slope·place.

    >>> linear([1.0, 2.0], [0.5])
    2.0
    """
    return coefficients[0] + math.fsum(slope * place for slope, place in zip(coefficients[1:], places, strict=True))


def uniform_regret(horizon: int, arms: int) -> float:
    """Return the expected regret of uniform choice among stationary arms, in units of R: T·(K − 1)/(2(K + 1)).

    >>> uniform_regret(600, 2)
    100.0
    """
    return horizon * (arms - 1) / (2.0 * (arms + 1))


def regret_terms(places: Sequence[float]) -> list[float]:
    """Return 1, the features and their products.

    >>> regret_terms([2.0, 3.0])
    [1.0, 2.0, 3.0, 4.0, 6.0, 9.0]
    """
    products = [x * y for i, x in enumerate(places) for y in places[i:]]
    return [1.0, *places, *products]


@dataclass(frozen=True)
class LawAnswer:
    """Parameters of one policy for a problem, and the regret that is expected with them."""

    policy: str
    params: dict[str, float]
    regret: Interval
    """Expected mean regret."""
    excess: Mapping[str, float] | None

    def as_object(self) -> dict[str, Any]:
        """Convert to plain JSON data."""
        return {"policy": self.policy, "params": dict(self.params), "regret": self.regret.as_object()}


@dataclass(frozen=True)
class ProblemAnswer:
    """What the laws answer for a problem: the requested policy, and a better one if there is one."""

    kind: LawKind
    outside: list[str]
    """How the problem differs from the design."""
    answer: LawAnswer
    better: LawAnswer | None


@lru_cache(maxsize=1)
def load_document() -> dict[str, Any]:
    """Read the data file: provenance, laws and the atlas."""
    document: dict[str, Any] = json.loads(LAWS_FILE.read_text(encoding="utf-8"))
    return document


@lru_cache(maxsize=1)
def load_laws() -> dict[tuple[str, str], Law]:
    """Return all laws by scenario and policy.

    >>> ("stationary", "raven-ucb") in load_laws()
    True
    """
    laws = [Law(**fields) for fields in load_document()["laws"]]
    return {(law.scenario, law.policy): law for law in laws}


def answer(scenario: Scenario, horizon: int, arms: int, policy: str) -> ProblemAnswer:
    """Answer a problem from the laws.

    Raises:
        NoLawError: There is no law for the scenario or the policy, or the problem is too far from the design.

    >>> from ravenlab.environments import find_scenario
    >>> answer(find_scenario("localized-jump"), 10_000, 10, "raven-ucb").kind
    'interpolated'
    """
    coordinates = measure(scenario, horizon, arms)
    if (scenario.name, policy) not in load_laws():
        with_law = sorted({name for place, name in load_laws() if place == scenario.name})
        raise NoLawError(f"there is no law for {policy}; laws exist for {', '.join(with_law)}")
    axes = axes_of(scenario.name)
    outside = _find_outside(scenario, axes, coordinates)
    places = features(scenario, horizon, arms)
    scale = reward_range(scenario)
    uniform = scale * uniform_regret(horizon, arms)
    reward_unit = scenario_scale(scenario, find_scenario(scenario.name), horizon).factor
    unit = {} if reward_unit == 1.0 else {"unit": reward_unit}
    answers = {
        name: LawAnswer(name, law.at(places, horizon, scale) | unit, law.expected_regret(places, uniform), law.excess)
        for (place, name), law in load_laws().items()
        if place == scenario.name
    }
    answers = {name: _at_most_raven(found, answers[BASE], horizon) for name, found in answers.items()}
    chosen = answers.pop(policy)
    best = min(answers.values(), key=lambda other: other.regret.mean, default=None)
    if best is not None and best.regret.mean > (1.0 - BETTER) * chosen.regret.mean:
        best = None
    return ProblemAnswer("extrapolated" if outside else "interpolated", outside, chosen, best)


def nearest_params(scenario: Scenario, horizon: int, arms: int, policy: str) -> list[dict[str, float]]:
    """Return the parameters of the nearest laws for a problem without a law, for a search to start from.

    Each effect is taken alone, rewards of 0 and 1 as normal ones of the same variance, and coordinates beyond the
    design at its ends.

    >>> from ravenlab.environments import find_scenario
    >>> sorted(nearest_params(find_scenario("blips+periodic"), 1000, 5, "raven-ucb")[0])
    ['alpha0', 'beta0', 'epsilon']
    """
    variance = scenario.reward_variance(horizon)
    binary = scenario.noise == "bernoulli"
    base = replace(scenario.base, variance_low=variance, variance_high=variance) if binary else scenario.base
    single = [replace(scenario, name=effect.name, effects=(effect,)) for effect in scenario.effects]
    found = []
    for part in single or [replace(scenario, name="stationary")]:
        law = load_laws().get((part.name, policy))
        if law is None:
            continue
        normal = replace(part, base=base, noise=DEFAULT_NOISE)
        try:
            found.append(law.at(features(normal, horizon, arms, most=1.0), horizon, reward_range(normal)))
        except NoLawError:
            continue
    return found


def _at_most_raven(found: LawAnswer, raven: LawAnswer, horizon: int) -> LawAnswer:
    """Return RAVEN-UCB as the limit of a policy that forgets, where RAVEN-UCB is expected to have less regret.

    sw-raven with τ = T is RAVEN-UCB, and d-raven with 1 − γ far below 1/T almost is.
    """
    if found.policy not in UNLIMITED or found.regret.mean <= raven.regret.mean:
        return found
    return replace(found, params={**raven.params, **UNLIMITED[found.policy](horizon)}, regret=raven.regret)


def _find_outside(scenario: Scenario, axes: Sequence[Axis], coordinates: Mapping[str, float]) -> list[str]:
    """Describe how a problem differs from the design; raise NoLawError if a coordinate is too far outside."""
    outside = describe_differences(scenario)
    for axis in axes:
        place = axis.position(coordinates[axis.name])
        if abs(place) <= 1.0 + TOLERANCE:
            continue
        text = f"{axis.meaning} = {coordinates[axis.name]:.3g} is outside {axis.low:.3g} to {axis.high:.3g}"
        if not abs(place) <= EXTRAPOLATION:
            raise NoLawError(f"{text}, the range of the law for {scenario.name}")
        outside.append(text)
    return outside


def _round(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
