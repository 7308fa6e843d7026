"""Normal–inverse-gamma posterior of a Gaussian arm: one draw of its mean, shared by the Thompson family.

With N rewards of mean m and Q = Σ(x − m)² (weights instead of counts where rewards are discounted):
κ_N = κ₀ + N, μ_N = (κ₀μ₀ + N·m)/κ_N, a_N = a₀ + N/2, b_N = b₀ + Q/2 + κ₀N(m − μ₀)²/(2κ_N);
σ² ~ IG(a_N, b_N), then θ ~ N(μ_N, σ²/κ_N). The gamma variate is drawn first, then the normal one.
"""

from __future__ import annotations

from math import sqrt

from environments.compiled import inlined


@inlined
def draw_mean(n, mean, squares, mu0, kappa0, a0, b0, rng):  # type: ignore[no-untyped-def]
    """θ of one arm."""
    kappa = kappa0 + n
    a = a0 + 0.5 * n
    b = b0 + 0.5 * squares + 0.5 * kappa0 * n * (mean - mu0) * (mean - mu0) / kappa
    variance = b / rng.standard_gamma(a)
    return (kappa0 * mu0 + n * mean) / kappa + sqrt(variance / kappa) * rng.standard_normal()
