"""One draw from Beta(a, b) that always ends, shared by the policies with Beta posteriors.

numba's own draw repeats for ever where a and b are so small that both powers of Jöhnk's method
underflow to 0: an arm that a discounting policy left alone for long gets there. Here:

- a + b < 1e-20: 0 or 1, the latter with probability a/(a+b). Anything between them has a probability
  of about 744·ab/(a+b), less than one draw in 1e17.
- a, b ≤ 1: Jöhnk's X/(X+Y), X = U^(1/a), Y = V^(1/b), given X + Y ≤ 1; where both underflow, by their logarithms.
- else G_a/(G_a + G_b) of two gamma variates, that of a drawn first.
"""

from __future__ import annotations

from math import exp, log

from environments.compiled import inlined

TINY = 1e-20
"""Below this a + b, a draw is 0 or 1 as far as anyone can see."""


@inlined
def draw_beta(a, b, rng):  # type: ignore[no-untyped-def]
    """A number in [0, 1]; two parameters of 0 are taken as equal ones."""
    if a > 1.0 or b > 1.0:
        g = rng.standard_gamma(a)
        return g / (g + rng.standard_gamma(b))
    if a + b < TINY:
        return 1.0 if rng.random() < (0.5 if a == b else a / (a + b)) else 0.0
    while True:
        # in (0, 1], so that both logarithms are finite
        u = 1.0 - rng.random()
        v = 1.0 - rng.random()
        x = u ** (1.0 / a)
        y = v ** (1.0 / b)
        if x + y <= 1.0:
            if x + y > 0.0:
                return x / (x + y)
            return 1.0 / (1.0 + exp(log(v) / b - log(u) / a))
