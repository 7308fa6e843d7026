"""Draws from Beta(a, b): moments, limits and termination."""

import math

import numpy as np
import pytest

from ravenlab.common.compiled import compiled
from ravenlab.policies.engine.posterior import draw_beta


@compiled
def fill(a, b, rng, out):  # type: ignore[no-untyped-def]
    for i in range(out.shape[0]):
        out[i] = draw_beta(a, b, rng)


def draws(a: float, b: float, count: int = 40_000) -> np.ndarray:
    out = np.empty(count)
    fill(a, b, np.random.default_rng([int(1e3 * abs(math.log(a))), int(1e3 * abs(math.log(b)))]), out)
    return out


def central_moment(a: float, b: float, order: int) -> float:
    """Return a central moment, from E Xⁱ = Π (a + j)/(a + b + j)."""
    raw = [math.prod((a + j) / (a + b + j) for j in range(i)) for i in range(order + 1)]
    return sum(math.comb(order, i) * raw[i] * (-raw[1]) ** (order - i) for i in range(order + 1))


SHAPES = [1e-3, 0.02, 0.3, 0.9999, 1.0, 1.0001, 2.5, 40.0]


@pytest.mark.parametrize("a", SHAPES)
@pytest.mark.parametrize("b", SHAPES)
def test_moments_of_beta_draws(a: float, b: float) -> None:
    x = draws(a, b)
    assert ((x >= 0.0) & (x <= 1.0)).all()
    mean, variance = a / (a + b), a * b / ((a + b) ** 2 * (a + b + 1.0))
    assert abs(x.mean() - mean) < 5.0 * math.sqrt(variance / x.size)
    spread = max(central_moment(a, b, 4) - variance**2, 1e-12 * variance**2)
    # The tolerance is wider, since for skewed shapes the error of the variance is far from normal.
    assert abs(((x - mean) ** 2).mean() - variance) < 6.0 * math.sqrt(spread / x.size)


@pytest.mark.parametrize(
    ("a", "b"), [(1e-200, 1e-200), (3e-200, 1e-200), (1e-200, 9e-200), (2e-30, 1e-30), (1e-320, 3e-320)]
)
def test_vanishing_parameters_give_0_or_1(a: float, b: float) -> None:
    x = draws(a, b)
    assert set(np.unique(x)) == {0.0, 1.0}
    share = a / (a + b)
    assert abs(x.mean() - share) < 5.0 * math.sqrt(share * (1.0 - share) / x.size)


@pytest.mark.parametrize(("a", "b"), [(2e-12, 1e-12), (1e-15, 4e-15), (3e-4, 1e-4)])
def test_powers_that_underflow_give_finite_draws(a: float, b: float) -> None:
    x = draws(a, b)
    share = a / (a + b)
    assert np.isfinite(x).all()
    assert abs(x.mean() - share) < 5.0 * math.sqrt(share * (1.0 - share) / x.size)


@pytest.mark.parametrize(
    ("a", "b", "only"), [(1e-200, 0.5, 0.0), (0.5, 1e-200, 1.0), (1e-200, 7.0, 0.0), (7.0, 1e-320, 1.0)]
)
def test_one_vanishing_parameter_gives_a_constant(a: float, b: float, only: float) -> None:
    assert (draws(a, b, 2000) == only).all()


def test_zero_parameters_give_0_or_1() -> None:
    rng = np.random.default_rng(1)
    assert {draw_beta(0.0, 0.0, rng) for _ in range(50)} == {0.0, 1.0}
    for small in (1e-300, 1e-3, 0.5, 2.0):
        assert draw_beta(0.0, small, rng) == 0.0
        assert draw_beta(small, 0.0, rng) == 1.0


def test_large_parameters_match_numpy() -> None:
    rng, numpy_rng = np.random.default_rng(5), np.random.default_rng(5)
    for a, b in [(1.5, 0.2), (0.7, 3.0), (12.0, 30.0), (1e6, 2e6)] * 20:
        assert draw_beta(a, b, rng) == pytest.approx(numpy_rng.beta(a, b), rel=1e-12)
