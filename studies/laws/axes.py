"""The coordinates of a problem in which the laws are smooth: horizon, arms, noise and rates of change.

Rewards are measured in units of the range of the means, R = mean_high − mean_low: rewards multiplied by c need α₀·c and
ε·c². Times are relative to the horizon, so that a rate means the same at every horizon.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ravenlab.common.checks import parse_share, parse_steps
from ravenlab.environments import Scenario
from ravenlab.environments.base import Effect
from ravenlab.environments.effects.arm_churn import ArmChurn
from ravenlab.environments.effects.blips import Blips
from ravenlab.environments.effects.gradual_drift import GradualDrift
from ravenlab.environments.effects.incremental_drift import IncrementalDrift
from ravenlab.environments.effects.localized_jump import LocalizedJump
from ravenlab.environments.effects.periodic import Periodic
from ravenlab.environments.effects.variance_drift import VarianceDrift
from ravenlab.environments.noise import DEFAULT_NOISE

VARIANCE_RATIO = 9.0  # variance_high / variance_low of the design
EXTRAPOLATION = 1.4  # largest position of an extrapolated coordinate; the design is from −1 to 1
TOLERANCE = 0.02  # of a position, since periods are rounded to whole steps
CROWDING = 30.0  # steps per arm below which a horizon is too short to explore all arms


class NoLawError(ValueError):
    """No law holds for a problem; the text gives the reason."""


@dataclass(frozen=True)
class Axis:
    """A coordinate and its range in the design."""

    name: str
    meaning: str
    low: float
    high: float
    logarithmic: bool = True

    def position(self, value: float) -> float:
        """Return −1 at the low end of the range, 1 at its high end.

        >>> round(Axis("horizon", "steps", 100, 10_000).position(10_000), 9)
        1.0
        """
        low, high = self.scaled_ends
        return 2.0 * (self._scaled(value) - low) / (high - low) - 1.0

    def value(self, position: float) -> float:
        """Return the value at a position.

        >>> round(Axis("horizon", "steps", 100, 10_000).value(0.0))
        1000
        """
        low, high = self.scaled_ends
        x = low + (high - low) * (position + 1.0) / 2.0
        return math.exp(x) if self.logarithmic else x

    @property
    def scaled_ends(self) -> tuple[float, float]:
        """The ends of the range, or their logarithms."""
        return self._scaled(self.low), self._scaled(self.high)

    def _scaled(self, value: float) -> float:
        if not self.logarithmic:
            return value
        return math.log(value) if value > 0.0 else -math.inf


HORIZON = Axis("horizon", "steps T", 300.0, 100_000.0)
ARMS = Axis("arms", "arms K", 2.0, 100.0)
NOISE = Axis("noise", "standard deviation σ of the rewards / R", math.sqrt(0.2) / 3.0, math.sqrt(0.2) * 3.0)
WIDE_NOISE = Axis("noise", "standard deviation σ of the rewards, averaged over time / R", NOISE.low, 2.0)

RATES: dict[str, tuple[Axis, ...]] = {
    "stationary": (),
    IncrementalDrift.name: (Axis("drift", "largest drift over the horizon / R", 0.1, 2.0),),
    VarianceDrift.name: (Axis("growth", "mean growth of the variance over the horizon / its start", 1.0, 30.0),),
    GradualDrift.name: (
        Axis("start", "start / T", 0.1, 0.6, logarithmic=False),
        Axis("length", "(end − start) / (T − start)", 0.1, 1.0, logarithmic=False),
    ),
    LocalizedJump.name: (
        Axis("changes", "T / every", 2.0, 50.0),
        Axis("share", "share of the arms that jump", 0.1, 1.0),
    ),
    Periodic.name: (Axis("cycles", "T / period", 1.0, 50.0), Axis("amplitude", "amplitude / R", 0.1, 1.0)),
    Blips.name: (Axis("changes", "T / every", 2.0, 50.0), Axis("share", "lasting / every", 0.05, 0.5)),
    ArmChurn.name: (
        Axis("opens", "opens / T", 0.1, 0.9, logarithmic=False),
        Axis("closes", "closes / T", 0.1, 0.9, logarithmic=False),
    ),
}
"""Scenarios with a law, and the axes of their rates of change."""


def axes_of(scenario: str) -> tuple[Axis, ...]:
    """Return the axes of a scenario with a law.

    >>> [axis.name for axis in axes_of("blips")]
    ['horizon', 'arms', 'noise', 'changes', 'share']
    """
    noise = WIDE_NOISE if scenario == VarianceDrift.name else NOISE
    return (HORIZON, ARMS, noise, *RATES[scenario])


def measure(scenario: Scenario, horizon: int, arms: int) -> dict[str, float]:
    """Return the coordinates of a problem by the names of its axes.

    Raises:
        NoLawError: No law was fitted to such a scenario.

    >>> from ravenlab.environments import find_scenario
    >>> {name: round(value, 3) for name, value in measure(find_scenario("blips"), 10_000, 10).items()}
    {'horizon': 10000, 'arms': 10, 'noise': 0.447, 'changes': 10.0, 'share': 0.2}
    """
    if scenario.name not in RATES:
        raise NoLawError(f"there is no law for the scenario {scenario.name}")
    if scenario.noise == "bernoulli":
        raise NoLawError("there is no law for Bernoulli rewards")
    if arms < 2:
        raise NoLawError(f"the laws need at least 2 arms but got {arms}")
    for effect in scenario.effects:
        if isinstance(effect, ArmChurn) and effect.closing != "best":
            raise NoLawError(f"the law for {scenario.name} assumes that the best arm closes")
        if isinstance(effect, Blips) and effect.is_outage:
            raise NoLawError(f"the law for {scenario.name} assumes that all arms change; there is none for an outage")
    base = scenario.base
    scale = reward_range(scenario)
    variance = (base.variance_low + base.variance_high) / 2.0
    rates: dict[str, float] = {}
    for effect in scenario.effects:
        if isinstance(effect, VarianceDrift):
            growth = effect.growth / 2.0 * horizon / parse_steps("over", effect.over, horizon)
            rates = {"growth": growth / variance if variance > 0.0 else math.inf}
            variance += growth / 2.0
        else:
            rates = _measure_rates(effect, horizon, arms, scale)
    return {"horizon": horizon, "arms": arms, "noise": math.sqrt(variance) / scale, **rates}


def reward_range(scenario: Scenario) -> float:
    """Return R, the range of the means, by which rewards are divided.

    >>> from ravenlab.environments import find_scenario
    >>> reward_range(find_scenario("blips"))
    0.5
    """
    scale = scenario.base.mean_high - scenario.base.mean_low
    if not scale > 0.0:
        raise NoLawError("the laws need mean_high above mean_low")
    return scale


def describe_differences(scenario: Scenario) -> list[str]:
    """Describe properties of a scenario that no axis measures and that differ from the design.

    >>> from ravenlab.environments import find_scenario
    >>> describe_differences(find_scenario("blips", {"times": "geometric"}))
    ['times is geometric, not fixed']
    """
    found = []
    if scenario.noise != DEFAULT_NOISE:
        found.append(f"noise is {scenario.noise}, not {DEFAULT_NOISE}")
    found += [
        f"times is {effect.times}, not fixed"
        for effect in scenario.effects
        if isinstance(effect, LocalizedJump | Blips) and effect.times != "fixed"
    ]
    for effect in scenario.effects:
        if isinstance(effect, Blips) and effect.is_outage:
            found.append("blips change only some arms, or by a given size")
        if isinstance(effect, IncrementalDrift) and effect.direction != "both":
            found.append(f"all means drift {effect.direction}")
        if isinstance(effect, Periodic) and effect.common != "nothing":
            found.append("all arms have a common cycle")
    low = scenario.base.variance_low
    high = scenario.base.variance_high
    if not abs(high - VARIANCE_RATIO * low) <= TOLERANCE * high:
        found.append(f"variance_high / variance_low is not {VARIANCE_RATIO:.0f}")
    return found


def positions(scenario: Scenario, horizon: int, arms: int) -> dict[str, float]:
    """Return the positions of a problem on its axes."""
    values = measure(scenario, horizon, arms)
    return {axis.name: axis.position(values[axis.name]) for axis in axes_of(scenario.name)}


def features(scenario: Scenario, horizon: int, arms: int, most: float = math.inf) -> list[float]:
    """Return what the laws depend on: positions on horizon, arms and noise, the crowding, and positions on the rates.

    Positions beyond ± `most` are moved there.

    The crowding is ln(1 + 30·K/T), divided by its largest value in the design: with few steps per arm, the best
    exploration falls below a power of the horizon.

    >>> from ravenlab.environments import find_scenario
    >>> [round(x, 2) for x in features(find_scenario("stationary"), 300, 100)]
    [-1.0, 1.0, 0.0, 1.0]
    """
    places = [max(-most, min(most, place)) for place in positions(scenario, horizon, arms).values()]
    crowding = min(most, math.log1p(CROWDING * arms / horizon) / largest_crowding())
    return [*places[:3], crowding, *places[3:]]


def largest_crowding() -> float:
    """Return the largest ln(1 + 30·K/T) of the design."""
    return math.log1p(CROWDING * ARMS.high / HORIZON.low)


def _measure_rates(effect: Effect, horizon: int, arms: int, scale: float) -> dict[str, float]:
    """Return the rates of change of an effect by the names of their axes."""

    def steps(name: str) -> int:
        return parse_steps(name, getattr(effect, name), horizon)

    match effect:
        case IncrementalDrift():
            return {"drift": effect.drift * horizon / steps("over") / scale}
        case GradualDrift():
            start = steps("start")
            length = (steps("end") - start) / (horizon - start) if start < horizon else math.inf
            return {"start": start / horizon, "length": length}
        case LocalizedJump():
            count = max(1, math.floor(parse_share("fraction", effect.fraction) * arms))
            return {"changes": horizon / steps("every"), "share": count / arms}
        case Periodic():
            return {"cycles": horizon / steps("period"), "amplitude": effect.amplitude / scale}
        case Blips():
            return {"changes": horizon / steps("every"), "share": steps("lasting") / steps("every")}
    return {name: steps(name) / horizon for name in ("opens", "closes")}


def settings_at(scenario: str, coordinates: Mapping[str, float]) -> dict[str, Any]:
    """Return settings of a scenario, as `--set` accepts them, that have the coordinates, on default means.

    Times are rounded to whole steps.

    >>> settings_at("blips", {"horizon": 1000, "arms": 5, "noise": 0.2, "changes": 10, "share": 0.1})
    {'variance_low': 0.002, 'variance_high': 0.018, 'every': 100, 'lasting': 10}
    """
    horizon = round(coordinates["horizon"])
    scale = 0.5
    variance = (coordinates["noise"] * scale) ** 2
    if scenario == VarianceDrift.name:
        variance /= 1.0 + coordinates["growth"] / 2.0
    low = variance * 2.0 / (1.0 + VARIANCE_RATIO)
    settings: dict[str, Any] = {"variance_low": _shorten(low), "variance_high": _shorten(low * VARIANCE_RATIO)}
    match scenario:
        case IncrementalDrift.name:
            settings |= {"drift": _shorten(coordinates["drift"] * scale)}
        case VarianceDrift.name:
            settings |= {"growth": _shorten(coordinates["growth"] * variance * 2.0)}
        case GradualDrift.name:
            start = max(1, round(coordinates["start"] * horizon))
            settings |= {"start": start, "end": start + max(1, round(coordinates["length"] * (horizon - start)))}
        case LocalizedJump.name:
            every = max(1, round(horizon / coordinates["changes"]))
            arms = round(coordinates["arms"])
            settings |= {"every": every, "fraction": f"{max(1, round(coordinates['share'] * arms))}/{arms}"}
        case Periodic.name:
            period = max(2, round(horizon / coordinates["cycles"]))
            settings |= {"amplitude": _shorten(coordinates["amplitude"] * scale), "period": period}
        case Blips.name:
            every = max(2, round(horizon / coordinates["changes"]))
            settings |= {"every": every, "lasting": max(1, round(coordinates["share"] * every))}
        case ArmChurn.name:
            settings |= {name: max(2, round(coordinates[name] * horizon)) for name in ("opens", "closes")}
    return settings


def _shorten(value: float) -> float:
    return float(f"{value:.4g}")
