"""Compiled rules of index policies before leader runs, for comparison: all indices are compared at every step."""

from __future__ import annotations

from math import log, sqrt

from environments.compiled import inlined
from policies.d_raven import ALPHA0, BETA0, EPSILON, FORGOTTEN, GAMMA, PAIRS, WEIGHT, DRaven
from policies.d_raven import MEAN as D_MEAN
from policies.d_raven import SQUARES as D_SQUARES
from policies.d_raven import VARIANCE as D_VARIANCE
from policies.engine.base import CLOSED, OPEN, PULLS, Policy
from policies.engine.discounting import discount_row
from policies.engine.rules import MEAN, SQUARES, add_reward, first_below_or_argmax
from policies.engine.window import COUNT, FILLED, NEXT, WindowPolicy, remove_reward
from policies.engine.window import MEAN as W_MEAN
from policies.engine.window import SQUARES as W_SQUARES
from policies.kl_ucb import KLUCB, S2
from policies.raven_ucb import decaying_coefficient
from policies.sw_raven import LEVEL, TAU, SWRaven
from policies.sw_raven import WIDTH as W_WIDTH
from policies.ucb1 import UCB1
from policies.ucb_tuned import UCBTuned
from policies.ucb_v import UCBV, ZETA, C

WIDTH = 2  # row of UCB1 and kl-UCB
TERM, LAST_TERM = 3, 4  # rows of UCB-V and UCB1-Tuned
SCORE = 6  # row of D-RAVEN


@inlined
def argmax_former(open_, arms, slope):  # type: ignore[no-untyped-def]
    """argmax of m + slope·arms[WIDTH] over the open arms."""
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        score = arms[MEAN, k] + slope * arms[WIDTH, k]
        if open_[k] != CLOSED and score > best:
            best, chosen = score, k
    return chosen


