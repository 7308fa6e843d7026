import math
from typing import Any

import numpy as np
import pytest

from ravenlab.common.errors import InputError
from ravenlab.environments import find_scenario
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.noise import NOISES, check_noise

STANDARDISED = [name for name in NOISES if name != "bernoulli"]
KURTOSIS = {"normal": 3.0, "laplace": 6.0, "logistic": 4.2, "uniform": 1.8, "student-t": 9.0}
DRAWS = 200_000


@pytest.mark.parametrize("name", STANDARDISED)
def test_mean_0_and_variance_1(name: str) -> None:
    z = NOISES[name].draw(np.random.default_rng(5), DRAWS)
    assert abs(z.mean()) < 4 / math.sqrt(DRAWS)
    # The variance of z² is E z⁴ − 1. Student's t with 5 degrees of freedom has no 8th moment.
    assert abs((z**2).mean() - 1) < 4 * math.sqrt((KURTOSIS[name] - 1) / DRAWS)


@pytest.mark.parametrize(
    ("name", "probability"),
    [
        ("normal", math.erf(1 / math.sqrt(2))),
        ("laplace", 1 - math.exp(-math.sqrt(2))),
        ("logistic", math.tanh(math.pi / math.sqrt(3) / 2)),
        ("uniform", 1 / math.sqrt(3)),
        ("student-t", 0.7468),
    ],
)
def test_each_noise_has_its_own_shape(name: str, probability: float) -> None:
    z = NOISES[name].draw(np.random.default_rng(6), DRAWS)
    error = math.sqrt(probability * (1 - probability) / DRAWS)
    # For 5 degrees of freedom, |t·sqrt(3/5)| < 1 has probability 0.7468 to 4 digits.
    assert abs((np.abs(z) < 1).mean() - probability) < 4 * error + 5e-5 * (name == "student-t")


def test_bernoulli_rewards_have_the_right_mean() -> None:
    worlds = draw_worlds(find_scenario("bernoulli"), 20_000, 3, seed=8)
    for theta in worlds.level[0, 0, :, 0]:
        success_rate = (worlds.noise[0] < theta).mean()
        assert 0.8 <= theta < 0.95
        assert abs(success_rate - theta) < 4 * math.sqrt(theta * (1 - theta) / 20_000)


@pytest.mark.parametrize("name", ["gaussian", 3, None, ["normal"]])
def test_unknown_names_are_rejected(name: Any) -> None:
    with pytest.raises(InputError, match="noise"):
        check_noise(name)
