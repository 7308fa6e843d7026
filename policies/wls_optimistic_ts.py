"""WLS optimistic TS: optimistic sampling around a weighted linear trend of each arm, extrapolated to the current step.

Reference: May, Korda, Lee and Leslie 2012, for the optimistic sampling. Over the last n rewards y of an arm at steps
t_i: w = λ^(t−t_i), x = (1, t_i−t), A = X'WX + ρI, b̂ = A⁻¹X'Wy, s² = Σw·e² / max(Σw−2, 1);
score = max(b̂₀, draw from N(b̂₀, s²·(A⁻¹X'W²XA⁻¹)₀₀)).

No fit is computed from scratch at a step. Each arm stores sums as of its last pull, with d = t_i − t_last, centered at
their means to avoid cancellation: W = Σw, d̄, C = Σw(d−d̄)², ȳ, Σw(d−d̄)(y−ȳ), Σw(y−ȳ)², and for the weights w²:
V = Σw², d̃, D = Σw²(d−d̃)². At a pull they give the slope β and the residual sum E of the fit without ρ. At step t,
Δ = t − t_last steps later, all w are multiplied by g = λ^Δ and all x are d − Δ. With c = d̄ − Δ the formula becomes

    det A = g²WC + ρg(W + C + Wc²) + ρ²
    q     = (gC(ȳ − cβ) + ρȳ) / det A,               b̂₀ = gWq
    h     = (gWcȳ − β(gW(1 + c²) + ρ)) / det A,      Σw·e² = g(E + C(ρh)² + W(ρq)²)
    u     = g(gC + ρ + gWc(d̄ − d̃)) / det A,
    v     = g·gWc / det A,                           (A⁻¹X'W²XA⁻¹)₀₀ = Vu² + Dv²

where ρh and ρq are the shifts of the slope, and of the level at the center c, due to the ridge.
"""

from collections.abc import Mapping
from math import sqrt

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.base import CLOSED, PULLS, Policy
from ravenlab.policies.engine.limits import COUNT_OF_STEPS, NONNEGATIVE, SUM_OF_SQUARES, UNIT, Memory, Part
from ravenlab.policies.engine.parameters import Param, Value

W, X_MEAN, XX, Y_MEAN, XY, YY = range(1, 7)  # rows with weights w: Σw, d̄, C, ȳ, Σw(d−d̄)(y−ȳ), Σw(y−ȳ)²
V, V_MEAN, VXX = range(7, 10)  # rows with weights w²: V, d̃, D

SLOPE, RESIDUAL, LAST, FADE = range(10, 14)
"""Rows: β, E, the step of the last pull, and g, which is multiplied by λ per step."""

LEVEL, DEVIATION = 14, 15  # rows: b̂₀ and the standard deviation of its draw at the last selection

ROWS = 16

NOW = 0  # cell: the step to which row FADE refers
LAMBDA, LENGTH, RHO = range(3)  # parameters
NOTHING = 1e-280  # smaller g become 0, before they are denormal numbers, which are inexact and slow
LOST = 1e-6  # if a removal leaves less than this share of a sum of squares, the rest may be mostly rounding error


@inlined
def advance(t, arms, cells, p):  # type: ignore[no-untyped-def]
    """Update g of every arm to step t."""
    steps = t - cells[NOW]
    if steps == 0.0:
        return
    factor = p[LAMBDA] if steps == 1.0 else p[LAMBDA] ** steps
    for k in range(arms.shape[1]):
        g = arms[FADE, k] * factor
        arms[FADE, k] = g if g >= NOTHING else 0.0
    cells[NOW] = t


@inlined
def add(k, sign, w, d, y, arms):  # type: ignore[no-untyped-def]
    """Add a reward to the sums, or remove it for sign −1; d is relative to the last pull."""
    before = arms[W, k]
    arms[W, k] += sign * w
    part = sign * w / arms[W, k]
    dx, dy = d - arms[X_MEAN, k], y - arms[Y_MEAN, k]
    arms[X_MEAN, k] += part * dx
    arms[Y_MEAN, k] += part * dy
    arms[XX, k] += part * before * dx * dx
    arms[XY, k] += part * before * dx * dy
    arms[YY, k] += part * before * dy * dy
    before = arms[V, k]
    arms[V, k] += sign * w * w
    part = sign * w * w / arms[V, k]
    dx = d - arms[V_MEAN, k]
    arms[V_MEAN, k] += part * dx
    arms[VXX, k] += part * before * dx * dx


@inlined
def remove(k, w, d, y, arms):  # type: ignore[no-untyped-def]
    """Remove a reward from the sums; return whether they have become unreliable."""
    xx, yy, vxx = arms[XX, k], arms[YY, k], arms[VXX, k]
    add(k, -1.0, w, d, y, arms)
    return arms[XX, k] < LOST * xx or arms[YY, k] < LOST * yy or arms[VXX, k] < LOST * vxx