@inlined
def select_ucb1(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax of m + sqrt(c·ln t)·(1/sqrt(N))."""
    return argmax_former(open_, arms, sqrt(p[0] * log(t)))


@inlined
def select_kl_ucb(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax of m + sqrt(2s²·ln t)·(1/sqrt(N))."""
    return argmax_former(open_, arms, sqrt(2.0 * p[S2] * log(t)))


@inlined
def update_width(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Update m and 1/sqrt(N)."""
    n = arms[PULLS, k]
    arms[MEAN, k] += (x - arms[MEAN, k]) / n
    arms[WIDTH, k] = 1.0 / sqrt(n)


@inlined
def select_ucb_v(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax of m + sqrt(L)·B + L·C."""
    level = p[ZETA] * log(t)
    root = sqrt(level)
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        score = arms[MEAN, k] + root * arms[TERM, k] + level * arms[LAST_TERM, k]
        if open_[k] != CLOSED and score > best:
            best, chosen = score, k
    return chosen


@inlined
def update_ucb_v(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Update m, B and C."""
    add_reward(arms, k, x)
    n = arms[PULLS, k]
    arms[TERM, k] = sqrt(2.0 * arms[SQUARES, k]) / n
    arms[LAST_TERM, k] = 3.0 * p[C] / n


@inlined
def select_ucb_tuned(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax of m + a·sqrt(ln t)·B·sqrt(min(¼, V + sqrt(2 ln t)·B))."""
    level = log(t)
    root, slack = p[0] * sqrt(level), sqrt(2.0 * level)
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        width = arms[LAST_TERM, k]
        score = arms[MEAN, k] + root * width * sqrt(min(0.25, arms[TERM, k] + slack * width))
        if open_[k] != CLOSED and score > best:
            best, chosen = score, k
    return chosen


@inlined
def update_ucb_tuned(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Update m, V and B."""
    add_reward(arms, k, x)
    n = arms[PULLS, k]
    arms[TERM, k] = arms[SQUARES, k] / n
    arms[LAST_TERM, k] = 1.0 / sqrt(n)


@inlined
def select_discounted(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """A forgotten arm, else argmax of the index, which is recomputed because all weights have changed."""
    c, beta0, epsilon = decaying_coefficient(t, p[ALPHA0], p[EPSILON], 1.0), p[BETA0], p[EPSILON]
    for k in range(arms.shape[1]):  # no branches, so that the compiler vectorizes the loop
        variance = arms[D_VARIANCE, k] if arms[PAIRS, k] >= 1e-9 * arms[WEIGHT, k] else 0.0
        width = 1.0 / sqrt(arms[WEIGHT, k] + 1.0)
        arms[SCORE, k] = arms[D_MEAN, k] + c * width + beta0 * sqrt(variance * width * width + epsilon)
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        if open_[k] == CLOSED:
            continue
        if arms[WEIGHT, k] < FORGOTTEN:
            if open_[k] == OPEN:
                return k
            continue
        if arms[SCORE, k] > best:
            best, chosen = arms[SCORE, k], k
    return chosen


@inlined
def update_discounted(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Discount all arms and add x to the pulled one."""
    discount_row(WEIGHT, p[GAMMA], arms)
    discount_row(D_SQUARES, p[GAMMA], arms)
    discount_row(PAIRS, p[GAMMA] * p[GAMMA], arms)
    arms[PAIRS, k] += 2.0 * arms[WEIGHT, k]
    arms[WEIGHT, k] += 1.0
    before = x - arms[D_MEAN, k]
    arms[D_MEAN, k] += before / arms[WEIGHT, k]
    arms[D_SQUARES, k] += before * (x - arms[D_MEAN, k])
    arms[D_VARIANCE, k] = arms[D_SQUARES, k] * arms[WEIGHT, k] / arms[PAIRS, k] if arms[PAIRS, k] > 0.0 else 0.0


@inlined
def select_windowed(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """An arm without rewards in the window, else argmax of A + c_t·B."""
    c = decaying_coefficient(t, p[ALPHA0], p[EPSILON], 1.0)
    return first_below_or_argmax(open_, arms, COUNT, 1.0, LEVEL, W_WIDTH, c)


@inlined
def refresh_windowed(k, arms, p):  # type: ignore[no-untyped-def]
    """Compute A and B of an arm whose window has changed."""
    n = arms[COUNT, k]
    variance = arms[W_SQUARES, k] / (n - 1.0) if n > 1.0 else 0.0
    arms[LEVEL, k] = arms[W_MEAN, k] + p[BETA0] * sqrt(variance / (n + 1.0) + p[EPSILON])
    arms[W_WIDTH, k] = 1.0 / sqrt(n + 1.0)


@inlined
def recompute_windowed(arm, arms, cells, memory, tau):  # type: ignore[no-untyped-def]
    """Recompute n, m and Q of one arm (of all arms for −1) from the ring."""
    for j in range(arms.shape[1]):
        if arm < 0 or j == arm:
            arms[COUNT, j] = arms[W_MEAN, j] = arms[W_SQUARES, j] = 0.0
    for i in range(int(cells[FILLED])):
        j = int(memory[i])
        if arm < 0 or j == arm:
            arms[COUNT, j] += 1.0
            before = memory[tau + i] - arms[W_MEAN, j]
            arms[W_MEAN, j] += before / arms[COUNT, j]
            arms[W_SQUARES, j] += before * (memory[tau + i] - arms[W_MEAN, j])


@inlined
def update_windowed(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Remove the oldest reward, add x, and compute A and B of both arms, or of all at a wrap-around of the ring."""
    tau, place = int(p[TAU]), int(cells[NEXT])
    removed, unreliable = -1, False
    if cells[FILLED] == tau:
        removed = int(memory[place])
        unreliable = remove_reward(removed, memory[tau + place], arms)
    else:
        cells[FILLED] += 1.0
    memory[place] = k
    memory[tau + place] = x
    arms[COUNT, k] += 1.0
    before = x - arms[W_MEAN, k]
    arms[W_MEAN, k] += before / arms[COUNT, k]
    arms[W_SQUARES, k] += before * (x - arms[W_MEAN, k])
    place = 0 if place + 1 == tau else place + 1
    cells[NEXT] = place
    if place == 0 or unreliable:
        recompute_windowed(-1 if place == 0 else removed, arms, cells, memory, tau)
    if place == 0:
        for j in range(arms.shape[1]):
            refresh_windowed(j, arms, p)
        return
    refresh_windowed(k, arms, p)
    if removed >= 0:
        refresh_windowed(removed, arms, p)


def former(base: type[Policy], policy: type[Policy], select: object, update: object, rows: int) -> type[Policy]:
    """Return a policy with the name and parameters of another and these rules."""
    attributes = {
        **{key: getattr(policy, key) for key in ("name", "reference", "parameters", "__doc__")},
        "rows": rows,
        "choose": staticmethod(select),  # type: ignore[arg-type]
        "learn": staticmethod(update),  # type: ignore[arg-type]
    }
    return type(f"Former{policy.__name__}", (base,), attributes)


FORMER: dict[str, type[Policy]] = {
    "ucb1": former(Policy, UCB1, select_ucb1, update_width, 3),
    "kl-ucb": former(Policy, KLUCB, select_kl_ucb, update_width, 3),
    "ucb-v": former(Policy, UCBV, select_ucb_v, update_ucb_v, 5),
    "ucb-tuned": former(Policy, UCBTuned, select_ucb_tuned, update_ucb_tuned, 5),
    "sw-raven": former(WindowPolicy, SWRaven, select_windowed, update_windowed, 6),
    "d-raven": former(Policy, DRaven, select_discounted, update_discounted, 7),
}
