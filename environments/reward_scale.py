"""The scale of the rewards of a problem, for simulated scenarios, traces and logs alike.

The factor c is the standard deviation of the rewards (twice that of binary ones), within and between arms, relative to
that of the problem that default parameters and search ranges were made for. α₀ and similar parameters are multiplied by
c, ε by c². For a scenario that problem is the same scenario at its default settings, so that c is 1 there; for recorded
data and binary rewards it is the base world.
"""

import math
from dataclasses import dataclass

import numpy as np

from ravenlab.common.arrays import Floats
from ravenlab.common.errors import InputError
from ravenlab.environments.base import BaseDraw
from ravenlab.environments.scenario import Scenario

# Among 0.3 to 4 times the standard deviation, 1.6 to 2.5 times it had the lowest regret of RAVEN-UCB for clicks with
# rates of 1 to 80 %, and twice it at most a quarter more for rates of 0.1 to 0.6 %: S² is 0 until an arm's first click.
BINARY_FACTOR = 2.0
BASE_DEVIATION = math.sqrt(BaseDraw().reward_variance)
QUARTILES_OF_NORMAL = 1.349  # interquartile range of a normal distribution / its standard deviation


@dataclass(frozen=True)
class RewardScale:
    """Scale of rewards, measured where a policy is searched."""

    low: float
    """Low end of the usual rewards; 0 where default parameters apply."""
    high: float
    """High end of the usual rewards; 1 where default parameters apply."""
    factor: float
    """Scale relative to the rewards that parameters were made for; α₀ and similar parameters are multiplied by it."""


def scale_value(value: float, factor: float, power: float) -> float:
    """Return value · factor^power. Squares are products, which are exact for factors that are powers of two.

    >>> scale_value(0.1, 64.0, 2) == 0.1 * 4096.0
    True
    """
    return value * (factor * factor if power == 2 else factor**power)


def scenario_scale(scenario: Scenario, default: Scenario, horizon: int) -> RewardScale:
    """Return the scale of a scenario's rewards relative to the same scenario at its default settings.

    The ends are those of [0, 1], moved with the mean and multiplied with the standard deviation.

    >>> from ravenlab.environments import find_scenario
    >>> stationary = find_scenario("stationary")
    >>> scenario_scale(stationary, stationary, 100)
    RewardScale(low=0.0, high=1.0, factor=1.0)
    >>> settings = {"mean_low": 30, "mean_high": 80, "variance_low": 100, "variance_high": 900}
    >>> round(scenario_scale(stationary.with_settings(settings), stationary, 100).factor, 9)
    100.0
    """
    binary = scenario.noise == "bernoulli"
    if scenario == default or (binary and default.noise == "bernoulli" and scenario.base == default.base):
        return RewardScale(low=0.0, high=1.0, factor=1.0)
    deviation = math.sqrt(scenario.reward_variance(horizon))
    if binary:  # 0 and 1 have no other unit: described clicks have the scale of recorded ones, whatever the scenario is
        return RewardScale(low=0.0, high=1.0, factor=BINARY_FACTOR * deviation / BASE_DEVIATION)
    usual = math.sqrt(default.reward_variance(horizon))
    factor = deviation / usual if deviation > 0.0 and usual > 0.0 else 1.0
    mean = scenario.base.mean
    usual_mean = default.base.mean
    return RewardScale(low=mean - usual_mean * factor, high=mean + (1.0 - usual_mean) * factor, factor=factor)


def recorded_scale(rewards: Floats, what: str) -> RewardScale:
    """Measure the scale of recorded rewards; `low` and `high` are the 1st and 99th percentile.

    The interquartile range is robust against outages and outliers. It says nothing about rewards with two values, or if
    one value, such as 0 for no sale, makes up half of them; then their standard deviation counts, for clicks twice
    √(p(1 − p)).

    >>> clicks = np.repeat([0.0, 1.0], [970, 30])
    >>> round(recorded_scale(clicks, "rewards").factor, 2)
    1.28
    """
    if not rewards.size or rewards.min() == rewards.max():
        raise InputError(f"all {what} are equal, so no arm is better than another.")
    low, lower, middle, upper, high = np.percentile(rewards, [1, 25, 50, 75, 99])
    if low == high:
        low = rewards.min()
        high = rewards.max()
    binary = bool(np.all((rewards == rewards.min()) | (rewards == rewards.max())))
    deviation = (upper - lower) / QUARTILES_OF_NORMAL
    if binary:
        deviation = BINARY_FACTOR * rewards.std()
    elif upper == lower or np.mean(rewards == middle) >= 0.5:
        deviation = rewards.std()
    return RewardScale(float(low), float(high), float(deviation) / BASE_DEVIATION)
