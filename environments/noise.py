"""Standardized noise distributions: mean 0 and variance 1, so that μ and σ² have the same meaning for all of them.

The exception is ``bernoulli``: its draws are uniform numbers u, and the reward is 1 if u < θ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ravenlab.common.errors import InputError, unknown_name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


STUDENT_DEGREES = 5.0

DEFAULT_NOISE = "normal"


@dataclass(frozen=True)
class Noise:
    """A distribution of rewards around their mean."""

    meaning: str
    """Description for the documentation."""
    draw: Callable[[np.random.Generator, int], NDArray[np.float64]]


NOISES: dict[str, Noise] = {
    "normal": Noise("Gaussian", lambda rng, n: rng.standard_normal(n)),
    "laplace": Noise(
        "Laplace: heavier tails than the Gaussian", lambda rng, n: rng.laplace(0.0, 1.0 / math.sqrt(2.0), n)
    ),
    "logistic": Noise(
        "logistic: slightly heavier tails than the Gaussian",
        lambda rng, n: rng.logistic(0.0, math.sqrt(3.0) / math.pi, n),
    ),
    "uniform": Noise("uniform: bounded", lambda rng, n: rng.uniform(-math.sqrt(3.0), math.sqrt(3.0), n)),
    "student-t": Noise(
        f"Student's t with {STUDENT_DEGREES:g} degrees of freedom: heavy tails",
        lambda rng, n: rng.standard_t(STUDENT_DEGREES, n) * math.sqrt((STUDENT_DEGREES - 2.0) / STUDENT_DEGREES),
    ),
    "bernoulli": Noise(
        "rewards are 0 or 1; the mean, clipped to [0, 1], is the probability of 1 and determines the variance",
        lambda rng, n: rng.random(n),
    ),
}
"""All noises by name. Adding one takes an entry here and its log-density in `studies.diagnosis.proposal`."""


def check_noise(name: object) -> str:
    """Return the name of a noise if it exists.

    >>> check_noise("laplace")
    'laplace'
    """
    if not isinstance(name, str):
        raise InputError(f"noise must be one of {', '.join(NOISES)} but got {name!r}.")
    if name not in NOISES:
        raise unknown_name("noise", name, NOISES)
    return name
