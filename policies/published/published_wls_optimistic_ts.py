"""WLS optimistic TS as in the logistics script: optimistic sampling around a weighted least-squares line.

An arm with fewer than 2 rewards scores U(0, 1). Otherwise, over its last 50 rewards y at steps t_i with
w = 0.95^(t−t_i): c is the minimum-norm least-squares solution of W·y on W·X, W = diag(w), X = (1, t_i), as computed by
NumPy's `lstsq`; p = c₀ + c₁·t; e = y − c₀ − c₁·t_i; s = max(1e-6, sqrt(Σw·e² / max(Σw − 2, 1)));
score = max(p, draw from N(p, s²)).

`lstsq` treats singular values s₂ ≤ eps·max(M, 2)·s₁ of the M × 2 matrix W·X as zero; the minimum-norm solution is then
c = v₁·(v₁'A'b)/s₁², a line through the origin instead of a horizontal one. This happens whenever the newest reward
outweighs all others, which is common. Efficient computation:

- A common factor of the weights changes neither c nor the rank, so both are stored until the next pull; Σw and Σw·e²
  are multiplied by 0.95 per step.
- s₁ and s₂ follow from trace and determinant of X'W²X, the latter as Σw²·Σw²(t_i − t̄)², which avoids cancellation:
  s₁²·s₂² = determinant, s₁² + s₂² = trace.
- After 13,240 idle steps w and w·y are so small that float64 loses bits. From then on the fit is recomputed at each
  step with the rounded numbers, scaled up by a power of two (exact). After 14,527 steps all weights are 0: c = 0,
  p = 0, s = 1e-6.
"""

from collections.abc import Mapping
from math import sqrt

import numpy as np

from ravenlab.common.compiled import compiled, inlined
from ravenlab.common.errors import InputError
from ravenlab.environments.world import Floats
from ravenlab.policies.engine.base import CLOSED, PULLS
from ravenlab.policies.engine.limits import COUNT_OF_STEPS, NONNEGATIVE, Memory, Part
from ravenlab.policies.engine.parameters import Value
from ravenlab.policies.published import PublishedPolicy

LAST, VALUE, SLOPE, WEIGHT, ERROR = 1, 2, 3, 4, 5
"""Rows: step t_n of the last pull, value of the line there, slope c₁, Σw and sqrt(Σw·e²) at t_n."""

WINDOW = 50
POWERS = 0.95 ** np.arange(14_600.0)  # 0.95^gap in float64; the last entries are 0
ROOTS = np.sqrt(POWERS)
GONE = POWERS.size - 1  # A gap after which every weight is 0
ROUGH = 13_240  # A gap after which rounding of the weights matters: 0.95^ROUGH = 1e-295
SCALE = 2.0**1000
REACH = 1400  # rewards older than the newest by more steps weigh less than 1e-31 of it and are ignored
FLOOR = 1e-6
EPS = 2.0**-52


@inlined
def older(at, first):  # type: ignore[no-untyped-def]
    """The place of the previous reward in the ring of the arm."""
    return at - 2 if at > first else at + 2 * (WINDOW - 1)


