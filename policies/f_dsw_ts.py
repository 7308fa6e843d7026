"""f-dsw TS: θ = g(θ₁, θ₂) with θ₁ ~ Beta(S+1, F+1) and θ₂ ~ Beta(1+s, 1+f), g one of min, mean, max.

Reference: Cavenaghi, Sottocornola, Stella and Zanker 2021. Discounted sums: at every step all (S, F) ← γ(S, F), then
the pulled arm adds z and 1−z. Hot window: s and f are sums of z and 1−z over the last n rewards of the arm.
z = clip((x − low)/(high − low), 0, 1).

The window draw comes first; the discounted draw is skipped if even a value of 1 could not beat the best θ so far. Idle
arms have a narrow window posterior and a wide discounted one, so this order saves more draws.

The window sum is updated in O(1) without subtraction, so rounding errors do not accumulate. Rewards fill a ring of n
slots. s is the sum of the rewards since the last wrap-around plus the sum of the older ones not yet overwritten; the
latter is stored in the ring, because at each wrap-around rewards are replaced by their suffix sums.
"""

from collections.abc import Mapping

import numpy as np

from ravenlab.common.compiled import inlined
from ravenlab.common.errors import InputError
from ravenlab.environments.world import Floats
from ravenlab.policies.engine.base import CLOSED, PULLS
from ravenlab.policies.engine.limits import NONNEGATIVE, Limit, Memory, Part
from ravenlab.policies.engine.parameters import Param, Value
from ravenlab.policies.engine.posterior import draw_beta
from ravenlab.policies.engine.rules import UnitPolicy, to_unit

SUCCESSES, FAILURES, HOT, TURN = 1, 2, 3, 4
"""Rows: S, F, s, and the sum of the rewards since the last wrap-around of the ring."""

G, GAMMA, N, LOW, HIGH = range(5)  # parameters

FUNCTIONS = ("min", "mean", "max")
MIN, MEAN = 0.0, 1.0  # encoding of the first two functions
FORGOTTEN = 1e-200  # smaller sums become 0, before they are denormal numbers, which are slow


@inlined
def combine(cold, hot, g):  # type: ignore[no-untyped-def]
    """g(cold, hot)."""
    if g == MIN:
        return min(cold, hot)
    if g == MEAN:
        return 0.5 * (cold + hot)
    return max(cold, hot)


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax θ; draws are made arm by arm, that of the window first."""
    best, chosen = -1.0, -1
    for k in range(open_.shape[0]):
        if open_[k] == CLOSED:
            continue
        size = min(arms[PULLS, k], p[N])
        hot = draw_beta(1.0 + arms[HOT, k], 1.0 + size - arms[HOT, k], rng)
        if combine(1.0, hot, p[G]) <= best:
            continue
        cold = draw_beta(arms[SUCCESSES, k] + 1.0, arms[FAILURES, k] + 1.0, rng)
        theta = combine(cold, hot, p[G])
        if theta > best:
            best, chosen = theta, k
    return chosen


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Discount all arms, then add the reward to the sums and the window of the pulled arm."""
    z = to_unit(x, p[LOW], p[HIGH])
    for j in range(open_.shape[0]):
        s, f = p[GAMMA] * arms[SUCCESSES, j], p[GAMMA] * arms[FAILURES, j]
        arms[SUCCESSES, j] = s if s > FORGOTTEN else 0.0
        arms[FAILURES, j] = f if f > FORGOTTEN else 0.0
    arms[SUCCESSES, k] += z
    arms[FAILURES, k] += 1.0 - z
    n = int(p[N])
    first = k * n
    slot = (int(arms[PULLS, k]) - 1) % n
    memory[first + slot] = z
    arms[TURN, k] += z
    if slot + 1 < n:
        arms[HOT, k] = arms[TURN, k] + memory[first + slot + 1]
    else:
        arms[HOT, k] = arms[TURN, k]
        arms[TURN, k] = 0.0
        for i in range(first + n - 2, first - 1, -1):
            memory[i] += memory[i + 1]


class FDSWTS(UnitPolicy):
    r"""Thompson sampling that combines a discounted posterior with that of a window of recent rewards.

    $$\theta = g(\theta_1, \theta_2), \qquad \theta_1 \sim \mathrm{Beta}(S + 1, F + 1), \quad
    \theta_2 \sim \mathrm{Beta}(s + 1, f + 1)$$
    """

    family = "sampling"
    reference = "Cavenaghi, Sottocornola, Stella and Zanker 2021"
    parameters = (
        Param("g", "min", choices=FUNCTIONS, meaning="function that combines the two draws"),
        Param("gamma", 0.95, 1e-6, 0.3, "one-minus", most=1.0, meaning="γ, discount per step"),
        Param("n", 75.0, 10.0, 5000.0, least=1.0, integer=True, meaning="rewards in an arm's window"),
        *UnitPolicy.parameters,
    )
    row_limits = {
        SUCCESSES: NONNEGATIVE,
        FAILURES: NONNEGATIVE,
        HOT: Limit(0.0, ("pulls", "n")),
        TURN: Limit(0.0, ("pulls", "n")),
    }

    @classmethod
    def memory_layout(cls, arms: int, values: Mapping[str, Value]) -> Memory:
        return Memory((Part(int(values["n"]), Limit(0.0, "n")),), repeat=arms)

    @classmethod
    def check_state(cls, values: Mapping[str, Value], stats: Floats, cells: Floats, memory: Floats) -> None:
        """Check that window sums cannot exceed the number of rewards: the posterior needs both counts positive."""
        n = int(values["n"])
        slots = np.arange(n)
        pulls = stats[PULLS, :, None]
        older = np.where(pulls >= n, n - slots, 0)
        most = np.where(slots < pulls % n, 1, older)
        if (memory.reshape(-1, n) > most).any() or (stats[TURN] > stats[PULLS] % n).any():
            raise InputError("memory of the state must hold sums of rewards in [0, 1].")
