import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ravenlab.environments import find_scenario
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.world import world_tables
from tests.environments.properties import quick


@quick
@given(period=st.integers(1, 60), amplitude=st.floats(0, 10), seed=st.integers(0, 1000))
def test_seasons_repeat_bit_for_bit(period: int, amplitude: float, seed: int) -> None:
    scenario = find_scenario("periodic", {"period": period, "amplitude": amplitude})
    means, variances = world_tables(draw_worlds(scenario, 150, 3, seed))
    assert means[period:].tobytes() == means[:-period].tobytes()
    assert (variances == variances[0]).all()


@quick
@given(period=st.integers(1, 10**6), seed=st.integers(0, 1000))
def test_means_are_sines_of_the_drawn_amplitude_and_phase(period: int, seed: int) -> None:
    worlds = draw_worlds(find_scenario("periodic", {"period": period}), 100, 3, seed)
    means, _ = world_tables(worlds)
    weights = worlds.motion[0, :, 2:]
    amplitude, phase = np.hypot(*weights.T), np.arctan2(weights[:, 1], weights[:, 0])
    assert (amplitude <= 0.25).all()
    t = np.arange(1, 101)[:, None]
    expected = worlds.level[0, 0, :, 0] + amplitude * np.sin(2 * math.pi * t / period + phase)
    assert np.allclose(means, expected, rtol=0, atol=1e-12)
    assert len(worlds.season) <= 101


def test_amplitudes_and_phases_are_uniform() -> None:
    weights = draw_worlds(find_scenario("periodic"), 50, 10, 1, replications=400).motion[:, :, 2:].reshape(-1, 2)
    amplitude, phase = np.hypot(*weights.T), np.arctan2(weights[:, 1], weights[:, 0])
    n = amplitude.size
    assert abs(amplitude.mean() - 0.125) < 4 * 0.25 / math.sqrt(12 * n)
    assert amplitude.max() <= 0.25
    assert abs(np.sin(phase).mean()) < 4 * math.sqrt(0.5 / n)
    assert abs(np.cos(phase).mean()) < 4 * math.sqrt(0.5 / n)
    assert abs(np.corrcoef(amplitude, phase)[0, 1]) < 4 / math.sqrt(n)