@inlined
def recompute(t, k, arms, memory, p):  # type: ignore[no-untyped-def]
    """Recompute the sums of one arm from its ring, newest reward first, so that vanishing weights come last."""
    arms[W : VXX + 1, k] = 0.0
    n = int(p[LENGTH])
    newest = int(arms[PULLS, k] - 1.0) % n
    for i in range(min(n, int(arms[PULLS, k]))):
        place = 2 * n * k + (newest - i if i <= newest else newest - i + n)
        w = p[LAMBDA] ** (t - memory[place])
        add(k, 1.0, w if w >= NOTHING else 0.0, memory[place] - t, memory[place + n], arms)


@inlined
def fit(t, k, arms, rho):  # type: ignore[no-untyped-def]
    """Compute b̂₀ of an arm and the standard deviation of its draw, without branches for vectorization."""
    g = arms[FADE, k]
    gw, gc = g * arms[W, k], g * arms[XX, k]
    c = arms[X_MEAN, k] - (t - arms[LAST, k])
    reach = gw * (1.0 + c * c)
    inverse = 1.0 / (gw * gc + rho * (reach + gc) + rho * rho)
    q = (gc * (arms[Y_MEAN, k] - c * arms[SLOPE, k]) + rho * arms[Y_MEAN, k]) * inverse
    h = (gw * c * arms[Y_MEAN, k] - arms[SLOPE, k] * (reach + rho)) * inverse
    errors = g * arms[RESIDUAL, k] + rho * rho * (gc * h * h + gw * q * q)
    u = g * (gc + rho + gw * c * (arms[X_MEAN, k] - arms[V_MEAN, k])) * inverse
    v = g * gw * c * inverse
    arms[LEVEL, k] = gw * q
    arms[DEVIATION, k] = sqrt(errors * (arms[V, k] * u * u + arms[VXX, k] * v * v) / max(gw - 2.0, 1.0))


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax of the score, with one normal draw per open arm in index order."""
    advance(t, arms, cells, p)
    now, rho = float(t), p[RHO]
    for k in range(arms.shape[1]):
        fit(now, k, arms, rho)
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        if open_[k] != CLOSED:
            score = arms[LEVEL, k] + max(0.0, arms[DEVIATION, k] * rng.standard_normal())
            if chosen < 0 or score > best:
                best, chosen = score, k
    return chosen


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Shift the sums of the arm to this pull, remove the oldest of n rewards, add the new one."""
    advance(t, arms, cells, p)
    n = int(p[LENGTH])
    pulls = int(arms[PULLS, k])
    place = 2 * n * k + (pulls - 1) % n
    unreliable = (pulls - 1) % n == 0
    if not unreliable:
        g, gap = arms[FADE, k], t - arms[LAST, k]
        arms[W, k] *= g
        arms[XX, k] *= g
        arms[XY, k] *= g
        arms[YY, k] *= g
        arms[V, k] *= g * g
        arms[VXX, k] *= g * g
        arms[X_MEAN, k] -= gap
        arms[V_MEAN, k] -= gap
        # Vanished sums cannot be divided by.
        unreliable = arms[V, k] < NOTHING
        if not unreliable and pulls > n:
            unreliable = remove(k, p[LAMBDA] ** (t - memory[place]), memory[place] - t, memory[place + n], arms)
    memory[place] = t
    memory[place + n] = x
    if unreliable:
        recompute(t, k, arms, memory, p)
    else:
        add(k, 1.0, 1.0, 0.0, x, arms)
    arms[SLOPE, k] = arms[XY, k] / arms[XX, k] if arms[XX, k] >= NOTHING else 0.0
    arms[RESIDUAL, k] = max(0.0, arms[YY, k] - arms[SLOPE, k] * arms[XY, k])
    arms[LAST, k] = t
    arms[FADE, k] = 1.0


class WLSOptimisticTS(Policy):
    r"""Extrapolates the weighted linear trend of each arm and samples optimistically around it.

    $$A = X'WX + \rho I, \quad \hat b = A^{-1}X'Wy, \quad s^2 = \frac{\sum w_i e_i^2}{\max(\sum w_i - 2, 1)}, \quad
    \text{score} = \max\bigl(\hat b_0, \mathcal N(\hat b_0, s^2 (A^{-1}X'W^2XA^{-1})_{00})\bigr)$$
    """

    family = "sampling"
    reference = "May, Korda, Lee and Leslie 2012, for the optimistic sampling"
    parameters = (
        Param("lam", 0.99, 1e-4, 0.3, scale="one-minus", most=1.0, meaning="λ, discount of the weights per step"),
        Param("n", 50.0, 10.0, 500.0, least=1.0, integer=True, meaning="number of rewards in the fit of an arm"),
        Param("rho", 1e-3, least=1e-12, meaning="ρ, ridge of the fit"),
    )
    rows = ROWS
    row_limits = {YY: SUM_OF_SQUARES, RESIDUAL: NONNEGATIVE, LAST: COUNT_OF_STEPS, FADE: UNIT}
    cell_limits = {NOW: COUNT_OF_STEPS}

    @classmethod
    def memory_layout(cls, arms: int, values: Mapping[str, Value]) -> Memory:
        n = int(values["n"])
        return Memory((Part(n, COUNT_OF_STEPS), Part(n)), repeat=arms)