@compiled
def fit(k, gap, scale, arms, memory):  # type: ignore[no-untyped-def]
    """Fit arm k by least squares `gap` steps after its last pull; return the rank.

    Steps are relative to the last pull, d = t_i − t_n ≤ 0, which is exact; since the newest reward weighs most,
    Σu·d² − (Σu·d)²/Σu loses at most one digit.
    """
    pulls = int(arms[PULLS, k])
    count = min(pulls, WINDOW)
    last = arms[LAST, k]
    first = 2 * WINDOW * k
    newest = first + 2 * ((pulls - 1) % WINDOW)
    at, used = newest, 0
    u, ud, udd, uy, udy = 0.0, 0.0, 0.0, 0.0, 0.0
    while used < count:
        d = memory[at] - last
        age = gap - int(d)
        if d < -REACH or age >= GONE or POWERS[age] == 0.0:
            break
        w = scale * POWERS[age]
        b = scale * (POWERS[age] * memory[at + 1])
        u += w * w
        ud += w * w * d
        udd += w * w * d * d
        uy += w * b
        udy += w * b * d
        used += 1
        at = older(at, first)
    if used == 0:
        arms[VALUE, k], arms[SLOPE, k], arms[WEIGHT, k], arms[ERROR, k] = 0.0, 0.0, 0.0, 0.0
        return 0
    ut = u * last + ud
    trace = u + udd + last * (ud + ut)
    determinant = u * max(0.0, udd - ud * ud / u)
    s1_squared = 0.5 * (trace + sqrt(max(0.0, trace * trace - 4.0 * determinant)))
    rank = 2 if sqrt(determinant) > EPS * count * s1_squared else 1
    if rank == 2:
        slope = (u * udy - ud * uy) / determinant
        value = (uy - slope * ud) / u
    else:
        v0, v1 = ut, s1_squared - u
        along = (v0 * uy + v1 * (uy * last + udy)) / ((v0 * v0 + v1 * v1) * s1_squared)
        slope = v1 * along
        value = v0 * along + slope * last
    at = newest
    weight, error = 0.0, 0.0
    for _ in range(used):
        d = memory[at] - last
        w = POWERS[gap - int(d)]
        e = memory[at + 1] - value - slope * d
        weight += w
        error += w * e * e
        at = older(at, first)
    arms[VALUE, k], arms[SLOPE, k], arms[WEIGHT, k], arms[ERROR, k] = value, slope, weight, sqrt(error)
    return rank


@inlined
def line(k, t, arms, memory):  # type: ignore[no-untyped-def]
    """p and s of arm k at step t."""
    gap = min(int(t - arms[LAST, k]), GONE)
    if gap > ROUGH:
        fit(k, gap, SCALE, arms, memory)
        s = FLOOR
    else:
        weight = arms[WEIGHT, k] * POWERS[gap]
        root = ROOTS[gap] if weight <= 3.0 else sqrt(POWERS[gap] / (weight - 2.0))
        s = max(FLOOR, arms[ERROR, k] * root)
    return arms[VALUE, k] + arms[SLOPE, k] * (t - arms[LAST, k]), s


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax of the optimistic draws, arm by arm in index order."""
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        if open_[k] == CLOSED:
            continue
        if arms[PULLS, k] < 2.0:
            score = rng.random()
        else:
            at, s = line(k, t, arms, memory)
            score = at + s * max(0.0, rng.standard_normal())
        if score > best:
            best, chosen = score, k
    return chosen


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Store step and reward in the ring of the arm and refit its line."""
    n = int(arms[PULLS, k])
    at = 2 * (WINDOW * k + (n - 1) % WINDOW)
    memory[at] = t
    memory[at + 1] = x
    arms[LAST, k] = t
    if n >= 2:
        fit(k, 0, 1.0, arms, memory)


class PublishedWLSOptimisticTS(PublishedPolicy):
    r"""A weighted line through the latest rewards of each arm, with a draw that never falls below it; logistics script.

    $$\text{score} = \max(p, \mathcal N(p, s^2)), \qquad p = c_0 + c_1 t$$
    """

    random = True
    row_limits = {LAST: COUNT_OF_STEPS, WEIGHT: NONNEGATIVE, ERROR: NONNEGATIVE}

    @classmethod
    def memory_layout(cls, arms: int, values: Mapping[str, Value]) -> Memory:
        return Memory((Part(1, COUNT_OF_STEPS), Part(1)), repeat=WINDOW * arms)

    @classmethod
    def check_state(cls, values: Mapping[str, Value], stats: Floats, cells: Floats, memory: Floats) -> None:
        """Check that no step in a ring is after the last pull of its arm: the difference indexes `POWERS`."""
        steps = memory.reshape(stats.shape[1], WINDOW, 2)[:, :, 0]
        if (steps > stats[LAST, :, None]).any():
            raise InputError("memory of the state must hold no steps after the last pull of an arm.")
