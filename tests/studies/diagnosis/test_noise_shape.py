"""Identification of the noise distribution."""

import pytest

from ravenlab.environments.noise import NOISES
from ravenlab.studies.diagnosis import diagnose
from tests.studies.diagnosis.traces import simulate_trace


@pytest.mark.parametrize("noise", NOISES)
def test_the_noise_is_identified(noise: str) -> None:
    assert diagnose(simulate_trace("stationary", 4, horizon=8000, arms=3, noise=noise)).noise == noise
