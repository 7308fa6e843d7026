"""Standardised noises: mean 0 and variance 1, so that μ and σ² mean the same under all of them.

``bernoulli`` is the exception: its tape holds uniforms u, and the arm pays 1 when u < θ.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from environments.errors import InputError, unknown

Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]

STUDENT_DEGREES = 5.0

NOISES: dict[str, Draw] = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "laplace": lambda rng, n: rng.laplace(0.0, 1.0 / math.sqrt(2.0), n),
    "logistic": lambda rng, n: rng.logistic(0.0, math.sqrt(3.0) / math.pi, n),
    "uniform": lambda rng, n: rng.uniform(-math.sqrt(3.0), math.sqrt(3.0), n),
    "student-t": lambda rng, n: (
        rng.standard_t(STUDENT_DEGREES, n) * math.sqrt((STUDENT_DEGREES - 2.0) / STUDENT_DEGREES)
    ),
    "bernoulli": lambda rng, n: rng.random(n),
}


def check_noise(name: object) -> str:
    """The name itself if there is such a noise.

    >>> check_noise("laplace")
    'laplace'
    """
    if not isinstance(name, str):
        raise InputError(f"noise must be one of {', '.join(NOISES)} but got {name!r}.")
    if name not in NOISES:
        raise unknown("noise", name, NOISES)
    return name
