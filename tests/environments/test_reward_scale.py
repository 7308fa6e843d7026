"""The scale of rewards: scenarios, recorded data, and agreement between them."""

import numpy as np
import pytest

from ravenlab.environments import find_scenario
from ravenlab.environments.catalog import scenarios
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.reward_scale import recorded_scale, scenario_scale
from ravenlab.environments.world import fill_rewards

DAY = {"mean_low": 40, "mean_high": 45, "variance_low": 4, "variance_high": 4}
IN_OTHER_UNITS = {
    "stationary": DAY,
    "periodic": {**DAY, "amplitude": 3, "period": 100},
    "incremental-drift": {**DAY, "drift": 5},
    "variance-drift": {**DAY, "growth": 20},
    "random-walk": {**DAY, "deviation": 4},
    "blips": DAY,
}


@pytest.mark.parametrize("name", scenarios())
def test_every_scenario_at_its_defaults_has_scale_one(name: str) -> None:
    scenario = find_scenario(name)
    scale = scenario_scale(scenario, scenario, 1000)
    assert (scale.low, scale.high, scale.factor) == (0.0, 1.0, 1.0)


@pytest.mark.parametrize("name", IN_OTHER_UNITS)
def test_the_variance_of_a_scenario_is_that_of_its_rewards(name: str) -> None:
    scenario = find_scenario(name, IN_OTHER_UNITS[name])
    horizon, arms, worlds = 400, 20, 60
    drawn = draw_worlds(scenario, horizon, arms, seed=4, replications=worlds)
    rewards = np.empty((worlds, horizon, arms))
    means = np.empty((horizon, arms))
    for r in range(worlds):
        fill_rewards(drawn, r, 1, means, rewards[r])
    # The pooled variance of 60 worlds × 20 arms: its standard error is about 4 % (1,200 random arms).
    assert rewards.var() == pytest.approx(scenario.reward_variance(horizon), rel=0.12)


@pytest.mark.parametrize("rate", [0.001, 0.01, 0.06, 0.2, 0.5])
def test_clicks_have_the_scale_of_their_rate(rate: float) -> None:
    clicks = np.zeros(20_000)
    clicks[: round(rate * clicks.size)] = 1.0
    recorded = recorded_scale(clicks, "rewards").factor
    usual = np.sqrt(find_scenario("stationary").reward_variance(100))
    assert recorded == pytest.approx(2.0 * np.sqrt(rate * (1.0 - rate)) / usual)
    for name in ("stationary", "bernoulli", "periodic"):
        default = find_scenario(name)
        described = default.with_settings({"noise": "bernoulli", "mean_low": rate, "mean_high": rate})
        assert recorded == pytest.approx(scenario_scale(described, default, 100).factor)


def test_an_outage_hardly_changes_the_scale_of_a_recording() -> None:
    rewards = np.random.default_rng(1).normal(40.0, 2.0, 5000)
    outage = rewards.copy()
    outage[:200] += 40.0
    plain = recorded_scale(rewards, "rewards").factor
    assert plain == pytest.approx(2.0 / np.sqrt(find_scenario("stationary").reward_variance(100)), rel=0.05)
    assert recorded_scale(outage, "rewards").factor == pytest.approx(plain, rel=0.1)


@pytest.mark.parametrize("power", [-6, 6])
def test_powers_of_two_change_the_scale_exactly(power: int) -> None:
    c = 2.0**power
    units = {"variance_low": c * c, "variance_high": c * c, "period": 1}
    settings = {name: value * units.get(name, c) for name, value in IN_OTHER_UNITS["periodic"].items()}
    plain, default = find_scenario("periodic", IN_OTHER_UNITS["periodic"]), find_scenario("periodic")
    scaled = scenario_scale(plain.with_settings(settings), default, 500)
    assert scaled.factor == c * scenario_scale(plain, default, 500).factor
